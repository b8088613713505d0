"""Loops of ME² over many rows: scores by the border of an ellipsoid and by the negatives near the row."""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray
from scarce.ellipsoids._kernels_rule import fill_metric, lead, solve_pairs, squared_distance


@inner
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
def mean_of_pairs(
    X: FloatArray,
    places: IntArray,
    slots: int,
    negatives: IntArray,
    rows: FloatArray,
    c: int,
    local: IntArray,
    weight: FloatArray,
    found: FloatArray,
    metric: FloatArray,
    out: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Write the mean leads in the ellipsoids of each pair around row c; `metric` is to be filled, if it has a size."""
    z = np.empty(rows.shape[1])
    for pair in range(len(weight)):
        if len(metric):
            fill_metric(rows, c, local, weight[pair], metric)
        for place in places:
            q = place // slots
            lead_there = _mean_lead(X[q], negatives[q], rows, c, local, weight[pair], metric, found[pair, 0], z)
            out[pair, place] = lead_there


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
) -> None:
    """Write for each pair of mu and lam, and each query and slot, the mean lead in the ellipsoid there.

    Parameters as for :func:`~scarce.ellipsoids._kernels_rule.rule_on_grid`, with the negatives near each query.
    """
    m = rows.shape[1] if explicit else 0
    metric, weight, found = np.empty((m, m)), np.empty((len(mu), local.shape[1])), np.empty((len(mu), 3))
    for i in range(len(local)):
        c = first + i
        places = order[indptr[c] : indptr[c + 1]]
        if len(places):
            solve_pairs(rows, c, local[i], mu, lam, weight, found)
            mean_of_pairs(X, places, slots, negatives, rows, c, local[i], weight, found, metric, out)
