"""Compare methods on rows that they have not seen, and judge whether the lead is more than chance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.pipeline import Pipeline

from scarce._typing import BoolArray, FloatArray, Rows
from scarce.base import RareEventClassifier
from scarce.metrics import ConfidenceInterval
from scarce.profit import BayesProfitClassifier

from .blocks import Blocks, Units, make_units, no_units
from .figures import WITHIN_BUDGET, draws_of_figures, interval_of, lead_of
from .folds import Folds
from .kept import Kept
from .notebook import comparison_html
from .plan import Candidate
from .task import Task

__all__ = ["Comparison", "Outcome", "Stopped", "compare", "measure_for_all_rows", "scored"]

FOLDS_OF_RACE = 2
_ARRAYS = ("score", "probability", "threshold", "flagged", "rank")

Spent = Callable[[str, int], None]


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
        The model of each fold; of the best candidate and of ME² only.
    figures : dict of ConfidenceInterval
        ``ap``, ``f1``, ``precision`` and ``recall`` within the budget; with amounts ``money``, the share of the
        positives' money within the budget; for these objectives also ``gmean`` and ``profit``.
    draws : dict of ndarray
        Each figure, followed by those of resamples.
    for_all_rows : dict of ConfidenceInterval
        The figures weighted by how many rows each row stands for, where only some rows were checked.
    """

    candidate: Candidate
    score: FloatArray = field(repr=False)
    probability: FloatArray = field(repr=False)
    threshold: FloatArray = field(repr=False)
    flagged: BoolArray = field(repr=False)
    rank: FloatArray = field(repr=False)
    seconds: float = 0.0
    models: list[Pipeline] = field(default_factory=list, repr=False)
    units: Units = field(default_factory=no_units, repr=False)
    figures: dict[str, ConfidenceInterval] = field(default_factory=dict)
    draws: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    for_all_rows: dict[str, ConfidenceInterval] = field(default_factory=dict)


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

    def __str__(self) -> str:
        lines = [
            f"{outcome.candidate.name}: "
            + ", ".join(f"{name} {f.estimate:.3g} ({f.low:.3g} to {f.high:.3g})" for name, f in outcome.figures.items())
            for outcome in self.outcomes
        ]
        lines += [f"{stopped.candidate.name}: {stopped.reason}" for stopped in self.stopped]
        return "\n".join([*lines, self.summary, *self.left_out])

    def _repr_html_(self) -> str:
        return comparison_html(self)


