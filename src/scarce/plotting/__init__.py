"""What does it look like? Displays in the style of scikit-learn, drawn with matplotlib.

Decision regions need no display of their own: scikit-learn's ``DecisionBoundaryDisplay`` draws every classifier of
this library.
"""

from scarce.plotting._gamma_plane import GammaPlaneDisplay
from scarce.plotting._threshold import GammaPathDisplay, ThresholdCurveDisplay

__all__ = ["GammaPathDisplay", "GammaPlaneDisplay", "ThresholdCurveDisplay"]
