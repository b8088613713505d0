"""The F-measure's bounds as slowly and obviously as possible."""

from __future__ import annotations

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
