"""The search engine of the nearest-neighbour methods: indexes over rows, exact searches, and their compiled loops.

It knows rows, classes and distances, and imports no method; the methods import from here.
"""

from scarce.neighbors._search._kernels_informative import SURE, add_log_products
from scarce.neighbors._search._kernels_surroundings import nearest_shifted
from scarce.neighbors._search._kernels_weighted import TINY
from scarce.neighbors._search.cells import RowCells
from scarce.neighbors._search.class_gammas import best_gammas, given_gammas, precedence, vote_scores
from scarce.neighbors._search.class_rows import ClassFit, RowsByClass
from scarce.neighbors._search.index import ClassIndex
from scarce.neighbors._search.lazy import kth_distance_of_some, lazy_f_threshold
from scarce.neighbors._search.nearest import Neighbors, merge_by_class, merge_by_number
from scarce.neighbors._search.surroundings import RowBoxes
from scarce.neighbors._search.tiles import RowTiles
from scarce.neighbors._search.transformed import TransformedIndex
from scarce.neighbors._search.weighted import SPARE, Listed, list_classes, nearest_by_class, search_classes

__all__ = [
    "SPARE",
    "SURE",
    "TINY",
    "ClassFit",
    "ClassIndex",
    "Listed",
    "Neighbors",
    "RowBoxes",
    "RowCells",
    "RowTiles",
    "RowsByClass",
    "TransformedIndex",
    "add_log_products",
    "best_gammas",
    "given_gammas",
    "kth_distance_of_some",
    "lazy_f_threshold",
    "list_classes",
    "merge_by_class",
    "merge_by_number",
    "nearest_by_class",
    "nearest_shifted",
    "precedence",
    "search_classes",
    "vote_scores",
]
