"""Learning from few positives: scores, exact thresholds for any objective, reasons."""

from scarce._trusted import trusted_types
from scarce.base import RareEventClassifier
from scarce.registry import all_estimators
from scarce.tuned import TunedThreshold

__all__ = ["RareEventClassifier", "TunedThreshold", "__version__", "all_estimators", "trusted_types"]

__version__ = "0.1.0"
