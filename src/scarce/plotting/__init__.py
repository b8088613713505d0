"""Displays in the style of scikit-learn, drawn with matplotlib.

As in scikit-learn, `from_estimator` takes a fitted estimator and test rows, and never fits. Where the curve of training
rows is wanted, on honest scores, there is `from_training`.

Decision regions need no display of their own: scikit-learn's ``DecisionBoundaryDisplay`` draws every classifier of
this library.
"""

from scarce.plotting._cone import ConeDisplay, FMeasureBoundDisplay, FMeasurePathDisplay
from scarce.plotting._ellipsoids import EllipsoidDisplay
from scarce.plotting._explanation import ExplanationDisplay
from scarce.plotting._gamma_plane import GammaPlaneDisplay
from scarce.plotting._profit import ProfitCurveDisplay, ProfitMenuDisplay
from scarce.plotting._ranking import PrecisionAtKDisplay, PrecisionRecallThresholdDisplay
from scarce.plotting._ranks import CriticalDifferenceDisplay
from scarce.plotting._threshold import GammaPathDisplay, ThresholdCurveDisplay
from scarce.plotting._trees import MetaTreeDisplay

__all__ = [
    "ConeDisplay",
    "CriticalDifferenceDisplay",
    "EllipsoidDisplay",
    "ExplanationDisplay",
    "FMeasureBoundDisplay",
    "FMeasurePathDisplay",
    "GammaPathDisplay",
    "GammaPlaneDisplay",
    "MetaTreeDisplay",
    "PrecisionAtKDisplay",
    "PrecisionRecallThresholdDisplay",
    "ProfitCurveDisplay",
    "ProfitMenuDisplay",
    "ThresholdCurveDisplay",
]
