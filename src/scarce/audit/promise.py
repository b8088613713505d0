"""The number of positives to expect in a queue: a prediction interval from probabilities and from earlier queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit, logsumexp
from scipy.stats import halfnorm, norm

from scarce._typing import FloatArray

from ._kernels_hits import hits_chances

__all__ = ["Block", "Promise", "Queue", "predict_hits"]

# By how much log-odds are off where nothing else is known. Chosen on card payments of another source than those that
# the coverage is proved on, and on simulated tables with seeds of their own.
_OFF = 0.25  # always, and once more in each queue
_WANDER = 0.5  # while time goes on by as much as training rows span, at random, and once more by a steady trend
_MISLED = 0.5  # for each unit by which the log-odds of the rows to rank have moved according to their scores
_FARTHEST_SHIFT = 4.0
_WANDERS, _SPREADS = 6, 10
_CERTAIN = 1e-9  # a probability of 0 or 1 could not be moved
_NEWTON_STEPS = 50


@dataclass(frozen=True)
class Queue:
    """Rows that are ranked together, of which the first are checked.

    Attributes
    ----------
    probability : ndarray of shape (n_queued,)
        The probability of each row within the budget, by the model that ranked the rows. A model is calibrated on
        honest scores of its own training rows. Were the tested rows used for that, queues would look calmer than
        they were, and the model that learns from all rows, which is surer than theirs, would promise too much.
    ahead : ndarray of shape (n_periods,)
        For the beginning of each period of time, the share of the queue's rows that are later, less that of the
        training rows of its model: how much of a change at that moment the model does not know of. Empty where there
        is no time.
    move : float
        The log-odds of a positive among all rows that were ranked, by their probabilities, less those among the
        training rows.
    """

    probability: FloatArray
    ahead: FloatArray = field(default_factory=lambda: np.empty(0))
    move: float = 0.0


@dataclass(frozen=True)
class Block:
    """A queue of the past, and how many of its rows were positive."""

    queue: Queue
    hits: int

    def __post_init__(self) -> None:
        size = len(self.queue.probability)
        if not 0 <= self.hits <= size:
            raise ValueError(f"A block of {size} queued rows cannot hold {self.hits} positives.")


@dataclass(frozen=True)
class Promise:
    """The number of positives to expect in a queue.

    Attributes
    ----------
    size : int
        The number of rows in the queue.
    expected : float
        The mean of the number of positives.
    low, high : int
        The ends of the prediction interval, both included.
    level : float
        The chance that the number lies between them.
    shift : float
        By how much the log-odds of the queue are expected to be off, by what was seen in past queues: above 0, there
        will be more positives than the probabilities say.
    spread : float
        The standard deviation of that shift.
    """

    size: int
    expected: float
    low: int
    high: int
    level: float
    shift: float
    spread: float

    def _repr_html_(self) -> str:
        return f"<p>{self} should be positive.</p>"

    def __str__(self) -> str:
        return f"between {self.low:,} and {self.high:,} of these {self.size:,} ({self.level:.0%} of the time)"


def predict_hits(queue: Queue, past: Sequence[Block], *, period: float = 0.0, level: float = 0.9) -> Promise:
    """Predict how many queued rows are positive.

    If probabilities were right at any time, the number would follow from them alone. They are right on average over
    the training rows and wrong later on, so the log-odds of all rows of a queue are taken to be off by a shift. It is
    the sum of five normal parts: one that all queues share; a random walk over time and a trend, from the training
    rows of the queue's model to its own rows; a part of the move that the scores of the rows to rank have made; and
    one of each queue alone. The shifts of past queues, as far as their positives show them, tell that of the queue
    that comes; the sizes of the walk and of the last part are learned too. The prediction is the number of positives
    under all shifts that the queue may have.

    Parameters
    ----------
    queue : Queue
        The queue that comes, by a model that is calibrated as those of the past queues are.
    past : sequence of Block
        Queues of the past, ranked by models that had not seen their rows.
    period : float
        The length of a period of `Queue.ahead`, where the time of all training rows is 1.
    level : float
        The chance that the number lies within the interval.

    Returns
    -------
    Promise
    """
    queues = [*(block.queue for block in past), queue]
    ahead, move = np.stack([q.ahead for q in queues]), np.array([q.move for q in queues])
    walk, trend = period * ahead @ ahead.T, period * ahead.sum(axis=1)
    shared = _OFF**2 + _WANDER**2 * np.outer(trend, trend) + _MISLED**2 * np.outer(move, move)
    alone = np.eye(len(queues))
    seen = _Seen.of(past)
    # Sizes are taken at equal steps of their chance, so that each is as likely as the others before the past is seen.
    spreads = _sizes(_OFF, _SPREADS)[:, None, None] ** 2 * alone
    found = [_given(seen, shared + wander**2 * walk + spreads) for wander in _sizes(_WANDER, _WANDERS)]
    evidence, mean, variance = np.hstack(found)
    belief = np.exp(evidence - logsumexp(evidence))
    shifts = _shifts(queue.probability)
    edges = np.concatenate(([-np.inf], (shifts[1:] + shifts[:-1]) / 2, [np.inf]))
    chance_of = belief @ np.diff(norm.cdf(edges, mean[:, None], np.sqrt(variance)[:, None]), axis=1)
    log_odds = _log_odds(queue.probability)
    chances = chance_of @ hits_chances(expit(log_odds + shifts[:, None]))
    below = np.cumsum(chances)
    tail, last = (1 - level) / 2, len(chances) - 1
    centre = float(belief @ mean)
    return Promise(
        size=last,
        expected=float(chances @ np.arange(len(chances))),
        low=min(int(np.searchsorted(below, tail, side="right")), last),
        high=min(int(np.searchsorted(below, 1 - tail)), last),
        level=level,
        shift=centre,
        spread=float(np.sqrt(belief @ (variance + (mean - centre) ** 2))),
    )


class _Seen(NamedTuple):
    """The log-odds of past queues, one a line, filled up with rows that are never positive, and their positives."""

    log_odds: FloatArray
    hits: FloatArray

    @classmethod
    def of(cls, past: Sequence[Block]) -> _Seen:
        log_odds = np.full((len(past), max((len(b.queue.probability) for b in past), default=0)), -np.inf)
        for line, block in zip(log_odds, past, strict=True):
            line[: len(block.queue.probability)] = _log_odds(block.queue.probability)
        return cls(log_odds, np.array([float(block.hits) for block in past]))


def _given(seen: _Seen, covariance: FloatArray) -> FloatArray:
    """Return the log chance of the past, and the mean and the variance of the last shift given the past.

    The number of positives of a queue is of an exponential family in its shift, so the chance of the past has one
    peak over all shifts; it is taken to be normal around it (Laplace).

    Parameters
    ----------
    seen : _Seen
        The past.
    covariance : ndarray of shape (n_cases, n_past + 1, n_past + 1)
        The covariance of all shifts, in several cases.

    Returns
    -------
    ndarray of shape (3, n_cases)
    """
    n = len(seen.hits)
    inner, to_last, of_last = covariance[:, :n, :n], covariance[:, :n, n], covariance[:, n, n]
    shift = np.zeros((len(covariance), n))
    for _ in range(_NEWTON_STEPS):
        slope, root, lower = _at(seen, shift, inner)
        target = root**2 * shift + slope
        target -= root * _solve(lower.transpose(0, 2, 1), _solve(lower, root * _times(inner, target)))
        step = np.clip(_times(inner, target) - shift, -1, 1)
        shift = shift + step
        if np.abs(step).max(initial=0) < 1e-6:
            break
    slope, root, lower = _at(seen, shift, inner)
    known = _solve(lower, root * to_last)
    lost = log_expit(-seen.log_odds - shift[:, :, None]) - log_expit(-seen.log_odds)
    # At the peak the slope of the chance is that of the normal shifts, so that no covariance has to be inverted.
    evidence = shift @ seen.hits + lost.sum(axis=(1, 2)) - (shift * slope).sum(axis=1) / 2
    evidence -= np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    return np.array([evidence, (to_last * slope).sum(axis=1), of_last - (known**2).sum(axis=1)])


def _at(seen: _Seen, shift: FloatArray, inner: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the slope of the log chance at some shifts, the root of its curvature, and a factor of their sum."""
    chance = expit(seen.log_odds + shift[:, :, None])
    root = np.sqrt((chance * (1 - chance)).sum(axis=2))
    lower = np.linalg.cholesky(np.eye(shift.shape[1]) + root[:, :, None] * inner * root[:, None, :])
    return seen.hits - chance.sum(axis=2), root, lower


def _times(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("cij,cj->ci", matrices, vectors))


def _solve(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0])


def _sizes(scale: float, n: int) -> FloatArray:
    return np.asarray(halfnorm.ppf((np.arange(n) + 0.5) / n, scale=scale))


def _shifts(probability: FloatArray) -> FloatArray:
    """Return shifts that are finer than one that the queue could tell from none."""
    variance = float((probability * (1 - probability)).sum())
    step = min(0.1, 0.5 / np.sqrt(max(variance, 1.0)))
    half = int(np.ceil(_FARTHEST_SHIFT / step))
    return np.asarray(np.linspace(-_FARTHEST_SHIFT, _FARTHEST_SHIFT, 2 * half + 1))


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, _CERTAIN, 1 - _CERTAIN)))
