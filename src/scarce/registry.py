"""Every estimator of the library, by name."""

from scarce.base import RareEventClassifier
from scarce.neighbors import GammaKNN
from scarce.tuned import TunedThreshold

__all__ = ["all_estimators"]

_ESTIMATORS: tuple[type[RareEventClassifier], ...] = (
    GammaKNN,
    TunedThreshold,
)


def all_estimators() -> list[tuple[str, type[RareEventClassifier]]]:
    """Return the name and class of every estimator, sorted by name.

    Examples
    --------
    >>> import scarce
    >>> "GammaKNN" in dict(scarce.all_estimators())
    True
    """
    return sorted((estimator.__name__, estimator) for estimator in _ESTIMATORS)
