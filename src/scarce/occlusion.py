"""Contributions of the features to a score, for any model that scores rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from scarce._sklearn import safe_indexing
from scarce._typing import FloatArray, MatrixLike, Rows, Values

__all__ = ["contributions", "occlusion", "usual_rows"]


MAX_ROWS = 50_000


def contributions(
    score: Callable[[Rows], FloatArray],
    X: MatrixLike,
    usual: Sequence[tuple[Values, Sequence[float] | None]],
    *,
    max_rows: int = MAX_ROWS,
) -> FloatArray:
    """Return what each feature adds to each row's score.

    The contribution of a feature is the row's score less its mean score when that feature takes its usual values
    instead. It is one feature at a time: features that only matter together share no credit.

    Parameters
    ----------
    score : callable
        Takes rows, returns one score for each.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows to explain.
    usual : sequence of (values, weights), one for each feature
        The usual values, an array, or a series of the feature's type where `X` is a data frame; and the weight of
        each, of sum 1, or None for equal weights.
    max_rows : int
        The largest number of rows to score in one call, which bounds the memory.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.occlusion import contributions
    >>> usual = [(np.array([0.0, 1.0]), [0.5, 0.5]), (np.array([1.0]), None)]
    >>> contributions(lambda rows: rows @ [1.0, 2.0], np.array([[3.0, 4.0]]), usual)
    array([[2.5, 6. ]])
    """
    own = score(X)
    n = X.shape[0]
    added = np.empty(X.shape)
    for feature, (values, weights) in enumerate(usual):
        size = len(values)
        step = max(1, max_rows // size)
        for start in range(0, n, step):
            count = min(step, n - start)
            copies = safe_indexing(X, start + np.repeat(np.arange(count), size))
            tiled = safe_indexing(values, np.tile(np.arange(size), count))
            replaced = score(_with_feature(copies, feature, tiled)).reshape(count, size)
            expected = replaced.mean(axis=1) if weights is None else replaced @ np.asarray(weights)
            added[start : start + count, feature] = own[start : start + count] - expected
    return added


def occlusion(
    score: Callable[[Rows], FloatArray], X: MatrixLike, background: Rows, *, max_rows: int = MAX_ROWS
) -> FloatArray:
    """Return what each feature adds to each row's score, where usual values are those of background rows.

    Parameters
    ----------
    score, X, max_rows
        As in :func:`contributions`.
    background : of the type of `X`, of shape (n_background, n_features)
        Usual rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.occlusion import occlusion
    >>> occlusion(lambda rows: rows @ [1.0, 2.0], np.array([[3.0, 4.0]]), np.zeros((5, 2)))
    array([[3., 8.]])
    """
    usual = [(_feature(background, feature), None) for feature in range(background.shape[1])]
    return contributions(score, X, usual, max_rows=max_rows)


def usual_rows(X: MatrixLike, size: int = 30) -> Rows:
    """Return some rows of `X`, the same ones at each call, to serve as a background."""
    return safe_indexing(X, np.random.default_rng(0).permutation(X.shape[0])[:size])


def _feature(rows: Rows, feature: int) -> Rows:
    if nw.dependencies.is_into_dataframe(rows):
        return nw.from_native(rows, eager_only=True)[:, feature].to_native()
    return rows[:, [feature]].toarray().ravel() if issparse(rows) else rows[:, feature]


def _with_feature(rows: Rows, feature: int, values: Values) -> Rows:
    """Return the rows with other values of one feature; arrays, which are copies already, are changed in place."""
    if nw.dependencies.is_into_dataframe(rows):
        frame = nw.from_native(rows, eager_only=True)
        column = nw.from_native(values, series_only=True).alias(frame.columns[feature])
        return frame.with_columns(column).to_native()
    changed = rows.tolil() if issparse(rows) else rows
    changed[:, feature] = values[:, None] if issparse(rows) else values
    return changed.tocsr() if issparse(rows) else changed
