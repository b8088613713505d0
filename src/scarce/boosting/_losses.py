"""The losses of the boosting methods, with their first and second derivatives by the score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax

from scarce._typing import BoolArray, FloatArray

__all__ = [
    "Loss",
    "ap_loss",
    "cross_entropy",
    "exponential_loss",
    "log_ap_loss",
    "logistic_loss",
    "sigmoid_ap_gradient",
]


# Beyond this score a decision is certain, and an exponential would drown all other rows.
_MOST_CERTAIN = 15.0


class Loss(NamedTuple):
    """The value of a loss for each row, or for all together, and its derivatives by each score."""

    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray


def exponential_loss(score: FloatArray, sign: FloatArray, weight: FloatArray) -> Loss:
    """Return ``weight * exp(-sign * score)``, an upper bound on the profit that is missed.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        The score; within ±15 for the derivatives.
    sign : ndarray of shape (n_samples,)
        1 where it pays to call the row positive, given its class, else -1.
    weight : ndarray of shape (n_samples,)
        The gain of the right decision over the wrong one.
    """
    margin = np.clip(score, -_MOST_CERTAIN, _MOST_CERTAIN)
    margin *= -sign
    value = np.exp(margin, out=margin)
    value *= weight
    return Loss(value, -sign * value, value)


def logistic_loss(score: FloatArray, sign: FloatArray, weight: FloatArray) -> Loss:
    """Return ``weight * expit(-sign * score)``: the profit missed if each row is decided by a coin of that chance.

    The loss is not convex. Its `hessian` here is the positive bound ``weight * p * (1 - p)`` on the second derivative,
    which is ``gradient * (1 - 2 * p)`` with p = expit(score).
    """
    p = expit(np.clip(score, -_MOST_CERTAIN, _MOST_CERTAIN))
    value = weight * np.where(sign > 0, 1 - p, p)
    hessian = weight * p * (1 - p)
    return Loss(value, -sign * hessian, hessian)


def cross_entropy(score: FloatArray, share: FloatArray, weight: FloatArray) -> Loss:
    """Return ``-weight * (share * log(p) + (1 - share) * log(1 - p))``, with p = expit(score): least where p = share.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        The score; within ±15 for the derivatives.
    share : ndarray of shape (n_samples,)
        The target of p: 1 for positive rows and 0 for the others, or a share of the stakes.
    weight : ndarray of shape (n_samples,)
        The weight of each row.
    """
    clipped = np.clip(score, -_MOST_CERTAIN, _MOST_CERTAIN)
    p = expit(clipped)
    value = -weight * (np.log(1 - p) + share * clipped)
    return Loss(value, weight * (p - share), weight * p * (1 - p))


def ap_loss(score: FloatArray, positive: BoolArray, alpha: float, weight: FloatArray) -> Loss:
    """Return 1 - A, where A = Σ₊ exp(αf) / Σ exp(αf) is the exponential surrogate of the average precision.

    It curves downwards at positive rows, so that no Newton step can be taken: the `hessian` is the second derivative,
    which may be negative, and boosting takes first-order steps.
    """
    share = _shares(score, alpha, weight)
    surrogate = share[positive].sum()
    gradient = -alpha * share * (positive - surrogate)
    return Loss(1 - surrogate, gradient, alpha * gradient * (1 - 2 * share))


def log_ap_loss(score: FloatArray, positive: BoolArray, alpha: float, weight: FloatArray) -> Loss:
    """Return -log A of the same surrogate; the `hessian` is α²w(1 - w) of the shares w, a bound without sign changes.

    The second derivative itself is that less α²v(1 - v), where v are the shares among the positive rows.
    """
    share = _shares(score, alpha, weight)
    with np.errstate(divide="ignore"):
        among = softmax(np.where(positive, alpha * score + np.log(weight), -np.inf))
        value = -(logsumexp(log_softmax(alpha * score + np.log(weight))[positive]))
    return Loss(value, alpha * (share - among), alpha**2 * share * (1 - share))


def sigmoid_ap_gradient(score: FloatArray, positive: BoolArray, weight: FloatArray) -> FloatArray:
    """Return the direction of ``variant="mean_of_trees"``, which is not quite a gradient.

    With σ = expit(f) it weighs positive rows by 2 σ' Σ₋σ / Σσ and negative ones by -σ' Σ₊σ / Σσ: the doubling has no
    loss behind it.
    """
    p = expit(score)
    slope = p * (1 - p)
    of_positives = (weight * p)[positive].sum() / (weight * p).sum()
    return np.where(positive, 2 * slope * (1 - of_positives), -slope * of_positives)


def _shares(score: FloatArray, alpha: float, weight: FloatArray) -> FloatArray:
    """Return the softmax of the scores, in which a row of weight 2 is two rows."""
    raised = weight * np.exp(alpha * (score - score.max()))
    return raised / raised.sum()