def compare(
    candidates: Sequence[Candidate],
    task: Task,
    folds: Folds,
    blocks: Blocks,
    progress: Spent = lambda step, effort: None,
    *,
    minutes: float | None = None,
    kept: Kept | None = None,
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
    kept : Kept, optional
        What an earlier run finished before it was killed, and where this one keeps what it finishes.
    """
    test = _Test(task, progress, kept)
    outcomes: list[Outcome] = []
    stopped: list[Stopped] = []

    def finish(outcome: Outcome) -> None:
        _measure(outcome, task, folds, blocks)
        outcomes.append(outcome)
        outcomes.sort(key=lambda o: (-o.figures[task.deciding].estimate, -o.figures["ap"].estimate))
        for beaten in outcomes[1:]:
            if beaten.candidate.key != "me2":  # which is for small tables, and tells in whose ellipsoids a case lies
                beaten.models.clear()  # of a large table, the models of all folds and candidates would fill the memory
        test.keep(outcome)

    if minutes is None or len(folds.splits) <= FOLDS_OF_RACE:
        for candidate in candidates:
            finish(test.known(candidate, folds) or test.run(candidate, folds))
    else:
        _race(candidates, test, folds, blocks, time.perf_counter() + 60 * minutes, finish, stopped)
    sentences = _drop_figures_that_tell_nothing(outcomes, task.deciding)
    test.add_models(outcomes, folds)
    first, *others = outcomes
    lead = lead_of(first.draws[task.deciding], others[0].draws[task.deciding]) if others else None
    return Comparison(
        outcomes, folds, blocks, task.deciding, lead, _judgement(outcomes, lead), stopped, left_out=sentences
    )


def _race(
    candidates: Sequence[Candidate],
    test: _Test,
    folds: Folds,
    blocks: Blocks,
    deadline: float,
    finish: Callable[[Outcome], None],
    stopped: list[Stopped],
) -> None:
    task = test.task
    heats = folds.first(FOLDS_OF_RACE)
    standing: list[Outcome] = []
    for candidate in sorted(candidates, key=lambda c: c.effort):
        if standing and time.perf_counter() > deadline:
            stopped.append(Stopped(candidate, "not begun: the time was used up"))
            continue
        outcome = test.known(candidate, heats) or test.run(candidate, heats)
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
            test.progress(outcome.candidate.name, outcome.candidate.effort * (len(folds.splits) - FOLDS_OF_RACE))
            stopped.append(Stopped(outcome.candidate, reason))
            outcome.models.clear()
            continue
        rest = Folds(folds.splits[FOLDS_OF_RACE:], folds.by_time, folds.description)
        finish(test.known(outcome.candidate, folds, rest) or _joined(outcome, test.run(outcome.candidate, rest)))
        finished += 1


def _joined(one: Outcome, other: Outcome) -> Outcome:
    arrays: list[Any] = [np.concatenate((getattr(one, name), getattr(other, name))) for name in _ARRAYS]
    joined = Outcome(one.candidate, *arrays)
    joined.seconds, joined.models = one.seconds + other.seconds, one.models + other.models
    return joined


class _Test:
    """The test of candidates on folds, which takes up what an earlier run finished."""

    def __init__(self, task: Task, progress: Spent, kept: Kept | None) -> None:
        self.task, self.progress, self.kept = task, progress, kept

    def run(self, candidate: Candidate, folds: Folds) -> Outcome:
        """Score the tested rows by models that learned from the training rows of their fold."""
        task, start = self.task, time.perf_counter()
        parts: list[tuple[Any, ...]] = []
        models = []
        for train, test in folds.splits:
            self.progress(candidate.name, 0)
            model = task.fit(candidate.model, train)
            gains = None if task.gains is None else task.gains[test]
            score, probability, flagged = scored(model, task.rows_to_test(test), gains)
            rank = (rankdata(score) - 0.5) / len(test)
            parts.append((score, probability, np.full(len(test), model[-1].threshold_), flagged, rank))
            models.append(model)
            self.progress(candidate.name, candidate.effort)
        found: list[Any] = [np.concatenate(part) for part in zip(*parts, strict=True)]
        outcome = Outcome(candidate, *found)
        outcome.seconds, outcome.models = time.perf_counter() - start, models
        return outcome

    def known(self, candidate: Candidate, folds: Folds, new: Folds | None = None) -> Outcome | None:
        """Return what an earlier run found on folds from the first one on, without models, or None.

        `new` are those of the folds whose effort was not counted yet.
        """
        arrays = None if self.kept is None else self.kept.arrays(candidate.key)
        size = len(folds.tested)
        if arrays is None or len(arrays["score"]) < size:
            return None
        found: list[Any] = [arrays[name][:size] for name in _ARRAYS]
        outcome = Outcome(candidate, *found)
        outcome.seconds = float(arrays["seconds"])
        self.progress(f"{candidate.name} (kept)", candidate.effort * len((new or folds).splits))
        return outcome

    def keep(self, outcome: Outcome) -> None:
        """Keep what was found, for a run that goes on."""
        key = outcome.candidate.key
        if self.kept is not None and self.kept.arrays(key) is None:
            arrays = {name: getattr(outcome, name) for name in _ARRAYS}
            self.kept.keep(key, {**arrays, "seconds": np.array(outcome.seconds)}, outcome.models)

    def add_models(self, outcomes: Sequence[Outcome], folds: Folds) -> None:
        """Give the best candidate, and ME², the models that an earlier run kept."""
        for outcome in outcomes:
            key = outcome.candidate.key
            if self.kept is not None and not outcome.models and (outcome is outcomes[0] or key == "me2"):
                outcome.models = self.kept.models(key) or self.run(outcome.candidate, folds).models


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
    # The curves of some trees are of other scores than those that rank.
    if method._curves is not None and not method._curves_by_class:
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


def measure_for_all_rows(comparison: Comparison, task: Task, chance: FloatArray) -> None:
    """Add to each outcome its figures for all rows, from rows of which each was checked with a known chance.

    A block of checked rows stands for a larger one of all rows, and so does its budget.
    """
    folds, blocks = comparison.folds, comparison.blocks
    weighted = replace(task, weight=(1 if task.weight is None else task.weight) / chance)
    weight, number = weighted.weights(folds.tested), blocks.block
    inside = number >= 0
    rows = np.bincount(number[inside], task.weights(folds.tested)[inside], minlength=len(blocks))
    mass = np.bincount(number[inside], weight[inside], minlength=len(blocks))
    scaled = replace(blocks, budget=blocks.budget * mass / np.maximum(rows, 1))
    for outcome in comparison.outcomes:
        whole = replace(outcome, units=_units(outcome, weighted, folds, scaled))
        draws = draws_of_figures(whole, weighted, folds.tested, scaled, list(outcome.figures))
        outcome.for_all_rows = {name: interval_of(values) for name, values in draws.items()}


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
