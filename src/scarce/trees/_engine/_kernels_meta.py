"""A tree of trees: in each meta-node a tree is grown, its leaves are ordered and merged into two sides.

The whole is one graph of nodes: a leaf of an internal tree jumps to the root of the next internal tree, or to a final
leaf. An ordinary tree is the case of a single block whose leaves are all final.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner_numpy
from scarce.trees._engine._kernels_criteria import BALANCED, WEIGHTED_ERROR
from scarce.trees._engine._kernels_grow import TINY, grow, part
from scarce.trees._engine._kernels_random import next_random

BY_SLOPE = 0
BY_PRECISION = 1
MERGE_AP = 0
MERGE_AUC = 1


@inner_numpy
def leaf_key(w: float, p: float, by: int) -> float:  # pragma: no cover - compiled
    """Return the number by which leaves are ordered, the smaller first."""
    if p <= 0:
        return math.inf
    return (w - p) / w / p if by == BY_SLOPE else (w - p) / w


@njit(cache=True, nogil=True, error_model="numpy")
def order_leaves(leaves: NDArray, n: int, sums: NDArray, by: int) -> None:  # pragma: no cover - compiled
    """Order the first n of `leaves` by ascending (1 - precision) / recall, or by descending precision.

    Of equal ones the larger is first; leaves without positives come last, the smaller first.
    """
    keys = np.empty(n, np.float64)
    sizes = np.empty(n, np.float64)
    for i in range(n):
        leaf = leaves[i]
        key = leaf_key(sums[leaf, 0], sums[leaf, 1], by)
        size = sums[leaf, 0] if math.isinf(key) else -sums[leaf, 0]
        j = i
        while j > 0 and (keys[j - 1] > key or (keys[j - 1] == key and sizes[j - 1] > size)):
            keys[j] = keys[j - 1]
            sizes[j] = sizes[j - 1]
            leaves[j] = leaves[j - 1]
            j -= 1
        keys[j] = key
        sizes[j] = size
        leaves[j] = leaf


@njit(cache=True, nogil=True, error_model="numpy")
def best_prefix(
    leaves: NDArray, n: int, sums: NDArray, w: float, p: float, merge: int
) -> int:  # pragma: no cover - compiled
    """Return how many of the ordered leaves make the better side: the first maximum of its AP, or of its AUC."""
    best, best_at = -math.inf, 0
    wl = pl = 0.0
    for i in range(n):
        wl += sums[leaves[i], 0]
        pl += sums[leaves[i], 1]
        value = pl * pl / (p * wl) + (p - pl) / w if merge == MERGE_AP else pl / p - (wl - pl) / (w - p)
        if value > best + TINY:  # of equal ones the first, whatever the rounding
            best, best_at = value, i + 1
    return best_at


# Without an entry for Python and C, whose many arrays take as long to compile as a loop.
_grow = inner_numpy(grow.py_func)


@njit(cache=True, nogil=True, error_model="numpy")
def grow_meta(
    columns: Any,
    rows: NDArray,
    order: NDArray,
    stats: NDArray,
    whole: bool,
    rule: Any,
    max_depth: int,
    min_split: int,
    by: int,
    merge: int,
    budget: float,
    seed: Any,
    scratch: Any,
    tree: Any,
    out: Any,
    bins: Any,
    categories: Any,
    drawn: Any,
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """Grow the tree of trees on all of `rows`; return the numbers of nodes, of blocks and of final leaves.

    `tree` has room for one internal tree, `out` for all. A side of a block is the next block's number, or -1 - the
    number of a final leaf, counted from the best. A `budget` above 0 is the weight of the rows to be ranked first.
    `bins`, `categories` and `drawn` as for `grow`.
    """
    n = rows.shape[0]
    d = columns.n_categories.shape[0]
    exact = order.shape[1] > 0
    zero: Any = np.int64(0)  # see `grow`
    n_nodes = n_blocks = n_leaves = zero
    stack = np.empty((max_depth + 2, 5), np.int64)  # start, end, depth, parent block, which side
    budgets = np.empty(max_depth + 2, np.float64)
    budgets[0] = budget
    push_block(stack, zero, zero, n, zero + 1, zero - 1, zero)
    waiting = zero + 1
    state = np.uint64(seed)
    leaves = np.empty(tree.feature.shape[0], np.int64)
    while waiting > 0:
        waiting -= 1
        lo = stack[waiting, 0]
        hi = stack[waiting, 1]
        depth = stack[waiting, 2]
        parent = stack[waiting, 3]
        which = stack[waiting, 4]
        here = budgets[waiting]
        w = p = 0.0
        for i in range(lo, hi):
            w += stats[rows[i], 0]
            p += stats[rows[i], 1]
        found = size = n_ends = zero
        across = budget <= 0 or 0 < here < w  # what is wholly before or behind the end of a budget is left alone
        if across and depth <= max_depth and 0 < p < w and hi - lo >= min_split:
            for i in range(lo, hi):
                scratch.rows[i] = rows[i]
            if exact:
                for feature in range(d):
                    for i in range(lo, hi):
                        scratch.order[feature, i] = order[feature, i]
            parameter = p / w if rule.criterion == WEIGHTED_ERROR or rule.criterion == BALANCED else 0.0
            state, number = next_random(state)
            size = _grow(
                columns, scratch.rows, scratch.order, stats, whole, lo, hi, rule, parameter, number, scratch, tree,
                bins, categories, drawn,
            )  # fmt: skip
            for node in range(size):
                if tree.feature[node] < 0:
                    leaves[n_ends] = node
                    n_ends += 1
            order_leaves(leaves, n_ends, tree.sums, by)
            found = best_prefix(leaves, n_ends, tree.sums, w, p, merge)
        if found == n_ends:
            if parent >= 0:
                out.side[parent, which] = -1 - n_leaves
            n_leaves += 1
            continue
        if parent >= 0:
            out.side[parent, which] = n_blocks
        out.first[n_blocks] = n_nodes
        out.end[n_blocks] = n_nodes + size
        for node in range(size):
            at = n_nodes + node
            inner = tree.feature[node] >= 0
            out.feature[at] = tree.feature[node]
            out.threshold[at] = tree.threshold[node]
            out.left[at] = n_nodes + tree.left[node] if inner else -1
            out.right[at] = n_nodes + tree.right[node] if inner else -1
            out.missing_left[at] = tree.missing_left[node]
            out.n_rows[at] = tree.n_rows[node]
            out.jump[at] = 1  # the side, replaced by where it leads when that is known
            for k in range(4):
                out.sums[at, k] = tree.sums[node, k]
                if tree.subset.shape[0] > 0:
                    out.subset[at, k] = tree.subset[node, k]
        better = 0.0
        for i in range(found):
            out.jump[n_nodes + leaves[i]] = 0
            better += tree.sums[leaves[i], 0]
        budgets[waiting] = max(here - better, 0.0)
        budgets[waiting + 1] = min(here, better)
        for i in range(lo, hi):
            scratch.left[rows[i]] = 1 - out.jump[n_nodes + scratch.leaf[rows[i]]]
        middle = part(rows, lo, hi, scratch.left, scratch.buffer)
        if exact:
            for feature in range(d):
                if columns.n_categories[feature] == 0:
                    part(order[feature], lo, hi, scratch.left, scratch.buffer)
        n_nodes += size
        push_block(stack, waiting, middle, hi, depth + 1, n_blocks, zero + 1)
        push_block(stack, waiting + 1, lo, middle, depth + 1, n_blocks, zero)
        waiting += 2
        n_blocks += 1
    for block in range(n_blocks):
        for node in range(out.first[block], out.end[block]):
            if out.feature[node] < 0:
                out.jump[node] = out.side[block, out.jump[node]]
    return n_nodes, n_blocks, n_leaves


@inner_numpy
def push_block(
    stack: NDArray, at: int, start: int, end: int, depth: int, parent: int, which: int
) -> None:  # pragma: no cover - compiled
    """Leave a segment of rows to be looked at later."""
    stack[at, 0] = start
    stack[at, 1] = end
    stack[at, 2] = depth
    stack[at, 3] = parent
    stack[at, 4] = which
