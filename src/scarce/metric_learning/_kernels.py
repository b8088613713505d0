"""Compiled loops of metric learning: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray


@njit(cache=True, nogil=True)
def project(X: NDArray, components: FloatArray) -> FloatArray:  # pragma: no cover - compiled
    """Return ``X @ components.T``, each row to the same bits whatever rows are beside it."""
    n, m = X.shape
    r = components.shape[0]
    columns, out = np.empty((m, r)), np.zeros((n, r))
    for c in range(r):
        for f in range(m):
            columns[f, c] = components[c, f]
    for i in range(n):
        for f in range(m):
            x = np.float64(X[i, f])
            for c in range(r):
                out[i, c] += x * columns[f, c]
    return out


@inner
def _square(Z: FloatArray, i: int, j: int) -> float:  # pragma: no cover - compiled
    total = 0.0
    for c in range(Z.shape[1]):
        difference = Z[i, c] - Z[j, c]
        total += difference * difference
    return total


@inner
def _pull(Z: FloatArray, i: int, j: int, weight: float, out: FloatArray) -> None:  # pragma: no cover - compiled
    for c in range(Z.shape[1]):
        move = weight * (Z[i, c] - Z[j, c])
        out[i, c] += move
        out[j, c] -= move


@njit(cache=True, nogil=True)
def pair_squares(Z: FloatArray, rows: IntArray, others: IntArray) -> FloatArray:  # pragma: no cover - compiled
    """Return the squared distance of each of `rows` to each of its `others`; infinite where there is none (-1)."""
    n, k = others.shape
    out = np.empty((n, k))
    for a in range(n):
        for b in range(k):
            out[a, b] = np.inf
            if others[a, b] >= 0:
                out[a, b] = _square(Z, rows[a], others[a, b])
    return out


@njit(cache=True, nogil=True)
def pair_pulls(
    Z: FloatArray, rows: IntArray, others: IntArray, weight: FloatArray
) -> FloatArray:  # pragma: no cover - compiled
    """Return A such that ``2 * A.T @ X`` is the gradient, by the factor, of the squares times their weights."""
    out = np.zeros(Z.shape)
    for a in range(others.shape[0]):
        for b in range(others.shape[1]):
            if others[a, b] >= 0 and weight[a, b] != 0:
                _pull(Z, rows[a], others[a, b], weight[a, b], out)
    return out


@njit(cache=True, nogil=True)
def large_margin(
    Z: FloatArray, targets: IntArray, rivals: IntArray, mu: float
) -> tuple[float, FloatArray]:  # pragma: no cover - compiled
    """Return the loss of LMNN over the given rivals, and A such that ``2 * A.T @ X`` is its gradient by the factor.

    Each row has its targets and its rivals, both padded with -1.
    """
    n, k = targets.shape
    loss = 0.0
    out = np.zeros(Z.shape)
    near = np.empty(k)
    weight = np.empty(k)
    for i in range(n):
        widest = -np.inf
        for j in range(k):
            if targets[i, j] >= 0:
                near[j] = _square(Z, i, targets[i, j])
                widest = max(widest, near[j])
                loss += (1 - mu) * near[j]
                weight[j] = 1 - mu
        for l in range(rivals.shape[1]):  # noqa: E741
            rival = rivals[i, l]
            if rival < 0:
                break
            far = _square(Z, i, rival)
            if far >= 1 + widest:
                continue
            pushed = 0.0
            for j in range(k):
                if targets[i, j] >= 0 and 1 + near[j] > far:
                    loss += mu * (1 + near[j] - far)
                    weight[j] += mu
                    pushed += mu
            _pull(Z, i, rival, -pushed, out)
        for j in range(k):
            if targets[i, j] >= 0:
                _pull(Z, i, targets[i, j], weight[j], out)
    return loss, out


@njit(cache=True, nogil=True)
def positive_margin(
    Z: FloatArray, positives: IntArray, negative: FloatArray, weight: FloatArray, margin: float
) -> tuple[float, FloatArray]:  # pragma: no cover - compiled
    """Return the loss of MLFP, and A such that ``2 * A.T @ X`` is its gradient by the factor.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The rows times the factor.
    positives : ndarray of shape (n, k)
        The nearest positive rows of each row, padded with -1.
    negative : ndarray of shape (n, k)
        The squared plain distances to the nearest negative rows, padded with infinity.
    weight : ndarray of shape (n,)
        The weight of each triplet of a row; below 0 for negative rows, whose positive neighbours are to be far.
    margin : float
        By how much the right class is to be nearer.
    """
    n, k = positives.shape
    loss = 0.0
    out = np.zeros(Z.shape)
    for i in range(n):
        sign = 1.0 if weight[i] > 0 else -1.0
        for a in range(k):
            if positives[i, a] < 0:
                break
            near = _square(Z, i, positives[i, a])
            pull = 0.0
            for b in range(negative.shape[1]):
                if not np.isfinite(negative[i, b]):
                    break
                missing = margin + sign * (near - negative[i, b])
                if missing > 0:
                    loss += sign * weight[i] * missing
                    pull += weight[i]
            if pull != 0:
                _pull(Z, i, positives[i, a], pull, out)
    return loss, out


@njit(cache=True, nogil=True)
def nearest_rivals(Z: FloatArray, y: IntArray, reach: FloatArray, k: int) -> IntArray:  # pragma: no cover - compiled
    """Return for each row the nearest rows of other classes within its squared reach: at most k, padded with -1.

    The rows stand class by class. Of equal distances the earlier row is first.
    """
    n, r = Z.shape
    out, square = np.empty((n, k), np.intp), np.empty(k)
    first = after = 0
    for i in range(n):
        for c in range(k):
            out[i, c] = -1
        if i == after:
            first = i
            while after < n and y[after] == y[i]:
                after += 1
        kept, limit = 0, reach[i]
        own = after - first
        for other in range(n - own):
            row = other if other < first else other + own
            total = 0.0
            for c in range(r):
                difference = Z[i, c] - Z[row, c]
                total += difference * difference
                if total >= limit:
                    break
            if total >= limit:
                continue
            at = min(kept, k - 1)
            while at > 0 and square[at - 1] > total:
                square[at] = square[at - 1]
                out[i, at] = out[i, at - 1]
                at -= 1
            square[at] = total
            out[i, at] = row
            kept = min(kept + 1, k)
            if kept == k:
                limit = square[k - 1]
    return out
