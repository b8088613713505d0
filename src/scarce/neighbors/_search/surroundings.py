"""Counts of the rows that are closer than a radius, which differs from query to query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree
from sklearn.utils import gen_batches
from sklearn.utils.parallel import Parallel, delayed

from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_surroundings import surround

__all__ = ["RowBoxes", "Surroundings"]


# Rows of a box: few enough to stay in a core's cache, enough to keep its vector instructions busy.
_BOX = 128
# Queries of one task. Each task lays out the boxes anew, which many queries have to share.
_TASK = 2048


class Surroundings(NamedTuple):
    """For each query the number of rows closer than its radius, and the distances on either side of the radius."""

    closer: IntArray
    below: FloatArray  # the largest distance < radius, 0 if there is none
    above: FloatArray  # the smallest distance >= radius, infinite if there is none


class RowBoxes:
    """Rows in the leaves of a k-d tree, to be counted by Euclidean distance without being listed.

    In few dimensions most boxes are wholly closer or farther than the radius and are not looked into. In many, the
    search is a pass over all rows by their differences, which costs about as much as a search for the nearest.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows, known by their number here.
    n_jobs : int, optional
        Threads.
    """

    def __init__(self, X: NDArray, n_jobs: int | None = None) -> None:
        _, order, nodes, bounds = map(np.asarray, KDTree(X, leaf_size=_BOX).get_arrays())
        leaves = np.flatnonzero(nodes["is_leaf"])
        leaves = leaves[np.argsort(nodes["idx_start"][leaves])]
        self.n_jobs = n_jobs
        self._rows = X[order]
        self._starts = np.append(nodes["idx_start"][leaves], len(X))
        self._low, self._high = (np.ascontiguousarray(corner[leaves]) for corner in bounds)
        self._place = np.argsort(order)

    def around(self, X: NDArray, radius: FloatArray, skip: IntArray | None = None) -> Surroundings:
        """Return the surroundings of each query, without its row `skip`."""
        own = np.full(len(X), -1, dtype=np.intp) if skip is None else self._place[skip]
        radius = np.ascontiguousarray(radius)  # else the kernel is compiled once more
        boxes = self._rows, self._starts, self._low, self._high
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(surround)(X[part], radius[part], own[part], *boxes) for part in gen_batches(len(X), _TASK)
        )
        return Surroundings(*(np.concatenate(found) for found in zip(*parts, strict=True)))
