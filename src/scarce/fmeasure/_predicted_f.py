"""Prediction of the F at class weights that were not tried, from the scores of the models so far."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from sklearn.linear_model import LogisticRegression

from scarce._typing import BoolArray, FloatArray
from scarce.objectives import FBeta

__all__ = ["ThresholdCurve", "predicted_f"]

# So many thresholds of a score are kept, in even ratios of the rows called: F cannot be known finer than that.
_MOST_THRESHOLDS = 2_000


class ThresholdCurve:
    """The F of a model fitted with the weights of `t`, at its own threshold and at all others.

    Parameters
    ----------
    t : float
        The t of the class weights.
    margin : array of shape (n_rows,)
        Its score of rows it has not seen, as a distance from its own threshold.
    positive : boolean array of shape (n_rows,)
        The rows to find.
    right : boolean array of shape (n_rows,)
        Those of them that are found if they are called positive: all with two classes; with more a row may be given
        another positive class than its own.
    weight : array of shape (n_rows,) or None
        Of the rows.
    beta : float
        How many times as much recall counts as precision.
    """

    def __init__(
        self,
        t: float,
        margin: FloatArray,
        positive: BoolArray,
        right: BoolArray,
        weight: FloatArray | None,
        beta: float,
    ) -> None:
        self.t = t
        weight = np.ones(len(margin)) if weight is None else weight
        # A row that would be given a wrong class is missed at any threshold.
        rows = right | ~positive
        curve = FBeta(beta).curve(margin[rows], right[rows], weight[rows])
        kept = np.arange(len(curve.value))
        if len(kept) > _MOST_THRESHOLDS:
            kept = np.unique(np.r_[0, np.geomspace(1, kept[-1], _MOST_THRESHOLDS).astype(np.intp)])
        # From the laxest to the strictest, so that thresholds rise.
        self.threshold, self._tp, self._fp = (part[kept][::-1] for part in (curve.threshold, curve.tp, curve.fp))
        self.f = (1 + beta**2) * self._tp / (beta**2 * weight[positive].sum() + self._tp + self._fp)
        self.called = self._tp + self._fp
        self._between = (self.threshold[1:] + self.threshold[:-1]) / 2
        self.called_now = float(weight[rows & (margin > 0)].sum())

    def f_at(self, threshold: FloatArray) -> FloatArray:
        """Return F at other thresholds: the nearest ones between two scores."""
        return self.f[np.searchsorted(self._between, threshold)]

    def threshold_for(self, called: float) -> float:
        """Return the threshold at which this number of rows is called positive."""
        return float(np.interp(called, self.called[::-1], self.threshold[::-1]))

    @cached_property
    def slope(self) -> float:
        """The slope of the log-odds of a positive row by the score, by Platt's sigmoid."""
        score = np.tile(self._between, 2)
        weight = np.r_[-np.diff(self._tp), -np.diff(self._fp)]
        spread = float(score.std()) or 1.0
        positive = np.arange(len(score)) < len(score) // 2
        scaled = ((score - score.mean()) / spread)[:, None]
        model = LogisticRegression(C=100).fit(scaled, positive, weight)
        return float(model.coef_[0, 0]) / spread


def predicted_f(curves: Sequence[ThresholdCurve], t: FloatArray, beta: float = 1.0) -> FloatArray:
    """Return the F that models fitted with the weights of each `t` would have at their own threshold.

    Where rows have a probability of p, the weights of t call those positive whose odds p / (1 - p) are above t /
    (1 + β² - t). So other weights move the threshold of a model by the difference of the logarithms over the slope of
    its score. Between two models the end of that move is known: each is moved to call as many rows as the other does,
    and the nearer one counts more.

    Parameters
    ----------
    curves : sequence of ThresholdCurve
        In rising order of their t.
    t : array
        In (0, 1 + β²), in any order.
    beta : float, default=1.0
        As of the curves.
    """
    known = np.array([curve.t for curve in curves])
    at, place = (np.log(each / (1 + beta**2 - each)) for each in (known, t))
    after = np.searchsorted(known, t)
    predicted = np.empty(len(t))
    for i in np.unique(after):
        here = after == i
        if 0 < i < len(curves):
            left, right = curves[i - 1], curves[i]
            share = (place[here] - at[i - 1]) / (at[i] - at[i - 1])
            from_left = left.f_at(share * max(left.threshold_for(right.called_now), 0.0))
            from_right = right.f_at((1 - share) * min(right.threshold_for(left.called_now), 0.0))
            predicted[here] = (1 - share) * from_left + share * from_right
        else:
            nearest = min(i, len(curves) - 1)
            # For a score that does not rise with the odds the threshold would be at its end.
            slope = max(curves[nearest].slope, 1e-9)
            predicted[here] = curves[nearest].f_at((place[here] - at[nearest]) / slope)
    return predicted
