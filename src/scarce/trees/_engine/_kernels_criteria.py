"""The worth of a split as a function of sums: a new criterion is a number and a branch here.

Each row carries up to four statistics, of which a node has the sums:
w, its weight; p, the weight of its positives; a, what it earns if the node's rows are called positive; b, if negative.
A gain is in units of weight (or of money) and positive where the split is better than none. The forms below avoid
differences of nearly equal numbers: with whole weights a split that separates nothing has a gain of exactly 0.
"""

from __future__ import annotations

import math

from numba import njit

from scarce._compiling import inner_numpy

GINI = 0
ENTROPY = 1
AP_MEAN = 2  # the size-weighted mean of the average precisions of both orders: n_l AP_left + n_r AP_right
AP_MAX = 3  # the larger of AP_left and AP_right
WEIGHTED_ERROR = 4  # never 0: it splits while it can; the parameter is the share of positives in the ranking node
BALANCED = 5  # Gini with both classes weighted equally in the ranking node; the same parameter
TOP_K = 6  # positives among the first k rows; the parameter is the part of the budget that reaches the node
NEWTON = 7  # what a step of Newton's takes off a loss; w and p hold its curvature and its slope, the parameter is added
PROFIT = 8  # the mean profit of labels drawn by the node's class shares, children weighted by size
PROFIT_UNWEIGHTED = 9  # the same with children unweighted
COST = 10  # the better of the two constant labels


@njit(cache=True, nogil=True, error_model="numpy")
def split_gain(
    criterion: int, parameter: float, wl: float, pl: float, al: float, bl: float, w: float, p: float, a: float, b: float
) -> float:  # pragma: no cover - compiled
    """Return the gain of sending (wl, pl, al, bl) of the sums (w, p, a, b) to the left."""
    wr, pr = w - wl, p - pl
    if wl <= 0 or wr <= 0:
        return -math.inf
    if criterion == AP_MEAN:
        # n+ (2a - 1)(a - q), with a and q the shares of positives and of rows that go left.
        return (2 * pl - p) * (pl * w - p * wl) / (p * w) if p > 0 else 0.0
    if criterion == AP_MAX:
        surplus = pl * w - p * wl
        return w * (pl / wl * surplus if surplus > 0 else -pr / wr * surplus) / (p * w) if p > 0 else 0.0
    if criterion == GINI:
        return 2 * (pl * wr - pr * wl) ** 2 / (wl * wr * w)
    if criterion == ENTROPY:
        return _entropy(w, p) - _entropy(wl, pl) - _entropy(wr, pr)
    if criterion == WEIGHTED_ERROR:
        left_positive = parameter * (wl - pl) + (1 - parameter) * pr
        right_positive = parameter * (wr - pr) + (1 - parameter) * pl
        return w - min(left_positive, right_positive)
    if criterion == BALANCED:
        posl, pos = (1 - parameter) * pl, (1 - parameter) * p
        vl, v = posl + parameter * (wl - pl), pos + parameter * (w - p)
        if vl <= 0 or v - vl <= 0:
            return 0.0
        return 2 * (posl * v - pos * vl) ** 2 / (vl * (v - vl) * v)
    if criterion == TOP_K:
        return max(_found(parameter, wl, pl, wr, pr), _found(parameter, wr, pr, wl, pl)) - min(parameter, w) * p / w
    if criterion == NEWTON:
        return pl * pl / (wl + parameter) + pr * pr / (wr + parameter) - p * p / (w + parameter)
    ar, br = a - al, b - bl
    if criterion == COST:
        return max(al, bl) + max(ar, br) - max(a, b)
    left, right, whole = _drawn(wl, pl, al, bl), _drawn(wr, pr, ar, br), _drawn(w, p, a, b)
    if criterion == PROFIT_UNWEIGHTED:
        return w * (left / wl + right / wr - whole / w)
    return left + right - whole


@inner_numpy
def _entropy(w: float, p: float) -> float:  # pragma: no cover - compiled
    """Return the entropy of a node times its weight."""
    total = 0.0
    if 0 < p < w:
        total = -(p * math.log(p / w) + (w - p) * math.log((w - p) / w))
    return total


@inner_numpy
def _found(
    budget: float, w_first: float, p_first: float, w_second: float, p_second: float
) -> float:  # pragma: no cover - compiled
    """Return the positives expected in `budget` rows when one side is read before the other."""
    first = min(budget, w_first)
    return first * p_first / w_first + min(budget - first, w_second) * p_second / w_second


@inner_numpy
def _drawn(w: float, p: float, a: float, b: float) -> float:  # pragma: no cover - compiled
    """Return what a node earns when each row's label is drawn by the node's class shares."""
    return (p * a + (w - p) * b) / w


@inner_numpy
def category_key(criterion: int, w: float, p: float, a: float, b: float) -> float:  # pragma: no cover - compiled
    """Return the number by which categories are ordered before they are split: a share, or money a row."""
    if criterion >= PROFIT:
        return (a - b) / w
    return p / w
