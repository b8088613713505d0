"""Every estimator of the library, by name."""

from scarce.base import RareEventClassifier
from scarce.boosting import APBoosting, ProfitBoosting
from scarce.ellipsoids import ME2
from scarce.fmeasure import ConeClassifier
from scarce.metric_learning import IMLKNN, MLFPKNN
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
from scarce.oneclass import OneClassClassifier
from scarce.profit import BayesProfitClassifier
from scarce.sampling import SDC, ResampledClassifier, ResampledGammaKNN
from scarce.trees import APTree, MetaAP, MetaAPForest, ProfitForest, ProfitTree, RankingForest, TreeRank
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
    IMLKNN,
    MLFPKNN,
    ME2,
    OneClassClassifier,
    SDC,
    ResampledClassifier,
    ResampledGammaKNN,
    ConeClassifier,
    APTree,
    MetaAP,
    MetaAPForest,
    RankingForest,
    TreeRank,
    TunedThreshold,
    APBoosting,
    BayesProfitClassifier,
    ProfitBoosting,
    ProfitForest,
    ProfitTree,
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
