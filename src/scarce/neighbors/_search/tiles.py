"""All pairs of queries and training rows, measured in tiles that fit the cache and in several threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_tiles import QUERIES, TILE, distances_from_tile, forces
from scarce.neighbors._search.index import ClassIndex

_SAMPLED_PAIRS = 2_000_000
_PAIRS_AT_ONCE = 100_000
_ROWS_AT_ONCE = 65_536


class RowTiles:
    """Training rows in tiles of one class each.

    Within a class the rows are sorted by their bytes, so that no result depends on the order in which they came. They
    stay where they are: a tile has the numbers of its rows, and is laid out by feature when queries meet it.
    """

    def __init__(self, X: NDArray, y: IntArray) -> None:
        self._X = np.ascontiguousarray(X)
        row_bytes = self._X.view(np.dtype((np.void, X.itemsize * X.shape[1]))).ravel()
        order = np.argsort(row_bytes, kind="stable")
        self.class_sizes = np.bincount(y)
        n_tiles = -(-self.class_sizes // TILE)
        self._members = np.full((n_tiles.sum(), TILE), -1, dtype=np.intp)
        self._codes = np.repeat(np.arange(len(n_tiles)), n_tiles)
        ends = np.cumsum(n_tiles) * TILE
        for code, (size, start) in enumerate(zip(self.class_sizes, ends - n_tiles * TILE, strict=True)):
            self._members.reshape(-1)[start : start + size] = order[y[order] == code]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._X)

    @cached_property
    def index(self) -> ClassIndex:
        """The rows by class, copied for other searches when first asked for."""
        y = np.empty(self.n_rows, dtype=np.intp)
        y[self._order] = np.repeat(np.arange(len(self.class_sizes)), self.class_sizes)
        return ClassIndex("euclidean").fit(self._X, y)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "index"}

    @property
    def _order(self) -> IntArray:
        """The numbers of the rows in the order of the tiles."""
        return self._members[self._members >= 0]

    def forces(
        self, X: NDArray, radius2: float, zero2: float, skip: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the forces, the numbers of rows inside and the least squared distances, by query and class.

        See :func:`scarce.neighbors._search._kernels_tiles.forces`. `skip` has the number of the row to leave out.
        """
        places = np.full(len(X), -1)
        if skip is not None:
            place = np.empty(self.n_rows, dtype=np.intp)
            place[self._order] = np.flatnonzero(self._members >= 0)
            places = place[skip]
        parts = [slice(start, start + QUERIES) for start in range(0, len(X), QUERIES)]
        about = self._X, self._members, self._codes, len(self.class_sizes)
        done = _in_threads(forces, [(X[p], *about, places[p], radius2, zero2) for p in parts])
        force, count, nearest = (np.concatenate(arrays) for arrays in zip(*done, strict=True))
        return force, count, nearest

    def mean_distance(self) -> float:
        """Return the mean distance over all pairs."""
        sums = _in_threads(distances_from_tile, [(self._X, self._members, own) for own in range(len(self._members))])
        return math.fsum(sums) / (self.n_rows * (self.n_rows - 1))

    def root_mean_square_distance(self) -> float:
        """Return the root of the mean squared distance over all pairs, which the variances give."""
        mean = self._column_sums(0.0, 1) / self.n_rows
        variance = self._column_sums(mean, 2) / self.n_rows
        return float(np.sqrt(2 * self.n_rows / (self.n_rows - 1) * variance.sum()))

    def _column_sums(self, mean: Any, power: int) -> FloatArray:
        """Sum powers of differences from the mean, row after row, a part of the rows at a time."""
        order, total = self._order, np.zeros((1, self._X.shape[1]))
        for start in range(0, self.n_rows, _ROWS_AT_ONCE):
            part = (self._rows(order[start : start + _ROWS_AT_ONCE]) - mean) ** power
            total = np.add.reduce(np.concatenate((total, part)), axis=0, keepdims=True)
        return total[0]

    def sampled_mean_distance(self) -> tuple[float, float]:
        """Return the mean distance over random pairs, always the same ones, and its standard error."""
        order = self._order
        rng = np.random.default_rng(0)
        distances = []
        for _ in range(_SAMPLED_PAIRS // _PAIRS_AT_ONCE):
            one = rng.integers(self.n_rows, size=_PAIRS_AT_ONCE)
            other = (one + rng.integers(1, self.n_rows, size=_PAIRS_AT_ONCE)) % self.n_rows
            difference = self._rows(order[one]) - self._rows(order[other])
            distances.append(np.sqrt((difference**2).sum(axis=1)))
        found = np.concatenate(distances)
        return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))

    def _rows(self, numbers: IntArray) -> FloatArray:
        return self._X[numbers].astype(np.float64)


def _in_threads(kernel: Callable[..., Any], calls: list[tuple[Any, ...]]) -> list[Any]:
    if len(calls) == 1:
        return [kernel(*calls[0])]
    # Not numba's own threads: they do not survive a fork, and some of their kinds allow one caller only.
    with ThreadPoolExecutor(joblib.cpu_count()) as pool:
        return list(pool.map(lambda call: kernel(*call), calls))
