"""How much of a score is due to each feature, for any model that scores rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import safe_indexing

__all__ = ["ExplainsByOcclusion", "explain_by_occlusion", "occlusion", "usual_rows"]

FloatArray = NDArray[np.float64]


def occlusion(score: Callable[[Any], FloatArray], X: Any, background: Any, *, max_rows: int = 100_000) -> FloatArray:
    """Return what each feature adds to each row's score.

    The contribution of a feature is the row's score less its mean score when that feature takes the values of the
    background rows instead. It is one feature at a time: features that only matter together share no credit.

    Parameters
    ----------
    score : callable
        Takes rows, returns one score for each.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows to explain.
    background : of the type of `X`, of shape (n_background, n_features)
        Usual rows.
    max_rows : int
        How many rows to score in one call at the most, which bounds the memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.occlusion import occlusion
    >>> occlusion(lambda rows: rows @ [1.0, 2.0], np.array([[3.0, 4.0]]), np.zeros((5, 2)))
    array([[3., 8.]])
    """
    own = score(X)
    n, size = X.shape[0], background.shape[0]
    out = np.empty(X.shape)
    step = max(1, max_rows // size)
    for start in range(0, n, step):
        count = min(step, n - start)
        copies = safe_indexing(X, start + np.repeat(np.arange(count), size))
        usual = safe_indexing(background, np.tile(np.arange(size), count))
        for feature in range(X.shape[1]):
            replaced = score(_with_column(copies, usual, feature)).reshape(count, size)
            out[start : start + count, feature] = own[start : start + count] - replaced.mean(axis=1)
    return out


def usual_rows(X: Any, size: int = 30) -> Any:
    """Return some rows of `X`, the same ones at each call, to serve as a background."""
    return safe_indexing(X, np.random.default_rng(0).permutation(X.shape[0])[:size])


def explain_by_occlusion(
    score: Callable[[Any], FloatArray], X: Any, background: Any, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return for each row its score and, by name, what each feature adds to it."""
    added = occlusion(score, X, background)
    return [
        {"score": float(own), "features": dict(zip(names, row.tolist(), strict=True))}
        for own, row in zip(score(X), added, strict=True)
    ]


class ExplainsByOcclusion:
    """The reasons of an estimator that has none of its own: its `_fit` keeps some usual rows as `_background`."""

    _background: Any

    def explain(self: Any, X: Any) -> list[dict[str, Any]]:
        """Return for each row its score and what each feature adds to it (see :mod:`scarce.occlusion`)."""
        check_is_fitted(self)
        return explain_by_occlusion(self._score, self._check_X(X, reset=False), self._background, self._feature_names)


def _with_column(rows: Any, source: Any, feature: int) -> Any:
    """Return the rows with one column taken from another table of the same shape."""
    if nw.dependencies.is_into_dataframe(rows):
        frame, other = nw.from_native(rows, eager_only=True), nw.from_native(source, eager_only=True)
        return frame.with_columns(other.get_column(other.columns[feature])).to_native()
    changed = rows.tolil() if issparse(rows) else rows.copy()
    changed[:, feature] = source[:, [feature]] if issparse(rows) else source[:, feature]
    return changed.tocsr() if issparse(rows) else changed
