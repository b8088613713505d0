"""Exact Euclidean search over all rows, in tiles that fit the cache and in several threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from scarce._sklearn import openmp_threads
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_nearest import LARGE, SMALL, TILE, nearest_of_tiles

__all__ = ["NearestTiles", "Tiles", "check_size", "in_threads"]

# Queries of one thread at a time.
_BLOCK = 256
# Rows that are measured at once when the tiles are made.
_CHUNK = 65_536
# Up to so many rows and pairs are measured by NumPy, which has nothing to compile: the first fit on a small table
# after installation would wait seconds for the loops, to save milliseconds.
_FEW_ROWS, _FEW_PAIRS = 1_024, 2**19
# Pairs that NumPy measures at once, which stay in the cache.
_PAIRS_AT_ONCE = 2**15
# Rows whose median is the centre.
_SAMPLE = 1023
# The difference of two numbers up to here is finite, and so is a distance in a few thousand features.
_LARGEST = 1e306
# The golden ratio: multiples of it, without their whole part, spread evenly.
_STRIDE = (5**0.5 - 1) / 2


class Tiles(NamedTuple):
    """Rows in tiles, as :func:`~scarce.neighbors._search._kernels_nearest.nearest_of_tiles` takes them."""

    rows: NDArray
    tiles: NDArray
    places: IntArray
    norms: FloatArray
    centre: FloatArray
    largest: float
    scale: float

    @classmethod
    def of(cls, rows: NDArray, lay_out: Callable[[FloatArray], IntArray]) -> Tiles:
        """Lay out rows. `lay_out` takes their norms and returns the positions of the rows of each tile, or -1."""
        # A median, since one far row would move a mean away from all others. Any centre gives the same result.
        sample = np.sort(rows[:: -(-len(rows) // _SAMPLE)].astype(np.float64), axis=0)
        centre = sample[len(sample) // 2]
        largest = float(np.maximum(rows.max(axis=0) - centre, centre - rows.min(axis=0)).max())
        scale = math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))

        def scaled(part: slice | IntArray) -> FloatArray:
            return (rows[part] - centre) * scale

        norm = np.concatenate([np.linalg.norm(scaled(part), axis=1) for part in gen_batches(len(rows), _CHUNK)])
        places = lay_out(norm)
        tiles = np.full((len(places), rows.shape[1], TILE), np.inf, dtype=np.float32)
        norms = np.empty(len(places))
        for tile, at in enumerate(places):
            held = at[at >= 0]
            tiles[tile, :, : len(held)] = scaled(held).T
            norms[tile] = norm[held].max()
        return cls(rows, tiles, places, norms, centre, largest, scale)


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
        self._tiles = Tiles.of(rows, _by_norm)

    def kneighbors(self, X: NDArray, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
        """Return distances and positions of the k nearest rows, by (distance, position), without the row `skip`."""
        check_size(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        n_rows = len(self._tiles.rows)
        if n_rows <= _FEW_ROWS and len(X) * n_rows <= _FEW_PAIRS:
            return _nearest_of_few(X, self._tiles, k, skip)
        return in_threads(lambda part: nearest_of_tiles(X[part], *self._tiles, skip[part], k), len(X), _BLOCK)


def _nearest_of_few(X: FloatArray, tiles: Tiles, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
    """Measure all pairs, with the same sums in the same order as the loops: the same bits."""
    rows = tiles.rows.T.astype(np.float64)
    distance, position = np.full((len(X), k), np.inf), np.full((len(X), k), -1, dtype=np.intp)
    for part in gen_batches(len(X), max(1, _PAIRS_AT_ONCE // max(1, len(tiles.rows)))):
        extent = np.maximum(tiles.largest, np.abs(X[part] - tiles.centre).max(axis=1, initial=0))
        exponent = np.clip(np.frexp(extent)[1], -1000, 1000)
        power = np.where((extent > SMALL) & (extent < LARGE), 1.0, np.ldexp(1.0, -exponent))[:, None]
        squared = np.zeros((len(extent), len(tiles.rows)))
        with np.errstate(over="ignore"):
            for asked, held in zip(X[part].T, rows, strict=True):
                difference = (asked[:, None] - held) * power
                squared += difference * difference
        left_out = np.flatnonzero(skip[part] >= 0)
        squared[left_out, skip[part][left_out]] = np.inf
        found = np.argsort(squared, axis=1, kind="stable")[:, :k]
        distance[part, : found.shape[1]] = np.sqrt(np.take_along_axis(squared, found, axis=1)) / power
        position[part, : found.shape[1]] = found
    position[np.isinf(distance)] = -1
    return distance, position


def _by_norm(norm: FloatArray) -> IntArray:
    """Put rows of similar norm into a tile, because rounding is bounded by the largest norm of a tile."""
    n_tiles = -(-len(norm) // TILE)
    places = np.full((n_tiles, TILE), -1, dtype=np.intp)
    places.reshape(-1)[: len(norm)] = np.argsort(norm, kind="stable")
    # The tiles in turn are of all norms, so that near rows are met early and the others passed over.
    return places[np.argsort((np.arange(n_tiles) * _STRIDE) % 1, kind="stable")]


def in_threads(search: Callable[[slice], tuple[Any, Any]], n: int, block: int) -> tuple[Any, Any]:
    """Search blocks of n queries in threads, and join what is found."""
    threads = openmp_threads()
    if n <= block or threads == 1:
        return search(slice(0, n))
    # Not OpenMP's own threads: they do not survive a fork.
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(search, gen_batches(n, block)))
    one, other = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return one, other


def check_size(X: NDArray) -> None:
    """Refuse values whose distances overflow."""
    largest = max(float(X.max(initial=0)), -float(X.min(initial=0)))
    if largest > _LARGEST:
        raise ValueError(
            f"Values as large as {largest:.1e} have no finite distances; divide the features until they are "
            f"below {_LARGEST:g}."
        )
