"""Distances learned from labelled rows, for few positives and for classes in general."""

from scarce.metric_learning._classifiers import IMLKNN, MLFPKNN
from scarce.metric_learning._iml import IML
from scarce.metric_learning._lmnn import LMNN
from scarce.metric_learning._mlfp import MLFP

__all__ = ["IML", "IMLKNN", "LMNN", "MLFP", "MLFPKNN"]
