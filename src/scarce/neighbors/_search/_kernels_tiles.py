"""Forces and mean distances over all pairs, tile by tile: arrays in, arrays out.

Distances are sums of squared differences in double precision, not expanded into products: equal rows are exactly 0
apart, no digit is lost near a radius, and every query passes through the same operations whatever its batch.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import INNER, inner
from scarce._typing import FloatArray, IntArray

# Training rows of one tile: a tile of 30 features stays in the first cache.
TILE = 128
# Queries that meet a tile before the next is fetched.
_QUERIES = 64

# No NaN can arise (padding is infinite, queries are not), and the number of lanes is fixed: sums may be taken in
# any order, since it is the same order each time.
_VECTORISED = {"contract", "nnan", "nsz", "reassoc"}


@njit(fastmath=_VECTORISED, **INNER)
def _squared_distances(query: FloatArray, tile: FloatArray, out: FloatArray) -> None:  # pragma: no cover - compiled
    for j in range(TILE):
        out[j] = 0.0
    for f in range(tile.shape[0]):
        own = query[f]
        for j in range(TILE):
            difference = own - tile[f, j]
            out[j] += difference * difference


@njit(fastmath=_VECTORISED, error_model="numpy", **INNER)
def _inside(squared: FloatArray, radius2: float) -> tuple[float, float, float]:  # pragma: no cover - compiled
    """Return the least squared distance, and of those below `radius2` the number and the sum of reciprocals."""
    least = np.inf
    for j in range(TILE):
        least = min(least, squared[j])
    count, force = 0.0, 0.0
    if least < radius2:
        for j in range(TILE):
            inside = 1.0 if squared[j] < radius2 else 0.0
            count += inside
            force += inside / squared[j]
    return least, count, force


@njit(fastmath=_VECTORISED, **INNER)
def _sum_of_roots(squared: FloatArray) -> float:  # pragma: no cover - compiled
    total = 0.0
    for j in range(TILE):
        total += np.sqrt(squared[j]) if squared[j] < np.inf else 0.0
    return total


@inner
def _copy(tile: NDArray, out: FloatArray) -> None:  # pragma: no cover - compiled
    """Copy a tile in double precision. Here and below loops, since whole-array assignments compile for seconds."""
    for f in range(out.shape[0]):
        for j in range(TILE):
            out[f, j] = tile[f, j]


@njit(cache=True, nogil=True, error_model="numpy")
def forces(
    queries: NDArray,
    tiles: NDArray,
    codes: IntArray,
    n_classes: int,
    skip: IntArray,
    radius2: float,
    zero2: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Return for each query and class the force, the number of rows inside, and the least squared distance.

    The force is the sum of 1 / d² over rows with d² < `radius2`. Where some of these have d² <= `zero2`, they alone
    pull, each with 1 / `zero2`. `tiles` has shape (n_tiles, n_features, TILE), padded with infinite values, and each
    tile has rows of one class. `skip` is the place of a row to leave out, counted through the tiles, or -1.
    """
    n, m = queries.shape
    force, count = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    nearest, zeros = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    tile, squared = np.zeros((m, TILE)), np.zeros(TILE)
    block = np.zeros((_QUERIES, m))
    for i in range(n):
        for c in range(n_classes):
            nearest[i, c] = np.inf
    for start in range(0, n, _QUERIES):
        stop = min(n, start + _QUERIES)
        for i in range(start, stop):
            for f in range(m):
                block[i - start, f] = queries[i, f]
        for t in range(len(tiles)):
            _copy(tiles[t], tile)
            c = codes[t]
            for i in range(start, stop):
                _squared_distances(block[i - start], tile, squared)
                if skip[i] // TILE == t:
                    squared[skip[i] % TILE] = np.inf
                least, inside, pull = _inside(squared, radius2)
                force[i, c] += pull
                count[i, c] += inside
                nearest[i, c] = min(nearest[i, c], least)
                if least <= zero2:
                    for j in range(TILE):
                        zeros[i, c] += squared[j] <= zero2 and squared[j] < radius2
    for i in range(n):
        together = 0.0
        for c in range(n_classes):
            together += zeros[i, c]
        if together > 0:
            for c in range(n_classes):
                force[i, c] = zeros[i, c] / zero2
    return force, count, nearest


@njit(cache=True, nogil=True)
def distances_from_tile(tiles: NDArray, sizes: IntArray, own: int) -> float:  # pragma: no cover - compiled
    """Return the sum of distances over ordered pairs of rows, of which the one in the earlier tile is in tile `own`.

    Over all tiles this is the sum over all ordered pairs. `sizes` has the number of rows of each tile.
    """
    m = tiles.shape[1]
    tile, squared = np.zeros((m, TILE)), np.zeros(TILE)
    queries = np.zeros((sizes[own], m))
    for i in range(sizes[own]):
        for f in range(m):
            queries[i, f] = tiles[own, f, i]
    total = 0.0
    for t in range(own, len(tiles)):
        _copy(tiles[t], tile)
        part = 0.0
        for i in range(len(queries)):
            _squared_distances(queries[i], tile, squared)
            part += _sum_of_roots(squared)
        total += part if t == own else 2 * part
    return total
