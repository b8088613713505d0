"""Distances learned from labelled rows, for few positives and for classes in general."""

from scarce.metric_learning._iml import IML
from scarce.metric_learning._iml_knn import IMLKNN
from scarce.metric_learning._lmnn import LMNN
from scarce.metric_learning._mlfp import MLFP
from scarce.metric_learning._mlfp_knn import MLFPKNN

__all__ = ["IML", "IMLKNN", "LMNN", "MLFP", "MLFPKNN"]
