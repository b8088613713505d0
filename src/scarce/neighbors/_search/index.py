"""Per-class neighbour search."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import VALID_METRICS, KDTree

from scarce._typing import FloatArray, IntArray, Keywords, Metric
from scarce.neighbors._search.cells import FEW, RowCells
from scarce.neighbors._search.inverted_file import InvertedFile, choose_probes, make_cells
from scarce.neighbors._search.nearest_tiles import NearestTiles, check_size
from scarce.neighbors._search.scikit_search import ScikitSearch

__all__ = ["ClassIndex"]


# Queries of one block. Long enough for the engines' threads, short enough that the arrays of a block are small.
_BLOCK = 65_536
# Trees square their numbers, which neither overflows nor vanishes for rows whose extent is between these.
_SMALL, _LARGE = 1e-100, 1e150
# Rows on which the number of cells of an inverted file is chosen and its recall is measured.
_QUERIES = 4096
# "precomputed" has no rows to search.
_METRICS = sorted(set(VALID_METRICS["brute"]) - {"precomputed"})


class ClassIndex:
    """Nearest rows of one class, for any number of classes, with the row itself left out on request.

    Rows are known by their number in `X` of `fit`. No call holds an array of queries times rows.

    Parameters
    ----------
    metric, p, n_jobs
        As in scikit-learn's ``NearestNeighbors``.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "ivf"}
        "auto" chooses for each class by its number of rows and features (:func:`choose_algorithm`); Euclidean
        distances to many rows are searched in :class:`~scarce.neighbors._search.cells.RowCells`. "ivf" searches the
        largest class by an inverted file, which is approximate, and the others as "auto" does.
    recall : float
        For "ivf", the share of queries whose k-th distance, k being `n_neighbors`, is to be right.
    n_neighbors : int
        For "ivf", how many neighbours will be asked for.

    Attributes
    ----------
    recall_ : float
        The share of right k-th distances, measured on training rows that had no part in the choice; 1 for exact
        searches.

    See Also
    --------
    sklearn.neighbors.NearestNeighbors : The engine of trees, and of metrics other than the Euclidean one.
    """

    def __init__(
        self,
        metric: Metric = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        recall: float = 0.99,
        n_neighbors: int = 1,
    ) -> None:
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.recall = recall
        self.n_neighbors = n_neighbors

    def fit(self, X: NDArray, y: IntArray) -> Self:
        """Take the rows `X` of the classes `y` (codes from 0)."""
        if isinstance(self.metric, str) and self.metric not in _METRICS:
            raise ValueError(f"{self.metric!r} is not a metric. Use one of {', '.join(_METRICS)}, or a function.")
        check_size(X)
        self._rows: list[IntArray] = [np.flatnonzero(y == code) for code in range(int(y.max(initial=-1)) + 1)]
        self._X: list[NDArray] = [np.ascontiguousarray(X[rows]) for rows in self._rows]
        self._engines: dict[int, NearestTiles | RowCells | InvertedFile | ScikitSearch] = {}
        self._inverted: Keywords | None = None
        self.recall_ = 1.0
        if self.algorithm == "ivf":
            self._invert(X)
        for code, rows in enumerate(self._rows):
            if len(rows):
                self._engine(code)  # a metric that the engine cannot serve is reported here, not at the first query
        return self

    def _invert(self, X: NDArray) -> None:
        """Put the largest class into cells, and choose how many of them a search looks into."""
        if not self._is_euclidean:
            raise ValueError(f"algorithm='ivf' is for Euclidean distances; use algorithm='auto' for {self.metric!r}.")
        code = int(self.class_sizes.argmax())
        rows = self._X[code]
        cells = make_cells(rows)
        queries = np.random.default_rng(0).permutation(len(X))[:_QUERIES]
        own = self.positions(code, queries)
        n_probes, self.recall_ = choose_probes(rows, cells, X[queries], own, self.n_neighbors, self.recall)
        self._inverted = {"code": code, "centroids": cells[0], "cell": cells[1], "n_probes": n_probes}

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

    def kth_distance(
        self,
        X: NDArray,
        code: int,
        k: int,
        skip: IntArray | None = None,
        enough: FloatArray | None = None,
        most: FloatArray | None = None,
    ) -> FloatArray:
        """Return only the distance to the k-th nearest row of a class; parameters as for :meth:`kneighbors`.

        Where it is less than `enough`, another number less than that and no less than the distance may stand for it.
        Where it is more than `most`, infinity may.
        """
        out = np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            low, high = (None if limit is None else limit[part] for limit in (enough, most))
            found = self._search(X[part], code, k, None if skip is None else skip[part], low, high)
            out[part] = found[0][:, k - 1]
        return out

    def _search(
        self,
        X: NDArray,
        code: int,
        k: int,
        skip: IntArray | None,
        enough: FloatArray | None = None,
        most: FloatArray | None = None,
    ) -> tuple[FloatArray, IntArray]:
        rows = self._rows[code]
        if len(rows) == 0:
            return np.full((len(X), k), np.inf), np.full((len(X), k), -1, dtype=np.intp)
        own = np.full(len(X), -1, dtype=np.intp) if skip is None else self.positions(code, skip)
        engine = self._engine(code)
        large = self._is_euclidean and float(np.abs(X).max(initial=0)) > _LARGE
        if isinstance(engine, RowCells) and k <= FEW and not large:
            distance, found = engine.kneighbors(X, k, own, enough, most)
            return distance, np.where(found >= 0, rows[found], -1)
        if isinstance(engine, RowCells) or (isinstance(engine, ScikitSearch) and large):
            engine = NearestTiles(self._X[code])
        distance, found = engine.kneighbors(X, k, own)
        return distance, np.where(found >= 0, rows[found], -1)

    @property
    def _is_euclidean(self) -> bool:
        return self.metric in ("euclidean", "l2") or (self.metric == "minkowski" and self.p == 2)

    def _engine(self, code: int) -> NearestTiles | RowCells | InvertedFile | ScikitSearch:
        if code not in self._engines:
            self._engines[code] = self._make_engine(code)
        return self._engines[code]

    def _make_engine(self, code: int) -> NearestTiles | RowCells | InvertedFile | ScikitSearch:
        X, algorithm, inverted = self._X[code], self.algorithm, self._inverted
        if inverted is not None and inverted["code"] == code:
            return InvertedFile(X, (inverted["centroids"], inverted["cell"]), inverted["n_probes"])
        if algorithm == "auto" and self._is_euclidean and RowCells.suits(X) and not _is_extreme(X):
            return RowCells(X)
        if algorithm in ("auto", "ivf"):
            algorithm = choose_algorithm(len(X), X.shape[1], self.metric)
        if self._is_euclidean and (algorithm == "brute" or _is_extreme(X)):
            return NearestTiles(X)
        return ScikitSearch(X, self.metric, self.p, algorithm, self.n_jobs)

    def __getstate__(self) -> Keywords:
        # Engines are rebuilt from the rows when asked: search trees cannot be stored without running code.
        return {**self.__dict__, "_engines": {}}


def choose_algorithm(n_rows: int, n_features: int, metric: Metric = "minkowski") -> str:
    """Return the engine that was measured fastest for this number of rows and features.

    A tree's advantage fades with the dimension: it needs about 3.7 times as many rows for each further feature
    (crossings near 400 rows at 2 features, 17,000 at 5, a million at 8).
    """
    if not isinstance(metric, str) or metric not in KDTree.valid_metrics:
        return "auto"
    return "kd_tree" if math.log(n_rows / 30) > n_features * math.log(3.7) else "brute"


def _is_extreme(X: NDArray) -> bool:
    """Say whether the squares of rows overflow, or those of their differences vanish."""
    low, high = X.min(axis=0), X.max(axis=0)
    largest, extent = float(np.maximum(-low, high).max()), float((high - low).max())
    return largest > _LARGE or 0 < extent < _SMALL
