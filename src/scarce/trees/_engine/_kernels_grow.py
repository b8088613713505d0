"""Growing one tree, depth first, on the rows of a segment.

`order` (features x rows) lists the rows of every segment by value. A split parts the segment of each feature stably, so
that nothing is sorted after the first time. With bins there is no `order`: histograms are filled node by node, and the
larger child's is the parent's less the smaller child's wherever the sums are whole numbers, so that this is exact.
Drawn thresholds (``rule.random``) need neither.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner_numpy
from scarce.trees._engine._kernels_criteria import COST, NEWTON, PROFIT, TOP_K
from scarce.trees._engine._kernels_random import draw_splits, next_random, split_drawn
from scarce.trees._engine._kernels_split import (
    MISSING_BIN,
    WORDS,
    code_of,
    fill_histogram,
    split_categories,
    split_histogram,
    split_sorted,
)

WORTH_SUBTRACTING = 256  # rows below which a histogram is sooner filled than subtracted
TINY = 1e-12


@inner_numpy
def part(values: NDArray, start: int, end: int, left: NDArray, buffer: NDArray) -> int:  # pragma: no cover - compiled
    """Bring the rows that go left to the front, keeping the order on both sides; return where the right begins."""
    j, k = start, 0
    for i in range(start, end):
        row = values[i]
        values[j] = row
        buffer[k] = row
        goes = left[row]
        j += goes
        k += 1 - goes
    for i in range(k):
        values[j + i] = buffer[i]
    return j


@inner_numpy
def send(
    codes: NDArray, missing: int, rows: NDArray, start: int, end: int, low: int, missing_left: bool, left: NDArray
) -> int:  # pragma: no cover - compiled
    """Write which rows of a node go left by a threshold, and return how many miss a value."""
    n_missing = 0
    for i in range(start, end):
        code = codes[rows[i]]
        if code == missing:
            left[rows[i]] = missing_left
            n_missing += 1
        else:
            left[rows[i]] = code <= low
    return n_missing


@inner_numpy
def is_left(
    columns: Any, feature: int, row: int, missing_left: bool, subset: NDArray
) -> bool:  # pragma: no cover - compiled
    """Return whether a training row goes left by its category."""
    code = code_of(columns, feature, row)
    if code < 0:
        return missing_left
    return (subset[code >> 6] >> np.uint64(code & 63)) & np.uint64(1) != 0


@inner_numpy
def threshold_between(columns: Any, feature: int, low: int, high: int) -> float:  # pragma: no cover - compiled
    """Return the value that parts two codes: a bin's edge, or the middle of two values, below the upper one."""
    if high < 0:
        return math.inf
    base = columns.offsets[feature]
    below = columns.values[base + low]
    if columns.bins.shape[1] > 0:
        return below
    above = columns.values[base + high]
    middle = below + (above - below) / 2
    return middle if middle < above else below


@inner_numpy
def node_sums(
    rows: NDArray, start: int, end: int, stats: NDArray, wide: bool, sums: NDArray
) -> None:  # pragma: no cover - compiled
    """Add up the statistics of a node."""
    w = p = a = b = 0.0
    for i in range(start, end):
        row = rows[i]
        w += stats[row, 0]
        p += stats[row, 1]
        if wide:
            a += stats[row, 2]
            b += stats[row, 3]
    sums[0] = w
    sums[1] = p
    sums[2] = a
    sums[3] = b


