"""Nearest-neighbour methods for few positives."""

from scarce.neighbors._ccnnd import CCNND
from scarce.neighbors._class_confidence import ClassConfidenceKNN
from scarce.neighbors._class_weighted import ClassWeightedKNN
from scarce.neighbors._distance_weighted import DistanceWeightedKNN
from scarce.neighbors._duplicated import DuplicatedKNN
from scarce.neighbors._frknn import FRKNN
from scarce.neighbors._frnn import FRNN
from scarce.neighbors._gamma import GammaKNN
from scarce.neighbors._gfrnn import GFRNN
from scarce.neighbors._informative import InformativeKNN
from scarce.neighbors._kenn import KENN
from scarce.neighbors._krnn import KRNN
from scarce.neighbors._locally_weighted import LocallyWeightedNN
from scarce.neighbors._nwknn import NWKNN
from scarce.neighbors._pnn import PNN
from scarce.neighbors._search import ClassIndex

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
