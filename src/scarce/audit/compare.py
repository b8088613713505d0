"""Compare methods on rows that they have not seen, and judge whether the lead is more than chance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from scarce._typing import BoolArray, FloatArray, IntArray, Keywords
from scarce.metrics import (
    ConfidenceInterval,
    average_precision,
    bootstrap_interval,
    precision_at_k,
    profit_score,
    recall_at_k,
    value_at_k,
)
from scarce.objectives import Budget, Objective, Profit

from .candidates import Candidate
from .folds import Folds

__all__ = ["DECIDING", "Comparison", "Outcome", "Task", "compare", "threshold_for"]

ObjectiveName = Literal["ap", "f1", "budget", "profit"]

RESAMPLES = 200
DECIDING = {"ap": "ap", "f1": "f1", "budget": "precision", "profit": "profit"}


@dataclass(frozen=True)
class Task:
    """The rows to compare on, and what a good answer is.

    Attributes
    ----------
    X : DataFrame
        The columns to learn from, typed.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    objective : {"ap", "f1", "budget", "profit"}
        What chooses the winner.
    budget : int or float
        How many of the tested rows can be checked, or which share of them.
    amount : ndarray of shape (n_rows,), optional
        The money at stake in each row.
    check_cost : float
        What one check costs.
    seed : int
        Seed of the resampling.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    objective: ObjectiveName
    budget: int | float
    amount: FloatArray | None = None
    check_cost: float = 0.0
    seed: int = 0

    @property
    def gains(self) -> FloatArray:
        """The gain of each outcome of a row: a caught positive saves its amount, and every check costs."""
        amount = np.zeros(len(self.y)) if self.amount is None else self.amount
        nothing = np.zeros(len(self.y))
        return np.column_stack([amount - self.check_cost, nothing - self.check_cost, nothing, nothing])

    def fit(self, model: Pipeline, rows: IntArray | slice = slice(None)) -> Pipeline:
        """Fit a candidate's pipeline on some of the rows."""
        params = {"method__gains": self.gains[rows]} if self.objective == "profit" else {}
        # Forests grow in parallel but score in one thread: threads add up the trees' votes in any order, and the last
        # bit of a sum decides who comes first among equals.
        # One thread for linear algebra, since more of them only wait for each other on matrices this narrow.
        with joblib.parallel_config("threading", n_jobs=-1), threadpool_limits(1, user_api="blas"):
            return clone(model).fit(self.X.iloc[rows], self.y[rows], **params)


@dataclass
class Outcome:
    """The result of a candidate on rows that it had not seen; arrays follow ``Folds.tested``.

    Attributes
    ----------
    candidate : Candidate
        The method.
    score, threshold : ndarray of shape (n_tested,)
        The score of each row, and the threshold of the model that gave it.
    rank : ndarray of shape (n_tested,)
        The share of its own fold that a row outranks, ties counted half. Folds have models of their own, whose
        scores need not be comparable; these are, and each fold gets its share of the budget.
    seconds : float
        Time for learning and scoring.
    models : list of Pipeline
        The model of each fold; of the best candidate only.
    figures : dict of ConfidenceInterval
        ``ap``, ``f1``, ``precision`` and ``recall`` within the budget; with amounts ``money``, the share of the
        positives' money within the budget; for the objective profit also ``profit``.
    """

    candidate: Candidate
    score: FloatArray
    threshold: FloatArray
    rank: FloatArray
    seconds: float
    models: list[Pipeline]
    figures: dict[str, ConfidenceInterval] = field(default_factory=dict)

    @property
    def flagged(self) -> BoolArray:
        """True for each row that is called positive."""
        return self.score > self.threshold


@dataclass
class Comparison:
    """The outcomes, best first; the lead of the first over the second, and a sentence about it."""

    outcomes: list[Outcome]
    folds: Folds
    lead: ConfidenceInterval
    summary: str

    @property
    def winner(self) -> Outcome:
        """The best candidate."""
        return self.outcomes[0]


class _Figure(NamedTuple):
    """A metric, whether it judges decisions or a ranking, and the columns that it needs besides."""

    metric: Callable[..., float]
    of_decisions: bool
    columns: dict[str, FloatArray]

    def of(self, outcome: Outcome) -> NDArray[Any]:
        return outcome.flagged.astype(np.int64) if self.of_decisions else outcome.rank


def threshold_for(objective: ObjectiveName, share: float) -> str | Objective:
    """Return what the threshold is chosen for; average precision has none, so it borrows that of F1."""
    if objective == "budget":
        return Budget(share=min(share, 1.0))
    return Profit() if objective == "profit" else "f1"