@inner_numpy
def push(
    stack: NDArray,
    stack_parameter: NDArray,
    at: int,
    start: int,
    end: int,
    depth: int,
    parent: int,
    right: int,
    slot: int,
    budget: float,
    inherited: float,
) -> None:  # pragma: no cover - compiled
    """Leave a node to be looked at later."""
    stack[at, 0] = start
    stack[at, 1] = end
    stack[at, 2] = depth
    stack[at, 3] = parent
    stack[at, 4] = right
    stack[at, 5] = slot
    stack_parameter[at, 0] = budget
    stack_parameter[at, 1] = inherited


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    columns: Any,
    rows: NDArray,
    order: NDArray,
    stats: NDArray,
    whole: bool,
    start: int,
    end: int,
    rule: Any,
    parameter: float,
    seed: Any,
    scratch: Any,
    tree: Any,
    bins: Any,
    categories: Any,
    drawn: Any,
) -> int:  # pragma: no cover - compiled
    """Grow a tree on rows[start:end] and return the number of its nodes.

    `rows`, `order` are parted in place. `tree` receives the nodes, the left child of a node being the one after it.
    `scratch.leaf` receives the leaf of each row. `bins`, `categories` and `drawn` are True, or None where the columns
    have none, or no row-wise codes to draw thresholds by: numba then leaves out what only they need, and the first fit
    waits less.
    """
    d = columns.n_categories.shape[0]
    wide = rule.criterion >= PROFIT
    left, buffer, local = scratch.left, scratch.buffer, scratch.local
    histograms = scratch.histograms
    all_features = rule.max_features >= d
    keep = whole and all_features and not rule.random
    features = np.empty(d, np.int64)
    for j in range(d):
        features[j] = j
    state = np.uint64(seed)
    zero: Any = np.int64(0)  # a plain 0 has a type of its own, for which all that is called would be compiled once more
    none: Any = np.int64(-1)
    height = min(rule.max_depth, end - start) + 2
    stack = np.empty((height, 6), np.int64)  # start, end, depth, parent, whether right, histogram slot
    stack_parameter = np.empty((height, 2), np.float64)  # the budget; the value inherited from the parent's split
    n_free = histograms.shape[0] - 1  # slot 0 is for histograms that nobody waits for
    free = np.empty(n_free + 1, np.int64)
    for j in range(n_free + 1):
        free[j] = n_free - j
    sums = np.empty(4, np.float64)
    side = np.empty(4, np.float64)
    subset = np.empty(WORDS, np.uint64)
    best_subset = np.empty(WORDS, np.uint64)
    for k in range(WORDS):
        subset[k] = best_subset[k] = 0
    node_sums(rows, start, end, stats, wide, sums)
    root_weight = sums[0]
    depth_of_stack = zero + 1
    push(stack, stack_parameter, zero, start, end, zero, none, zero, none, parameter, sums[1] / sums[0])
    n_nodes = zero
    while depth_of_stack > 0:
        depth_of_stack -= 1
        lo = stack[depth_of_stack, 0]
        hi = stack[depth_of_stack, 1]
        depth = stack[depth_of_stack, 2]
        parent = stack[depth_of_stack, 3]
        right = stack[depth_of_stack, 4]
        slot = stack[depth_of_stack, 5]
        budget = stack_parameter[depth_of_stack, 0]
        inherited = stack_parameter[depth_of_stack, 1]
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            if right:
                tree.right[parent] = node
            else:
                tree.left[parent] = node
        node_sums(rows, lo, hi, stats, wide, sums)
        for k in range(4):
            tree.sums[node, k] = sums[k]
        tree.n_rows[node] = hi - lo
        tree.feature[node] = -1
        tree.threshold[node] = 0.0
        tree.missing_left[node] = 0
        tree.left[node] = -1
        tree.right[node] = -1
        n = hi - lo
        open_ = depth < rule.max_depth and n >= 2 and n >= 2 * rule.min_samples_leaf
        if rule.inherit:
            open_ = open_ and inherited < 1.0
        elif rule.criterion != COST and rule.criterion != NEWTON:  # for these, rows of one class may still differ
            open_ = open_ and 0 < sums[1] < sums[0]
        if rule.criterion == TOP_K:
            open_ = open_ and 0 < budget < sums[0]
        best = -math.inf
        best_feature, best_low, best_high, best_missing, best_threshold = none, none, none, zero > 0, math.nan
        if open_:
            if bins is not None or rule.random:
                for i in range(lo, hi):
                    local[i, 0] = stats[rows[i], 0]
                    local[i, 1] = stats[rows[i], 1]
                    if wide:
                        local[i, 2] = stats[rows[i], 2]
                        local[i, 3] = stats[rows[i], 3]
            if drawn is not None and rule.random:
                state = draw_splits(columns, rows, lo, hi, local, wide, state, scratch.draws)
            seen = 0
            for j in range(d):
                if seen >= rule.max_features:
                    break
                if not all_features:
                    state, number = next_random(state)
                    other = j + np.int64(number % np.uint64(d - j))
                    swapped = features[j]
                    features[j] = features[other]
                    features[other] = swapped
                feature = features[j]
                threshold = math.nan
                if categories is not None and columns.n_categories[feature] > 0:
                    gain, missing = split_categories(
                        columns, feature, rows, lo, hi, stats, sums, rule, budget, scratch, subset
                    )
                    low, high = zero, zero
                elif drawn is not None and rule.random:
                    gain, low, high, missing, threshold = split_drawn(scratch.draws, feature, n, sums, rule, budget)
                elif bins is not None:
                    histogram = histograms[max(slot, 0), feature]
                    if slot < 0:
                        fill_histogram(columns.bins[feature], rows, lo, hi, local, wide, histogram)
                    gain, low, high, missing = split_histogram(
                        histogram, columns.n_values[feature], n, sums, rule, budget
                    )
                else:
                    gain, low, high, missing = split_sorted(
                        columns.codes[feature], order[feature], lo, hi, stats, sums, rule, budget
                    )
                if gain > -math.inf:
                    seen += 1  # a feature that is constant in the node is not one of the max_features
                if gain > best:
                    best = gain
                    best_feature, best_low, best_high, best_missing = feature, low, high, missing
                    best_threshold = threshold
                    if categories is not None:
                        for k in range(WORDS):
                            best_subset[k] = subset[k]
        if rule.inherit and best_feature >= 0:
            # A split is compared with the AP of this side in the parent's split instead of the node's own share.
            share = sums[1] / sums[0]
            no_positives = sums[1] <= 0
            worth = sums[0] * (1.0 - inherited) if no_positives else best + sums[0] * (share - inherited)
            accepted = worth / root_weight + TINY >= 0
        else:
            accepted = best > max(rule.min_gain * root_weight, TINY * abs(sums[0])) and best > 0
        if not accepted or best_feature < 0:
            if slot > 0:
                free[n_free] = slot
                n_free += 1
            for i in range(lo, hi):
                scratch.leaf[rows[i]] = node
            continue
        if bins is None:
            n_missing = send(columns.codes[best_feature], -1, rows, lo, hi, best_low, best_missing, left)
        else:
            n_missing = send(columns.bins[best_feature], MISSING_BIN, rows, lo, hi, best_low, best_missing, left)
        if categories is not None and columns.n_categories[best_feature] > 0:
            for i in range(lo, hi):
                left[rows[i]] = is_left(columns, best_feature, rows[i], best_missing, best_subset)
        middle = part(rows, lo, hi, left, buffer)
        node_sums(rows, lo, middle, stats, wide, side)
        tree.feature[node] = best_feature
        if categories is not None and columns.n_categories[best_feature] > 0:
            tree.threshold[node] = math.nan
            for k in range(WORDS):
                tree.subset[node, k] = best_subset[k]
        elif rule.random:
            tree.threshold[node] = best_threshold
        else:
            tree.threshold[node] = threshold_between(columns, best_feature, best_low, best_high)
        # A value that was never missing here follows the heavier side.
        tree.missing_left[node] = best_missing if n_missing > 0 else side[0] * 2 >= sums[0]
        if order.shape[1] > 0 and depth + 1 < rule.max_depth:
            for feature in range(d):
                if columns.n_categories[feature] == 0:
                    part(order[feature], lo, hi, left, buffer)
        left_slot, right_slot = none, none
        small_is_left = middle - lo <= hi - middle
        large = max(middle - lo, hi - middle)
        if bins is not None and keep and depth + 1 < rule.max_depth and large >= WORTH_SUBTRACTING:
            if slot < 0 and n_free > 0:
                # The histograms were filled in slot 0; they stay there for the subtraction below.
                n_free -= 1
                target = free[n_free]
                for feature in range(d):
                    for code in range(MISSING_BIN + 1):
                        for k in range(3):
                            histograms[target, feature, code, k] = histograms[0, feature, code, k]
            else:
                target = slot
            if target > 0:
                small_lo, small_hi = (lo, middle) if small_is_left else (middle, hi)
                for i in range(small_lo, small_hi):
                    local[i, 0] = stats[rows[i], 0]
                    local[i, 1] = stats[rows[i], 1]
                small_slot = -1
                if n_free > 0:
                    n_free -= 1
                    small_slot = free[n_free]
                scratch_slot = max(small_slot, 0)
                for feature in range(d):
                    if columns.n_categories[feature] == 0:
                        fill_histogram(
                            columns.bins[feature],
                            rows,
                            small_lo,
                            small_hi,
                            local,
                            wide,
                            histograms[scratch_slot, feature],
                        )
                        for code in range(MISSING_BIN + 1):
                            for k in range(3):
                                histograms[target, feature, code, k] -= histograms[scratch_slot, feature, code, k]
                if small_is_left:
                    left_slot, right_slot = small_slot, target
                else:
                    left_slot, right_slot = target, small_slot
                slot = -1
        if slot > 0:
            free[n_free] = slot
            n_free += 1
        left_inherited = right_inherited = 0.0
        if rule.inherit:
            wl, pl, w, p = side[0], side[1], sums[0], sums[1]
            if p > 0:
                left_inherited = pl * pl / (p * wl) + (p - pl) / w
                right_inherited = (p - pl) * (p - pl) / (p * (w - wl)) + pl / w
            else:
                left_inherited = right_inherited = 1.0
        left_budget = right_budget = budget
        if rule.criterion == TOP_K:
            # The richer side is read first; what it leaves of the budget goes to the other.
            wl, pl, wr, pr = side[0], side[1], sums[0] - side[0], sums[1] - side[1]
            if pl * wr >= pr * wl:
                left_budget, right_budget = min(budget, wl), max(budget - wl, 0.0)
            else:
                right_budget, left_budget = min(budget, wr), max(budget - wr, 0.0)
        at = depth_of_stack
        push(
            stack, stack_parameter, at, middle, hi, depth + 1, node, zero + 1, right_slot, right_budget, right_inherited
        )
        push(stack, stack_parameter, at + 1, lo, middle, depth + 1, node, zero, left_slot, left_budget, left_inherited)
        depth_of_stack += 2
    return n_nodes
