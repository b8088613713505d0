"""Follow a search over t: fit its models, judge them, certify the best."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.parallel import Parallel, delayed

from scarce._typing import Estimator, FloatArray, IntArray, MatrixLike
from scarce.fmeasure._models import Costs, Fitted, Part, fit_part, last_step, margin_of, own_threshold
from scarce.fmeasure._predicted_f import ThresholdCurve
from scarce.fmeasure._search import ScoredCone, Search
from scarce.fmeasure.bounds import (
    ErrorProfile,
    certified_bound,
    class_weights,
    cones,
    error_profile,
    f_measure,
    multiclass_error_profile,
    pooled,
)
from scarce.objectives import FBeta

__all__ = ["Path", "Problem"]

# So many failures at the start are the data's or the estimator's, not those of a t.
_HOPELESS = 3


@dataclass(frozen=True)
class Problem:
    """Rows, an estimator whose classes can be weighted, and where its models are judged."""

    estimator: Estimator
    costs: Costs
    X: MatrixLike
    y: IntArray
    weight: FloatArray | None
    beta: float
    parts: list[Part]
    # The code of the negative class, or of the default one.
    default: int
    n_jobs: int | None = None

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def judged(self) -> IntArray | None:
        """The rows that models are judged by, in the order of their parts; None if by those they are fitted on."""
        found = [part.judge for part in self.parts if part.judge is not None]
        return np.concatenate(found) if found else None

    @property
    def floor(self) -> float:
        """The F of calling every row positive, with more than two classes of the largest positive one."""
        y, weight = self.truth(self.judged)
        shares = np.bincount(y, weight, minlength=self.n_classes) / (len(y) if weight is None else weight.sum())
        positives = np.delete(shares, self.default)
        profile = ErrorProfile(positives.sum() - positives.max(), shares[self.default], positives.sum())
        return float(f_measure(profile, self.beta))

    def fit(self, t: list[float], starts: list[list[Estimator]] | None = None) -> list[list[Fitted]]:
        """Fit a model for each t and each part."""
        jobs = [(i, j) for i in range(len(t)) for j in range(len(self.parts))]
        weights = [self.class_weights(each) for each in t]
        done = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_part)(
                self.estimator,
                self.costs,
                self.X,
                self.y,
                weights[i],
                self.parts[j],
                self.weight,
                None if starts is None else starts[i][j],
            )
            for i, j in jobs
        )
        return [done[i * len(self.parts) : (i + 1) * len(self.parts)] for i in range(len(t))]

    def class_weights(self, t: float) -> FloatArray:
        """Return the weight of each class, by its code."""
        on_positive, on_negative = class_weights(t, self.beta)
        weights = np.full(self.n_classes, on_positive)
        weights[self.default] = on_negative
        return weights

    def profile(self, scores: FloatArray, threshold: float, rows: IntArray | None) -> ErrorProfile:
        """Return the errors of scores of the given rows."""
        y, weight = self.truth(rows)
        if scores.ndim == 1:
            return error_profile(y, scores > threshold, sample_weight=weight)
        return multiclass_error_profile(y, scores.argmax(axis=1), default_class=self.default, sample_weight=weight)

    def truth(self, rows: IntArray | None) -> tuple[IntArray, FloatArray | None]:
        if rows is None:
            return self.y, self.weight
        return self.y[rows], None if self.weight is None else self.weight[rows]


class Judged(NamedTuple):
    """One model of the path."""

    t: float
    seconds: float
    profile: ErrorProfile | None = None
    f: float = np.nan
    # At the best threshold, if it is to be tuned.
    f_tuned: float = np.nan


@dataclass
class Path:
    """The models of a search so far."""

    problem: Problem
    search: Search
    tune: bool
    # True if the errors on the rows that models are fitted on guide the search, whatever the models are judged by.
    by_fit: bool = False
    steps: list[Judged] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    best: int = -1
    # Of the best: its model, and the scores of the rows it was judged by.
    model: Estimator = None
    scores: Any = None
    errors: dict[float, Exception] = field(default_factory=dict)
    _starts: dict[float, list[Estimator]] = field(default_factory=dict)

    def follow(self, batch: int, tolerance: float | None, seconds: float | None = None) -> None:
        """Fit models until the search asks for none, the certified gap is small enough, or the time is over."""
        began = perf_counter()
        while (asked := self.search.ask(batch)) and not (self.best < 0 and len(self.steps) >= _HOPELESS):
            starts = [self._nearest(t) for t in asked] if self._starts else None
            for t, fitted in zip(asked, self.problem.fit(asked, starts), strict=True):
                if self._judge(t, fitted) and _starts_warm(fitted[0].model):
                    self._starts[t] = [part.model for part in fitted]
            if seconds is not None and perf_counter() - began >= seconds and self.best >= 0:
                break
            if tolerance is not None and self.best >= 0 and self.gap(int(np.nanargmax(self.f_fit))) <= tolerance:
                break
        self._report()

    def _report(self) -> None:
        """Warn of the models that could not be fitted."""
        if self.best < 0:
            raise next(iter(self.errors.values()))
        for t, error in self.errors.items():
            warnings.warn(
                f"The model at t = {t:.6g} could not be fitted and is left out ({type(error).__name__}: {error})",
                FitFailedWarning,
                stacklevel=2,
            )

    def _nearest(self, t: float) -> list[Estimator]:
        return self._starts[min(self._starts, key=lambda tried: abs(tried - t))]

    def _judge(self, t: float, fitted: list[Fitted]) -> bool:
        """Record a model in the path and in the search; return whether it could be fitted."""
        seconds = sum(part.seconds for part in fitted)
        if error := next((part.error for part in fitted if part.error), None):
            self.errors[t] = error
            self._append(Judged(t, seconds))
            self.search.record(t, None)
            return False
        problem, main = self.problem, fitted[0]
        threshold = own_threshold(main.model)
        on_fit = problem.profile(main.on_fit, threshold, problem.parts[0].fit)
        rows = problem.judged
        if rows is None:
            scores, profile = main.on_fit, on_fit
        else:
            scores = np.concatenate([part.on_judge for part in fitted if part.on_judge is not None])
            profile = problem.profile(scores, threshold, rows)
        step = Judged(t, seconds, on_fit, float(f_measure(profile, problem.beta)))
        if self.tune:
            y, weight = problem.truth(rows)
            step = step._replace(f_tuned=FBeta(problem.beta).best_threshold(scores, y, weight).value)
        if self.best < 0 or self._worth(step) > self._worth(self.steps[self.best]):
            self.best, self.model, self.scores = len(self.steps), main.model, scores
        self._append(step)
        curve = self._curve(t, main.model, scores) if isinstance(self.search, ScoredCone) else None
        self.search.record(t, on_fit if self.by_fit else profile, curve)
        return True

    def _curve(self, t: float, model: Estimator, scores: FloatArray) -> ThresholdCurve | None:
        """Return the F of a model at all thresholds; None if no positive row would be found at any."""
        problem = self.problem
        y, weight = problem.truth(problem.judged)
        margin, given = margin_of(model, scores, problem.default)
        positive = y != problem.default
        right = positive & (given == y)
        return ThresholdCurve(t, margin, positive, right, weight, problem.beta) if right.any() else None

    def _worth(self, step: Judged) -> float:
        return step.f_tuned if self.tune else step.f

    def _append(self, step: Judged) -> None:
        self.steps.append(step)
        kept = [step for step in self.steps if step.profile is not None]
        self.bounds.append(self._bound(kept) if kept else 1.0)

    def _bound(self, steps: list[Judged]) -> float:
        t, beta = [step.t for step in steps], self.problem.beta
        profile = ErrorProfile(*np.array([step.profile for step in steps]).T)
        return certified_bound(cones(t, pooled(t, profile, beta), beta, self.search.epsilon))

    def _regret(self, t: FloatArray, profile: ErrorProfile) -> FloatArray:
        """Return the weighted error at each t less that of the best model of the path."""
        on_fn, on_fp = class_weights(t[:, None], self.problem.beta)
        error = on_fn * profile.fn + on_fp * profile.fp
        return np.diagonal(error) - np.nanmin(error, axis=1)

    @property
    def f_fit(self) -> FloatArray:
        """F of each model on the rows it was fitted on."""
        beta = self.problem.beta
        return np.array([np.nan if s.profile is None else f_measure(s.profile, beta) for s in self.steps])

    def gap(self, index: int) -> float:
        """Return the bound less the F of a model, on the rows it was fitted on."""
        return float(self.bounds[-1] - self.f_fit[index])

    def columns(self) -> dict[str, FloatArray]:
        """Return the path as arrays, NaN where a model could not be fitted."""
        known = next(step.profile.positives for step in self.steps if step.profile is not None)
        missing = ErrorProfile(np.nan, np.nan, known)
        t = np.array([step.t for step in self.steps])
        profile = ErrorProfile(*np.array([step.profile or missing for step in self.steps]).T)
        of = cones(t, profile, self.problem.beta, self.search.epsilon)
        columns = {
            "t": t,
            "f": np.array([step.f for step in self.steps]),
            "f_fit": self.f_fit,
            "fn": profile.fn,
            "fp": profile.fp,
            "positives": profile.positives,
            "height": of.height,
            "slope_left": of.left,
            "slope_right": of.right,
            "regret": self._regret(t, profile),
            "bound": np.array(self.bounds),
            "seconds": np.array([step.seconds for step in self.steps]),
        }
        if self.tune:
            columns["f_tuned"] = np.array([step.f_tuned for step in self.steps])
        return columns


def _starts_warm(model: Estimator) -> bool:
    """Return whether a fit can start from a model's coefficients.

    An ensemble's warm start is another thing: it keeps its members, which were fitted with other weights.
    """
    last = last_step(model)[0]
    return bool(getattr(last, "warm_start", False)) and any(hasattr(last, name) for name in ("coef_", "coefs_"))
