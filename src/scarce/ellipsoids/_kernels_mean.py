"""Loops of ME² over many rows: scores by the border of an ellipsoid and by the negatives near the row."""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._typing import FloatArray, IntArray
from scarce.ellipsoids._kernels import solve_in_units, squared_gram, workspace
from scarce.ellipsoids._kernels_rule import fill_metric, lead, reach_of, squared_distance


@njit(cache=True, nogil=True)
def _mean_lead(
    x: FloatArray,
    negatives: IntArray,
    rows: FloatArray,
    c: int,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    radius: float,
    z: FloatArray,
) -> float:  # pragma: no cover - compiled
    """Return by how much the centre is nearer than the border and some negative rows, on average, under M."""
    distance = squared_distance(x, rows[c], rows, c, local, weight, metric, z)
    total = lead(radius, distance)
    for r in negatives:
        total += lead(squared_distance(x, rows[r], rows, c, local, weight, metric, z), distance)
    return total / (1 + len(negatives))


@njit(cache=True, nogil=True)
def mean_rows(
    X: FloatArray,
    candidates: IntArray,
    negatives: IntArray,
    rows: FloatArray,
    local: IntArray,
    weight: FloatArray,
    metric: FloatArray,
    radius: FloatArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Return the mean lead of each row in each of its candidate ellipsoids, over the negatives near the row."""
    out, z = np.empty(candidates.shape), np.empty(X.shape[1])
    for q in range(len(X)):
        for slot in range(candidates.shape[1]):
            c = candidates[q, slot]
            out[q, slot] = _mean_lead(X[q], negatives[q], rows, c, local[c], weight[c], metric[c], radius[c], z)
    return out


@njit(cache=True, nogil=True)
def mean_on_grid(
    X: FloatArray,
    order: IntArray,
    indptr: IntArray,
    slots: int,
    negatives: IntArray,
    rows: FloatArray,
    first: int,
    local: IntArray,
    mu: FloatArray,
    lam: FloatArray,
    explicit: bool,
    out: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Write for each pair of mu and lam, and each query and slot, the mean lead in the ellipsoid there.

    Parameters as for :func:`~scarce.ellipsoids._kernels_rule.rule_on_grid`, with the negatives near each query.
    """
    n = local.shape[1]
    m = rows.shape[1] if explicit else 0
    metric, z = np.empty((m, m)), np.empty(rows.shape[1])
    gram, x, g, work, step, free = workspace(n)
    for i in range(len(local)):
        c = first + i
        places = order[indptr[c] : indptr[c + 1]]
        if len(places) == 0:
            continue
        x[:] = 0.0
        weight = np.zeros(n)
        reach = reach_of(rows, c, local[i])
        if reach > 0.0:
            squared_gram(rows, c, local[i], np.sqrt(reach), gram)
        for pair in range(len(mu)):
            radius = solve_in_units(reach, mu[pair], lam[pair], gram, x, g, work, step, free, weight)
            if explicit:
                fill_metric(rows, c, local[i], weight, metric)
            for place in places:
                q = place // slots
                out[pair, place] = _mean_lead(X[q], negatives[q], rows, c, local[i], weight, metric, radius, z)
