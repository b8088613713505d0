"""A random share of the queue, drawn with known chances, and what it tells about positives that are missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from scarce._errors import AuditError
from scarce._typing import FloatArray, IntArray

__all__ = ["Exploration", "Missed", "draw", "estimate_missed", "inclusion_chances", "plan_exploration"]

# An estimate is of use if its standard error is a quarter of it.
USEFUL = 0.25
_LEAST = 1e-9


@dataclass(frozen=True)
class Exploration:
    """The random share of a queue.

    Attributes
    ----------
    drawn : int
        The number of rows drawn at random.
    expected_missed : float
        The expected number of positives among the rows that are not queued by their score.
    expected_found : float
        The expected number of positives among those drawn.
    rounds : float
        How many queues like this one an estimate of missed positives needs, so that its standard error is a quarter of
        it.
    sentence : str
        The same in words.
    """

    drawn: int
    expected_missed: float
    expected_found: float
    rounds: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


class Missed(NamedTuple):
    """An estimate of the number of missed positives, with the ends of its confidence interval."""

    estimate: float
    low: float
    high: float


def inclusion_chances(probability: FloatArray, size: int) -> FloatArray:
    """Return the chance of each row to be drawn, in proportion to the square root of its probability.

    The chances add up to `size`. A row whose share would exceed 1 is drawn for certain.
    """
    n = len(probability)
    if size >= n:
        return np.ones(n)
    root = np.sqrt(np.maximum(probability, _LEAST))
    chance = np.zeros(n)
    certain = np.zeros(n, dtype=bool)
    while True:
        left = size - int(certain.sum())
        chance[~certain] = left * root[~certain] / root[~certain].sum()
        chance[certain] = 1.0
        over = ~certain & (chance >= 1)
        if not over.any():
            return chance
        certain |= over


def draw(chance: FloatArray, seed: int) -> IntArray:
    """Draw rows with the given chances, exactly as many as these add up to.

    Rows are put in a random order on a line, each as long as its chance, and every mark at a distance of 1 from the
    last one, the first at random, takes the row it falls on.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.audit.explore import draw
    >>> len(draw(np.array([0.5, 0.25, 0.25, 1.0]), seed=0))
    2
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    size = round(float(ends[-1]))
    # Rounding must not lose the last mark.
    ends[-1] = size
    marks = rng.random() + np.arange(size)
    return np.sort(order[np.searchsorted(ends, marks, side="right")])


def estimate_missed(hit: ArrayLike, chance: ArrayLike, *, confidence: float = 0.9) -> Missed:
    """Estimate how many positives were missed, from rows that were drawn with known chances and checked.

    Each positive found stands for as many as its chance says: one that was drawn with a chance of 1 in 50 stands for
    50. The estimate is unbiased, however good or bad the scores are, for all rows that could have been drawn.

    Parameters
    ----------
    hit : array-like of bool
        For each drawn row whether it was positive.
    chance : array-like of float
        The chance with which it was drawn: the column ``chance_drawn`` of the queue.
    confidence : float
        The level of the interval, which is normal and starts at 0. Its variance is that of draws with replacement, and
        so rather too large. With fewer than five positives it is a rough guide.

    Examples
    --------
    >>> from scarce.audit.explore import estimate_missed
    >>> estimate_missed([True, False, True, False], [0.02, 0.05, 0.1, 0.2]).estimate
    60.0
    """
    found = np.asarray(hit, dtype=np.float64)
    known = np.asarray(chance, dtype=np.float64)
    if found.shape != known.shape or not len(found):
        raise AuditError("Give a verdict and a chance for each drawn row; there must be at least one.")
    if not ((known > 0) & (known <= 1)).all():
        raise AuditError("The chance of a drawn row is greater than 0 and at most 1.")
    stands_for = found / known
    total, n = float(stands_for.sum()), len(found)
    if not total:
        # Had there been more positives than this, one of them would have been found in all but 1 - confidence of draws.
        return Missed(0.0, 0.0, float(-np.log(1 - confidence) / known.mean()))
    spread = np.sqrt(n / max(n - 1, 1) * ((stands_for - total / n) ** 2).sum())
    half = float(norm.ppf((1 + confidence) / 2) * spread)
    return Missed(total, max(float(found.sum()), total - half), total + half)


def plan_exploration(probability: FloatArray, chance: FloatArray, period: str | None) -> Exploration:
    """Return what the random share can tell, given the probabilities of the rows that are not queued otherwise."""
    missed, found = float(probability.sum()), float(probability @ chance)
    # The variance of the estimate if each row is drawn by itself, over rows that are positive with their probability.
    variance = float((probability * (1 - chance) / np.maximum(chance, _LEAST)).sum())
    rounds = max(1.0, variance / (USEFUL * max(missed, _LEAST)) ** 2)
    drawn = round(float(chance.sum()))
    return Exploration(drawn, missed, found, rounds, _sentence(drawn, missed, found, rounds, period))


def _sentence(drawn: int, missed: float, found: float, rounds: float, period: str | None) -> str:
    return (
        f"{drawn:,} of the rows to check were drawn at random, with known chances, from all others, which are expected "
        f"to hold {missed:,.1f} positives; {found:.1f} of these are expected among those drawn. Once they are checked, "
        f"the number of missed positives can be estimated without bias. {_how_long(rounds, period)}"
    )


def _how_long(rounds: float, period: str | None) -> str:
    if period is None:
        return f"An estimate that is good to a quarter needs {np.ceil(rounds):,.0f} queues like this one."
    weeks = rounds * {"day": 1 / 7, "week": 1, "month": 30.4 / 7}[period]
    return f"An estimate that is good to a quarter needs {max(1, np.ceil(weeks)):,.0f} weeks of it."
