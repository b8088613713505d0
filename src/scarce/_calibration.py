"""Increasing curves from scores to probabilities, fitted on honest scores."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from scarce._sklearn import sigmoid_calibration
from scarce._typing import FloatArray, IntArray

__all__ = ["Calibrator", "fit_calibrator", "sample_by_contents"]

# With fewer rows of a class, the steps of an isotonic curve follow single rows.
_ROWS_FOR_STEPS = 100
# A rise of the log-odds over one unit of place that keeps rows in order where the curve would be flat.
_LEAST_SLOPE = 0.001
# Places are between these two numbers of spreads around the middle, so that no score is too large for a probability.
_FARTHEST = 10.0


class Calibrator(NamedTuple):
    """A strictly increasing curve from scores to probabilities: log-odds that are linear between knots.

    The log-odds are of the isotonic steps, which rise between the last score of one and the first of the next, or of a
    sigmoid. A rise too small to matter keeps rows in order within a step and beyond the scores that were seen.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        The places of the knots, increasing: how many spreads a score is from the middle, bent to stay below a limit.
    log_odds : ndarray of shape (n_knots,)
        The log-odds there, increasing.
    middle, spread : float
        Of the scores that the curve was fitted on.
    """

    knots: FloatArray
    log_odds: FloatArray
    middle: float
    spread: float

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return the probability of the positive class for each score."""
        place = _place(score, self.middle, self.spread)
        inside = np.clip(place, self.knots[0], self.knots[-1])
        curve = np.full(len(place), self.log_odds[0])
        if len(self.knots) > 1:
            after = np.clip(np.searchsorted(self.knots, inside, side="right"), 1, len(self.knots) - 1)
            low, high = self.log_odds[after - 1], self.log_odds[after]
            share = (inside - self.knots[after - 1]) / (self.knots[after] - self.knots[after - 1])
            # Rounding must not lift a point between two knots above the next.
            curve = np.clip(low + share * (high - low), low, high)
        return expit(curve + _LEAST_SLOPE * (place - inside))

    def of_one(self, score: float) -> float:
        """Return the same for a single score, without arrays, which take longer than the arithmetic."""
        most = sys.float_info.max
        place = min(max(min(max(score - self.middle, -most), most) / self.spread, -most), most)
        place = place / (1 + abs(place) / _FARTHEST)
        knots = self.knots
        inside = min(max(place, float(knots[0])), float(knots[-1]))
        curve = float(self.log_odds[0])
        if len(knots) > 1:
            after = min(max(int(knots.searchsorted(inside, side="right")), 1), len(knots) - 1)
            low, high = float(self.log_odds[after - 1]), float(self.log_odds[after])
            share = (inside - float(knots[after - 1])) / float(knots[after] - knots[after - 1])
            curve = min(max(low + share * (high - low), low), high)
        return float(expit(curve + _LEAST_SLOPE * (place - inside)))


def fit_calibrator(score: FloatArray, y: IntArray, weight: FloatArray | None = None) -> Calibrator:
    """Fit the curve to honest scores: an isotonic regression if there are enough rows, else Platt's sigmoid.

    With n rows of the rarer class, at least 100, the log-odds are the mean of those of the steps and of the sigmoid
    with the weights n and 100: steps alone follow chance where rows are few, and the sigmoid's share vanishes as they
    grow many. One more row at each end, as often positive as any, keeps the outermost steps from following single rows.
    Nothing is more certain than Platt's targets, (n⁺ + 1) / (n⁺ + 2) and 1 / (n⁻ + 2), which the sigmoid learns instead
    of 1 and 0.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        Honest scores, finite.
    y : ndarray of shape (n_samples,)
        1 for positive rows and 0 for the others.
    weight : ndarray of shape (n_samples,), optional
        How many rows each row stands for.

    References
    ----------
    B. Zadrozny, C. Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability Estimates", KDD 2002.
    J. Platt, "Probabilistic Outputs for Support Vector Machines", 1999.
    """
    weight = np.ones(len(y)) if weight is None or not weight.any() else weight
    score, y, weight = score[weight > 0], y[weight > 0], weight[weight > 0]
    # Weights that add up to 1, say, are shares and cannot be numbers of rows.
    weight = weight * max(1.0, len(weight) / weight.sum())
    middle, spread = _middle_and_spread(score, weight)
    place, cell = np.unique(_place(score, middle, spread), return_inverse=True)
    positive, negative = (
        np.bincount(cell, weights=weight * (y == code), minlength=len(place)).astype(np.float64) for code in (1, 0)
    )
    knots, log_odds = _sigmoid(place, positive, negative)
    rows = min(positive.sum(), negative.sum())
    if rows >= _ROWS_FOR_STEPS:
        share = _ROWS_FOR_STEPS / (_ROWS_FOR_STEPS + rows)
        two = ((knots, log_odds, share), (*_steps(place, positive, negative), 1 - share))
        knots = np.union1d(two[0][0], two[1][0])
        log_odds = np.maximum.accumulate(sum(part * np.interp(knots, at, value) for at, value, part in two))
    # Where a score says nothing, or the opposite, the order of the rows stays all the same.
    return Calibrator(knots, log_odds + _LEAST_SLOPE * knots, middle, spread)


