"""The verdicts of the last days by entity, and what they add to the log-odds of a case that shares one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from scarce._typing import FloatArray, IntArray

__all__ = ["STEPS", "Link", "LinkCounts", "LinkWeights", "fit_weights"]

# A weight holds from this count on: one verdict, two or three, four or more.
STEPS = (1, 2, 4)
# How firmly weights are held at where they start: the penalty on the square of the difference.
PENALTY = 1.0


class Link(NamedTuple):
    """A verdict about a case, as its entities keep it; links are in the order of their moments."""

    at: Any
    case: Any


@dataclass
class _Entity:
    confirmed: list[Link] = field(default_factory=list)
    cleared: list[Link] = field(default_factory=list)


class LinkCounts:
    """Confirmed and cleared cases of each entity, in a window that moves with time.

    What is held depends on the verdicts and on the time alone, never on the order in which verdicts came, and a verdict
    that is withdrawn leaves nothing.

    Parameters
    ----------
    window : duration
        How long a verdict counts, in the unit of the moments: seconds, or a timedelta where these are dates.

    Examples
    --------
    >>> from scarce.desk.links import LinkCounts
    >>> counts = LinkCounts(14)
    >>> _ = counts.decide(4711, [("terminal", "3156")], True, at=1)
    >>> counts.of(("terminal", "3156"))
    (1, 0)
    >>> _ = counts.advance(15)
    >>> counts.of(("terminal", "3156"))
    (0, 0)
    """

    def __init__(self, window: Any) -> None:
        self.window = window
        self.now: Any = None
        self._by_entity: dict[Hashable, _Entity] = {}
        self._by_case: dict[Any, tuple[tuple[Hashable, ...], bool, Any]] = {}
        self._by_time: list[Link] = []

    def decide(self, case: Any, entities: Sequence[Hashable], positive: bool, at: Any) -> set[Hashable]:
        """Count a verdict about a case, in the place of an earlier one; return the entities whose counts may differ."""
        touched = self.withdraw(case)
        link = Link(at, case)
        if self.now is not None and at <= self.now - self.window:
            return touched
        own = tuple(dict.fromkeys(entities))
        self._by_case[case] = own, positive, at
        insort(self._by_time, link)
        for entity in own:
            there = self._by_entity.setdefault(entity, _Entity())
            insort(there.confirmed if positive else there.cleared, link)
        return touched | set(own)

    def withdraw(self, case: Any) -> set[Hashable]:
        """Remove the verdict about a case, if there is one; return the entities whose counts differ."""
        if case not in self._by_case:
            return set()
        entities, positive, at = self._by_case.pop(case)
        link = Link(at, case)
        del self._by_time[bisect_left(self._by_time, link)]
        for entity in entities:
            there = self._by_entity[entity]
            links = there.confirmed if positive else there.cleared
            del links[bisect_left(links, link)]
            if not (there.confirmed or there.cleared):
                del self._by_entity[entity]
        return set(entities)

    def advance(self, now: Any) -> set[Hashable]:
        """Move the time on, and remove the verdicts that are now too old; return the entities whose counts differ."""
        self.now = now
        touched: set[Hashable] = set()
        while self._by_time and self._by_time[0].at <= now - self.window:
            touched |= self.withdraw(self._by_time[0].case)
        return touched

    def of(self, entity: Hashable) -> tuple[int, int]:
        """Return how many cases of an entity are confirmed and cleared."""
        there = self._by_entity.get(entity)
        return (len(there.confirmed), len(there.cleared)) if there else (0, 0)

    def latest(self, entity: Hashable) -> Link | None:
        """Return the last confirmation at an entity."""
        there = self._by_entity.get(entity)
        return there.confirmed[-1] if there and there.confirmed else None


@dataclass(frozen=True)
class LinkWeights:
    """Additions to the log-odds of a case, by the verdicts about one of its entities.

    Each holds three weights, which add up: from one verdict on, from two on, and from four on. Those of confirmed cases
    are never negative and those of cleared cases never positive: a confirmation never lowers, a clearance never raises.

    Attributes
    ----------
    confirmed, cleared : tuple of float
    """

    confirmed: tuple[float, ...]
    cleared: tuple[float, ...]

    def correction(self, counts: IntArray) -> FloatArray:
        """Return what confirmed and cleared cases add; `counts` has a column for each."""
        confirmed, cleared = (np.concatenate([[0.0], np.cumsum(w)]) for w in (self.confirmed, self.cleared))
        step = np.searchsorted(STEPS, counts, side="right")
        return confirmed[step[:, 0]] + cleared[step[:, 1]]

    def add(self, confirmed: int, cleared: int) -> float:
        """Return what the verdicts about one entity add."""
        return float(self.correction(np.array([[confirmed, cleared]]))[0])


def fit_weights(
    log_odds: FloatArray,
    counts: IntArray,
    outcome: NDArray[Any],
    start: Sequence[LinkWeights],
    *,
    penalty: float = PENALTY,
    signed: bool = True,
    others: FloatArray | None = None,
) -> tuple[list[LinkWeights], FloatArray]:
    """Estimate the weights of each entity column from logged cases, given their scores.

    A logistic regression of the outcome on the log-odds that the model gave and on the counts, both as they were when
    the case was scored. Given the score, a confirmed neighbour adds only what the score does not know yet. The weights
    are held near those they start from, and are these where nothing is known.

    Parameters
    ----------
    log_odds : ndarray of shape (n_cases,)
        Of the model's probability.
    counts : ndarray of int of shape (n_cases, n_columns, 2)
        Confirmed and cleared cases of each entity.
    outcome : ndarray of shape (n_cases,)
        1 for positive, 0 for negative.
    start : sequence of LinkWeights
        For each entity column.
    penalty : float
        How firmly they are held.
    signed : bool, default=True
        Whether weights keep the sign that :class:`LinkWeights` promises.
    others : ndarray of shape (n_cases, n_others), optional
        Other terms, held near 0.

    Returns
    -------
    weights : list of LinkWeights
        In units of the model's log-odds.
    other_weights : ndarray of shape (n_others,)
    """
    k = len(STEPS)
    steps = (counts[..., None] >= np.array(STEPS)).reshape(len(counts), 2 * k * len(start)).astype(np.float64)
    terms = steps if others is None else np.hstack([steps, others])
    center = np.concatenate([*([*w.confirmed, *w.cleared] for w in start), np.zeros(terms.shape[1] - steps.shape[1])])
    if not len(outcome) or not 0 < np.sum(outcome) < len(outcome):
        found = center
    else:
        design = np.column_stack([terms, log_odds, np.ones(len(terms))])
        target = np.asarray(outcome, dtype=np.float64)
        # The slope of the score is held near 1 as well; the intercept is free, since checked cases are not like others.
        origin = np.append(center, [1.0, 0.0])
        firm = np.append(np.full(len(center) + 1, penalty), 1e-6)

        def loss(w: FloatArray) -> tuple[float, FloatArray]:
            z, apart = design @ w, w - origin
            value = float(np.logaddexp(0, z).sum() - target @ z + 0.5 * firm @ apart**2)
            return value, design.T @ (expit(z) - target) + firm * apart

        bounds: list[tuple[float | None, float | None]] = [(None, None)] * len(origin)
        if signed:
            bounds[: steps.shape[1]] = ([(0.0, None)] * k + [(None, 0.0)] * k) * len(start)
        bounds[-2] = (0.1, None)
        solved = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=bounds).x
        # In units of the model's log-odds, so that a case without links keeps its own.
        found = solved[:-2] / solved[-2]
    by_column = found[: steps.shape[1]].reshape(len(start), 2, k).tolist()
    return [LinkWeights(tuple(a), tuple(b)) for a, b in by_column], found[steps.shape[1] :]
