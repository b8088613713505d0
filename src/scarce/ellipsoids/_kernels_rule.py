"""Loops of ME² over many rows: fitting ellipsoids, and the rule by which they decide.

All rows are in one array, the positive ones, which are the centres, first. A metric is M = I + V'WV with V the local
negatives seen from the centre and W diagonal; with few features M itself is at hand, with many an array of shape
(0, 0) stands for it. Threads share the centres or the queries, and nothing is summed across them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._compiling import inner
from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.ellipsoids._kernels import solve_dual, solve_in_units, squared_gram, workspace

# A negative row that holds the surface in place is on it, and so within; rounding must not decide otherwise.
_ON_SURFACE = 1e-7
# So many rows are compared with one at a time: their distances stay in the fastest memory.
_BLOCK = 2048


@inner
def _nearest_of_one(
    x: FloatArray, columns: FloatArray, distance: FloatArray, found: IntArray
) -> None:  # pragma: no cover - compiled
    k, n = len(found), columns.shape[1]
    far = np.empty(k)
    for at in range(k):
        far[at] = np.inf
    for start in range(0, n, len(distance)):
        size = min(len(distance), n - start)
        for r in range(size):
            distance[r] = 0.0
        for j in range(len(x)):
            value, column = x[j], columns[j, start : start + size]
            for r in range(size):
                distance[r] += (value - column[r]) ** 2
        for r in range(size):
            if distance[r] < far[k - 1]:
                at = k - 1
                while at > 0 and far[at - 1] > distance[r]:
                    far[at] = far[at - 1]
                    found[at] = found[at - 1]
                    at -= 1
                far[at] = distance[r]
                found[at] = start + r


@njit(cache=True, nogil=True)
def nearest(X: FloatArray, rows: FloatArray, k: int) -> IntArray:  # pragma: no cover - compiled
    """Return the k nearest of `rows` for each row of X, by squared distance and then by number."""
    # Distances to many rows at once, a feature at a time, are fastest.
    columns = np.empty((rows.shape[1], rows.shape[0]))
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            columns[j, r] = rows[r, j]
    found, distance = np.empty((len(X), k), np.int64), np.empty(_BLOCK)
    for q in range(len(X)):
        _nearest_of_one(X[q], columns, distance, found[q])
    return found


@inner
def _euclidean(a: FloatArray, b: FloatArray) -> float:  # pragma: no cover - compiled
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) ** 2
    return total


@inner
def squared_distance(
    a: FloatArray,
    b: FloatArray,
    rows: FloatArray,
    centre: int,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    z: FloatArray,
) -> float:  # pragma: no cover - compiled
    """Return (a - b)'M(a - b) under the metric of a centre."""
    m = len(a)
    for j in range(m):
        z[j] = a[j] - b[j]
    total = 0.0
    if len(metric):
        for j in range(m):
            part = 0.0
            for k in range(m):
                part += metric[j, k] * z[k]
            total += part * z[j]
        return total
    for j in range(m):
        total += z[j] * z[j]
    for i in range(len(local)):
        if weight[i] > 0.0:
            part = 0.0
            for j in range(m):
                part += (rows[local[i], j] - rows[centre, j]) * z[j]
            total += weight[i] * part * part
    return total


@njit(cache=True, nogil=True)
def fill_metric(
    rows: FloatArray, centre: int, local: IntArray, weight: FloatArray, metric: FloatArray
) -> None:  # pragma: no cover - compiled
    m = len(metric)
    for j in range(m):
        for k in range(m):
            metric[j, k] = 0.0
    v = np.empty(m)
    for i in range(len(local)):
        if weight[i] > 0.0:
            for j in range(m):
                v[j] = rows[local[i], j] - rows[centre, j]
            for j in range(m):
                for k in range(m):
                    metric[j, k] += weight[i] * (v[j] * v[k])
    for j in range(m):
        metric[j, j] += 1.0


@inner
def reach_of(rows: FloatArray, centre: int, local: IntArray) -> float:  # pragma: no cover - compiled
    """Return B, the squared distance to the farthest local negative."""
    top = 0.0
    for i in range(len(local)):
        top = max(top, _euclidean(rows[local[i]], rows[centre]))
    return top


