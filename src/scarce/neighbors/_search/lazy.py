"""The F-optimal threshold without scoring every row exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scarce._sweep import Sweep
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search.index import ClassIndex
from scarce.objectives import FBeta

# Negative rows that are scored exactly to guess which scores matter.
_SAMPLE = 1_500
# How many times as many rows as seem necessary get an exact score: a second round costs more than these.
_MARGIN = 1.25
# Of how many negative rows one is searched for a first bound on their distance.
_SOME = 8


def kth_distance_of_some(index: ClassIndex, X: NDArray, y: IntArray, k: int) -> FloatArray:
    """Return the distance of each row to the k-th nearest of some negative rows, itself left out.

    The nearest of some are no nearer than the nearest of all, and in many dimensions hardly farther.
    """
    rows, some = np.arange(len(X)), np.flatnonzero(y == 0)[::_SOME]
    sample = ClassIndex(index.metric, index.p, index.algorithm, index.n_jobs).fit(X[some], np.zeros_like(some))
    own = np.where(np.isin(rows, some), np.searchsorted(some, rows), -1)
    # A search may be off by rounding where rows are as good as equally far.
    return sample.kth_distance(X, 0, k, own) * (1 + 1e-6)


def lazy_f_threshold(
    scores_from: Callable[[IntArray, float], FloatArray],
    y: IntArray,
    weight: FloatArray | None,
    between: tuple[float, float],
    beta: float = 1.0,
    sample: int = _SAMPLE,
) -> tuple[float, FloatArray]:
    """Return the threshold that ``FBeta(beta).best_threshold`` finds on the scores of all rows, from fewer of them.

    With b for the square of beta, F is at most (1 + b) P / ((1 + b) P + fp), with P the weight of the positives and fp
    that of the negatives called positive. So once enough negatives are above a score, no lower threshold can be best,
    and of the negatives below that score it need only be known that they are. A sample tells where that score may be;
    if it is found to be lower, the negatives that may be above it are asked for again.

    Parameters
    ----------
    scores_from : callable
        Takes row numbers and a number, returns the scores of the rows. Of a score that is less than the number only a
        bound needs to be returned: one that it does not exceed and that is less than the number too.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    weight : ndarray of shape (n_rows,), optional
        How much each row counts.
    between : pair of floats
        Only thresholds greater than the first and at most the second are considered.
    beta : float
        How much recall counts beside precision.
    sample : int
        How many negative rows to begin with, at least.

    Returns
    -------
    threshold : float
        The best one.
    scores : ndarray of shape (n_rows,)
        The exact scores that were found, else NaN.
    """
    objective, b = FBeta(beta), beta**2
    w = np.ones(len(y)) if weight is None else weight
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    most = (1 + b) * w[positives].sum()
    scores, known = np.full(len(y), np.inf), np.zeros(len(y), dtype=bool)
    step = max(1, len(negatives) // sample)
    some = negatives[::step]
    for rows in (positives, some):
        scores[rows], known[rows] = scores_from(rows, -np.inf), True
    low = -np.inf
    if w[some].any() and most > 0:
        # Each of the sample stands for `step` rows.
        rows = np.concatenate((positives, some))
        sweep = Sweep(scores[rows], y[rows], np.where(y[rows] == 1, 1, step) * w[rows])
        value = np.where(np.isnan(sweep.thresholds(*between)), 0.0, objective._values(sweep)).max()
        low = _level(scores[some], step * w[some], _needed(most, value))
    while True:
        ask = negatives[~known[negatives] & (scores[negatives] >= low)]
        scores[ask] = scores_from(ask, low)
        known[ask] = scores[ask] >= low
        rest = scores[~known].max(initial=-np.inf)
        # Rows of no weight would leave the sweep without a class; where all have none, the error comes at the end.
        if np.isneginf(rest) or w[negatives[known[negatives]]].any():
            sweep = Sweep(scores[known], y[known], w[known])
            threshold = sweep.thresholds(*between)
            certain = (sweep.lower >= rest) & ~np.isnan(threshold)
            value = np.where(certain, objective._values(sweep), -1.0)
            best = int(np.argmax(value))
            above = w[negatives[scores[negatives] > rest]].sum()
            # With a margin for rounding, so that no threshold is passed over that is better by the last bit.
            if np.isneginf(rest) or value[best] > most / (most + above) * (1 + 1e-12):
                return float(threshold[best]), np.where(known, scores, np.nan)
            low = min(_level(scores[negatives], w[negatives], _needed(most, value[best])), rest)
        else:
            low = -np.inf


def _needed(most: float, value: float) -> float:
    """Return the weight of negatives above which no F can exceed `value`, and some more."""
    return _MARGIN * (most / value - most) if value > 0 else np.inf


def _level(scores: FloatArray, weight: FloatArray, needed: float) -> float:
    """Return the score from which on the rows have the weight that is needed."""
    order = np.argsort(-scores)
    at = int(np.searchsorted(np.cumsum(weight[order]), needed))
    return float(scores[order[at]]) if at < len(order) else -np.inf
