"""Searches over t: the class weights to try next, given the errors at those tried."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np

from scarce.fmeasure._predicted_f import ThresholdCurve, predicted_f
from scarce.fmeasure.bounds import Envelope, ErrorProfile, cones, f_measure

__all__ = ["SEARCHES", "Search", "new_search"]

# t nearer to each other than this give the same model.
_SAME = 1e-6
# Peaks of the envelope that differ by less are equally high: equal models give equal cones.
_TIE = 1e-12
# The t at which F is predicted, and how far from a model that was tried another one is worth its fit.
_PLACES = np.arange(1, 1000) / 1000
_APART = 0.005


class Search(ABC):
    """A search: `ask` it for t, fit models with their weights, `record` the errors, until it asks for none."""

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0, floor: float = 0.0) -> None:
        self.n_models = n_models
        self.beta = beta
        self.epsilon = epsilon
        # The F of calling all rows positive: the best is not below.
        self.floor = floor
        self.tried: list[float] = []
        self.f: list[float] = []

    def ask(self, count: int = 1) -> list[float]:
        """Return at most `count` new t; none if there is nothing left to try."""
        count = min(count, self.n_models - len(self.tried))
        return self._ask(count) if count > 0 else []

    def record(self, t: float, profile: ErrorProfile | None, curve: ThresholdCurve | None = None) -> None:
        """Take in the errors at `t`, or None if no model could be fitted there, and the F at other thresholds."""
        self.tried.append(t)
        self.f.append(np.nan if profile is None else float(f_measure(profile, self.beta)))

    @abstractmethod
    def _ask(self, count: int) -> list[float]: ...


class Grid(Search):
    """Evenly spaced t, whatever the errors are (Parambath et al., 2014)."""

    def _ask(self, count: int) -> list[float]:
        first = len(self.tried)
        return [(i + 0.5) / self.n_models for i in range(first, first + count)]


class Cone(Search):
    """CONE: halve the interval of tried t above which the envelope of all cones is highest (Metzler, 2019)."""

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0, floor: float = 0.0) -> None:
        super().__init__(n_models, beta, epsilon, floor)
        self.envelope = Envelope.start()

    def record(self, t: float, profile: ErrorProfile | None, curve: ThresholdCurve | None = None) -> None:
        super().record(t, profile)
        if profile is not None:
            self.envelope = self.envelope.lowered_by(cones(t, profile, self.beta, self.epsilon))

    def _ask(self, count: int) -> list[float]:
        return [] if self.envelope.maximum < self.best - _TIE else self._halve(count, [])

    @property
    def best(self) -> float:
        """The highest F recorded."""
        return max((f for f in self.f if not np.isnan(f)), default=0.0)

    def _halve(self, count: int, asked: list[float]) -> list[float]:
        ends = np.sort([0.0, *self.tried, *asked, 1.0])
        while len(asked) < count:
            left, right = self._highest(ends)
            if right - left < _SAME:
                break
            asked.append((left + right) / 2)
            # The next of a batch goes elsewhere, as if nothing were known of this one.
            ends = np.sort([*ends, asked[-1]])
        return asked

    def _highest(self, ends: np.ndarray) -> tuple[float, float]:
        """Return the interval with the highest peak; of equal ones that with the widest plateau, then the widest."""
        t = np.union1d(self.envelope.t, ends)
        f = self.envelope.at(t)
        first = np.searchsorted(t, ends)
        peaks = np.array([f[i : j + 1].max() for i, j in pairwise(first)])
        candidates = np.flatnonzero(peaks >= peaks.max() - _TIE)
        plateaus = []
        for k in candidates:
            inside = slice(first[k], first[k + 1] + 1)
            top = t[inside][f[inside] >= peaks[k] - _TIE]
            plateaus.append((top[-1] - top[0], ends[k + 1] - ends[k]))
        # max() takes the first of equals.
        chosen = candidates[max(range(len(candidates)), key=lambda i: (round(plateaus[i][0], 9), plateaus[i][1]))]
        return float(ends[chosen]), float(ends[chosen + 1])


class ScoredCone(Cone):
    """CONE with the scores of rows left out: first it goes where they predict more than the best F.

    If the model is not an exact learner, its F at other thresholds shows better where the best t is than the errors at
    its own. Only if no higher F is predicted, the interval below the highest cones is halved.
    """

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0, floor: float = 0.0) -> None:
        super().__init__(n_models, beta, epsilon, floor)
        self.curves: list[ThresholdCurve] = []

    def record(self, t: float, profile: ErrorProfile | None, curve: ThresholdCurve | None = None) -> None:
        super().record(t, profile)
        if curve is not None:
            self.curves = sorted([*self.curves, curve], key=lambda each: each.t)

    def _ask(self, count: int) -> list[float]:
        # The best F lies between the floor and 1; by ratios this is half-way.
        asked = [] if self.tried else [float(np.sqrt(self.floor))][:count]
        while len(asked) < count and self.curves and (t := self._most_promising(asked)) is not None:
            asked.append(t)
        return asked if self.envelope.maximum < self.best - _TIE else self._halve(count, asked)

    def _most_promising(self, asked: list[float]) -> float | None:
        """Return the t of the highest F predicted, in the middle of its widest plateau; None if no higher one is."""
        near = np.abs(_PLACES[:, None] - [*self.tried, *asked]).min(axis=1) < _APART - _TIE
        f = np.where(near, 0.0, predicted_f(self.curves, _PLACES, self.beta))
        if f.max() <= self.best:
            return None
        top = np.flatnonzero(f >= f.max() - _TIE)
        plateau = max(np.split(top, np.flatnonzero(np.diff(top) > 1) + 1), key=len)
        return float(_PLACES[plateau[len(plateau) // 2]])


class Bisection(Search):
    """Bisection for the t at which F falls below t, with a model for each t (Narasimhan et al., 2015)."""

    def _ask(self, count: int) -> list[float]:
        known = [(t, f) for t, f in zip(self.tried, self.f, strict=True) if not np.isnan(f)]
        low = max((t for t, f in known if f >= t), default=0.0)
        high = min((t for t, f in known if f < t and t > low), default=1.0)
        failed = [t for t, f in zip(self.tried, self.f, strict=True) if np.isnan(f)]
        if high - low < _SAME:
            return []
        # A t that could not be fitted is not asked for again: the interval is divided one finer.
        for parts in range(count + 1, count + 2 + len(failed)):
            asked = [low + (high - low) * i / parts for i in range(1, count + 1)]
            if not any(abs(t - other) < _SAME for t in asked for other in failed):
                return asked
        return []


class Dinkelbach(Search):
    """Dinkelbach's iteration for ratios: the F that was found is the next t. One at a time, by its nature."""

    def _ask(self, count: int) -> list[float]:
        if not self.tried:
            return [0.5]
        last = self.f[-1]
        # After a failure, half as far.
        t = self.tried[-1] / 2 if np.isnan(last) else float(np.clip(last, self.floor, 1.0 - _SAME))
        return [] if min(abs(t - tried) for tried in self.tried) < _SAME else [t]


SEARCHES: dict[str, type[Search]] = {"cone": Cone, "grid": Grid, "bisection": Bisection, "dinkelbach": Dinkelbach}


def new_search(
    name: str,
    n_models: int,
    beta: float = 1.0,
    epsilon: float = 0.0,
    floor: float = 0.0,
    *,
    scored: bool = False,
) -> Search:
    """Return a search by name; one that uses scores, if there are any and it can."""
    kind = ScoredCone if scored and name == "cone" else SEARCHES[name]
    return kind(n_models, beta, epsilon, floor)
