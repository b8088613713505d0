"""The loops of the search in tiles: distances to all rows in single precision, to the few that may count in double.

A row is passed over only where its rounded distance shows that its true one is beyond the k-th nearest so far. With u
the rounding unit of single precision, rows and queries are rounded once, which moves a distance by at most u times the
sum of their norms; the sum of squares of m differences is off by at most a factor of 1 + (m + 2) u. The bounds below
take twice that, which covers the rounding of the bounds themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import INNER, inner
from scarce._typing import FloatArray, IntArray

# Rows of one tile: with 20 features it stays in the first cache.
TILE = 256
# Queries that meet a tile before the next is fetched.
_QUERIES = 64

_TWO_U = 2.0**-23
# More than rounding can lose among the least numbers of single precision.
_LEAST = 2.0**-140
# Differences between these have squares, and sums of squares, that neither vanish nor overflow.
SMALL, LARGE = 1e-100, 1e150

# A product may be added without being rounded first. That changes bounded distances only, never one that is returned.
_CONTRACT = {"contract"}


@njit(fastmath=_CONTRACT, **INNER)
def _one_beside_tile(query: NDArray, tile: NDArray, out: NDArray) -> None:  # pragma: no cover - compiled
    m = len(query)
    for t in range(TILE):
        out[t] = 0
    f = 0
    # Four features at a time, since the sums are read and written once for all of them.
    while f + 4 <= m:
        q0, q1, q2, q3 = query[f], query[f + 1], query[f + 2], query[f + 3]
        b0, b1, b2, b3 = tile[f], tile[f + 1], tile[f + 2], tile[f + 3]
        for t in range(TILE):
            d0, d1, d2, d3 = q0 - b0[t], q1 - b1[t], q2 - b2[t], q3 - b3[t]
            out[t] = out[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        f += 4
    while f < m:
        q0, b0 = query[f], tile[f]
        for t in range(TILE):
            d0 = q0 - b0[t]
            out[t] += d0 * d0
        f += 1


@njit(fastmath=_CONTRACT, **INNER)
def _four_beside_tile(queries: NDArray, tile: NDArray, out: NDArray) -> None:  # pragma: no cover - compiled
    """Measure four queries at once, which share the fetched rows."""
    m = queries.shape[1]
    u, v, w, x = queries[0], queries[1], queries[2], queries[3]
    of_u, of_v, of_w, of_x = out[0], out[1], out[2], out[3]
    for t in range(TILE):
        of_u[t] = 0
        of_v[t] = 0
        of_w[t] = 0
        of_x[t] = 0
    f = 0
    while f + 4 <= m:
        b0, b1, b2, b3 = tile[f], tile[f + 1], tile[f + 2], tile[f + 3]
        u0, u1, u2, u3 = u[f], u[f + 1], u[f + 2], u[f + 3]
        v0, v1, v2, v3 = v[f], v[f + 1], v[f + 2], v[f + 3]
        w0, w1, w2, w3 = w[f], w[f + 1], w[f + 2], w[f + 3]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        for t in range(TILE):
            r0, r1, r2, r3 = b0[t], b1[t], b2[t], b3[t]
            d0, d1, d2, d3 = u0 - r0, u1 - r1, u2 - r2, u3 - r3
            of_u[t] = of_u[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
            d0, d1, d2, d3 = v0 - r0, v1 - r1, v2 - r2, v3 - r3
            of_v[t] = of_v[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
            d0, d1, d2, d3 = w0 - r0, w1 - r1, w2 - r2, w3 - r3
            of_w[t] = of_w[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
            d0, d1, d2, d3 = x0 - r0, x1 - r1, x2 - r2, x3 - r3
            of_x[t] = of_x[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        f += 4
    while f < m:
        b0 = tile[f]
        u0, v0, w0, x0 = u[f], v[f], w[f], x[f]
        for t in range(TILE):
            r0 = b0[t]
            d0, d1, d2, d3 = u0 - r0, v0 - r0, w0 - r0, x0 - r0
            of_u[t] += d0 * d0
            of_v[t] += d1 * d1
            of_w[t] += d2 * d2
            of_x[t] += d3 * d3
        f += 1


@inner
def _any_within(squared: NDArray, a: int, limit: np.float32) -> bool:  # pragma: no cover - compiled
    hits = 0
    for t in range(TILE):
        hits += squared[a, t] <= limit
    return hits > 0


@inner
def _limit(reach: float, norms: float, m: int) -> np.float32:  # pragma: no cover - compiled
    """Return a square that no rounded one of a row within the distance `reach` exceeds."""
    slack = m * _LEAST
    reach = reach + slack + _TWO_U * norms
    return np.nextafter(np.float32(reach * reach * (1 + (m + 8) * _TWO_U) + slack), np.float32(np.inf))


@inner
def _power_below(largest: float) -> float:  # pragma: no cover - compiled
    """Return a power of two that brings numbers up to `largest` to at most 1; such a factor does not round."""
    _, exponent = math.frexp(largest)
    return math.ldexp(1.0, -min(max(exponent, -1000), 1000))


@inner
def _prepare(
    queries: FloatArray, centre: FloatArray, largest: float, scale: float, block: NDArray, about: FloatArray
) -> None:  # pragma: no cover - compiled
    """Bring queries into the tiles' precision; tell of each its power, that beside the tiles', its norm and its reach.

    The power is that by which exact differences are multiplied. The reach is the distance of the k-th nearest row so
    far, in the tiles' unit.
    """
    m = queries.shape[1]
    for i in range(len(queries)):
        extent, total = largest, 0.0
        for f in range(m):
            value = queries[i, f] - centre[f]
            extent = max(extent, abs(value))
            value *= scale
            block[i, f] = value
            total += value * value
        power = 1.0 if SMALL < extent < LARGE else _power_below(extent)
        about[i, 0], about[i, 1], about[i, 2], about[i, 3] = power, scale / power, np.sqrt(total), np.inf


@inner
def _take_nearer(
    squared: NDArray,
    query: FloatArray,
    rows: NDArray,
    places: IntArray,
    tile_norm: float,
    skip: int,
    about: FloatArray,
    distance: FloatArray,
    position: IntArray,
) -> None:  # pragma: no cover - compiled
    """Measure exactly the rows of a tile that may be among the nearest of a query, and put those into its list."""
    k, m = len(distance), len(query)
    power, ratio, norms = about[0], about[1] * (1 + (m + 8) * 2.0**-52), about[2] + tile_norm
    limit = _limit(about[3], norms, m)
    for t in range(TILE):
        row = places[t]
        if not squared[t] <= limit or row < 0 or row == skip:
            continue
        total = 0.0
        for f in range(m):
            difference = (query[f] - np.float64(rows[row, f])) * power
            total += difference * difference
        at = k
        while at > 0 and (distance[at - 1] > total or (distance[at - 1] == total and position[at - 1] > row)):
            at -= 1
        if at == k:
            continue
        for later in range(k - 1, at, -1):
            distance[later] = distance[later - 1]
            position[later] = position[later - 1]
        distance[at] = total
        position[at] = row
        about[3] = np.sqrt(distance[k - 1]) * ratio
        limit = _limit(about[3], norms, m)


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_of_tiles(
    queries: FloatArray,
    rows: NDArray,
    tiles: NDArray,
    places: IntArray,
    norms: FloatArray,
    centre: FloatArray,
    largest: float,
    scale: float,
    skip: IntArray,
    k: int,
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return distances and positions of the k nearest rows, by (distance, position).

    Distances are roots of sums of squared differences in double precision, in the order of the features. Differences
    whose squares would overflow or vanish are brought near 1 by a power of two. Where there are fewer than k rows, the
    rest is infinite, of position -1.

    Parameters
    ----------
    queries, rows : ndarray of shape (n_queries, n_features) and (n_rows, n_features)
        As they came.
    tiles : ndarray of shape (n_tiles, n_features, TILE)
        The rows less `centre`, times `scale`, in single precision; infinite where there is none.
    places : ndarray of shape (n_tiles, TILE)
        The position of each row of a tile, or -1.
    norms : ndarray of shape (n_tiles,)
        The largest norm of a tile's rows.
    centre : ndarray of shape (n_features,)
        Subtracted from rows and queries.
    largest : float
        The largest absolute value of the rows less `centre`.
    scale : float
        A power of two that brings `largest` to at most 1.
    skip : ndarray of shape (n_queries,)
        The position of a row to leave out, or -1.
    k : int
        How many.
    """
    n, m = queries.shape
    distance = np.full((n, k), np.inf)
    position = np.full((n, k), -1, dtype=np.intp)
    size = min(n, _QUERIES)
    block = np.zeros((-(-size // 4) * 4, m), dtype=np.float32)
    about = np.empty((size, 4))
    squared = np.empty((4, TILE), dtype=np.float32)
    for start in range(0, n, _QUERIES):
        held = min(_QUERIES, n - start)
        _prepare(queries[start : start + held], centre, largest, scale, block, about)
        for tile in range(len(tiles)):
            for first in range(0, held, 4):
                together = min(4, held - first)
                if together == 1:
                    _one_beside_tile(block[first], tiles[tile], squared[0])
                else:
                    _four_beside_tile(block[first : first + 4], tiles[tile], squared)
                for a in range(together):
                    i, r = first + a, start + first + a
                    if _any_within(squared, a, _limit(about[i, 3], about[i, 2] + norms[tile], m)):
                        _take_nearer(
                            squared[a], queries[r], rows, places[tile], norms[tile], skip[r], about[i],
                            distance[r], position[r],
                        )  # fmt: skip
        for i in range(held):
            for at in range(k):
                distance[start + i, at] = math.sqrt(distance[start + i, at]) / about[i, 0]
    return distance, position


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_of_cells(
    queries: FloatArray,
    rows: NDArray,
    tiles: NDArray,
    places: IntArray,
    norms: FloatArray,
    centre: FloatArray,
    largest: float,
    scale: float,
    skip: IntArray,
    k: int,
    first_tile: IntArray,
    visitor: IntArray,
    cell: IntArray,
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the k nearest rows as :func:`nearest_of_tiles` does, of the tiles of some cells.

    Visit v is that of the query ``visitor[v]`` to the cell ``cell[v]``, whose tiles begin with ``first_tile[cell[v]]``.
    Queries that visit a cell one after another share its fetched tiles.
    """
    n, m = queries.shape
    distance = np.full((n, k), np.inf)
    position = np.full((n, k), -1, dtype=np.intp)
    block = np.zeros((n, m), dtype=np.float32)
    about = np.empty((n, 4))
    four = np.zeros((4, m), dtype=np.float32)
    squared = np.empty((4, TILE), dtype=np.float32)
    _prepare(queries, centre, largest, scale, block, about)
    v = 0
    while v < len(visitor):
        together = 1
        while together < 4 and v + together < len(visitor) and cell[v + together] == cell[v]:
            together += 1
        for a in range(together):
            for f in range(m):
                four[a, f] = block[visitor[v + a], f]
        for tile in range(first_tile[cell[v]], first_tile[cell[v] + 1]):
            if together == 1:
                _one_beside_tile(four[0], tiles[tile], squared[0])
            else:
                _four_beside_tile(four, tiles[tile], squared)
            for a in range(together):
                r = visitor[v + a]
                if _any_within(squared, a, _limit(about[r, 3], about[r, 2] + norms[tile], m)):
                    _take_nearer(
                        squared[a], queries[r], rows, places[tile], norms[tile], skip[r], about[r],
                        distance[r], position[r],
                    )  # fmt: skip
        v += together
    for r in range(n):
        for at in range(k):
            distance[r, at] = math.sqrt(distance[r, at]) / about[r, 0]
    return distance, position
