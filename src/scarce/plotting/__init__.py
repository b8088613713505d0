"""Displays in the style of scikit-learn, drawn with matplotlib.

Decision regions need no display of their own: scikit-learn's ``DecisionBoundaryDisplay`` draws every classifier of
this library.
"""

from scarce.plotting._cone import ConeDisplay, FMeasureBoundDisplay, FMeasurePathDisplay
from scarce.plotting._ellipsoids import EllipsoidDisplay
from scarce.plotting._gamma_plane import GammaPlaneDisplay
from scarce.plotting._profit import ProfitCurveDisplay, ProfitMenuDisplay
from scarce.plotting._reliability import ReliabilityDisplay
from scarce.plotting._threshold import GammaPathDisplay, ThresholdCurveDisplay
from scarce.plotting._trees import MetaTreeDisplay

__all__ = [
    "ConeDisplay",
    "EllipsoidDisplay",
    "FMeasureBoundDisplay",
    "FMeasurePathDisplay",
    "GammaPathDisplay",
    "GammaPlaneDisplay",
    "MetaTreeDisplay",
    "ProfitCurveDisplay",
    "ProfitMenuDisplay",
    "ReliabilityDisplay",
    "ThresholdCurveDisplay",
]
