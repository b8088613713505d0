"""The sweep over the plane of the two γ: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray


@inner
def _move(total: FloatArray, best: FloatArray, node: int, amount: float) -> None:  # pragma: no cover - compiled
    """Add to a leaf and update its ancestors."""
    total[node] += amount
    best[node] = total[node]
    node //= 2
    while node:
        left, right = 2 * node, 2 * node + 1
        total[node] = total[left] + total[right]
        best[node] = max(best[right], best[left] + total[right])
        node //= 2


@njit(cache=True, nogil=True)
def best_cell(
    start: IntArray, at: FloatArray, row: IntArray, reach: IntArray, gain: FloatArray, n_cells: int, top: float
) -> tuple[float, float, int]:  # pragma: no cover - compiled
    """Return where in the plane the rows called positive have the greatest sum of gains.

    One axis is split into cells, and row i is positive in the first ``start[i]`` of them. While the other coordinate
    falls from `top` to 0, row ``row[e]`` becomes positive in the first ``reach[e]`` cells at ``at[e]``, descending.
    A row that is positive in the first p cells leaves its gain at leaf p - 1 of a tree, so that a cell is worth the
    sum of the leaves from it to the end; each node knows its sum and the best such sum that starts in it. Returns
    the ends of the best stretch of the falling coordinate and the cell; of equal ones the largest.
    """
    size = 1
    while size < n_cells:
        size *= 2
    total, best = np.empty(2 * size), np.empty(2 * size)
    for node in range(2 * size):
        total[node], best[node] = 0.0, -np.inf
    reached = start.copy()
    for i in range(len(start)):
        if start[i] > 0:
            total[size + start[i] - 1] += gain[i]
    for node in range(size, size + n_cells):
        best[node] = total[node]
    for node in range(size - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        total[node] = total[left] + total[right]
        best[node] = max(best[right], best[left] + total[right])

    # Sums of the same gains in another order may differ in their last bits.
    noise = 0.0
    for i in range(len(gain)):
        noise += abs(gain[i])
    noise *= 1e-13
    found, high, low, cell = -np.inf, top, 0.0, 0
    upper = top
    e = 0
    while True:
        lower = at[e] if e < len(at) else 0.0
        if best[1] > found + noise:
            found, high, low = best[1], upper, lower
            node = 1
            while node < size:
                left, right = 2 * node, 2 * node + 1
                node = right if best[right] >= best[left] + total[right] - noise else left
            cell = node - size
        if e == len(at):
            return high, low, cell
        upper = lower
        # Equal ratios of distances may differ in their last bits; there is no γ between them.
        while e < len(at) and at[e] >= upper * (1 - 1e-12):
            upper = at[e]
            i = row[e]
            if reach[e] > reached[i]:
                if reached[i] > 0:
                    _move(total, best, size + reached[i] - 1, -gain[i])
                _move(total, best, size + reach[e] - 1, gain[i])
                reached[i] = reach[e]
            e += 1
