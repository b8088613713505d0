"""Slow, obvious versions of what `scarce.profit` and `scarce.boosting` compute."""

import math

import numpy as np


def profit(y, called, gains):
    """The profit of decisions, row by row."""
    total = 0.0
    for truth, flag, (tp, fp, tn, fn) in zip(y, called, gains, strict=True):
        total += (tp if flag else fn) if truth else (fp if flag else tn)
    return total


def best_decisions(probability, gains):
    """Call a row positive where that is expected to earn more."""
    decisions = []
    for p, (tp, fp, tn, fn) in zip(probability, gains, strict=True):
        decisions.append(p * tp + (1 - p) * fp > p * fn + (1 - p) * tn)
    return np.array(decisions)


def thesis_loss(score, y, gains):
    """The exponential loss as the thesis prints it, with ξ and s, one value a row."""
    values = []
    for f, truth, (tp, fp, tn, fn) in zip(score, y, gains, strict=True):
        xi = tn - fp + tp - fn
        s = (tn - fp) / xi
        values.append(xi * ((1 - s) * truth * math.exp(-f) + s * (1 - truth) * math.exp(f)))
    return np.array(values)


def csboost_loss(score, y, gains):
    """The expected loss of csboost, with costs that are losses of profit, one value a row."""
    values = []
    for f, truth, (tp, fp, tn, fn) in zip(score, y, gains, strict=True):
        p = 1 / (1 + math.exp(-f))
        expected = p * tp + (1 - p) * fn if truth else p * fp + (1 - p) * tn
        values.append(max((tp, fn) if truth else (fp, tn)) - expected)
    return np.array(values)


def cross_entropy(score, share, weight):
    """The log-loss of a share, one value a row."""
    values = []
    for f, q, w in zip(score, share, weight, strict=True):
        p = 1 / (1 + math.exp(-f))
        values.append(-w * (q * math.log(p) + (1 - q) * math.log(1 - p)))
    return np.array(values)


def stakes(gains):
    """The gains for and against calling a row positive, over both classes, one pair a row."""
    pairs = []
    for tp, fp, tn, fn in gains:
        up = down = 0.0
        for called, not_called in ((tp, fn), (fp, tn)):
            if called > not_called:
                up += called - not_called
            else:
                down += not_called - called
        pairs.append((up, down))
    return np.array(pairs)


def smooth_ap(score, y, alpha):
    """Frery's average precision with exponentials for steps, by its definition: a mean over the positive rows."""
    positives = [f for f, truth in zip(score, y, strict=True) if truth]
    total = 0.0
    for f in positives:
        above = sum(math.exp(alpha * (g - f)) for g in score)
        total += sum(math.exp(alpha * (g - f)) for g in positives) / above
    return total / len(positives)


def slope(function, at, row, step=1e-5):
    """The derivative of a function of several scores by one of them, from both sides."""
    up, down = at.copy(), at.copy()
    up[row] += step
    down[row] -= step
    return (function(up) - function(down)) / (2 * step)
