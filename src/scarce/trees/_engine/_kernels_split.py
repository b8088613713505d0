"""The best split of one node by one feature: on sorted values, on a histogram, or of categories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._compiling import inner_numpy
from scarce.trees._engine._kernels_criteria import PROFIT, TOP_K, category_key, split_gain

MISSING_BIN = 255
WORDS = 4  # 64-bit words of a set of categories


@inner_numpy
def code_of(columns: Any, feature: int, row: int) -> int:  # pragma: no cover - compiled
    """Return the code of a value, -1 where it is missing."""
    if columns.bins.shape[1] == 0:
        return columns.codes[feature, row]
    code = columns.bins[feature, row]
    return -1 if code == MISSING_BIN else code


@inner_numpy
def split_sorted(
    codes: NDArray, order: NDArray, start: int, end: int, stats: NDArray, sums: NDArray, rule: Any, parameter: float
) -> tuple[float, int, int, bool]:  # pragma: no cover - compiled
    """Return (gain, last code on the left, first code on the right, whether missing values go left).

    `order` lists rows by value, missing ones last. Splits inside a run of rows of one class are passed over: the gains
    of class shares are convex along such a run, so that its best split is at one of its ends. A run at either end of
    the order ends with the first or the last split that leaves enough rows on both sides.
    """
    w, p, a, b = sums[0], sums[1], sums[2], sums[3]
    wide = rule.criterion >= PROFIT
    last = end
    mw = mp = ma = mb = 0.0
    while last > start and codes[order[last - 1]] < 0:
        last -= 1
        row = order[last]
        mw += stats[row, 0]
        mp += stats[row, 1]
        if wide:
            ma += stats[row, 2]
            mb += stats[row, 3]
    n_missing = end - last
    runs = rule.criterion < TOP_K
    fewest = rule.min_samples_leaf
    best, best_low, best_high, best_missing = -math.inf, -1, -1, False
    if last == start:
        return best, best_low, best_high, best_missing
    wl = pl = al = bl = 0.0
    i = start
    previous = -1
    n_before = 0
    kind_before = 2  # the class of the group of equal values before: 0 and 1 pure, 2 mixed or the first
    while i < last:
        code = codes[order[i]]
        first = i
        gw = gp = ga = gb = 0.0
        while i < last and codes[order[i]] == code:
            row = order[i]
            gw += stats[row, 0]
            gp += stats[row, 1]
            if wide:
                ga += stats[row, 2]
                gb += stats[row, 3]
            i += 1
        kind = 0 if gp <= 0 else (1 if gp >= gw else 2)
        n_left, n_next = first - start, i - start  # rows on the left of this split and of the next
        inside = runs and kind == kind_before and kind < 2 and i < last
        if inside and fewest > 1:
            # The first and the last split with enough rows, without the missing ones on the left and with them.
            inside = not (
                n_before < fewest <= n_left
                or n_left <= end - start - fewest < n_next
                or (n_missing > 0 and n_before + n_missing < fewest <= n_left + n_missing)
                or (n_missing > 0 and n_left <= last - start - fewest < n_next)
            )
        if first > start and not inside:
            if n_left >= fewest and end - first >= fewest:
                gain = split_gain(rule.criterion, parameter, wl, pl, al, bl, w, p, a, b)
                if gain > best:
                    best, best_low, best_high, best_missing = gain, previous, code, False
            if n_missing > 0 and n_left + n_missing >= fewest and last - first >= fewest:
                gain = split_gain(rule.criterion, parameter, wl + mw, pl + mp, al + ma, bl + mb, w, p, a, b)
                if gain > best:
                    best, best_low, best_high, best_missing = gain, previous, code, True
        wl += gw
        pl += gp
        al += ga
        bl += gb
        previous = code
        n_before = n_left
        kind_before = kind if first > start else 2
    if n_missing >= fewest and n_missing > 0 and last - start >= fewest:
        gain = split_gain(rule.criterion, parameter, wl, pl, al, bl, w, p, a, b)
        if gain > best:
            best, best_low, best_high, best_missing = gain, previous, -1, False
    return best, best_low, best_high, best_missing


@inner_numpy
def clear(table: NDArray) -> None:  # pragma: no cover - compiled
    """Set a table to 0. Plain loops here and below: they compile in a tenth of the time of whole-array assignments."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] = 0.0


@inner_numpy
def fill_histogram(
    bins: NDArray, rows: NDArray, start: int, end: int, local: NDArray, wide: bool, histogram: NDArray
) -> None:  # pragma: no cover - compiled
    """Add up, for each bin of one feature, the rows and the statistics of a node; `local` is in the order of rows."""
    clear(histogram)
    for i in range(start, end):
        code = bins[rows[i]]
        histogram[code, 0] += 1.0
        histogram[code, 1] += local[i, 0]
        histogram[code, 2] += local[i, 1]
        if wide:
            histogram[code, 3] += local[i, 2]
            histogram[code, 4] += local[i, 3]


