"""The F1-optimal threshold without scoring every row exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scarce._sweep import Sweep
from scarce._typing import FloatArray, IntArray
from scarce.objectives import FBeta


def lazy_f1_threshold(
    exact: Callable[[IntArray], FloatArray],
    bound: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    between: tuple[float, float],
    first: int = 4096,
) -> float:
    """Return the threshold that ``FBeta(1).best_threshold`` finds on the scores of all rows, from fewer of them.

    F1 is at most 2 P / (P + flagged), with P the weight of the positives. So once enough rows are above a score, no
    lower threshold can be best, and negative rows that cannot reach that score need none of their own. Rows get their
    exact score in the order of their bounds, until no threshold among the rest can be better than the best of those
    known.

    Parameters
    ----------
    exact : callable
        Takes row numbers, returns their scores.
    bound : ndarray of shape (n_rows,)
        A score that each negative row does not exceed; entries of positive rows are not read.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    weight : ndarray of shape (n_rows,), optional
        How much each row counts.
    between : pair of floats
        Only thresholds greater than the first and at most the second are considered.
    first : int
        How many negative rows to score at least in each round, later half as many as are known. Searches of few
        queries waste the threads of scikit-learn's engines.
    """
    w = np.ones(len(y)) if weight is None else weight
    negatives = np.flatnonzero(y == 0)
    negatives = negatives[np.argsort(-bound[negatives], kind="stable")]
    rows = np.flatnonzero(y == 1)
    scores = exact(rows)
    positive_weight = w[rows].sum()
    known = 0
    while True:
        new = negatives[known : known + max(first, known // 2)]
        known += len(new)
        rows, scores = np.concatenate((rows, new)), np.concatenate((scores, exact(new)))
        rest = bound[negatives[known]] if known < len(negatives) else -np.inf
        # A negative row of weight 0 would leave the sweep without a class; where all have none, the error comes at the
        # end.
        if known < len(negatives) and not w[rows[y[rows] == 0]].any():
            continue
        sweep = Sweep(scores, y[rows], w[rows])
        threshold = sweep.thresholds(*between)
        certain = (sweep.lower >= rest) & ~np.isnan(threshold)
        value = np.where(certain, FBeta(1)._values(sweep), -1.0)
        best = int(np.argmax(value))
        within_reach = 2 * positive_weight / (positive_weight + w[rows[scores > rest]].sum())
        if known == len(negatives) or value[best] >= within_reach:
            return float(threshold[best])
