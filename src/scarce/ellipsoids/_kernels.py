"""Loops of ME²: the dual of one ellipsoid, all of them in parallel, and distances under their metrics."""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray

# How far a gradient may point out of the box, in units of the squared distance to the farthest local negative.
_TOLERANCE = 1e-10
_MAX_ROUNDS = 100
# Added to the diagonal of a system that duplicates or few features make singular, relative to its largest entry.
_RIDGE = 1e-13


@njit(cache=True, nogil=True)
def squared_gram(
    rows: FloatArray, centre: int, local: IntArray, scale: float, out: FloatArray
) -> None:  # pragma: no cover - compiled
    """Fill `out` with the squared inner products of the local rows seen from the centre, and a last row of 0."""
    n = len(local)
    for i in range(len(out)):
        for j in range(len(out)):
            out[i, j] = 0.0
    column = np.empty(n)
    for k in range(rows.shape[1]):
        for i in range(n):
            column[i] = (rows[local[i], k] - rows[centre, k]) / scale
        for i in range(n):
            value = column[i]
            if value != 0.0:
                for j in range(i + 1):
                    out[i, j] += value * column[j]
    for i in range(n):
        for j in range(i + 1):
            out[i, j] *= out[i, j]
            out[j, i] = out[i, j]


@inner
def _factorise(A: FloatArray, n: int) -> None:  # pragma: no cover - compiled
    """Turn the lower triangle of a positive definite A into its Cholesky factor."""
    for j in range(n):
        for k in range(j):
            value = A[j, k]
            if value != 0.0:
                for i in range(j, n):
                    A[i, j] -= value * A[i, k]
        root = np.sqrt(A[j, j])
        for i in range(j, n):
            A[i, j] /= root


@inner
def _minimise_on_face(
    gram: FloatArray,
    a: float,
    b: float,
    x: FloatArray,
    g: FloatArray,
    free: IntArray,
    work: FloatArray,
    step: FloatArray,
) -> bool:  # pragma: no cover - compiled
    """Minimise over the coordinates that are at no bound, to the first bound met.

    Returns whether a bound was met.
    """
    n = len(x) - 1
    f = 0
    for i in range(n + 1):
        if x[i] > 0.0 and (i == n or x[i] < 1.0 / n):
            free[f] = i
            f += 1
    if f == 0:
        return False
    top = 0.0
    for i in range(f):
        for j in range(i + 1):
            sign = 1.0 if (free[i] == n) == (free[j] == n) else -1.0
            work[i, j] = a * gram[free[i], free[j]] + sign * b
        top = max(top, work[i, i])
    for i in range(f):
        work[i, i] += _RIDGE * top
    _factorise(work, f)
    for i in range(f):
        value = -g[free[i]]
        for k in range(i):
            value -= work[i, k] * step[k]
        step[i] = value / work[i, i]
    for i in range(f - 1, -1, -1):
        value = step[i]
        for k in range(i + 1, f):
            value -= work[k, i] * step[k]
        step[i] = value / work[i, i]
    length, stopped = 1.0, -1
    for i in range(f):
        at = x[free[i]]
        if step[i] < 0.0 and -at / step[i] < length:
            length, stopped = -at / step[i], i
        elif step[i] > 0.0 and free[i] < n and (1.0 / n - at) / step[i] < length:
            length, stopped = (1.0 / n - at) / step[i], i
    for i in range(f):
        if i == stopped:
            x[free[i]] = 0.0 if step[i] < 0.0 else 1.0 / n
        elif free[i] == n:
            x[n] = max(0.0, x[n] + length * step[i])
        else:
            x[free[i]] = min(max(0.0, x[free[i]] + length * step[i]), 1.0 / n)
    return stopped >= 0


@inner
def _gradient(
    gram: FloatArray, a: float, b: float, x: FloatArray, g: FloatArray
) -> float:  # pragma: no cover - compiled
    """Fill g with the gradient of the dual, and return R."""
    n = len(x) - 1
    total = 0.0
    for i in range(n):
        total += x[i]
    radius = 1.0 + b * (x[n] - total)
    for i in range(n):
        g[i] = np.sqrt(gram[i, i]) - radius
    for j in range(n):
        if x[j] > 0.0:
            value = a * x[j]
            for i in range(n):
                g[i] += value * gram[j, i]
    g[n] = radius
    return radius


