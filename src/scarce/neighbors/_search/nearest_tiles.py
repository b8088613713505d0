"""Exact Euclidean search over all rows, in tiles that fit the cache and in several threads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from scarce._sklearn import openmp_threads
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_nearest import TILE, nearest_of_tiles

__all__ = ["NearestTiles", "check_size"]

# Queries of one thread at a time.
_BLOCK = 256
# Rows that are measured at once when the tiles are made.
_CHUNK = 65_536
# Rows whose median is the centre.
_SAMPLE = 1023
# The difference of two numbers up to here is finite, and so is a distance in a few thousand features.
_LARGEST = 1e306
# The golden ratio: multiples of it, without their whole part, spread evenly.
_STRIDE = (5**0.5 - 1) / 2


class NearestTiles:
    """Rows in tiles, to be searched by Euclidean distance.

    The result is that of measuring every distance by differences in double precision, ties by position included. The
    columns are centred, so a large offset costs no digit.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows, known by their position here. They are not copied.
    """

    def __init__(self, rows: NDArray) -> None:
        n, m = rows.shape
        self._X = rows
        # A median, since one far row would move a mean away from all others. Any centre gives the same result.
        sample = np.sort(rows[:: -(-n // _SAMPLE)].astype(np.float64), axis=0)
        self._centre = sample[len(sample) // 2]
        farthest = np.maximum(rows.max(axis=0) - self._centre, self._centre - rows.min(axis=0))
        self._largest = float(farthest.max())
        self._scale = math.ldexp(1.0, -min(max(math.frexp(self._largest)[1], -1000), 1000))
        # Rows of similar norm share a tile, because rounding is bounded by the largest norm of a tile.
        norm = np.concatenate([np.linalg.norm(self._scaled(rows[part]), axis=1) for part in gen_batches(n, _CHUNK)])
        n_tiles = -(-n // TILE)
        self._places = np.full((n_tiles, TILE), -1, dtype=np.intp)
        self._places.reshape(-1)[:n] = np.argsort(norm, kind="stable")
        # The tiles in turn are of all norms, so that near rows are met early and the others passed over.
        self._places = self._places[np.argsort((np.arange(n_tiles) * _STRIDE) % 1, kind="stable")]
        self._tiles = np.full((n_tiles, m, TILE), np.inf, dtype=np.float32)
        self._norms = np.empty(n_tiles)
        for tile, places in enumerate(self._places):
            held = places[places >= 0]
            self._tiles[tile, :, : len(held)] = self._scaled(rows[held]).T
            self._norms[tile] = norm[held].max()

    def _scaled(self, rows: NDArray) -> FloatArray:
        return (rows - self._centre) * self._scale

    def kneighbors(self, X: NDArray, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
        """Return distances and positions of the k nearest rows, by (distance, position), without the row `skip`."""
        check_size(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        about = self._X, self._tiles, self._places, self._norms, self._centre, self._largest, self._scale

        def search(start: int) -> tuple[FloatArray, IntArray]:
            part = slice(start, start + _BLOCK)
            return nearest_of_tiles(X[part], *about, skip[part], k)

        threads = openmp_threads()
        if len(X) <= _BLOCK or threads == 1:
            return nearest_of_tiles(X, *about, skip, k)
        # Not OpenMP's threads: they do not survive a fork.
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(search, range(0, len(X), _BLOCK)))
        distance, position = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return distance, position


def check_size(X: NDArray) -> None:
    """Refuse values whose distances overflow."""
    largest = max(float(X.max(initial=0)), -float(X.min(initial=0)))
    if largest > _LARGEST:
        raise ValueError(
            f"Values as large as {largest:.1e} have no finite distances; divide the features until they are "
            f"below {_LARGEST:g}."
        )
