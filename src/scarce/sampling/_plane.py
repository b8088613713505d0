"""The plane of the two γ: where each row is positive, and the best pair of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scarce._typing import FloatArray, IntArray
from scarce.objectives import Objective
from scarce.sampling._kernels import best_cell

# Distances this close, relative to their size, are taken for equal: a tie must not hang on the last bit.
ROUNDING = 16 * np.finfo(np.float64).eps
# Two critical γ this close have no γ between them, and one this small stands for a distance of 0.
_SAME = 1e-12
_NEVER = 1e-200


class Near(NamedTuple):
    """The distances that decide about some queries: none of them 0, infinite where there are too few rows.

    A query is positive if at least j of the k nearest rows are, which is if its j-th nearest positive is not farther
    than the (k-j+1)-th nearest negative.

    Attributes
    ----------
    rival : ndarray of shape (n,)
        The distance to that negative.
    real, synthetic : ndarray of shape (n, j)
        The distances to the j nearest real and the j nearest synthetic positives, ascending.
    """

    rival: FloatArray
    real: FloatArray
    synthetic: FloatArray


def critical(near: Near, ratio: float) -> FloatArray:
    """Return g / (1 + g) with g the γ of real positives below which a row is positive, at a fixed ratio of the two."""
    order = near.real.shape[1] - 1
    positive = np.partition(np.hstack((near.real, ratio * near.synthetic)), order, axis=1)[:, order]
    with np.errstate(invalid="ignore"):
        score = near.rival / (near.rival + positive)
    score[np.isinf(near.rival)] = 1.0
    score[np.isinf(positive)] = 0.0
    return score


def limit(rival: FloatArray, fixed: FloatArray, free: FloatArray, gamma: float) -> FloatArray:
    """Return up to which γ of one kind of positives each row is positive, given the γ of the other kind."""
    within = (gamma * fixed <= rival[:, None] * (1 + ROUNDING)) & np.isfinite(fixed)
    needed = free.shape[1] - within.sum(axis=1)
    found = _ratio(rival, free[np.arange(len(free)), np.maximum(needed, 1) - 1])
    found[needed <= 0] = np.inf
    return found


def plane(
    near: Near,
    y: IntArray,
    weight: FloatArray | None,
    objective: Objective,
    gamma_real: FloatArray,
    gamma_synthetic: FloatArray,
) -> FloatArray:
    """Return the value of an objective at each pair of γ, of shape (n_real, n_synthetic)."""
    thresholds = (1 - ROUNDING) / (1 + 1 / gamma_synthetic)
    out = np.empty((len(gamma_real), len(thresholds)))
    for i, gamma in enumerate(gamma_real):
        upto = limit(near.rival, near.real, near.synthetic, gamma)
        score = np.ones(len(upto))
        np.divide(upto, 1 + upto, out=score, where=np.isfinite(upto))
        # The curve runs from the highest threshold to the lowest, and a row whose score equals it is negative.
        values = objective.curve(score, y, weight).value[::-1]
        out[i] = values[np.searchsorted(np.unique(score), thresholds, side="right")]
    return out


def best_pair(
    near: Near,
    y: IntArray,
    weight: FloatArray | None,
    real_max: float,
    synthetic_max: float,
    beta: float = 1.0,
) -> tuple[float, float]:
    """Return the γ of real and of synthetic positives with the highest F-measure of all pairs up to the given ones.

    In the plane of the two γ a row is positive in a staircase: with a real ones among the j positives that it needs,
    up to rival / (a-th nearest real) on one axis and rival / ((j-a)-th nearest synthetic) on the other, for each a.
    So the F-measure is constant on the cells of an axis-parallel grid. It is a ratio of two sums over the rows called
    positive, and the pair with the highest ratio is found by Dinkelbach's method: the highest numerator - λ ·
    denominator, with λ the ratio so far, until none is above 0. Each of these few searches is one sweep over the grid
    with a tree over one axis, O(n log n), although the grid has n² cells.
    """
    weight = np.ones(len(y)) if weight is None else weight
    upto_real, upto_synthetic = _corners(near)
    cell, ends = _cells(upto_synthetic, synthetic_max)
    # A row's corners come down on the axis of real γ, so the last that holds at `real_max` is where it starts.
    holds = upto_real >= real_max * (1 - _SAME)
    start = cell[np.arange(len(y)), holds.sum(axis=1) - 1]
    row, step = np.nonzero(~holds & (upto_real > _NEVER))
    fall = np.argsort(-upto_real[row, step], kind="stable")
    row, step = row[fall], step[fall]

    positive, factor = np.where(y == 1, weight, 0.0), 1 + beta**2
    need = beta**2 * positive.sum()

    def f_measure(pair: tuple[float, float]) -> float:
        called = limit(near.rival, near.real, near.synthetic, pair[0]) >= pair[1] * (1 - ROUNDING)
        whole = weight[called].sum() + need
        return float(factor * positive[called].sum() / whole) if whole > 0 else 0.0

    best, value = (real_max, synthetic_max), -1.0
    while True:
        gain = factor * positive - max(value, 0.0) * weight
        high, low, at = best_cell(start, upto_real[row, step], row, cell[row, step], gain, len(ends) - 1, real_max)
        pair = (high + low) / 2, (ends[at, 1] + ends[at + 1, 0]) / 2
        found = f_measure(pair)
        if found >= value:
            best = pair
        if found <= value:
            return _centre(near, best, real_max, synthetic_max)
        value = found


def _corners(near: Near) -> tuple[FloatArray, FloatArray]:
    """Return the corners of each row's staircase, with 0 to j real positives among those it needs."""
    real, synthetic = (_ratio(near.rival[:, None], d) for d in (near.real, near.synthetic))
    free = np.full((len(near.rival), 1), np.inf)
    return np.hstack((free, real)), np.hstack((synthetic[:, ::-1], free))


def _cells(upto: FloatArray, top: float) -> tuple[IntArray, FloatArray]:
    """Split the axis from 0 to `top` at all values; return how many cells lie below each, and the cells' ends.

    Values that differ by rounding only are one border: cell c reaches from ``ends[c, 1]`` to ``ends[c + 1, 0]``.
    """
    inside = np.sort(upto[(upto > _NEVER) & (upto < top * (1 - _SAME))])
    first = np.diff(inside, prepend=-1.0) > _SAME * inside
    last = np.roll(first, -1)  # the last value of a group is before the first of the next
    ends = np.vstack(([0.0, 0.0], np.column_stack((inside[first], inside[last])), [top, top]))
    count = np.searchsorted(inside[first], upto, side="right")
    count[upto >= top * (1 - _SAME)] = len(ends) - 1
    return count, ends


def _centre(near: Near, pair: tuple[float, float], real_max: float, synthetic_max: float) -> tuple[float, float]:
    """Move each γ to the middle of the stretch in which no row changes sides; a cell may be only a part of it."""
    real, synthetic = pair
    synthetic = _middle(limit(near.rival, near.real, near.synthetic, real), synthetic, synthetic_max)
    real = _middle(limit(near.rival, near.synthetic, near.real, synthetic), real, real_max)
    return real, synthetic


def _middle(limits: FloatArray, gamma: float, top: float) -> float:
    low = limits[limits < gamma].max(initial=0.0)
    high = limits[limits >= gamma].min(initial=top)
    return float(low + high) / 2


def _ratio(rival: FloatArray, positive: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(rival / positive)
    # Too few positives: however small γ is, the row cannot become positive.
    found[np.broadcast_to(np.isinf(positive), found.shape)] = 0.0
    return found
