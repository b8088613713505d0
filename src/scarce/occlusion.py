"""How much of a score is due to each feature, for any model that scores rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["occlusion"]

FloatArray = NDArray[np.float64]


def occlusion(
    score: Callable[[NDArray], FloatArray], X: NDArray, background: NDArray, *, max_rows: int = 100_000
) -> FloatArray:
    """Return what each feature adds to each row's score.

    The contribution of a feature is the row's score less its mean score when that feature takes the values of
    the background rows instead. Features that only matter together share no credit: this is one feature at a
    time, which is what can be read in a queue.

    Parameters
    ----------
    score : callable
        Takes rows, returns one score for each.
    X : ndarray of shape (n_samples, n_features)
        The rows to explain.
    background : ndarray of shape (n_background, n_features)
        Usual rows.
    max_rows : int
        How many rows to score in one call at the most, which bounds the memory.
    """
    own = score(X)
    out = np.empty(X.shape)
    step = max(1, max_rows // len(background))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        copies = np.repeat(rows, len(background), axis=0)
        for feature in range(X.shape[1]):
            kept = copies[:, feature].copy()
            copies[:, feature] = np.tile(background[:, feature], len(rows))
            replaced = score(copies).reshape(len(rows), len(background))
            out[start : start + step, feature] = own[start : start + step] - replaced.mean(axis=1)
            copies[:, feature] = kept
    return out
