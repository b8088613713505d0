"""Which class weights to try next? Four searches over t, told the errors that each t gave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np

from scarce.fmeasure.bounds import Envelope, ErrorProfile, cones, f_measure

__all__ = ["SEARCHES", "Search", "new_search"]

# t nearer to each other than this give the same model.
_SAME = 1e-6
# Peaks of the envelope that differ by less are equally high: equal models give equal cones.
_TIE = 1e-12


class Search(ABC):
    """Ask it for t, fit models with their weights, tell it the errors, and so on until it asks for none."""

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0) -> None:
        self.n_models = n_models
        self.beta = beta
        self.epsilon = epsilon
        self.tried: list[float] = []
        self.f: list[float] = []

    def ask(self, count: int = 1) -> list[float]:
        """Return at most `count` new t; none if there is nothing left to try."""
        return self._ask(min(count, self.n_models - len(self.tried)))

    def tell(self, t: float, profile: ErrorProfile | None) -> None:
        """Take in the errors at `t`, or None if no model could be fitted there."""
        self.tried.append(t)
        self.f.append(np.nan if profile is None else float(f_measure(profile, self.beta)))

    @abstractmethod
    def _ask(self, count: int) -> list[float]: ...


class Grid(Search):
    """Parambath et al. (2014): evenly spaced, whatever the errors are."""

    def _ask(self, count: int) -> list[float]:
        first = len(self.tried)
        return [(i + 0.5) / self.n_models for i in range(first, first + count)]


class Cone(Search):
    """CONE: halve the interval of tried t above which the envelope of all cones is highest."""

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0) -> None:
        super().__init__(n_models, beta, epsilon)
        self.envelope = Envelope.start()

    def tell(self, t: float, profile: ErrorProfile | None) -> None:
        super().tell(t, profile)
        if profile is not None:
            self.envelope = self.envelope.cut(cones(t, profile, self.beta, self.epsilon))

    def _ask(self, count: int) -> list[float]:
        if self.envelope.maximum < max((f for f in self.f if not np.isnan(f)), default=0.0) - _TIE:
            return []
        asked: list[float] = []
        ends = np.sort([0.0, *self.tried, 1.0])
        while len(asked) < count:
            left, right = self._highest(ends)
            if right - left < _SAME:
                break
            asked.append((left + right) / 2)
            # The next of a batch goes elsewhere, as if this one had taught nothing.
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


class Bisection(Search):
    """Narasimhan et al. (2015), with a model for each t: the best F is where F at t falls below t."""

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

    def __init__(self, n_models: int, beta: float = 1.0, epsilon: float = 0.0) -> None:
        super().__init__(n_models, beta, epsilon)
        self.floor = 0.0

    def tell(self, t: float, profile: ErrorProfile | None) -> None:
        super().tell(t, profile)
        # To call all rows positive has this F, so that the best is not below.
        if profile is not None:
            self.floor = float(f_measure(ErrorProfile(0.0, profile.negatives, profile.positives), self.beta))

    def _ask(self, count: int) -> list[float]:
        if not self.tried:
            return [0.5]
        last = self.f[-1]
        # After a failure, half as far.
        t = self.tried[-1] / 2 if np.isnan(last) else float(np.clip(last, self.floor, 1.0 - _SAME))
        return [] if min(abs(t - tried) for tried in self.tried) < _SAME else [t]


SEARCHES: dict[str, type[Search]] = {"cone": Cone, "grid": Grid, "bisection": Bisection, "dinkelbach": Dinkelbach}


def new_search(name: str, n_models: int, beta: float = 1.0, epsilon: float = 0.0) -> Search:
    """Return a search by name."""
    return SEARCHES[name](n_models, beta, epsilon)
