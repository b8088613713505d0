"""The sums over the other class that informative neighbours need."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._typing import FloatArray

# Rows of one class whose features stay in the cache while the other class goes by.
_BLOCK = 256
# exp(-50) adds 2e-22 to a logarithm.
_FAR = 50.0
# No row is more than this likely to be taken for another.
SURE = 1 - 1e-12


@njit(cache=True, nogil=True)
def add_log_products(
    a: NDArray, b: NDArray, gamma: float, log_a: FloatArray, log_b: FloatArray
) -> None:  # pragma: no cover - compiled
    """Add log(1 - exp(-d² / γ)) of every pair of a row of `a` and one of `b` to the sums of both rows."""
    limit = _FAR * gamma
    m = a.shape[1]
    for start in range(0, len(b), _BLOCK):
        for i in range(len(a)):
            for j in range(start, min(start + _BLOCK, len(b))):
                total = 0.0
                for f in range(m):
                    difference = np.float64(a[i, f]) - np.float64(b[j, f])
                    total += difference * difference
                    if total > limit:
                        break
                if total <= limit:
                    term = np.log1p(-min(np.exp(-total / gamma), SURE))
                    log_a[i] += term
                    log_b[j] += term
