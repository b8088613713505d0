"""From rows to the sum of all trees' scores, in one call."""

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
