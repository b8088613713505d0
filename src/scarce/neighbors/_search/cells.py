"""Rows in cells around centres, for exact searches that look into few of them."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import openmp_threads
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_cells import distances_to_centres, lay_out, search_cells

__all__ = ["FEW", "RowCells"]

# Queries of one thread at a time, and rows whose cells are found at a time.
_BLOCK = 128
_ROWS = 512
# The centres are means of a sample, after a few rounds of k-means.
_PER_CENTRE, _ROUNDS = 32, 3
# From so many rows on, a search in cells was measured faster than a pass over all rows or a tree; and it lists the
# nearest rows of a query by insertion, which is for few.
CELLS_PAY, FEW = 3_000, 50
# Squares and sums of squares of rows beyond these are no ordinary numbers.
_SMALLEST, _LARGEST, _TINY = 1e-100, 1e100, 1e-290


class RowCells:
    """Rows in cells, each with the rows that are nearer to its centre than to other centres.

    In the many dimensions where trees fail, most cells can still be left out: those that are beyond the distance that
    matters. All distances are measured by differences, so that they are the same to the last bit as those of other
    searches, and the results do not depend on the cells.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows, known by their number here.
    """

    def __init__(self, X: NDArray) -> None:
        n, m = X.shape
        n_cells = number_of_cells(n)
        sample = X[np.random.default_rng(0).permutation(n)[: _PER_CENTRE * n_cells]].astype(np.float64)
        shift = sample.mean(axis=0)
        widest = max(np.abs(X.max(axis=0) - shift).max(), np.abs(X.min(axis=0) - shift).max(), _SMALLEST)
        self._shift, self._scale = shift, float(2.0 ** np.ceil(np.log2(widest)))
        centres = _k_means(self._single(sample), n_cells) * self._scale + shift
        # Once more from the centres as they are kept: far from 0 they are rounded.
        self._singles = self._single(centres)
        cell = self._nearest_cells(X)
        held, cell = np.unique(cell, return_inverse=True)
        self._singles = self._singles[held]
        self._centres = np.ascontiguousarray(centres[held].T)
        distance = distances_to_centres(X, self._centres, cell)
        self._order = np.lexsort((distance, cell))
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(cell))))
        self._reach = distance[self._order]
        self._columns = np.empty(n * m, dtype=X.dtype)
        lay_out(X, self._order, self._starts, self._columns)
        # A cell was found by comparing |c|² / 2 - x·c in single precision, whose error is a share of (|x| + |c|)².
        self._norm = np.linalg.norm(centres[held] - shift, axis=1)
        self._widest = self._norm + self._reach[self._starts[1:] - 1]
        self._rounding = np.array([(m + 4) * 2.0**-22, 1e-30 * self._scale**2])

    def _single(self, X: NDArray) -> NDArray[np.float32]:
        """Return rows in single precision, moved and scaled so that the training rows are within [-1, 1]."""
        return ((X - self._shift) / self._scale).astype(np.float32)

    def _nearest_cells(self, X: NDArray) -> IntArray:
        """Return the nearest cell of each row, but for rounding to single precision."""
        cell = np.empty(len(X), dtype=np.intp)
        for start in range(0, len(X), _ROWS):
            part = slice(start, start + _ROWS)
            cell[part] = _nearest_centre(self._single(X[part]), self._singles)
        return cell

    @classmethod
    def suits(cls, X: NDArray) -> bool:
        """Return whether the rows are many, and the squares of them and of their differences ordinary numbers."""
        if len(X) < CELLS_PAY:
            return False
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        return bool(max(-low.min(), high.max()) < _LARGEST and (high - low).max() > _SMALLEST)

    def kneighbors(
        self,
        X: NDArray,
        k: int,
        skip: IntArray | None = None,
        enough: FloatArray | None = None,
        most: FloatArray | None = None,
    ) -> tuple[FloatArray, IntArray]:
        """Return the distances to the k nearest rows, ascending, and their numbers; of equals the earlier row is first.

        Parameters
        ----------
        X : ndarray of shape (n_queries, n_features)
            The queries.
        k : int
            How many.
        skip : ndarray of shape (n_queries,), optional
            The number of the row to leave out for each query, or -1.
        enough : ndarray of shape (n_queries,), optional
            A k-th distance below this may be that of other rows than the nearest.
        most : ndarray of shape (n_queries,), optional
            Rows beyond this distance are left out.
        """
        # Squares of tiny distances are rounded more coarsely than others.
        low2 = None if enough is None else enough**2 - _TINY
        high2 = None if most is None else most**2 + _TINY
        squared, number = self.squared_kneighbors(X, k, skip, low2, high2, openmp_threads())
        return np.sqrt(squared), number

    def squared_kneighbors(
        self,
        X: NDArray,
        k: int,
        skip: IntArray | None = None,
        enough: FloatArray | None = None,
        most: FloatArray | None = None,
        threads: int = 1,
    ) -> tuple[FloatArray, IntArray]:
        """Search as :meth:`kneighbors` does, by squared distances, in some threads."""
        n = len(X)
        own = np.full(n, -1, dtype=np.intp)
        if skip is not None:
            place = np.empty(len(self._order), dtype=np.intp)
            place[self._order] = np.arange(len(place))
            own = np.where(skip >= 0, place[skip], -1)
        enough = np.zeros(n) if enough is None else enough
        most = np.full(n, np.inf) if most is None else most
        squared, number = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
        about = self._centres, self._starts, self._reach, self._columns, self._order
        bounds = self._norm, self._widest, self._rounding
        # Queries of one cell together: they look into the same cells.
        order = np.argsort(self._nearest_cells(X), kind="stable")

        def search(start: int) -> None:
            rows = order[start : start + _BLOCK]
            queries = np.ascontiguousarray(X[rows], dtype=np.float64)
            squared[rows], found = search_cells(queries, own[rows], enough[rows], most[rows], k, *about, *bounds)
            number[rows] = np.where(found >= 0, self._order[found], -1)

        starts = range(0, n, _BLOCK)
        if min(threads, len(starts)) > 1:
            # Not OpenMP's threads: they do not survive a fork.
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(search, starts))
        else:
            for start in starts:
                search(start)
        return squared, number


def number_of_cells(n_rows: int) -> int:
    """Return how many cells were measured fastest: with more, the centres take longer, with fewer, the rows do."""
    return max(1, math.isqrt(n_rows) // 2)


def _nearest_centre(rows: NDArray[np.float32], centres: NDArray[np.float32]) -> IntArray:
    # |x - c|² without |x|², halved.
    distance = rows @ centres.T
    np.subtract(np.einsum("ij,ij->i", centres, centres) / 2, distance, out=distance)
    return distance.argmin(axis=1)


def _k_means(sample: NDArray[np.float32], n_centres: int) -> FloatArray:
    """Return the means of a few rounds of k-means, of which only the speed of searches depends."""
    centres = sample[:n_centres]
    for _ in range(_ROUNDS):
        parts = range(0, len(sample), _ROWS)
        nearest = np.concatenate([_nearest_centre(sample[start : start + _ROWS], centres) for start in parts])
        size = np.bincount(nearest, minlength=n_centres)
        total = np.column_stack([np.bincount(nearest, column, n_centres) for column in sample.T])
        centres = np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], centres).astype(np.float32)
    return centres.astype(np.float64)
