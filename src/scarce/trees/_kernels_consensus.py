"""A consensus of rankings: arrays in, arrays out."""

from __future__ import annotations

from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def insert_by_majority(order: NDArray, ranks: NDArray) -> NDArray:  # pragma: no cover - compiled
    """Move each item of `order` up as long as more rankings put it before its neighbour than behind.

    `ranks` has a row for each item and a column for each ranking; higher is better. In the result no two neighbours
    would gain by changing places, so that it is locally optimal in Kemeny's sense.
    """
    out = order.copy()
    for i in range(1, len(out)):
        item = out[i]
        j = i
        while j > 0:
            votes = 0
            other = out[j - 1]
            for t in range(ranks.shape[1]):
                if ranks[item, t] > ranks[other, t]:
                    votes += 1
                elif ranks[item, t] < ranks[other, t]:
                    votes -= 1
            if votes <= 0:
                break
            out[j] = out[j - 1]
            j -= 1
        out[j] = item
    return out