@inner
def _descend(gram: FloatArray, a: float, b: float, x: FloatArray, g: FloatArray) -> None:  # pragma: no cover - compiled
    """Move one coordinate at a time, the one that gains most; a quarter as often as there are was found fastest."""
    n = len(x) - 1
    for _ in range(n // 4 + 1):
        best, chosen, move = 0.0, -1, 0.0
        for i in range(n + 1):
            if abs(g[i]) > 0.5 * _TOLERANCE:
                curvature = a * gram[i, i] + b
                goal = max(x[i] - g[i] / curvature, 0.0)
                if i < n:
                    goal = min(goal, 1.0 / n)
                delta = goal - x[i]
                gain = -delta * (g[i] + 0.5 * curvature * delta)
                if gain > best:
                    best, chosen, move = gain, i, delta
        if chosen < 0:
            break
        x[chosen] = max(x[chosen] + move, 0.0)
        if chosen < n:
            x[chosen] = min(x[chosen], 1.0 / n)
        shift = b * move if chosen < n else -b * move
        value = a * move
        for i in range(n):
            g[i] += value * gram[chosen, i] + shift
        g[n] -= shift


@inner
def _violation(x: FloatArray, g: FloatArray) -> float:  # pragma: no cover - compiled
    """Return how far the gradient points to better places within the box."""
    n = len(x) - 1
    worst = 0.0
    for i in range(n + 1):
        if x[i] > 0.0:
            worst = max(worst, g[i])
        if i == n or x[i] < 1.0 / n:
            worst = max(worst, -g[i])
    return worst


@njit(cache=True, nogil=True)
def solve_dual(
    gram: FloatArray,
    mu: float,
    lam: float,
    x: FloatArray,
    g: FloatArray,
    free: IntArray,
    work: FloatArray,
    step: FloatArray,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Bring x, which may hold the solution of a similar problem, to the minimum of the dual in its box.

    The rows are scaled so that the farthest is at distance 1. The last coordinate is the multiplier of R >= 0, the
    others are α, within [0, 1/n]. Steps along single coordinates find the face of the box, an exact minimisation
    on that face follows, until no coordinate moves.

    Returns R and the remaining violation. Afterwards g holds v'Mv - R for each row.
    """
    a, b = 0.5 / lam, 0.5 / mu
    radius, worst = _gradient(gram, a, b, x, g), np.inf
    for _ in range(_MAX_ROUNDS):
        _descend(gram, a, b, x, g)
        met = True
        while met:
            met = _minimise_on_face(gram, a, b, x, g, free, work, step)
            radius = _gradient(gram, a, b, x, g)
        worst = _violation(x, g)
        if worst <= _TOLERANCE:
            break
    return max(radius, 0.0), worst


@inner
def workspace(
    n: int,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:  # pragma: no cover - compiled
    """Return the arrays of a problem with n local rows: the Gram matrix, x, and g, work, step and free to be filled."""
    gram, work = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    x, g, step, free = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, np.int64)
    for i in range(n + 1):
        x[i] = 0.0
    return gram, x, g, work, step, free


@inner
def solve_in_units(
    reach: float,
    mu: float,
    lam: float,
    gram: FloatArray,
    x: FloatArray,
    g: FloatArray,
    work: FloatArray,
    step: FloatArray,
    free: IntArray,
    weight: FloatArray,
) -> float:  # pragma: no cover - compiled
    """Solve the dual, write W in the units of the data to `weight`, and return R; 0 if all rows are at the centre."""
    if reach == 0.0:
        return 0.0
    radius: float = reach * solve_dual(gram, mu, lam, x, g, free, work, step)[0]
    for i in range(len(weight)):
        weight[i] = 0.5 * x[i] / (lam * reach)
    return radius
