"""The number of positives to expect in a queue: a prediction interval from probabilities and from earlier blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp
from scipy.stats import halfnorm, norm

from scarce._typing import FloatArray

from ._kernels_hits import hits_chances

__all__ = ["Block", "Promise", "predict_hits"]

# Between two periods, the log-odds of a queue move by about this much where nothing else is known. Chosen on card
# payments of another source than those that the coverage is proved on.
_USUAL_SHIFT = 0.25
_FARTHEST_SHIFT = 4.0
_SPREADS = np.linspace(0.01, 2.0, 60)
_CERTAIN = 1e-9  # a probability of 0 or 1 could not be moved


@dataclass(frozen=True)
class Block:
    """A queue of the past: tested rows that were ranked together, and how many of the first were positive.

    Attributes
    ----------
    probability : ndarray of shape (n_queued,)
        The probability of each row within the budget, by the model that ranked the block. A model is calibrated on
        honest scores of its own training rows. Were the tested rows used for that, blocks would look calmer than
        they were, and the model that learns from all rows, which is surer than theirs, would promise too much.
    hits : int
        How many of these rows were positive.
    """

    probability: FloatArray
    hits: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= len(self.probability):
            raise ValueError(f"A block of {len(self.probability)} queued rows cannot hold {self.hits} positives.")


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
        By how much the log-odds of past queues were off on average: above 0, there were more positives than expected.
    spread : float
        By how much the log-odds moved from one past queue to the next.
    """

    size: int
    expected: float
    low: int
    high: int
    level: float
    shift: float
    spread: float

    def __str__(self) -> str:
        return f"between {self.low:,} and {self.high:,} of these {self.size:,} ({self.level:.0%} of the time)"


def predict_hits(probability: FloatArray, blocks: Sequence[Block], *, level: float = 0.9) -> Promise:
    """Predict how many queued rows are positive.

    If probabilities were right at any time, the number would follow from them alone. They are right on average and
    wrong in single periods, so the log-odds of all rows of a queue are taken to be off by a shift of its own. Shifts
    are normal; their mean and standard deviation are learned from the blocks, starting from a mean of 0 ± .25 and a
    standard deviation of about .25. The prediction is the number of positives under all shifts that the next queue
    may have.

    Parameters
    ----------
    probability : ndarray of shape (n_queued,)
        The probability of each queued row, by a model that is calibrated as those of the blocks are.
    blocks : sequence of Block
        Queues of the past, ranked by models that had not seen their rows.
    level : float
        The chance that the number lies within the interval.

    Returns
    -------
    Promise
    """
    queues = [np.asarray(probability, np.float64), *(np.asarray(block.probability, np.float64) for block in blocks)]
    shifts = _shifts(queues)
    means = shifts[(shifts > -_FARTHEST_SHIFT / 2) & (shifts < _FARTHEST_SHIFT / 2)][::2]
    # The chance of each shift given the mean and the spread of shifts, as a table over all three.
    chance_of = norm.logpdf(shifts, means[:, None, None], _SPREADS[None, :, None])
    chance_of = np.exp(chance_of - logsumexp(chance_of, axis=2, keepdims=True))
    belief = norm.logpdf(means, 0, _USUAL_SHIFT)[:, None] + halfnorm.logpdf(_SPREADS, scale=_USUAL_SHIFT)
    for block, queue in zip(blocks, queues[1:], strict=True):
        seen = _chances(queue, shifts)[:, block.hits]
        belief = belief + np.log(np.maximum(chance_of @ seen, np.finfo(np.float64).tiny))
    belief = np.exp(belief - logsumexp(belief))
    chances = np.einsum("ms,msd->d", belief, chance_of) @ _chances(queues[0], shifts)
    below = np.cumsum(chances)
    tail = (1 - level) / 2
    last = len(chances) - 1
    return Promise(
        size=last,
        expected=float(chances @ np.arange(len(chances))),
        low=min(int(np.searchsorted(below, tail, side="right")), last),
        high=min(int(np.searchsorted(below, 1 - tail)), last),
        level=level,
        shift=float(belief.sum(axis=1) @ means),
        spread=float(belief.sum(axis=0) @ _SPREADS),
    )


def _shifts(queues: Sequence[FloatArray]) -> FloatArray:
    """Return shifts that are finer than the one that the largest queue can tell from none."""
    variance = max(float((p * (1 - p)).sum()) for p in queues)
    step = min(0.1, 0.5 / np.sqrt(max(variance, 1.0)))
    half = int(np.ceil(_FARTHEST_SHIFT / step))
    return np.asarray(np.linspace(-_FARTHEST_SHIFT, _FARTHEST_SHIFT, 2 * half + 1))


def _chances(probability: FloatArray, shifts: FloatArray) -> FloatArray:
    """Return the chance of each number of positives under each shift."""
    log_odds = logit(np.clip(probability, _CERTAIN, 1 - _CERTAIN))
    return np.asarray(hits_chances(expit(log_odds + shifts[:, None])))
