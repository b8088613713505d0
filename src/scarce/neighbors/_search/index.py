"""Per-class neighbour search on scikit-learn's exact engines."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.neighbors import VALID_METRICS, KDTree, NearestNeighbors

from scarce._typing import FloatArray, IntArray, Keywords, Metric
from scarce.neighbors._search._kernels_index import nearest_exactly

__all__ = ["ClassIndex"]


# Queries of one block. Long enough for the engines' threads, short enough that the arrays of a block are small.
_BLOCK = 65_536
# MB that scikit-learn may fill with distances where a metric has no kernel of its own; its default is 1,024.
_WORKING_MEMORY = 64
# "precomputed" has no rows to search.
_METRICS = sorted(set(VALID_METRICS["brute"]) - {"precomputed"})


class ClassIndex:
    """Nearest rows of one class, for any number of classes, with the row itself left out on request.

    Rows are known by their number in `X` of `fit`. No call holds an array of queries times rows.

    Parameters
    ----------
    metric, p, n_jobs
        As in scikit-learn's ``NearestNeighbors``.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
        "auto" chooses for each class by its number of rows and features (:func:`choose_algorithm`).

    See Also
    --------
    sklearn.neighbors.NearestNeighbors : The engine that serves each class.
    """

    def __init__(
        self, metric: Metric = "minkowski", p: float = 2, algorithm: str = "auto", n_jobs: int | None = None
    ) -> None:
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def fit(self, X: NDArray, y: IntArray) -> Self:
        """Take the rows `X` of the classes `y` (codes from 0)."""
        if isinstance(self.metric, str) and self.metric not in _METRICS:
            raise ValueError(f"{self.metric!r} is not a metric. Use one of {', '.join(_METRICS)}, or a function.")
        self._rows: list[IntArray] = [np.flatnonzero(y == code) for code in range(int(y.max(initial=-1)) + 1)]
        self._X: list[NDArray] = [np.ascontiguousarray(X[rows]) for rows in self._rows]
        self._engines: dict[int, NearestNeighbors] = {}
        for code, rows in enumerate(self._rows):
            if len(rows):
                self._engine(code)  # a metric that the engine cannot serve is reported here, not at the first query
        return self

    @property
    def class_sizes(self) -> IntArray:
        """The number of rows of each class."""
        return np.array([len(rows) for rows in self._rows])

    def row(self, number: int) -> NDArray:
        """Return the features of a row."""
        for X, rows in zip(self._X, self._rows, strict=True):
            at = np.searchsorted(rows, number)
            if at < len(rows) and rows[at] == number:
                return X[at]
        raise IndexError(f"There is no row {number} in the index, which has {self.class_sizes.sum()}.")

    def kneighbors(self, X: NDArray, code: int, k: int, skip: IntArray | None = None) -> tuple[FloatArray, IntArray]:
        """Return distances and numbers of the k nearest rows of a class, ascending.

        Of equal distances the earlier row is first. Where the class has fewer than k rows, the rest is infinite
        and numbered -1.

        Parameters
        ----------
        X : ndarray of shape (n_queries, n_features)
            The queries.
        code : int
            The class.
        k : int
            How many.
        skip : ndarray of shape (n_queries,), optional
            The number of the row to leave out for each query: itself, where the queries are rows of the index.
            Its duplicates stay.
        """
        distances = np.empty((len(X), k))
        numbers = np.empty((len(X), k), dtype=np.intp)
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            found = self._search(X[part], code, k, None if skip is None else skip[part])
            distances[part], numbers[part] = found
        return distances, numbers

    def positions(self, code: int, numbers: IntArray) -> IntArray:
        """Return where in a class, which has rows, those with some numbers stand; -1 for rows of other classes."""
        rows = self._rows[code]
        at = np.minimum(np.searchsorted(rows, numbers), len(rows) - 1)
        return np.where(rows[at] == numbers, at, -1)

    def kth_distance(self, X: NDArray, code: int, k: int, skip: IntArray | None = None) -> FloatArray:
        """Return only the distance to the k-th nearest row of a class; parameters as for :meth:`kneighbors`."""
        out = np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            out[part] = self._search(X[part], code, k, None if skip is None else skip[part])[0][:, k - 1]
        return out

    def _search(self, X: NDArray, code: int, k: int, skip: IntArray | None) -> tuple[FloatArray, IntArray]:
        rows = self._rows[code]
        width = min(len(rows), k + (skip is not None))
        if width == 0:
            return np.full((len(X), k), np.inf), np.full((len(X), k), -1, dtype=np.intp)
        own = np.full(len(X), -1, dtype=np.intp) if skip is None else self.positions(code, skip)
        engine = self._engine(code)
        with config_context(working_memory=_WORKING_MEMORY):
            distance, found = engine.kneighbors(X, n_neighbors=width)
        if engine.effective_metric_ == "euclidean":
            distance, found = nearest_exactly(X, self._X[code], found, own, k)
        else:
            distance, found = _drop(distance.astype(np.float64), found, own, k)
        return distance, np.where(found >= 0, rows[found], -1)

    def _engine(self, code: int) -> NearestNeighbors:
        if code not in self._engines:
            X = self._X[code]
            algorithm = self.algorithm
            if algorithm == "auto":
                algorithm = choose_algorithm(len(X), X.shape[1], self.metric)
            engine = NearestNeighbors(algorithm=algorithm, metric=self.metric, p=self.p, n_jobs=self.n_jobs)
            self._engines[code] = engine.fit(X)
        return self._engines[code]

    def __getstate__(self) -> Keywords:
        # Engines are rebuilt from the rows when asked: search trees cannot be stored without running code.
        return {**self.__dict__, "_engines": {}}


def choose_algorithm(n_rows: int, n_features: int, metric: Metric = "minkowski") -> str:
    """Return the engine that was measured fastest for this number of rows and features.

    A tree's advantage fades with the dimension: it needs about 2.5 times as many rows for each further feature
    (crossings near 250 rows at 2 features, 4,000 at 5, 60,000 at 8, and none in reach above 12).
    """
    if not isinstance(metric, str) or metric not in KDTree.valid_metrics:
        return "auto"
    return "kd_tree" if n_rows > 40 * 2.5**n_features else "brute"


def _drop(distance: FloatArray, found: IntArray, own: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """Leave out the row itself, or, where it was not found, the last; order by (distance, row); pad to k."""
    distance = np.where(found == own[:, None], np.inf, distance)
    order = np.lexsort((found, distance), axis=1)[:, :k]
    distance = np.take_along_axis(distance, order, axis=1)
    found = np.where(np.isinf(distance), -1, np.take_along_axis(found, order, axis=1))
    short = k - distance.shape[1]
    if short > 0:
        distance = np.pad(distance, ((0, 0), (0, short)), constant_values=np.inf)
        found = np.pad(found, ((0, 0), (0, short)), constant_values=-1)
    return distance, found
