"""The loops over cells of rows: their layout, and the nearest rows without a look into cells that are too far.

The rows of a cell lie feature by feature, one cell after the other: value f of the r-th row of a cell that holds the
rows from ``start`` to ``stop - 1`` is ``columns[m * start + f * (stop - start) + r]``. Within a cell the rows are in
the order of their distances to its centre.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_distance import squared_distances

# Cells that are looked into one by one, the nearest first, before all others are taken in their order.
_FIRST = 8
# Bounds on distances are loosened by this share of the distances they come from, and by a distance whose square is no
# number: far more than the rounding of either.
_SLACK, _LEAST = 1e-10, 1e-150


@njit(cache=True, nogil=True)
def distances_to_centres(
    rows: NDArray, centres: FloatArray, cell: IntArray
) -> FloatArray:  # pragma: no cover - compiled
    """Return the distance of each row to the centre of its cell; the centres are columns."""
    distance = np.empty(len(rows))
    for i in range(len(rows)):
        total = 0.0
        for f in range(rows.shape[1]):
            difference = np.float64(rows[i, f]) - centres[f, cell[i]]
            total += difference * difference
        distance[i] = np.sqrt(total)
    return distance


@njit(cache=True, nogil=True)
def lay_out(rows: NDArray, order: IntArray, starts: IntArray, columns: NDArray) -> None:  # pragma: no cover - compiled
    """Write the rows, in an order by cells, into `columns`."""
    m = rows.shape[1]
    for c in range(len(starts) - 1):
        start, size = starts[c], starts[c + 1] - starts[c]
        for r in range(size):
            row = order[start + r]
            for f in range(m):
                columns[m * start + f * size + r] = rows[row, f]


@njit(cache=True, nogil=True, inline="always")
def _squared_distances(
    query: FloatArray, columns: NDArray, start: int, size: int, low: int, high: int, out: FloatArray
) -> None:  # pragma: no cover - compiled
    """Measure a query and the rows from `low` to `high - 1` of a cell, to the last bit as all other kernels do."""
    m, width = len(query), high - low
    for t in range(width):
        out[t] = 0.0
    f, at = 0, m * start
    while f + 4 <= m:
        q0, q1, q2, q3 = query[f], query[f + 1], query[f + 2], query[f + 3]
        b0, b1 = columns[at + low : at + high], columns[at + size + low : at + size + high]
        at += 2 * size
        b2, b3 = columns[at + low : at + high], columns[at + size + low : at + size + high]
        at += 2 * size
        for t in range(width):
            d0, d1 = q0 - np.float64(b0[t]), q1 - np.float64(b1[t])
            d2, d3 = q2 - np.float64(b2[t]), q3 - np.float64(b3[t])
            out[t] = out[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        f += 4
    while f < m:
        q0, b0 = query[f], columns[at + low : at + high]
        at += size
        for t in range(width):
            d0 = q0 - np.float64(b0[t])
            out[t] += d0 * d0
        f += 1


@inner
def _visit(
    query: FloatArray,
    skip: int,
    start: int,
    stop: int,
    from_centre: float,
    limit: float,
    reach: FloatArray,
    columns: NDArray,
    number: IntArray,
    distance: FloatArray,
    place: IntArray,
    squared: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Put the rows of a cell whose squared distance is at most `limit` into the list of a query."""
    # A row is no nearer to the query than their distances to the centre differ.
    least = from_centre - np.sqrt(limit) - _SLACK * (from_centre + reach[stop - 1]) - _LEAST
    low = 0 if not least > 0 else np.searchsorted(reach[start:stop], least)
    size = stop - start
    if low == size:
        return
    _squared_distances(query, columns, start, size, low, size, squared)
    if start + low <= skip < stop:
        squared[skip - start - low] = np.inf
    hits = 0
    for t in range(size - low):
        hits += squared[t] <= limit
    if hits == 0:
        return
    last = len(distance) - 1
    for t in range(size - low):
        d, row = squared[t], start + low + t
        if not d <= limit or (place[last] >= 0 and d > distance[last]) or row == skip:
            continue
        at = last + 1
        while at > 0 and (
            place[at - 1] < 0 or distance[at - 1] > d or (distance[at - 1] == d and number[place[at - 1]] > number[row])
        ):
            at -= 1
        if at > last:
            continue
        for later in range(last, at, -1):
            distance[later] = distance[later - 1]
            place[later] = place[later - 1]
        distance[at] = d
        place[at] = row


