"""The loop of the class index: distances without the rounding of a fast search."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray


@njit(cache=True, nogil=True)
def nearest_exactly(
    queries: NDArray, rows: NDArray, found: IntArray, skip: IntArray, k: int
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the k nearest of the found rows by distances without rounding of the search, and their positions.

    Fast searches expand the squared distance into products, so two equal rows may come out a little apart. Here
    the few rows that were found are measured again by their differences, and put in the order of (distance,
    position). A found row whose position is `skip` of the query is left out, or, where it was not found, the last.
    """
    n, width = found.shape
    m = rows.shape[1]
    distance = np.empty((n, k))
    position = np.empty((n, k), np.intp)
    for i in range(n):
        for c in range(k):
            distance[i, c], position[i, c] = np.inf, -1
    for i in range(n):
        kept = 0
        for c in range(width):
            row = found[i, c]
            if row == skip[i]:
                continue
            total = 0.0
            for f in range(m):
                difference = np.float64(queries[i, f]) - np.float64(rows[row, f])
                total += difference * difference
            # Insertion into a short sorted list.
            at = min(kept, k)
            while at > 0 and (
                distance[i, at - 1] > total or (distance[i, at - 1] == total and position[i, at - 1] > row)
            ):
                if at < k:
                    distance[i, at] = distance[i, at - 1]
                    position[i, at] = position[i, at - 1]
                at -= 1
            if at < k:
                distance[i, at] = total
                position[i, at] = row
                kept = min(kept + 1, k)
        for c in range(kept):
            distance[i, c] = np.sqrt(distance[i, c])
    return distance, position
