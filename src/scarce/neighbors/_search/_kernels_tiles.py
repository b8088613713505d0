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
QUERIES = 256
# So few queries are measured with the rows as they lie in memory: to lay out tiles would take longer.
_FEW = 8

# No NaN can arise (padding is infinite, queries are not), and the number of lanes is fixed: sums may be taken in
# any order, since it is the same order each time.
_VECTORISED = {"contract", "nnan", "nsz", "reassoc"}


@inner
def _fetch(rows: NDArray, members: IntArray, tile: FloatArray) -> None:  # pragma: no cover - compiled
    """Lay out the members of a tile feature by feature; infinite values where there is none."""
    for j in range(TILE):
        member = members[j]
        if member < 0:
            for f in range(rows.shape[1]):
                tile[f, j] = np.inf
        else:
            for f in range(rows.shape[1]):
                tile[f, j] = rows[member, f]


@njit(fastmath=_VECTORISED, **INNER)
def _squared_distances(query: FloatArray, tile: FloatArray, out: FloatArray) -> None:  # pragma: no cover - compiled
    for j in range(TILE):
        out[j] = 0.0
    for f in range(tile.shape[0]):
        own = query[f]
        for j in range(TILE):
            difference = own - tile[f, j]
            out[j] += difference * difference


@njit(fastmath={"contract"}, **INNER)
def _squared_distances_of_all(query: FloatArray, rows: NDArray, out: FloatArray) -> None:  # pragma: no cover - compiled
    """Measure a query and all rows, in the order of the features as the tiles do; four rows at a time, for speed."""
    n, m = rows.shape
    whole = n - n % 4
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for f in range(m):
            d0, d1 = query[f] - rows[i, f], query[f] - rows[i + 1, f]
            d2, d3 = query[f] - rows[i + 2, f], query[f] - rows[i + 3, f]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(whole, n):
        s0 = 0.0
        for f in range(m):
            d0 = query[f] - rows[i, f]
            s0 += d0 * d0
        out[i] = s0


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


@njit(cache=True, nogil=True, error_model="numpy")
def forces(
    queries: NDArray,
    rows: NDArray,
    members: IntArray,
    codes: IntArray,
    n_classes: int,
    skip: IntArray,
    radius2: float,
    zero2: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Return for each query and class the force, the number of rows inside, and the least squared distance.

    The force is the sum of 1 / d² over rows with d² < `radius2`. Where some of these have d² <= `zero2`, they alone
    pull, each with 1 / `zero2`. `members`, of shape (n_tiles, TILE), has the numbers of the rows of each tile, all of
    one class, padded with -1. `skip` is the place of a row to leave out, counted through the tiles, or -1.
    """
    n, m = queries.shape
    force, count = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    nearest, zeros = np.full((n, n_classes), np.inf), np.zeros((n, n_classes))
    tile, squared = np.empty((m, TILE)), np.empty(TILE)
    block = np.empty((QUERIES, m))
    few = n <= _FEW
    measured = np.empty((n if few else 0, len(rows)))
    for i in range(len(measured)):
        for f in range(m):
            block[0, f] = queries[i, f]
        _squared_distances_of_all(block[0], rows, measured[i])
    for start in range(0, n, QUERIES):
        stop = min(n, start + QUERIES)
        for i in range(start, stop):
            for f in range(m):
                block[i - start, f] = queries[i, f]
        for t in range(len(members)):
            if not few:
                _fetch(rows, members[t], tile)
            c = codes[t]
            for i in range(start, stop):
                if few:
                    for j in range(TILE):
                        squared[j] = measured[i, members[t, j]] if members[t, j] >= 0 else np.inf
                else:
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
        touches = False
        for c in range(n_classes):
            touches |= zeros[i, c] > 0
        if touches:
            for c in range(n_classes):
                force[i, c] = zeros[i, c] / zero2
    return force, count, nearest


@njit(cache=True, nogil=True)
def distances_from_tile(rows: NDArray, members: IntArray, own: int) -> float:  # pragma: no cover - compiled
    """Return the sum of distances over ordered pairs of rows, of which the one in the earlier tile is in tile `own`.

    Over all tiles this is the sum over all ordered pairs. `members` is as for :func:`forces`.
    """
    m = rows.shape[1]
    tile, squared, query = np.empty((m, TILE)), np.empty(TILE), np.empty(m)
    total = 0.0
    for t in range(own, len(members)):
        _fetch(rows, members[t], tile)
        part = 0.0
        for member in members[own]:
            if member < 0:
                break
            for f in range(m):
                query[f] = rows[member, f]
            _squared_distances(query, tile, squared)
            part += _sum_of_roots(squared)
        total += part if t == own else 2 * part
    return total