@inner_numpy
def split_histogram(
    histogram: NDArray, n_bins: int, n_rows: int, sums: NDArray, rule: Any, parameter: float
) -> tuple[float, int, int, bool]:  # pragma: no cover - compiled
    """Return the best split between bins, in the form of `split_sorted`."""
    w, p, a, b = sums[0], sums[1], sums[2], sums[3]
    n_missing = histogram[MISSING_BIN, 0]
    best, best_low, best_high, best_missing = -math.inf, -1, -1, False
    count = wl = pl = al = bl = 0.0
    previous = -1
    for code in range(n_bins):
        if histogram[code, 0] == 0:
            continue
        if previous >= 0:
            if count >= rule.min_samples_leaf and n_rows - count >= rule.min_samples_leaf:
                gain = split_gain(rule.criterion, parameter, wl, pl, al, bl, w, p, a, b)
                if gain > best:
                    best, best_low, best_high, best_missing = gain, previous, code, False
            if (
                n_missing > 0
                and count + n_missing >= rule.min_samples_leaf
                and n_rows - count - n_missing >= rule.min_samples_leaf
            ):
                gain = split_gain(
                    rule.criterion,
                    parameter,
                    wl + histogram[MISSING_BIN, 1],
                    pl + histogram[MISSING_BIN, 2],
                    al + histogram[MISSING_BIN, 3],
                    bl + histogram[MISSING_BIN, 4],
                    w,
                    p,
                    a,
                    b,
                )
                if gain > best:
                    best, best_low, best_high, best_missing = gain, previous, code, True
        count += histogram[code, 0]
        wl += histogram[code, 1]
        pl += histogram[code, 2]
        al += histogram[code, 3]
        bl += histogram[code, 4]
        previous = code
    if previous >= 0 and n_missing > 0 and n_missing >= rule.min_samples_leaf and count >= rule.min_samples_leaf:
        gain = split_gain(rule.criterion, parameter, wl, pl, al, bl, w, p, a, b)
        if gain > best:
            best, best_low, best_high, best_missing = gain, previous, -1, False
    return best, best_low, best_high, best_missing


@inner_numpy
def split_categories(
    columns: Any,
    feature: int,
    rows: NDArray,
    start: int,
    end: int,
    stats: NDArray,
    sums: NDArray,
    rule: Any,
    parameter: float,
    scratch: Any,
    subset: NDArray,
) -> tuple[float, bool]:  # pragma: no cover - compiled
    """Return (gain, whether missing values go left); `subset` becomes the set of categories on the left.

    Categories, a missing value being one more, are ordered by their share of positives (by money a row for profit)
    in the node, and the best prefix goes left, or with drawn splits a drawn one. For Gini and entropy no other set is
    better than the best prefix.
    """
    histogram = scratch.cells
    n_categories = columns.n_categories[feature]
    wide = rule.criterion >= PROFIT
    clear(histogram)
    for i in range(start, end):
        row = rows[i]
        code = code_of(columns, feature, row)
        if code < 0:
            code = n_categories
        histogram[code, 0] += 1.0
        histogram[code, 1] += stats[row, 0]
        histogram[code, 2] += stats[row, 1]
        if wide:
            histogram[code, 3] += stats[row, 2]
            histogram[code, 4] += stats[row, 3]
    present = np.empty(n_categories + 1, np.int64)
    keys = np.empty(n_categories + 1, np.float64)
    n_present = 0
    for code in range(n_categories + 1):
        if histogram[code, 0] == 0:
            continue
        key = category_key(
            rule.criterion, histogram[code, 1], histogram[code, 2], histogram[code, 3], histogram[code, 4]
        )
        j = n_present
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            present[j] = present[j - 1]
            j -= 1
        keys[j] = key
        present[j] = code
        n_present += 1
    best, best_at = -math.inf, -1
    drawn: Any = np.int64(-1)
    if rule.random and n_present > 1:
        drawn = np.int64(scratch.draws.number[feature] % np.uint64(n_present - 1))
    count = wl = pl = al = bl = 0.0
    for j in range(n_present - 1):
        code = present[j]
        count += histogram[code, 0]
        wl += histogram[code, 1]
        pl += histogram[code, 2]
        al += histogram[code, 3]
        bl += histogram[code, 4]
        if count < rule.min_samples_leaf or end - start - count < rule.min_samples_leaf or (drawn >= 0 and j != drawn):
            continue
        gain = split_gain(rule.criterion, parameter, wl, pl, al, bl, sums[0], sums[1], sums[2], sums[3])
        if gain > best:
            best, best_at = gain, j
    for k in range(WORDS):
        subset[k] = 0
    missing_left = False
    for j in range(best_at + 1):
        code = present[j]
        if code == n_categories:
            missing_left = True
        else:
            subset[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return best, missing_left
