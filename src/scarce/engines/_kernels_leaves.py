"""The kernel that adds up small trees by the leaves that a row may still come to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# The lowest bit that is set in each byte.
_FIRST = np.array([0] + [(byte & -byte).bit_length() - 1 for byte in range(1, 256)], dtype=np.uint8)


@njit(cache=True, nogil=True, error_model="numpy")
def add_leaves(X: NDArray, table: Any, out: NDArray) -> None:  # pragma: no cover - compiled
    """Write the sum of the values of each row's leaves into `out`, in the order of the trees."""
    n_trees = table.value.shape[0]
    possible = np.empty(n_trees, np.uint8)
    for i in range(X.shape[0]):
        possible[:] = 255
        for k in range(table.feature.shape[0]):
            x = np.float64(X[i, table.feature[k]])
            start = table.start[k]
            n_edges = table.start[k + 1] - start
            row = start + 2 * k
            if x != x:
                row += n_edges + 1
            else:
                below: Any = np.int64(0)  # how many edges are below x
                size = n_edges
                while size > 0:
                    half = size >> 1
                    if table.edge[start + below + half] < x:
                        below += half + 1
                        size -= half + 1
                    else:
                        size = half
                if below == 0:  # rules nothing out
                    continue
                row += below
            for tree in range(n_trees):
                possible[tree] &= table.possible[row, tree]
        total = 0.0
        for tree in range(n_trees):
            total += table.value[tree, _FIRST[possible[tree]]]
        out[i] = total