@njit(cache=True, nogil=True)
def search_cells(
    queries: FloatArray,
    skip: IntArray,
    enough: FloatArray,
    most: FloatArray,
    k: int,
    centres: FloatArray,
    starts: IntArray,
    reach: FloatArray,
    columns: NDArray,
    number: IntArray,
    norm: FloatArray,
    widest: FloatArray,
    rounding: FloatArray,
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the squared distances of the k nearest rows of each query, and their places in the order of cells.

    They are in the order of (distance, number), infinite and -1 where there are fewer. Rows whose squared distance is
    above `most` are as good as none. A query is left as it is once its k-th squared distance is less than `enough`.

    A cell is not looked into where one of two bounds is above the k-th distance so far. A row x of a cell with centre
    c is no nearer to the query than the query's distance to c less that of the farthest row of the cell. And since x
    is nearer to c than to any other centre a, it is on the other side of the plane between c and the centre a that is
    nearest to the query. Since cells are found in single precision, x may be a little on the wrong side: the squared
    distances that were compared are off by up to ``rounding[0]`` of the squared norms of rows and centres, of which
    `widest` and `norm` are bounds for each cell, plus ``rounding[1]``.
    """
    n, n_cells = len(queries), len(starts) - 1
    distance = np.full((n, k), np.inf)
    place = np.full((n, k), -1, dtype=np.intp)
    largest = 0
    for c in range(n_cells):
        largest = max(largest, starts[c + 1] - starts[c])
    squared = np.empty(largest)
    to_centre2, between, waiting = np.empty(n_cells), np.empty(n_cells), np.empty(n_cells)
    first = np.empty(_FIRST, dtype=np.intp)
    to_centre, bound = np.empty((n, n_cells)), np.empty((n, n_cells))
    radius = np.sqrt(most)
    undecided = np.ones(n, dtype=np.bool_)
    for i in range(n):
        squared_distances(queries[i], centres, n_cells, to_centre2)
        for c in range(n_cells):
            to_centre[i, c] = np.sqrt(to_centre2[c])
            waiting[c] = to_centre2[c]
        home = np.argmin(waiting)
        seen = 0
        while seen < min(_FIRST, n_cells):
            nearest = np.argmin(waiting)
            if not waiting[nearest] < np.inf:
                break
            waiting[nearest] = np.inf
            first[seen] = nearest
            seen += 1
            limit = min(most[i], distance[i, k - 1])
            _visit(
                queries[i],
                skip[i],
                starts[nearest],
                starts[nearest + 1],
                to_centre[i, nearest],
                limit,
                reach,
                columns,
                number,
                distance[i],
                place[i],
                squared,
            )
            if distance[i, k - 1] < enough[i]:
                undecided[i] = False
                break
        if not undecided[i]:
            continue
        radius[i] = np.sqrt(min(most[i], distance[i, k - 1]))
        squared_distances(centres[:, home].copy(), centres, n_cells, between)
        own2 = to_centre2[home]
        for c in range(n_cells):
            last = reach[starts[c + 1] - 1]
            ball = to_centre[i, c] - last - _SLACK * (to_centre[i, c] + last)
            wrong = rounding[0] * ((norm[home] + widest[c]) ** 2 + (norm[c] + widest[c]) ** 2)
            beyond = to_centre2[c] - own2 - _SLACK * (to_centre2[c] + own2) - wrong - rounding[1]
            plane = beyond / (2 * np.sqrt(between[c])) * (1 - _SLACK) if between[c] > 0 else 0.0
            bound[i, c] = max(ball, plane) - _LEAST
        for c in first[:seen]:
            bound[i, c] = np.inf
    # The others cell by cell, so that each is read once for all queries.
    for c in range(n_cells):
        for i in range(n):
            if not undecided[i] or bound[i, c] > radius[i] or bound[i, c] == np.inf:
                continue
            limit = min(most[i], distance[i, k - 1])
            _visit(
                queries[i],
                skip[i],
                starts[c],
                starts[c + 1],
                to_centre[i, c],
                limit,
                reach,
                columns,
                number,
                distance[i],
                place[i],
                squared,
            )
            radius[i] = np.sqrt(min(most[i], distance[i, k - 1]))
            if distance[i, k - 1] < enough[i]:
                undecided[i] = False
    return distance, place
