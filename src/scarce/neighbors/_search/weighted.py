"""Exact searches for the nearest rows under weighted distances, on top of the class index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_weighted import weighted_nearest
from scarce.neighbors._search.index import ClassIndex

# Rows to list beyond those asked for where there are weights. With more, fewer rows of small weight need a look.
SPARE = 8


class Listed(NamedTuple):
    """The rows of one class that are nearest to each query without weights, by their position in the class."""

    rows: NDArray
    numbers: IntArray
    own: IntArray
    distance: FloatArray
    position: IntArray


def list_classes(index: ClassIndex, X: NDArray, width: int, skip: IntArray | None = None) -> list[Listed]:
    """List the `width` nearest rows of each class, without the row numbered `skip` of each query."""
    listed = []
    for code, numbers in enumerate(index._rows):
        distance, found = index.kneighbors(X, code, width, skip)
        position = np.where(found >= 0, np.searchsorted(numbers, found), -1)
        own = np.full(len(X), -1, dtype=np.intp) if skip is None else index.positions(code, skip)
        listed.append(Listed(index._X[code], numbers, own, distance, position))
    return listed


def search_classes(X: NDArray, listed: list[Listed], weight: FloatArray | None, k: int) -> tuple[FloatArray, IntArray]:
    """Return weighted distances and numbers of the k nearest rows of each class, of shape (n_queries, n_classes, k).

    `weight` is of all rows by their number. More than k rows must be listed.
    """
    found = []
    for part in listed:
        of_class = np.ones(len(part.numbers)) if weight is None else weight[part.numbers]
        order = np.argsort(of_class, kind="stable")
        distance, position = weighted_nearest(X, part.rows, of_class, order, part.own, part.distance, part.position, k)
        found.append((distance, np.where(position >= 0, part.numbers[position], -1)))
    return np.stack([d for d, _ in found], axis=1), np.stack([n for _, n in found], axis=1)


def nearest_by_class(
    index: ClassIndex, X: NDArray, k: int, weight: FloatArray | None = None, skip: IntArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return distances and numbers of the k nearest rows of each class, of shape (n_queries, n_classes, k).

    Where the index leaves it to its engine which of equally far rows are found, here it is always the earlier ones.
    A distance of 0 comes out as the smallest that a weight can scale.
    """
    return search_classes(X, list_classes(index, X, k + (1 if weight is None else SPARE), skip), weight, k)