def _middle_and_spread(score: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the median, and how far 90 % of the scores are apart, or a hundredth of their range if that is more."""
    order = np.argsort(score)
    score, below = score[order], np.cumsum(weight[order])
    low, middle, high = score[np.searchsorted(below, np.array([0.05, 0.5, 0.95]) * below[-1])]
    with np.errstate(over="ignore"):
        spread = max(high - low, score[-1] / 100 - score[0] / 100)
    return float(middle), float(np.clip(spread, 0, np.finfo(np.float64).max)) or 1.0


def _place(score: FloatArray, middle: float, spread: float) -> FloatArray:
    """Return how many spreads a score is from the middle, bent so that it stays below a limit."""
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        place = np.clip(np.clip(score - middle, -most, most) / spread, -most, most)
    return place / (1 + np.abs(place) / _FARTHEST)


def _steps(place: FloatArray, positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first and the last place of each step of an isotonic regression, and its log-odds there."""
    n_positive, n_negative = positive.sum(), negative.sum()
    total = positive + negative
    ends = np.zeros(len(place))
    ends[0] += 1
    ends[-1] += 1
    target = (positive + ends * n_positive / total.sum()) / (total + ends)
    height = isotonic_regression(
        target, sample_weight=total + ends, y_min=1 / (n_negative + 2), y_max=(n_positive + 1) / (n_positive + 2)
    )
    rises = np.diff(height) > 0
    outer = np.flatnonzero(np.r_[True, rises] | np.r_[rises, True])
    return place[outer], logit(height[outer])


def _sigmoid(place: FloatArray, positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the knots of Platt's sigmoid and its log-odds there, which end at those of his targets."""
    slope, intercept = _platt(place, positive, negative)
    least, most = -np.log(negative.sum() + 1), np.log(positive.sum() + 1)
    ends = place[[0, -1]]
    if slope > 0:  # a score far out would make a row certain
        ends = np.clip([*ends, (least - intercept) / slope, (most - intercept) / slope], *ends)
    knots = np.unique(ends)
    return knots, np.clip(slope * knots + intercept, least, most)


def _platt(place: FloatArray, positive: FloatArray, negative: FloatArray) -> tuple[float, float]:
    """Return the slope, at least 0, and the intercept of Platt's log-odds."""
    if len(place) > 1 and min(positive.sum(), negative.sum()) > 0:
        weight = np.concatenate((positive, negative))
        seen = weight > 0
        y = np.repeat([1, 0], len(place))
        slope, intercept = sigmoid_calibration(np.concatenate((place, place))[seen], y[seen], weight[seen])
        if slope < 0:  # scikit-learn fits expit(-(a s + b))
            return -float(slope), -float(intercept)
    return 0.0, float(np.log((positive.sum() + 1) / (negative.sum() + 1)))


def sample_by_contents(X: FloatArray, rows: IntArray, size: int, weight: FloatArray | None = None) -> IntArray:
    """Choose so many of the rows, the same ones in whatever order the table comes.

    Rows go into the order of a hash of their numbers, and every few of that order one is taken, so that equal rows are
    drawn as often as their number asks for.
    """
    if len(rows) <= size:
        return rows
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for f in range(X.shape[1]):  # column by column, since all of them would be a copy of the table
        # SplitMix64. A zero may have either sign.
        mixed ^= (X[rows, f].astype(np.float64) + 0.0).view(np.uint64)
        mixed += np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    order = np.lexsort((mixed,) if weight is None else (weight[rows], mixed))
    taken = ((np.arange(size) + 0.5) * (len(rows) / size)).astype(np.intp)
    return np.sort(rows[order[taken]])
