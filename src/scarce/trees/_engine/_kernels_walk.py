"""From rows to leaves: the walk through a tree or a tree of trees, and the distance that breaks ties within a leaf."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner_numpy

NO_DISTANCE = 0
PATH = 1
BOUNDARY = 2


@njit(cache=True, nogil=True, error_model="numpy")
def majority(w: float, p: float) -> float:  # pragma: no cover - compiled
    """Return 1 where most of a leaf is positive, -1 where most is negative, 0 on a tie."""
    return 1.0 if 2 * p > w else (-1.0 if 2 * p < w else 0.0)


@inner_numpy
def goes_left(x: float, node: int, feature: int, graph: Any) -> bool:  # pragma: no cover - compiled
    """Return whether a value goes left; missing values and unknown categories go where the node remembers."""
    if math.isnan(x):
        return graph.missing_left[node]
    n_categories = graph.n_categories[feature]
    if n_categories == 0:
        return x <= graph.threshold[node]
    if not (0 <= x < n_categories) or x != math.floor(x):
        return graph.missing_left[node]
    code = np.int64(x)
    return (graph.subset[node, code >> 6] >> np.uint64(code & 63)) & np.uint64(1) != 0


def walk(X: Any, graph: Any, mode: int, leaf: NDArray, distance: NDArray) -> None:
    """Find the final leaf of each row, and its signed distance to the tests of the last internal tree.

    PATH: the smallest distance to a threshold on the way. BOUNDARY: the smallest distance, in standard deviations, to
    the box of a leaf of the other label. Both are signed by the majority of the leaf.
    """
    _walk(X, graph, mode, mode == BOUNDARY or None, leaf, distance)


@njit(cache=True, nogil=True, error_model="numpy")
def _walk(
    X: Any, graph: Any, mode: int, boundary: Any, leaf: NDArray, distance: NDArray
) -> None:  # pragma: no cover - compiled
    """Walk; where `boundary` is None instead of True, numba leaves out what only that mode needs."""
    zero: Any = np.int64(0)  # a plain 0 would compile `goes_left` twice
    for i in range(X.shape[0]):
        node = block = zero
        nearest = math.inf
        while True:
            feature = graph.feature[node]
            if feature < 0:
                jump = graph.jump[node]
                if jump < 0:
                    break
                block = jump
                node = graph.first[block]
                nearest = math.inf
                continue
            x = np.float64(X[i, feature])
            if mode == PATH and graph.n_categories[feature] == 0:
                gap = abs(x - graph.threshold[node])
                if gap < nearest:
                    nearest = gap
            node = graph.left[node] if goes_left(x, node, feature, graph) else graph.right[node]
        leaf[i] = -1 - jump
        if mode == NO_DISTANCE:
            continue
        sign = majority(graph.sums[node, 0], graph.sums[node, 1])
        if boundary is not None:
            nearest = boundary_distance(X[i], graph, block, sign)
        distance[i] = 0.0 if math.isinf(nearest) else sign * nearest


@inner_numpy
def boundary_distance(x: NDArray, graph: Any, block: int, sign: float) -> float:  # pragma: no cover - compiled
    """Return the distance of a row to the nearest leaf of another label within one internal tree."""
    best = math.inf
    for node in range(graph.first[block], graph.end[block]):
        if graph.feature[node] >= 0 or majority(graph.sums[node, 0], graph.sums[node, 1]) == sign:
            continue
        total = 0.0
        for j in range(x.shape[0]):
            beyond = max(graph.low[node, j] - x[j], x[j] - graph.high[node, j])
            if beyond > 0:
                total += (beyond / graph.scale[j]) ** 2
        best = min(best, total)
    return math.sqrt(best)


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_boxes(graph: Any, low: NDArray, high: NDArray) -> None:  # pragma: no cover - compiled
    """Fill the box of each node: the interval of each numeric feature that its block's tests leave open."""
    for block in range(graph.first.shape[0]):
        first = graph.first[block]
        low[first] = -math.inf
        high[first] = math.inf
        for node in range(first, graph.end[block]):
            feature = graph.feature[node]
            if feature < 0:
                continue
            for child in (graph.left[node], graph.right[node]):
                low[child] = low[node]
                high[child] = high[node]
            if graph.n_categories[feature] == 0:
                high[graph.left[node], feature] = min(high[node, feature], graph.threshold[node])
                low[graph.right[node], feature] = max(low[node, feature], graph.threshold[node])


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_range(
    leaf: NDArray, distance: NDArray, weight: NDArray, low: NDArray, high: NDArray
) -> None:  # pragma: no cover - compiled
    """Fill the smallest and the largest distance of training rows in each leaf."""
    for k in range(low.shape[0]):
        low[k] = math.inf
        high[k] = -math.inf
    for i in range(leaf.shape[0]):
        if weight[i] > 0:
            low[leaf[i]] = min(low[leaf[i]], distance[i])
            high[leaf[i]] = max(high[leaf[i]], distance[i])


@njit(cache=True, nogil=True, error_model="numpy")
def add_scores(
    leaf: NDArray, distance: NDArray, value: NDArray, spread: NDArray, low: NDArray, high: NDArray, out: NDArray
) -> None:  # pragma: no cover - compiled
    """Add each row's score: its leaf's value, and within the leaf its place between the distances seen in training."""
    for i in range(leaf.shape[0]):
        k = leaf[i]
        width = high[k] - low[k]
        place = 0.0
        if width > 0:
            place = min(max((distance[i] - low[k]) / width, 0.0), 1.0)
        out[i] += value[k] + spread[k] * place