@njit(cache=True, nogil=True)
def solve_pairs(
    rows: FloatArray, c: int, local: IntArray, mu: FloatArray, lam: FloatArray, weight: FloatArray, found: FloatArray
) -> None:  # pragma: no cover - compiled
    """Solve the dual around row c for each pair of mu and lam, starting from the solution of the pair before.

    Writes for each pair the weights W, and in three columns R and B in the units of the data and the share of B by
    which the local negatives are within on average.
    """
    n = len(local)
    reach = reach_of(rows, c, local)
    gram, x, g, work, step, free = workspace(n)
    if reach > 0.0:
        squared_gram(rows, c, local, np.sqrt(reach), gram)
    for pair in range(len(mu)):
        radius, risk = 0.0, 0.0
        for i in range(n):
            weight[pair, i] = 0.0
        if reach > 0.0:
            radius = reach * solve_dual(gram, mu[pair], lam[pair], x, g, free, work, step)[0]
            for i in range(n):
                weight[pair, i] = 0.5 * x[i] / (lam[pair] * reach)
                risk += max(-g[i], 0.0) / n
        found[pair, 0], found[pair, 1], found[pair, 2] = radius, reach, risk


def fit_ellipsoids(
    rows: FloatArray, first: int, local: IntArray, mu: FloatArray, lam: FloatArray, explicit: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve the dual around the rows from `first` on, one for each row of `local`.

    Returns for each the weights W, M if it is wanted, and in three columns R and B in the units of the data and the
    share of B by which the local negatives are within on average.
    """
    size, n = local.shape
    m = rows.shape[1] if explicit else 0
    weight, metric, found = np.empty((size, n)), np.empty((size, m, m)), np.empty((size, 3))
    for i in range(size):
        one = slice(i, i + 1)
        solve_pairs(rows, first + i, local[i], mu[one], lam[one], weight[one], found[one])
        if explicit:
            fill_metric(rows, first + i, local[i], weight[i], metric[i])
    return weight, metric, found


@inner
def _collect(
    rows: FloatArray,
    p: int,
    centre: int,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    radius: float,
    reach: float,
    near: IntArray,
    z: FloatArray,
    out: IntArray,
) -> int:  # pragma: no cover - compiled
    """Write the rows within an ellipsoid to `out`, which has room for all, and return how many there are.

    M is no smaller than I and R no larger than B, so that a negative beyond the local ones can only be on the
    surface, where R is B.
    """
    count = 0
    limit = radius * (1.0 + _ON_SURFACE)
    beyond = radius >= reach
    for group in range(2):
        size = len(near) if group == 0 else (len(rows) - p if beyond else len(local))
        for i in range(size):
            r = near[i] if group == 0 else (p + i if beyond else local[i])
            if _euclidean(rows[r], rows[centre]) > limit:
                continue
            if squared_distance(rows[r], rows[centre], rows, centre, local, weight, metric, z) <= limit:
                out[count] = r
                count += 1
    return count


@njit(cache=True, nogil=True)
def members(
    rows: FloatArray,
    p: int,
    first: int,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    radius: FloatArray,
    reach: FloatArray,
) -> tuple[IntArray, IntArray]:  # pragma: no cover - compiled
    """Return how many rows are within each of some ellipsoids, and which: positive ones first."""
    near, z = np.empty(p, np.int64), np.empty(rows.shape[1])
    for i in range(p):
        near[i] = i
    counts = np.empty(len(local), np.int64)
    mine, out = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    total = 0
    for i in range(len(local)):
        counts[i] = _collect(rows, p, first + i, local[i], weight[i], metric[i], radius[i], reach[i], near, z, mine)
        if total + counts[i] > len(out):
            longer = np.empty(2 * len(out) + counts[i], np.int64)
            for j in range(total):
                longer[j] = out[j]
            out = longer
        for j in range(counts[i]):
            out[total + j] = mine[j]
        total += counts[i]
    return counts, out[:total]


@inner
def _nearest_within(
    x: FloatArray,
    rows: FloatArray,
    p: int,
    centre: int,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    inside: IntArray,
    z: FloatArray,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the squared distances to the nearest positive and the nearest negative row within an ellipsoid."""
    positive, negative = np.inf, np.inf
    for i in range(len(inside)):
        r = inside[i]
        best = positive if r < p else negative
        if _euclidean(x, rows[r]) < best:  # M is no smaller than I
            distance = squared_distance(x, rows[r], rows, centre, local, weight, metric, z)
            if r < p:
                positive = min(positive, distance)
            else:
                negative = min(negative, distance)
    return positive, negative


@inner
def lead(a: float, b: float) -> float:  # pragma: no cover - compiled
    """Return by how much a is larger than b, as a share of their sum: from -1 to 1."""
    if a == b:
        return 0.0
    if np.isinf(a):
        return 1.0
    if np.isinf(b):
        return -1.0
    return (a - b) / (a + b)


@njit(cache=True, nogil=True)
def score_rows(
    X: FloatArray,
    candidates: IntArray,
    rows: FloatArray,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    radius: FloatArray,
    indptr: IntArray,
    inside: IntArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Return the score of each row by each of its candidate ellipsoids.

    It is the smaller of two: how far within the ellipsoid the row is, and how much nearer the nearest positive row
    within it is than the nearest negative one. It is greater than 0 where both conditions hold.
    """
    out, z = np.empty(candidates.shape), np.empty(X.shape[1])
    for q in range(len(X)):
        for slot in range(candidates.shape[1]):
            c = candidates[q, slot]
            distance = squared_distance(X[q], rows[c], rows, c, local[c], weight[c], metric[c], z)
            depth = lead(radius[c], distance)
            if distance <= radius[c]:
                depth = max(depth, 1e-300)  # the surface belongs to the ellipsoid
            mine = inside[indptr[c] : indptr[c + 1]]
            near, far = _nearest_within(X[q], rows, len(local), c, local[c], weight[c], metric[c], mine, z)
            out[q, slot] = min(depth, lead(far, near))
    return out


@inner
def _rule_of_one(
    X: FloatArray,
    places: IntArray,
    slots: int,
    rows: FloatArray,
    p: int,
    c: int,
    local: IntArray,
    mu: FloatArray,
    lam: FloatArray,
    metric: FloatArray,
    positives: BoolArray,
) -> None:  # pragma: no cover - compiled
    n = len(local)
    reach = reach_of(rows, c, local)
    near = np.array([r for r in range(p) if _euclidean(rows[r], rows[c]) <= reach])
    asked = np.array([place for place in places if _euclidean(X[place // slots], rows[c]) <= reach])
    if len(asked) == 0:
        return
    gram, x, g, work, step, free = workspace(n)
    weight, z = np.zeros(n), np.empty(rows.shape[1])
    inside = np.empty(len(rows), dtype=np.int64)
    if reach > 0.0:
        squared_gram(rows, c, local, np.sqrt(reach), gram)
    for pair in range(len(mu)):
        radius = solve_in_units(reach, mu[pair], lam[pair], gram, x, g, work, step, free, weight)
        if len(metric):
            fill_metric(rows, c, local, weight, metric)
        count = -1
        for place in asked:
            query = X[place // slots]
            if _euclidean(query, rows[c]) > radius:
                continue
            if squared_distance(query, rows[c], rows, c, local, weight, metric, z) > radius:
                continue
            if count < 0:
                count = _collect(rows, p, c, local, weight, metric, radius, reach, near, z, inside)
            positive, negative = _nearest_within(query, rows, p, c, local, weight, metric, inside[:count], z)
            positives[pair, place] = positive < negative


@njit(cache=True, nogil=True)
def rule_on_grid(
    X: FloatArray,
    order: IntArray,
    indptr: IntArray,
    slots: int,
    rows: FloatArray,
    p: int,
    first: int,
    local: IntArray,
    mu: FloatArray,
    lam: FloatArray,
    explicit: bool,
    positives: BoolArray,
) -> None:  # pragma: no cover - compiled
    """Write for each pair of mu and lam, and each query and slot, whether the row is positive by the ellipsoid there.

    Parameters
    ----------
    X : the queries
    order, indptr : which places of the queries' lists of ellipsoids concern each ellipsoid, one after the other
    slots : how long those lists are
    mu, lam : the pairs, similar ones beside each other, since each starts from the solution of the one before
    """
    m = rows.shape[1] if explicit else 0
    metric = np.empty((m, m))
    for i in range(len(local)):
        places = order[indptr[first + i] : indptr[first + i + 1]]
        _rule_of_one(X, places, slots, rows, p, first + i, local[i], mu, lam, metric, positives)
