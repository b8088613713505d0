"""Compare methods on rows that they have not seen, and judge whether the lead is more than chance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from scarce._typing import BoolArray, FloatArray, IntArray, Keywords, Rows
from scarce.base import RareEventClassifier
from scarce.metrics import ConfidenceInterval
from scarce.profit import BayesProfitClassifier

from .blocks import Blocks, Units, make_units, no_units
from .figures import WITHIN_BUDGET, draws_of_figures, interval_of, lead_of
from .folds import Folds
from .plan import Candidate
from .settings import ObjectiveName

__all__ = ["DECIDING", "Comparison", "Outcome", "Stopped", "Task", "compare"]

DECIDING: dict[ObjectiveName, str] = {
    "ap": "ap",
    "f1": "f1",
    "gmean": "gmean",
    "budget": "precision",
    "profit": "profit",
}
FOLDS_OF_RACE = 2

Spent = Callable[[str, int], None]


@dataclass(frozen=True)
class Task:
    """The rows to compare on, and what a good answer is.

    Attributes
    ----------
    X : DataFrame
        The columns to learn from, typed.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    objective : {"ap", "f1", "gmean", "budget", "profit"}
        What chooses the winner.
    amount : ndarray of shape (n_rows,), optional
        The money at stake in each row, 0 or more.
    gains : ndarray of shape (n_rows, 4), optional
        What each outcome (tp, fp, tn, fn) of a row earns.
    groups : ndarray of shape (n_rows,), optional
        The number of the card or customer of each row, of which each is checked once.
    weight : ndarray of shape (n_rows,), optional
        How many rows each tested row stands for.
    sample : int, optional
        The most rows to learn from: all positives, and a weighted sample of the negatives.
    left_out : tuple of str
        Figures that would tell nothing.
    seed : int
        Seed of resampling and of samples.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    objective: ObjectiveName
    amount: FloatArray | None = None
    gains: FloatArray | None = None
    groups: IntArray | None = None
    weight: FloatArray | None = None
    sample: int | None = None
    left_out: tuple[str, ...] = ()
    seed: int = 0

    @property
    def deciding(self) -> str:
        """The figure that chooses the winner."""
        return "ap" if DECIDING[self.objective] in self.left_out else DECIDING[self.objective]

    @property
    def figure_names(self) -> list[str]:
        """The figures that are measured."""
        names = ["ap", "f1", *(["gmean"] if self.objective == "gmean" else []), "precision", "recall"]
        names += ["money"] if self.amount is not None else []
        names += ["profit"] if self.objective == "profit" else []
        return [name for name in names if name not in self.left_out]

    def weights(self, rows: IntArray) -> FloatArray:
        """Return how many rows each of some rows stands for."""
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]

    def fit(self, model: Pipeline, rows: IntArray | slice = slice(None)) -> Pipeline:
        """Fit a candidate's pipeline on some of the rows."""
        chosen = np.arange(len(self.y))[rows]
        chosen, weight = self.training_rows(chosen)
        params: Keywords = {}
        if self.objective == "profit" and self.gains is not None:
            params["method__gains"] = _learnable(self.gains[chosen])
        if weight is not None:
            params["method__sample_weight"] = weight
        # Forests grow in parallel but score in one thread: threads add up the trees' votes in any order, and the last
        # bit of a sum decides who comes first among equals.
        # One thread for linear algebra, since more of them only wait for each other on matrices this narrow.
        with joblib.parallel_config("threading", n_jobs=-1), threadpool_limits(1, user_api="blas"):
            return clone(model).fit(self.X.iloc[chosen], self.y[chosen], **params)

    def training_rows(self, rows: IntArray) -> tuple[IntArray, FloatArray | None]:
        """Return the rows to learn from, and how many rows each stands for, if they are a sample."""
        if self.sample is None or len(rows) <= self.sample:
            return rows, None
        return sample_of_negatives(rows, self.y[rows], self.sample, self.seed)


def sample_of_negatives(rows: IntArray, y: IntArray, size: int, seed: int) -> tuple[IntArray, FloatArray]:
    """Return all positive rows and so many negative ones, `size` in all but no fewer than the positives, and weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.audit.compare import sample_of_negatives
    >>> rows, weight = sample_of_negatives(np.arange(10), np.array([1, 1] + [0] * 8), 6, seed=0)
    >>> len(rows), weight.sum()
    (6, 10.0)
    """
    positive, negative = rows[y == 1], rows[y != 1]
    wanted = min(len(negative), max(size - len(positive), len(positive)))
    drawn = np.random.default_rng(seed).choice(negative, wanted, replace=False)
    chosen = np.concatenate((positive, drawn))
    weight = np.concatenate((np.ones(len(positive)), np.full(wanted, len(negative) / max(wanted, 1))))
    order = np.argsort(chosen, kind="stable")
    return chosen[order], weight[order]


def _learnable(gains: FloatArray) -> FloatArray:
    """Return gains without the rows in which no right decision pays, such as those without an amount."""
    tp, fp, tn, fn = gains.T
    return np.where((tn - fp + tp - fn > 0)[:, None], gains, 0.0)


