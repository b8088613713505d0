"""The F-measure's bounds as slowly and obviously as possible."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from scipy.optimize import linprog


def confusion(y, predicted, weight):
    """Return tp, fp, tn, fn, one row at a time."""
    out = dict.fromkeys(("tp", "fp", "tn", "fn"), 0.0)
    for truth, called, w in zip(y, predicted, weight, strict=True):
        out[("t" if truth == called else "f") + ("p" if called else "n")] += w
    return out


def f_measure(counts, beta):
    hits = (1 + beta**2) * counts["tp"]
    return hits / (hits + beta**2 * counts["fn"] + counts["fp"])


def difference_range(fn, fp, positives, beta):
    """Least and greatest FP - FN of a profile with an F not below that of the given one, by linear programs."""
    b2 = beta**2
    f = (1 + b2) * (positives - fn) / ((1 + b2) * positives - fn + fp)
    # (1 + b²)(P - x) >= F ((1 + b²) P - x + y), as a line in x = FN and y = FP.
    A, b = [[(1 + b2) - f, f]], [(1 + b2) * positives * (1 - f)]
    box = [(0, positives), (0, 1 - positives)]
    least = linprog([-1, 1], A_ub=A, b_ub=b, bounds=box)
    greatest = linprog([1, -1], A_ub=A, b_ub=b, bounds=box)
    assert least.status == 0
    assert greatest.status == 0
    return least.fun, -greatest.fun


def multiclass_difference_range(fn, fp, shares, beta):
    """The same with a share of errors for each class but the default one: `fn` and `shares` are arrays."""
    b2, positives, n = beta**2, shares.sum(), len(shares)
    f = (1 + b2) * (positives - fn.sum()) / ((1 + b2) * positives - fn.sum() + fp)
    A, b = [[*([(1 + b2) - f] * n), f]], [(1 + b2) * positives * (1 - f)]
    box = [*((0, share) for share in shares), (0, 1 - positives)]
    cost = np.array([*([-1.0] * n), 1.0])
    return linprog(cost, A_ub=A, b_ub=b, bounds=box).fun, -linprog(-cost, A_ub=A, b_ub=b, bounds=box).fun


def cone(t, peak, height, left, right):
    return height + (left if t < peak else right) * (t - peak)


def envelope(t, cones):
    """The lowest of all cones at one t, and never more than 1."""
    return min(1.0, *(cone(t, *each) for each in zip(*cones, strict=True)))


def diagonal(peak, height, left, right):
    """The highest t in [0, 1] at which a cone is not below the diagonal, of a great many."""
    t = np.linspace(0, 1, 200_001)
    return t[height + np.where(t < peak, left, right) * (t - peak) >= t - 1e-12].max()


def thresholds(margin, y, weight, beta):
    """Every threshold of a score from the laxest to the strictest: itself, F and the weight called positive."""
    scores = sorted(set(margin))
    out = []
    between = [(a + b) / 2 for a, b in pairwise(scores)]
    for threshold in [np.nextafter(scores[0], -np.inf), *between, scores[-1]]:
        counts = confusion([bool(one) for one in y], [bool(score > threshold) for score in margin], weight)
        out.append((threshold, f_measure(counts, beta), counts["tp"] + counts["fp"]))
    return out


def predicted(models, t, beta):
    """The F that the scores of models predict at one t; a model is (t, thresholds, called at its own one, slope)."""

    def place(each):
        return np.log(each / (1 + beta**2 - each))

    def f_at(thresholds, where):
        nearest = thresholds[0]
        for lax, strict in pairwise(thresholds):
            if where > (lax[0] + strict[0]) / 2:
                nearest = strict
        return nearest[1]

    def threshold_for(thresholds, called):
        return np.interp(called, [each[2] for each in thresholds[::-1]], [each[0] for each in thresholds[::-1]])

    left = max((m for m in models if m[0] < t), default=None)
    right = min((m for m in models if m[0] >= t), default=None)
    if left is None or right is None:
        known, thresholds, _, slope = left or right
        return f_at(thresholds, (place(t) - place(known)) / max(slope, 1e-9))
    share = (place(t) - place(left[0])) / (place(right[0]) - place(left[0]))
    from_left = f_at(left[1], share * max(threshold_for(left[1], right[2]), 0.0))
    from_right = f_at(right[1], (1 - share) * min(threshold_for(right[1], left[2]), 0.0))
    return (1 - share) * from_left + share * from_right


def exact_peaks(tried, confusions):
    """The highest point of the envelope between each two neighbours of 0, the tried t and 1, in whole fractions."""
    cones = []
    for t, ((tn, fp), (fn, tp)) in zip(tried, confusions, strict=True):
        positives, negatives = fn + tp, tn + fp
        capped = tp == 0 or Fraction(fn * (positives + fp), tp) > negatives - fp
        left = -Fraction(fn + negatives - fp, 2 * positives - fn + fp) if capped else -Fraction(fn, tp)
        cones.append((Fraction(t), Fraction(2 * tp, 2 * tp + fn + fp), left, Fraction(fp, positives + fp)))
    ends = sorted([Fraction(0), *(cone[0] for cone in cones), Fraction(1)])
    peaks = {}
    for a, b in pairwise(ends):
        # On an interval every cone is one line: slope and height at 0.
        lines = [(Fraction(0), Fraction(1))]
        for t, height, left, right in cones:
            slope = right if t <= a else left
            lines.append((slope, height - slope * t))
        crossings = [(h2 - h1) / (s1 - s2) for (s1, h1), (s2, h2) in combinations(lines, 2) if s1 != s2]
        inside = [a, b, *(x for x in crossings if a < x < b)]
        peaks[float(a), float(b)] = max(min(slope * x + height for slope, height in lines) for x in inside)
    return peaks
