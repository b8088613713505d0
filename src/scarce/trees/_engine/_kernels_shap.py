"""Shapley values of the leaf that a row falls into: arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce.trees._engine._kernels_walk import goes_left


@njit(cache=True, nogil=True, error_model="numpy")
def sizes_unrolled(graph: Any) -> tuple[int, float]:  # pragma: no cover - compiled
    """Return the depth and the number of nodes of the graph if each way into a block had a copy of it."""
    n_blocks = graph.first.shape[0]
    depth_of, size_of = np.zeros(n_blocks, np.int64), np.zeros(n_blocks)
    depth = np.zeros(graph.feature.shape[0], np.int64)
    for block in range(n_blocks - 1, -1, -1):  # a block leads to later blocks only
        depth[graph.first[block]] = 0
        for node in range(graph.first[block], graph.end[block]):  # and a node to later nodes
            size_of[block] += 1
            if graph.feature[node] >= 0:
                depth[graph.left[node]] = depth[graph.right[node]] = depth[node] + 1
                continue
            below = 0
            if graph.jump[node] >= 0:
                below = depth_of[graph.jump[node]]
                size_of[block] += size_of[graph.jump[node]]
            depth_of[block] = max(depth_of[block], depth[node] + below)
    return depth_of[0], size_of[0]


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    x: NDArray, graph: Any, value: NDArray, share: NDArray, start: int, least: float, t: NDArray, w: NDArray,
    block_value: NDArray, waiting: NDArray, memory: Any, out: NDArray,
) -> None:  # fmt: skip  # pragma: no cover - compiled
    """Add the effects of one row below `start`, and leave the mean value of the leaves in ``memory.total[0]``.

    At a point t, each feature follows the row with probability t. The probability to be in a node is then a product
    with one factor for each feature of the path: t + (1 - t) z where the row agrees with all its tests on the path, and
    (1 - t) z elsewhere, with z the product of the shares of training weight that went the same way. The effect of a
    feature on a leaf is the integral over t of the leaf's value times the product of the other factors times the
    difference of its own factor between t = 1 and t = 0. It is a polynomial, so that a quadrature with points `t` and
    weights `w` is exact. All terms are positive up to this difference: nothing cancels.

    ``memory.probability[0]`` holds the probabilities to begin with. A block that is entered with a probability below
    `least` at every point is not opened: `block_value` stands for it, and the probability is added to `waiting`.
    """
    n = t.shape[0]
    probability, total, agrees, z = memory.probability, memory.total, memory.agrees, memory.z
    agrees[:] = True
    z[:] = 1.0
    level = 0
    memory.node[0] = start
    memory.n_visited[0] = 0
    while True:
        node = memory.node[level]
        feature = graph.feature[node]
        jump = graph.jump[node]
        if feature < 0 and jump >= 0 and probability[level].max() >= least:
            memory.node[level] = graph.first[jump]
            continue
        if feature >= 0 and memory.n_visited[level] < 2:
            if memory.n_visited[level] == 0:
                memory.goes_left[level] = goes_left(np.float64(x[feature]), node, feature, graph)
                total[level] = 0.0
            is_left = memory.n_visited[level] == 0
            memory.n_visited[level] += 1
            child = graph.left[node] if is_left else graph.right[node]
            agreed, z_before = agrees[feature], z[feature]
            agrees[feature] = agreed and is_left == memory.goes_left[level]
            z[feature] = z_before * share[child]
            for q in range(n):
                factor = share[child]
                if agreed:
                    factor = (t[q] * agrees[feature] + (1 - t[q]) * z[feature]) / (t[q] + (1 - t[q]) * z_before)
                probability[level + 1, q] = probability[level, q] * factor
            level += 1
            memory.agreed[level] = agreed
            memory.z_before[level] = z_before
            memory.node[level] = child
            memory.n_visited[level] = 0
            continue
        if feature < 0 and jump < 0:
            for q in range(n):
                total[level, q] = probability[level, q] * value[-1 - jump]
        elif feature < 0:
            for q in range(n):
                total[level, q] = probability[level, q] * block_value[jump, q]
                waiting[jump, q] += probability[level, q]
        if level == 0:
            return
        # Back to the parent. For all leaves below, the last test changed the factor of its feature.
        feature = graph.feature[memory.node[level - 1]]
        agreed, z_before = memory.agreed[level], memory.z_before[level]
        if agreed:
            for q in range(n):
                old = (1 - z_before) / (t[q] + (1 - t[q]) * z_before)
                new = -1 / (1 - t[q])
                if agrees[feature]:
                    new = (1 - z[feature]) / (t[q] + (1 - t[q]) * z[feature])
                out[feature] += w[q] * total[level, q] * (new - old)
        agrees[feature] = agreed
        z[feature] = z_before
        level -= 1
        for q in range(n):
            total[level, q] += total[level + 1, q]


@njit(cache=True, nogil=True, error_model="numpy")
def add_by_paths(
    X: Any, graph: Any, value: NDArray, share: NDArray, least: float, t: NDArray, w: NDArray, memory: Any, out: NDArray
) -> None:  # pragma: no cover - compiled
    """Add the effects of each row, block by block along each path.

    A block that a path enters with a probability below `least` is opened once for all such paths, and its features are
    then apart from those of the blocks before: exact for `least` 0, where all are opened.
    """
    n_blocks = graph.first.shape[0]
    block_value, waiting = np.zeros((n_blocks, t.shape[0])), np.zeros((n_blocks, t.shape[0]))
    ignored = np.zeros(out.shape[1])
    for i in range(X.shape[0]):
        if least > 0:
            for block in range(n_blocks - 1, 0, -1):
                memory.probability[0] = 1.0
                first = graph.first[block]
                descend(X[i], graph, value, share, first, np.inf, t, w, block_value, waiting, memory, ignored)
                block_value[block] = memory.total[0]
            waiting[:] = 0.0
        memory.probability[0] = 1.0
        descend(X[i], graph, value, share, graph.first[0], least, t, w, block_value, waiting, memory, out[i])
        if least > 0:
            for block in range(1, n_blocks):
                if waiting[block].max() > 0:
                    memory.probability[0] = waiting[block]
                    first = graph.first[block]
                    descend(X[i], graph, value, share, first, np.inf, t, w, block_value, waiting, memory, out[i])


@njit(cache=True, nogil=True, error_model="numpy")
def add_by_subsets(
    X: Any, graph: Any, value: NDArray, share: NDArray, used: NDArray, weight: NDArray, out: NDArray
) -> None:  # pragma: no cover - compiled
    """Add the effects of each row by the definition: over all subsets of the `used` features.

    `weight` is Shapley's, by the size of the subset that a feature joins. A subset is a number whose bits are features.
    """
    n_nodes, n_used = graph.feature.shape[0], used.shape[0]
    bit = np.zeros(out.shape[1], np.int64)
    for k in range(n_used):
        bit[used[k]] = np.int64(1) << k
    follows = np.zeros(n_nodes, np.int64)
    mean = np.empty(n_nodes)
    of_subset = np.empty(1 << n_used)
    for i in range(X.shape[0]):
        for node in range(n_nodes):
            feature = graph.feature[node]
            if feature >= 0:
                is_left = goes_left(np.float64(X[i, feature]), node, feature, graph)
                follows[node] = graph.left[node] if is_left else graph.right[node]
        for subset in range(1 << n_used):
            for node in range(n_nodes - 1, -1, -1):  # what follows a node has a higher number
                feature = graph.feature[node]
                if feature >= 0:
                    left, right = graph.left[node], graph.right[node]
                    if subset & bit[feature]:
                        mean[node] = mean[follows[node]]
                    else:
                        mean[node] = share[left] * mean[left] + share[right] * mean[right]
                elif graph.jump[node] >= 0:
                    mean[node] = mean[graph.first[graph.jump[node]]]
                else:
                    mean[node] = value[-1 - graph.jump[node]]
            of_subset[subset] = mean[graph.first[0]]
        for subset in range(1 << n_used):
            size = 0
            for k in range(n_used):
                size += (subset >> k) & 1
            for k in range(n_used):
                if not (subset >> k) & 1:
                    joined = of_subset[subset | (1 << k)]
                    out[i, used[k]] += weight[size] * (joined - of_subset[subset])
