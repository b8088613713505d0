"""Squared distances of a query to a block of rows.

They are sums of squared differences in the order of the features, so that they are the same to the last bit for every
query and batch, and as :func:`~scarce.neighbors._search._kernels_index.nearest_exactly` measures them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._typing import FloatArray


@njit(cache=True, nogil=True, inline="always")
def squared_distances(
    query: NDArray, columns: FloatArray, size: int, out: FloatArray
) -> None:  # pragma: no cover - compiled
    """Measure the squared distances of a query to the first `size` rows of a block, which lies feature by feature."""
    m = len(query)
    for t in range(size):
        out[t] = 0.0
    f = 0
    # Four features at a time, since the sums are read and written once for all of them.
    while f + 4 <= m:
        q0, q1 = np.float64(query[f]), np.float64(query[f + 1])
        q2, q3 = np.float64(query[f + 2]), np.float64(query[f + 3])
        b0, b1, b2, b3 = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
        for t in range(size):
            d0, d1, d2, d3 = q0 - b0[t], q1 - b1[t], q2 - b2[t], q3 - b3[t]
            out[t] = out[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        f += 4
    while f < m:
        q0, b0 = np.float64(query[f]), columns[f]
        for t in range(size):
            d0 = q0 - b0[t]
            out[t] += d0 * d0
        f += 1