@dataclass
class Outcome:
    """The result of a candidate on rows that it had not seen; arrays follow ``Folds.tested``.

    Attributes
    ----------
    candidate : Candidate
        The method.
    score, probability, threshold : ndarray of shape (n_tested,)
        The score of each row, its probability, calibrated on honest scores of the training rows, and the threshold of
        the model that gave them.
    flagged : ndarray of shape (n_tested,)
        True for each row that is called positive.
    rank : ndarray of shape (n_tested,)
        The share of its own fold that a row outranks, ties counted half. Folds have models of their own, whose
        scores need not be comparable; these are.
    units : Units
        What checks are spent on, in the order of the blocks and of their scores.
    seconds : float
        Time for learning and scoring.
    models : list of Pipeline
        The model of each fold; of the best candidate only.
    figures : dict of ConfidenceInterval
        ``ap``, ``f1``, ``precision`` and ``recall`` within the budget; with amounts ``money``, the share of the
        positives' money within the budget; for these objectives also ``gmean`` and ``profit``.
    draws : dict of ndarray
        Each figure, followed by those of resamples.
    """

    candidate: Candidate
    score: FloatArray
    probability: FloatArray
    threshold: FloatArray
    flagged: BoolArray
    rank: FloatArray
    seconds: float = 0.0
    models: list[Pipeline] = field(default_factory=list)
    units: Units = field(default_factory=no_units)
    figures: dict[str, ConfidenceInterval] = field(default_factory=dict)
    draws: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Stopped:
    """A candidate that was not tested to the end, and why."""

    candidate: Candidate
    reason: str


@dataclass
class Comparison:
    """The outcomes, best first; the lead of the first over the second, and sentences about it.

    Attributes
    ----------
    outcomes : list of Outcome
        Best first.
    folds : Folds
        The training rows and the tested rows.
    blocks : Blocks
        The queues that the tested rows are divided into.
    deciding : str
        The figure that chose the winner.
    lead : ConfidenceInterval or None
        The difference of the first two in that figure; None with one method.
    summary : str
        A sentence about it.
    stopped : list of Stopped
        Candidates that were not tested to the end.
    left_out : list of str
        Sentences about figures that tell nothing and are not shown.
    """

    outcomes: list[Outcome]
    folds: Folds
    blocks: Blocks
    deciding: str
    lead: ConfidenceInterval | None
    summary: str
    stopped: list[Stopped] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def winner(self) -> Outcome:
        """The best candidate."""
        return self.outcomes[0]


def compare(
    candidates: Sequence[Candidate],
    task: Task,
    folds: Folds,
    blocks: Blocks,
    progress: Spent = lambda step, effort: None,
    *,
    minutes: float | None = None,
) -> Comparison:
    """Score every candidate on rows that it did not learn from, and put the best first.

    Parameters
    ----------
    candidates : sequence of Candidate
        The methods.
    task : Task
        The rows and the objective.
    folds : Folds
        The training rows and the tested rows.
    blocks : Blocks
        The queues that the tested rows are divided into.
    progress : callable
        Called with the name of the candidate and the effort spent since the last call.
    minutes : float, optional
        A limit of time. The candidates race: those that are clearly behind after two folds are stopped, and what the
        limit leaves no time for is not begun, as long as one method is finished.
    """
    outcomes: list[Outcome] = []
    stopped: list[Stopped] = []

    def finish(outcome: Outcome) -> None:
        _measure(outcome, task, folds, blocks)
        outcomes.append(outcome)
        outcomes.sort(key=lambda o: (-o.figures[task.deciding].estimate, -o.figures["ap"].estimate))
        for beaten in outcomes[1:]:
            beaten.models.clear()  # of a large table, the models of all folds and candidates would fill the memory

    if minutes is None or len(folds.splits) <= FOLDS_OF_RACE:
        for candidate in candidates:
            finish(_cross_score(candidate, task, folds, progress))
    else:
        _race(candidates, task, folds, blocks, progress, time.perf_counter() + 60 * minutes, finish, stopped)
    sentences = _drop_figures_that_tell_nothing(outcomes, task.deciding)
    first, *others = outcomes
    lead = lead_of(first.draws[task.deciding], others[0].draws[task.deciding]) if others else None
    return Comparison(
        outcomes, folds, blocks, task.deciding, lead, _judgement(outcomes, lead), stopped, left_out=sentences
    )


