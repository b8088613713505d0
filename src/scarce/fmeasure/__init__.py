"""Bounds on the F-measure, and searches for the class weights that maximise it."""

from scarce.fmeasure import bounds
from scarce.fmeasure._cone import ConeClassifier

__all__ = ["ConeClassifier", "bounds"]