def compare(
    candidates: Sequence[Candidate],
    task: Task,
    folds: Folds,
    progress: Callable[[str, int], None] = lambda step, effort: None,
) -> Comparison:
    """Score every candidate on rows that it did not learn from, and put the best first.

    Parameters
    ----------
    candidates : sequence of Candidate
        The methods, at least two.
    task : Task
        The rows and the objective.
    folds : Folds
        The training rows and the tested rows.
    progress : callable
        Called with the name of the candidate and the effort spent since the last call.
    """
    figures = _figures(task, folds.tested)
    deciding = DECIDING[task.objective]
    truth = task.y[folds.tested]
    outcomes: list[Outcome] = []
    for candidate in candidates:
        outcome = _cross_score(candidate, task, folds, progress)
        for name, figure in figures.items():
            outcome.figures[name] = _interval(figure, truth, outcome, task.seed)
        outcomes.append(outcome)
        outcomes.sort(key=lambda o: -o.figures[deciding].estimate)
        for beaten in outcomes[1:]:
            beaten.models.clear()  # of a large table, the models of all folds and candidates would fill the memory
    first, second = outcomes[:2]
    lead = _lead(figures[deciding], truth, first, second, task.seed)
    return Comparison(outcomes, folds, lead, _judgement(first, second, lead))


def _cross_score(candidate: Candidate, task: Task, folds: Folds, progress: Callable[[str, int], None]) -> Outcome:
    start = time.perf_counter()
    scores, thresholds, ranks, models = [], [], [], []
    for train, test in folds.splits:
        progress(candidate.name, 0)
        model = task.fit(candidate.model, train)
        score = model.score_samples(task.X.iloc[test])
        scores.append(score)
        thresholds.append(np.full(len(test), model[-1].threshold_))
        ranks.append((rankdata(score) - 0.5) / len(test))
        models.append(model)
        progress(candidate.name, candidate.effort)
    seconds = time.perf_counter() - start
    score, threshold, rank = (np.concatenate(parts) for parts in (scores, thresholds, ranks))
    return Outcome(candidate, score, threshold, rank, seconds, models)


def _figures(task: Task, tested: IntArray) -> dict[str, _Figure]:
    figures = {
        "ap": _Figure(average_precision, False, {}),
        "f1": _Figure(_f1, True, {}),
        "precision": _Figure(partial(precision_at_k, k=task.budget), False, {}),
        "recall": _Figure(partial(recall_at_k, k=task.budget), False, {}),
    }
    if task.amount is not None:
        value = {"value": task.amount[tested]}
        figures["money"] = _Figure(partial(_money_share, k=task.budget), False, value)
    if task.objective == "profit":
        figures["profit"] = _Figure(profit_score, True, {"gains": task.gains[tested]})
    return figures


def _f1(y: NDArray[Any], called: NDArray[Any]) -> float:
    # scikit-learn's own takes fifty times as long, thousands of times over; without positives it is 0 as there.
    return float(2 * (y & called).sum() / max(y.sum() + called.sum(), 1))


def _money_share(y: NDArray[Any], rank: FloatArray, value: FloatArray, k: int | float) -> float:
    """Return the share of the positives' money that is in the first `k` rows."""
    at_stake = float(value[y == 1].sum())
    return value_at_k(y, rank, k, value) / at_stake if at_stake else 0.0


def _interval(figure: _Figure, truth: NDArray[Any], outcome: Outcome, seed: int) -> ConfidenceInterval:
    return _bootstrap(figure.metric, truth, figure.of(outcome), seed, figure.columns)


def _lead(figure: _Figure, truth: NDArray[Any], first: Outcome, second: Outcome, seed: int) -> ConfidenceInterval:
    """Return the difference of two candidates on the same rows, resampled together."""

    def difference(y: NDArray[Any], one: NDArray[Any], other: NDArray[Any], **columns: FloatArray) -> float:
        return figure.metric(y, one, **columns) - figure.metric(y, other, **columns)

    columns = {"other": figure.of(second), **figure.columns}
    return _bootstrap(difference, truth, figure.of(first), seed, columns)


def _bootstrap(
    metric: Callable[..., float], truth: NDArray[Any], given: NDArray[Any], seed: int, columns: Keywords
) -> ConfidenceInterval:
    # Not stratified: the next table will not hold exactly as many positives as this one.
    return bootstrap_interval(
        metric, truth, given, n_resamples=RESAMPLES, stratified=False, random_state=seed, **columns
    )


def _judgement(first: Outcome, second: Outcome, lead: ConfidenceInterval) -> str:
    ahead, behind = first.candidate.name, second.candidate.name
    if lead.low > 0:
        return f"{ahead} leads {behind} by more than chance explains."
    return f"{ahead} comes first, but its lead over {behind} is within the noise: either may be the better one."
