"""The nearest rows where each row has a factor on the distances to it."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray

# A distance of 0 becomes the smallest that a factor can still scale, so that of two rows at the query it decides.
TINY = 1e-300


@inner
def _insert(values: FloatArray, found: IntArray, value: float, row: int) -> None:  # pragma: no cover - compiled
    """Put a row into a short list that is sorted by (value, row), if it is not there and not behind the last."""
    k = len(values)
    if value > values[k - 1] or (value == values[k - 1] and found[k - 1] >= 0 and row > found[k - 1]):
        return
    for slot in range(k):
        if found[slot] == row:
            return
    at = k - 1
    while at > 0 and (values[at - 1] > value or (values[at - 1] == value and found[at - 1] > row)):
        values[at] = values[at - 1]
        found[at] = found[at - 1]
        at -= 1
    values[at] = value
    found[at] = row


@njit(cache=True, nogil=True)
def weighted_nearest(
    queries: NDArray,
    rows: NDArray,
    weight: FloatArray,
    order: IntArray,
    own: IntArray,
    distance: FloatArray,
    position: IntArray,
    k: int,
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the k smallest products of a row's weight and its distance, and the positions of these rows.

    `distance` and `position` list more than k rows that are nearest without weights, padded by infinity and -1. Rows
    that are not listed are at least as far as the last one, so only those of small weight can still matter: `order`
    names the rows by ascending weight, and is followed until a weight is too large. The result is exact, and of equal
    products the row of lower position is first, whichever of equally far rows were listed.
    """
    n, width = position.shape
    m = rows.shape[1]
    value = np.empty((n, k))
    found = np.empty((n, k), np.intp)
    for i in range(n):
        for c in range(k):
            value[i, c], found[i, c] = np.inf, -1
    lightest = weight[order[0]]
    for i in range(n):
        for c in range(width):
            row = position[i, c]
            if row < 0 or lightest * distance[i, c] > value[i, k - 1]:
                break
            _insert(value[i], found[i], weight[row] * max(distance[i, c], TINY), row)
        last = max(distance[i, width - 1], TINY)
        if np.isinf(last):
            continue
        for row in order:
            worst = value[i, k - 1]
            if weight[row] * last > worst:
                break
            if row == own[i]:
                continue
            # A little more than what could enter: the sum only ends early where it is too large.
            limit = (worst / weight[row]) ** 2 * (1 + 1e-9)
            total = 0.0
            for f in range(m):
                difference = np.float64(queries[i, f]) - np.float64(rows[row, f])
                total += difference * difference
                if total > limit:
                    break
            if total <= limit:
                _insert(value[i], found[i], weight[row] * max(np.sqrt(total), TINY), row)
    return value, found
