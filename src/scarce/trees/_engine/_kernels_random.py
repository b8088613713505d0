"""Splits at drawn thresholds: for each feature one, between the smallest and the largest value of the node.

All features of a row are read at once, so that a node takes two passes over its rows, whatever the number of features.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._compiling import inner_numpy
from scarce.trees._engine._kernels_criteria import split_gain


@inner_numpy
def next_random(state: Any) -> tuple[Any, Any]:  # pragma: no cover - compiled
    """Return the next state and number of a splitmix64 sequence, the same on every machine and thread."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@inner_numpy
def draw_threshold(columns: Any, feature: int, draws: Any) -> None:  # pragma: no cover - compiled
    """Draw a threshold of a feature that has two values in the node, and find the last code up to it.

    With bins the threshold is the upper edge of a bin.
    """
    base = columns.offsets[feature]
    below, above = np.int64(draws.least[feature]), np.int64(draws.most[feature])
    low, high = columns.values[base + below], columns.values[base + above]
    share = np.float64(draws.number[feature] >> np.uint64(11)) / 9007199254740992.0  # 2 ** 53
    drawn = max(low * (1 - share) + high * share, low)
    if not drawn < high:
        drawn = low
    while above - below > 1:
        middle = (below + above) // 2
        if columns.values[base + middle] <= drawn:
            below = middle
        else:
            above = middle
    draws.last[feature] = below
    draws.threshold[feature] = columns.values[base + below] if columns.bins.shape[1] > 0 else drawn


@inner_numpy
def draw_splits(
    columns: Any, rows: NDArray, start: int, end: int, local: NDArray, wide: bool, state: Any, draws: Any
) -> Any:  # pragma: no cover - compiled
    """Draw a number and a threshold for each feature, add up what goes left; return the next state."""
    codes = columns.by_row
    d = codes.shape[1]
    least, most, last, n_left, n_missing = draws.least, draws.most, draws.last, draws.n_left, draws.n_missing
    sums = draws.sums
    for j in range(d):
        state, draws.number[j] = next_random(state)
        least[j] = np.uint32(0xFFFFFFFF)
        most[j] = -1
        n_left[j] = 0
        n_missing[j] = 0
        for k in range(8):
            sums[k, j] = 0.0
    signs = np.int32(0)
    for i in range(start, end):
        row = rows[i]
        for j in range(d):
            code = codes[row, j]
            signs |= code
            least[j] = min(least[j], np.uint32(code))  # a missing value is the largest without a sign
            most[j] = max(most[j], code)
    for j in range(d):
        last[j] = np.uint32(max(most[j], 0))
        if columns.n_categories[j] == 0 and most[j] >= 0 and least[j] < np.uint32(most[j]):
            draw_threshold(columns, j, draws)
    for i in range(start, end):
        row = rows[i]
        w, p = local[i, 0], local[i, 1]
        for j in range(d):
            inside = np.uint32(codes[row, j]) <= last[j]
            n_left[j] += inside
            sums[0, j] += w if inside else 0.0
        if p != 0:
            for j in range(d):
                sums[1, j] += p if np.uint32(codes[row, j]) <= last[j] else 0.0
        if wide:
            for j in range(d):
                if np.uint32(codes[row, j]) <= last[j]:
                    sums[2, j] += local[i, 2]
                    sums[3, j] += local[i, 3]
    if signs < 0:
        for i in range(start, end):
            row = rows[i]
            for j in range(d):
                if codes[row, j] < 0:
                    n_missing[j] += 1
                    sums[4, j] += local[i, 0]
                    sums[5, j] += local[i, 1]
                    if wide:
                        sums[6, j] += local[i, 2]
                        sums[7, j] += local[i, 3]
    return state


@inner_numpy
def split_drawn(
    draws: Any, feature: int, n: int, sums: NDArray, rule: Any, parameter: float
) -> tuple[float, int, int, bool, float]:  # pragma: no cover - compiled
    """Return the drawn split of a feature in the form of `split_sorted`, and its threshold.

    Missing values go where they gain more, or are parted from all others.
    """
    w, p, a, b = sums[0], sums[1], sums[2], sums[3]
    wl, pl, al, bl = draws.sums[0, feature], draws.sums[1, feature], draws.sums[2, feature], draws.sums[3, feature]
    mw, mp, ma, mb = draws.sums[4, feature], draws.sums[5, feature], draws.sums[6, feature], draws.sums[7, feature]
    fewest = rule.min_samples_leaf
    n_left, n_missing = draws.n_left[feature], draws.n_missing[feature]
    n_known = n - n_missing
    none: Any = np.int64(-1)
    low, most = np.int64(draws.last[feature]), np.int64(draws.most[feature])
    best, best_low, best_high, best_missing, threshold = -math.inf, none, none, False, draws.threshold[feature]
    if n_left < n_known:  # two values at least
        if n_left >= fewest and n - n_left >= fewest:
            best = split_gain(rule.criterion, parameter, wl, pl, al, bl, w, p, a, b)
            best_low, best_high = low, low + 1
        if n_missing > 0 and n_left + n_missing >= fewest and n_known - n_left >= fewest:
            gain = split_gain(rule.criterion, parameter, wl + mw, pl + mp, al + ma, bl + mb, w, p, a, b)
            if gain > best:
                best, best_low, best_high, best_missing = gain, low, low + 1, True
    if n_missing > 0 and n_known > 0 and n_missing >= fewest and n_known >= fewest:
        gain = split_gain(rule.criterion, parameter, w - mw, p - mp, a - ma, b - mb, w, p, a, b)
        if gain > best:
            best, best_low, best_high, best_missing, threshold = gain, most, none, False, math.inf
    return best, best_low, best_high, best_missing, threshold
