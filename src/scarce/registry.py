"""Every estimator of the library, by name."""

from scarce.base import RareEventClassifier
from scarce.neighbors import (
    CCNND,
    FRKNN,
    FRNN,
    GFRNN,
    KENN,
    KRNN,
    NWKNN,
    PNN,
    ClassConfidenceKNN,
    ClassWeightedKNN,
    DistanceWeightedKNN,
    DuplicatedKNN,
    GammaKNN,
    InformativeKNN,
    LocallyWeightedNN,
)
from scarce.sampling import SDC, ResampledClassifier, ResampledGammaKNN
from scarce.tuned import TunedThreshold

__all__ = ["all_estimators"]

_ESTIMATORS: tuple[type[RareEventClassifier], ...] = (
    KENN,
    KRNN,
    PNN,
    ClassWeightedKNN,
    DuplicatedKNN,
    NWKNN,
    DistanceWeightedKNN,
    CCNND,
    FRKNN,
    FRNN,
    GFRNN,
    ClassConfidenceKNN,
    GammaKNN,
    InformativeKNN,
    LocallyWeightedNN,
    SDC,
    ResampledClassifier,
    ResampledGammaKNN,
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
