"""Who is near? Nearest-neighbour methods for few positives."""

from scarce.neighbors._ccnnd import CCNND
from scarce.neighbors._confidence import ClassConfidenceKNN
from scarce.neighbors._gamma import GammaKNN
from scarce.neighbors._gravity import FRKNN, FRNN, GFRNN
from scarce.neighbors._index import ClassIndex
from scarce.neighbors._informative import InformativeKNN
from scarce.neighbors._kenn import KENN
from scarce.neighbors._local import LocallyWeightedNN
from scarce.neighbors._rare import KRNN, PNN
from scarce.neighbors._rebalanced import ClassWeightedKNN, DuplicatedKNN
from scarce.neighbors._votes import NWKNN, DistanceWeightedKNN

__all__ = [
    "CCNND",
    "FRKNN",
    "FRNN",
    "GFRNN",
    "KENN",
    "KRNN",
    "NWKNN",
    "PNN",
    "ClassConfidenceKNN",
    "ClassIndex",
    "ClassWeightedKNN",
    "DistanceWeightedKNN",
    "DuplicatedKNN",
    "GammaKNN",
    "InformativeKNN",
    "LocallyWeightedNN",
]
