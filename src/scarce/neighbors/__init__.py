"""Who is near? Nearest-neighbour methods for few positives."""

from scarce.neighbors._gamma import GammaKNN
from scarce.neighbors._index import ClassIndex

__all__ = ["ClassIndex", "GammaKNN"]