def _race(
    candidates: Sequence[Candidate],
    task: Task,
    folds: Folds,
    blocks: Blocks,
    progress: Spent,
    deadline: float,
    finish: Callable[[Outcome], None],
    stopped: list[Stopped],
) -> None:
    heats = folds.first(FOLDS_OF_RACE)
    standing: list[Outcome] = []
    for candidate in sorted(candidates, key=lambda c: c.effort):
        if standing and time.perf_counter() > deadline:
            stopped.append(Stopped(candidate, "not begun: the time was used up"))
            continue
        outcome = _cross_score(candidate, task, heats, progress)
        _measure(outcome, task, heats, blocks)
        standing.append(outcome)
    standing.sort(key=lambda o: -o.figures[task.deciding].estimate)
    leader = standing[0]
    finished = 0
    for outcome in standing:
        behind = lead_of(leader.draws[task.deciding], outcome.draws[task.deciding])
        reason = ""
        if behind.low > 0:
            reason = (
                f"stopped after {FOLDS_OF_RACE} of {len(folds.splits)} folds: there it was behind "
                f"{leader.candidate.name} by {behind.estimate:.3g}, at least {behind.low:.3g}"
            )
        elif finished and time.perf_counter() > deadline:
            reason = f"stopped after {FOLDS_OF_RACE} of {len(folds.splits)} folds: the time was used up"
        if reason:
            progress(outcome.candidate.name, outcome.candidate.effort * (len(folds.splits) - FOLDS_OF_RACE))
            stopped.append(Stopped(outcome.candidate, reason))
            outcome.models.clear()
            continue
        rest = Folds(folds.splits[FOLDS_OF_RACE:], folds.by_time, folds.description)
        finish(_joined(outcome, _cross_score(outcome.candidate, task, rest, progress)))
        finished += 1


def _joined(one: Outcome, other: Outcome) -> Outcome:
    arrays: list[Any] = [
        np.concatenate((getattr(one, name), getattr(other, name)))
        for name in ("score", "probability", "threshold", "flagged", "rank")
    ]
    joined = Outcome(one.candidate, *arrays)
    joined.seconds, joined.models = one.seconds + other.seconds, one.models + other.models
    return joined


def _cross_score(candidate: Candidate, task: Task, folds: Folds, progress: Spent) -> Outcome:
    start = time.perf_counter()
    parts: list[tuple[Any, ...]] = []
    models = []
    for train, test in folds.splits:
        progress(candidate.name, 0)
        model = task.fit(candidate.model, train)
        score, probability, flagged = scored(model, task.X.iloc[test], None if task.gains is None else task.gains[test])
        rank = (rankdata(score) - 0.5) / len(test)
        parts.append((score, probability, np.full(len(test), model[-1].threshold_), flagged, rank))
        models.append(model)
        progress(candidate.name, candidate.effort)
    arrays: list[Any] = [np.concatenate(part) for part in zip(*parts, strict=True)]
    outcome = Outcome(candidate, *arrays)
    outcome.seconds, outcome.models = time.perf_counter() - start, models
    return outcome


def scored(
    model: Pipeline, X: pd.DataFrame, gains: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the score and the probability of each row, and whether it is called positive."""
    rows, method = model[:-1].transform(X), model[-1]
    score = method.score_samples(rows)
    probability = _probability(method, rows, score)
    if isinstance(method, BayesProfitClassifier) and method.threshold == "default" and gains is not None:
        return score, probability, np.asarray(method.predict(rows, gains=gains)) == 1
    return score, probability, score > method.threshold_


def _probability(method: RareEventClassifier, rows: Rows, score: FloatArray) -> FloatArray:
    """Return the calibrated probability of each row; from its score where that is enough, since scores take time."""
    if isinstance(method, BayesProfitClassifier):
        return score
    if method._curves is not None:
        return method._curves[0](score)
    return np.asarray(method.predict_proba(rows)[:, list(method.classes_).index(1)])


def _units(outcome: Outcome, task: Task, folds: Folds, blocks: Blocks) -> Units:
    tested = folds.tested
    money = np.zeros(len(tested)) if task.amount is None else task.amount[tested]
    groups = None if task.groups is None else task.groups[tested]
    inside = Blocks(blocks.block[: len(tested)], blocks.budget, blocks.like_queue, blocks.description)
    return make_units(outcome.score, task.y[tested], money, inside, groups, task.weights(tested))


def _measure(outcome: Outcome, task: Task, folds: Folds, blocks: Blocks) -> None:
    outcome.units = _units(outcome, task, folds, blocks)
    outcome.draws = draws_of_figures(outcome, task, folds.tested, blocks, task.figure_names)
    outcome.figures = {name: interval_of(draws) for name, draws in outcome.draws.items()}


def _drop_figures_that_tell_nothing(outcomes: Sequence[Outcome], deciding: str) -> list[str]:
    """Drop the figures within the budget that are 100 % for every method, and return a sentence about them."""
    empty = [
        name
        for name in WITHIN_BUDGET
        if name != deciding and all(o.figures.get(name, (0.0,))[0] >= 1 - 1e-12 for o in outcomes)
    ]
    for outcome in outcomes:
        for name in empty:
            del outcome.figures[name], outcome.draws[name]
    words = {"precision": "precision", "recall": "recall", "money": "share of money"}
    return [f"The {words[name]} within the budget is 100 % for every method, and is left out." for name in empty]


def _judgement(outcomes: Sequence[Outcome], lead: ConfidenceInterval | None) -> str:
    ahead = outcomes[0].candidate.name
    if lead is None:
        return f"{ahead} is the only method that was tested to the end."
    behind = outcomes[1].candidate.name
    if lead.low > 0:
        return f"{ahead} leads {behind} by more than chance explains."
    return f"{ahead} comes first, but its lead over {behind} is within the noise: either may be the better one."
