"""Kernels over all nodes of a forest at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce.trees._engine._kernels_walk import goes_left

LANES = 8  # rows on their way at a time: while one waits for memory, others go on


@njit(cache=True, nogil=True, error_model="numpy")
def add_forest(X: NDArray, forest: Any, out: NDArray) -> None:  # pragma: no cover - compiled
    """Add the values of the leaves of each row, tree by tree, to `out`."""
    n: Any = np.int64(X.shape[0])
    nodes = np.empty(LANES, np.int64)
    rows = np.empty(LANES, np.int64)
    for root in forest.root:
        n_lanes: Any = min(n, np.int64(LANES))
        for lane in range(n_lanes):
            nodes[lane] = root
            rows[lane] = lane
        started = n_lanes
        while n_lanes > 0:
            k: Any = np.int64(0)
            while k < n_lanes:
                node = nodes[k]
                feature: Any = np.int64(forest.feature[node])
                if feature >= 0:
                    x, threshold = np.float64(X[rows[k], feature]), forest.threshold[node]
                    side = np.int64(x > threshold)
                    if x != x or threshold != threshold:  # a missing value, or a category
                        side = np.int64(not goes_left(x, node, feature, forest))
                    nodes[k] = forest.child[node, side]
                    k += 1
                    continue
                out[rows[k]] += forest.value[node]
                if started < n:
                    nodes[k] = root
                    rows[k] = started
                    started += 1
                else:
                    n_lanes -= 1
                    nodes[k] = nodes[n_lanes]
                    rows[k] = rows[n_lanes]


@njit(cache=True, nogil=True, error_model="numpy")
def find_ways(graph: Any, way: NDArray) -> None:  # pragma: no cover - compiled
    """Fill the first node at which rows that are in a node are parted, or their final leaf.

    In a tree of trees many tests do not matter: all that is below them leads to the same side.
    """
    for node in range(graph.feature.shape[0] - 1, -1, -1):  # what follows a node has a higher number
        way[node] = node
        if graph.feature[node] < 0:
            if graph.jump[node] >= 0:
                way[node] = way[graph.first[graph.jump[node]]]
        elif way[graph.left[node]] == way[graph.right[node]]:
            way[node] = way[graph.left[node]]


@njit(cache=True, nogil=True, error_model="numpy")
def add_steps(
    feature: NDArray, left: NDArray, right: NDArray, value: NDArray, size: NDArray, steps: NDArray
) -> None:  # pragma: no cover - compiled
    """Write into `steps` (nodes x sizes) how a value changes on the way to each node, by the size of nodes entered."""
    for node in range(feature.shape[0]):  # a parent comes before its children
        if feature[node] >= 0:
            for child in (left[node], right[node]):
                for k in range(steps.shape[1]):
                    steps[child, k] = steps[node, k]
                steps[child, size[child]] += value[child] - value[node]
