"""The loops of CCNND: nearest rows of a class that grows and shrinks, and counts of distance vectors.

The rows of a class lie in blocks of `BLOCK`, feature by feature: row r is ``blocks[r // BLOCK, :, r % BLOCK]``. A
distance to a whole block is then a few vector instructions, and since each is the sum of squared differences in the
order of the features, it is the same to the last bit for every query and every batch. Lists of neighbours are
``distance[l, r]``, squared, and ``neighbor[l, r]``, the place of the l-th nearest row or -1; they are in the order of
(distance, number), where the number of a row is its place in the order of arrival.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_distance import squared_distances

BLOCK = 128
# Two distances this close, relative to their size, are taken for equal: a tie must not hang on the last bit.
ROUNDING = 1e-12


@inner
def _push(
    distance: FloatArray, neighbor: IntArray, at: int, d: float, row: int, number: IntArray
) -> None:  # pragma: no cover - compiled
    """Put a row into the list of `at`, unless the list is full of nearer rows."""
    slot = len(distance)
    while slot > 0 and (
        distance[slot - 1, at] > d
        or neighbor[slot - 1, at] < 0
        or (distance[slot - 1, at] == d and number[neighbor[slot - 1, at]] > number[row])
    ):
        slot -= 1
    if slot == len(distance):
        return
    for later in range(len(distance) - 1, slot, -1):
        distance[later, at] = distance[later - 1, at]
        neighbor[later, at] = neighbor[later - 1, at]
    distance[slot, at] = d
    neighbor[slot, at] = row


@njit(cache=True, nogil=True)
def insert(
    rows: FloatArray, blocks: FloatArray, start: int, number: IntArray, distance: FloatArray, neighbor: IntArray
) -> None:  # pragma: no cover - compiled
    """Make the lists of the `rows`, which are those from place `start` on, and update the lists of all before.

    Each pair is measured once, and a block is read once for all rows.
    """
    stop = start + len(rows)
    worst = distance[len(distance) - 1]
    squared = np.empty(BLOCK)
    for b in range((stop + BLOCK - 1) // BLOCK):
        first = b * BLOCK
        for r in range(max(start, first + 1), stop):
            squared_distances(rows[r - start], blocks[b], BLOCK, squared)
            earlier = min(BLOCK, r - first)
            mine = worst[r]
            hits = 0
            for t in range(earlier):
                hits += (squared[t] <= mine) | (squared[t] <= worst[first + t])
            if hits == 0:
                continue
            for t in range(earlier):
                if squared[t] <= worst[r]:
                    _push(distance, neighbor, r, squared[t], first + t, number)
                if squared[t] <= worst[first + t]:
                    _push(distance, neighbor, first + t, squared[t], r, number)


@njit(cache=True, nogil=True)
def nearest(
    queries: FloatArray, blocks: FloatArray, n: int, number: IntArray, skip: IntArray, k: int
) -> tuple[FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the lists of the queries among the n rows of a class, leaving out for each the place `skip`."""
    distance, neighbor = np.empty((k, len(queries))), np.empty((k, len(queries)), np.intp)
    for c in range(k):
        for i in range(len(queries)):
            distance[c, i], neighbor[c, i] = np.inf, -1
    worst = distance[k - 1]
    squared = np.empty(BLOCK)
    for b in range((n + BLOCK - 1) // BLOCK):
        first = b * BLOCK
        held = min(BLOCK, n - first)
        for i in range(len(queries)):
            squared_distances(queries[i], blocks[b], BLOCK, squared)
            limit = worst[i]
            hits = 0
            for t in range(held):
                hits += squared[t] <= limit
            if hits == 0:
                continue
            for t in range(held):
                if squared[t] <= worst[i] and first + t != skip[i]:
                    _push(distance, neighbor, i, squared[t], first + t, number)
    return distance, neighbor


@njit(cache=True, nogil=True, inline="always")
def _weak(d: float) -> float:  # pragma: no cover - compiled
    """Return the least distance that is taken to be at least as great as d."""
    return d * (1 - ROUNDING)


@njit(cache=True, nogil=True, inline="always")
def _strict(d: float) -> float:  # pragma: no cover - compiled
    """Return the least distance that is taken to be greater than d."""
    return np.nextafter(d * (1 + ROUNDING), np.inf)


@inner
def _first_at_least(values: FloatArray, start: int, least: float) -> int:  # pragma: no cover - compiled
    """Return the place of the first of the sorted values, from `start` on, that is at least `least`."""
    stop = len(values)
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def count_beyond(vectors: FloatArray, queries: FloatArray) -> IntArray:  # pragma: no cover - compiled
    """Count for each query the vectors that are greater in every entry, plus those that are at least as great.

    Both are columns; the vectors are sorted by their first entry. An entry has level 2 if it is greater, 1 if it is
    equal, 0 if it is less, and a vector counts with its lowest level.
    """
    k, n = vectors.shape
    counts = np.zeros(queries.shape[1], dtype=np.intp)
    level = np.empty(BLOCK, dtype=np.int8)
    nowhere: np.intp = np.intp(0)  # a plain 0 has a type of its own, for which the search would be compiled once more
    for i in range(len(counts)):
        weak, strict = _weak(queries[0, i]), _strict(queries[0, i])
        start = _first_at_least(vectors[0], nowhere, weak)
        greater = _first_at_least(vectors[0], start, strict)
        if k == 1:
            counts[i] = n - start + n - greater
            continue
        total = 0
        for first in range(start, n, BLOCK):
            size = min(BLOCK, n - first)
            for t in range(size):
                level[t] = 1 + (first + t >= greater)
            for c in range(1, k):
                weak, strict = _weak(queries[c, i]), _strict(queries[c, i])
                row = vectors[c, first : first + size]
                for t in range(size):
                    level[t] = min(level[t], np.int8(row[t] >= weak) + np.int8(row[t] >= strict))
            for t in range(size):
                total += level[t]
        counts[i] = total
    return counts


@inner
def _level(distance: FloatArray, at: int, without: int, query: int, k: int) -> int:  # pragma: no cover - compiled
    """Return the level of a row's first k distances, one of them left out, beside those of another row."""
    level = 2
    c = 0
    for entry in range(k + (without < k)):
        if entry == without:
            continue
        d = distance[entry, at]
        level = min(level, (d >= _weak(distance[c, query])) + (d >= _strict(distance[c, query])))
        c += 1
    return level


@njit(cache=True, nogil=True)
def leave_out(
    distance: FloatArray, neighbor: IntArray, order: IntArray, counts: IntArray, totals: FloatArray
) -> None:  # pragma: no cover - compiled
    """Correct counts and sums of distances for the absence of the row itself.

    The lists have k + 1 entries. Where the row is among the k nearest of another, that one's vector is without it and
    ends with its (k+1)-th distance. `order` is that of arrival, so that sums do not depend on the places of rows.
    """
    k = len(distance) - 1
    for row in range(distance.shape[1]):
        counts[row] -= 1  # its own vector equals its query
        for entry in range(k):
            totals[row] -= distance[entry, row]
    for row in order:
        for entry in range(k):
            gone = neighbor[entry, row]
            counts[gone] += _level(distance, row, entry, gone, k) - _level(distance, row, k, gone, k)
            totals[gone] += distance[k, row] - distance[entry, row]
