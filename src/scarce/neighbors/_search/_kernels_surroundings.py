"""The loops over blocks of rows: counts within a radius, and the nearest under shifted distances."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_distance import squared_distances


@inner
def _turn(rows: NDArray, start: int, stop: int, columns: FloatArray) -> None:  # pragma: no cover - compiled
    """Lay out some rows feature by feature, so that one instruction serves several rows."""
    for j in range(start, stop):
        for f in range(rows.shape[1]):
            columns[f, j - start] = rows[j, f]


@inner
def _square_of(radius: float) -> float:  # pragma: no cover - compiled
    """Return the least x with sqrt(x) >= radius: a distance is less than the radius iff its square is less than x."""
    x = radius * radius
    while x > 0 and np.sqrt(x) >= radius:
        x = np.nextafter(x, 0.0)
    while np.sqrt(x) < radius:
        x = np.nextafter(x, np.inf)
    return x


@njit(cache=True, nogil=True)
def surround(
    queries: NDArray,
    radius: FloatArray,
    own: IntArray,
    rows: NDArray,
    starts: IntArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Count the rows closer than a radius, and find the two distances on either side of it.

    The rows come in boxes: box b holds rows ``starts[b]`` to ``starts[b + 1] - 1``, between the corners ``low[b]``
    and ``high[b]``. A box that is wholly closer or wholly farther is not looked into. That is exact in rounded
    arithmetic too: every operation grows with its operands, so no row measures closer than its box.

    Returns for each query the number of rows with distance < radius, the largest such distance (0 if there is
    none) and the smallest distance >= radius (infinite if there is none), all without row `own` (-1 is no row).
    """
    n, m = queries.shape
    count, limit, below, above = np.empty(n, np.intp), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        count[i] = 0
        limit[i] = _square_of(radius[i])
        below[i], above[i] = -1.0, np.inf  # -1 is less than any square
    widest = 0
    for b in range(len(low)):
        widest = max(widest, starts[b + 1] - starts[b])
    columns = np.empty((m, widest))
    squares = np.empty(widest)
    for b in range(len(low)):
        start, stop = starts[b], starts[b + 1]
        size = stop - start
        turned = False
        for i in range(n):
            nearest = farthest = 0.0
            for f in range(m):
                value = np.float64(queries[i, f])
                under, over = value - low[b, f], high[b, f] - value
                gap = max(-under, -over, 0.0)
                nearest += gap * gap
                reach = max(under, over)
                farthest += reach * reach
            mine = start <= own[i] < stop
            if nearest >= limit[i] and nearest >= above[i]:
                continue
            if farthest < limit[i] and farthest <= below[i] and not mine:
                count[i] += size
                continue
            if not turned:
                _turn(rows, start, stop, columns)
                turned = True
            squared_distances(queries[i], columns, size, squares)
            if mine:
                squares[own[i] - start] = np.inf
            edge, under, over = limit[i], below[i], above[i]
            closer = between = 0
            for j in range(size):
                closer += squares[j] < edge
                between += (squares[j] > under) & (squares[j] < over)
            count[i] += closer
            if between > 0:
                for j in range(size):
                    if squares[j] < edge:
                        under = max(under, squares[j])
                    else:
                        over = min(over, squares[j])
                below[i], above[i] = under, over
    for i in range(n):
        below[i], above[i] = np.sqrt(max(below[i], 0.0)), np.sqrt(above[i])
    return count, below, above


@njit(cache=True, nogil=True)
def nearest_shifted(
    queries: NDArray,
    rows: NDArray,
    numbers: IntArray,
    skip: IntArray,
    k: int,
    shift: FloatArray,
    other_shift: FloatArray,
    inside: FloatArray,
    partner: IntArray,
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the k least of distance - shift of each query, ascending, and the rows' numbers; of equals the earlier.

    A row's shift is `other_shift` for the queries closer to it than `inside`, and for the query whose `skip` is its
    `partner`. The row numbered `skip` is left out for a query. Where there are fewer than k rows, the rest is infinite
    and numbered -1.
    """
    n, m = queries.shape
    block = 256
    value = np.empty((n, k))
    number = np.empty((n, k), np.intp)
    for i in range(n):
        for c in range(k):
            value[i, c], number[i, c] = np.inf, -1
    columns = np.empty((m, block))
    squares = np.empty(block)
    for start in range(0, len(rows), block):
        size = min(block, len(rows) - start)
        _turn(rows, start, start + size, columns)
        for i in range(n):
            squared_distances(queries[i], columns, size, squares)
            for j in range(size):
                row = start + j
                if numbers[row] == skip[i]:
                    continue
                distance = np.sqrt(squares[j])
                other = distance < inside[row] or partner[row] == skip[i]
                shifted = distance - (other_shift[row] if other else shift[row])
                if not shifted < value[i, k - 1]:
                    continue
                at = k - 1
                while at > 0 and shifted < value[i, at - 1]:
                    value[i, at] = value[i, at - 1]
                    number[i, at] = number[i, at - 1]
                    at -= 1
                value[i, at] = shifted
                number[i, at] = numbers[row]
    return value, number
