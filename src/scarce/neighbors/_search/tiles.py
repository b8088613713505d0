"""All pairs of queries and training rows, measured in tiles that fit the cache and in several threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_tiles import TILE, distances_from_tile, forces

# Queries of one thread at a time.
_BLOCK = 256
_SAMPLED_PAIRS = 2_000_000
_PAIRS_AT_ONCE = 100_000


class RowTiles:
    """Training rows in tiles of one class each, laid out by feature.

    Within a class the rows are sorted by their bytes, so that no result depends on the order in which they came.
    """

    def __init__(self, X: NDArray, y: IntArray) -> None:
        m = X.shape[1]
        row_bytes = np.ascontiguousarray(X).view(np.dtype((np.void, X.itemsize * m))).ravel()
        classes = [np.flatnonzero(y == code) for code in range(int(y.max()) + 1)]
        order = np.concatenate([rows[np.argsort(row_bytes[rows], kind="stable")] for rows in classes])
        n_tiles = [-(-len(rows) // TILE) for rows in classes]
        ends = np.cumsum(n_tiles) * TILE
        starts = ends - np.multiply(n_tiles, TILE)
        place = np.concatenate([start + np.arange(len(rows)) for start, rows in zip(starts, classes, strict=True)])
        padded = np.full((ends[-1], m), np.inf, dtype=X.dtype)
        padded[place] = X[order]
        self.n_rows = len(X)
        self.n_classes = len(classes)
        self._tiles = np.ascontiguousarray(padded.reshape(-1, TILE, m).transpose(0, 2, 1))
        self._codes = np.repeat(np.arange(len(classes)), n_tiles)
        self._sizes = np.bincount(place // TILE)
        self._place = np.empty(len(X), dtype=np.intp)
        self._place[order] = place

    def forces(
        self, X: NDArray, radius2: float, zero2: float, skip: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the forces, the numbers of rows inside and the least squared distances, by query and class.

        See :func:`scarce.neighbors._search._kernels_tiles.forces`. `skip` has the number of the row to leave out.
        """
        skip = np.full(len(X), -1) if skip is None else self._place[skip]
        parts = [slice(start, start + _BLOCK) for start in range(0, len(X), _BLOCK)]
        done = _in_threads(
            forces, [(X[p], self._tiles, self._codes, self.n_classes, skip[p], radius2, zero2) for p in parts]
        )
        force, count, nearest = (np.concatenate(arrays) for arrays in zip(*done, strict=True))
        return force, count, nearest

    def mean_distance(self) -> float:
        """Return the mean distance over all pairs."""
        sums = _in_threads(distances_from_tile, [(self._tiles, self._sizes, own) for own in range(len(self._tiles))])
        return math.fsum(sums) / (self.n_rows * (self.n_rows - 1))

    def root_mean_square_distance(self) -> float:
        """Return the root of the mean squared distance over all pairs, which the variances give."""
        variance = np.var(self._rows(np.sort(self._place)), axis=0)
        return float(np.sqrt(2 * self.n_rows / (self.n_rows - 1) * variance.sum()))

    def sampled_mean_distance(self) -> tuple[float, float]:
        """Return the mean distance over random pairs, always the same ones, and its standard error."""
        place = np.sort(self._place)
        rng = np.random.default_rng(0)
        distances = []
        for _ in range(_SAMPLED_PAIRS // _PAIRS_AT_ONCE):
            one = rng.integers(self.n_rows, size=_PAIRS_AT_ONCE)
            other = (one + rng.integers(1, self.n_rows, size=_PAIRS_AT_ONCE)) % self.n_rows
            difference = self._rows(place[one]) - self._rows(place[other])
            distances.append(np.sqrt((difference**2).sum(axis=1)))
        found = np.concatenate(distances)
        return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))

    def _rows(self, place: IntArray) -> FloatArray:
        return self._tiles[place // TILE, :, place % TILE].astype(np.float64)


def _in_threads(kernel: Callable[..., Any], calls: list[tuple[Any, ...]]) -> list[Any]:
    if len(calls) == 1:
        return [kernel(*calls[0])]
    # Not numba's own threads: they do not survive a fork, and some of their kinds allow one caller only.
    with ThreadPoolExecutor(joblib.cpu_count()) as pool:
        return list(pool.map(lambda call: kernel(*call), calls))
