"""Kernels over all nodes of a forest at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce.trees._engine._kernels_walk import goes_left


@njit(cache=True, nogil=True, error_model="numpy")
def add_forest(X: NDArray, forest: Any, out: NDArray) -> None:  # pragma: no cover - compiled
    """Add the values of the leaves of each row, tree by tree, to `out`."""
    for root in forest.root:
        for i in range(X.shape[0]):
            node: Any = np.int64(root)
            feature = forest.feature[node]
            while feature >= 0:
                left = goes_left(np.float64(X[i, feature]), node, feature, forest)
                node = np.int64(forest.left[node] if left else forest.right[node])
                feature = forest.feature[node]
            out[i] += forest.value[node]


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
