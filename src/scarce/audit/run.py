"""The audit from a table to a queue: profile, plan, compare, choose, rank, explain."""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._files import sha256
from scarce._typing import IntArray
from scarce.datasets import make_transactions
from scarce.profit import MenuEntry
from scarce.profit._gains import gain_of_flagging
from scarce.tables import Profile, Target, profile_table, read_table, read_target

from .blocks import Blocks, make_blocks, make_period_blocks
from .certificate import Certificate, certify
from .compare import Comparison, Task, compare, scored
from .explore import Exploration, plan_exploration
from .folds import Folds, inner_folds, make_folds, periods_of
from .methods import Size
from .money import gains_of_table, precision_menu
from .outlook import past_queues, shifted
from .plan import Plan, make_plan
from .promise import Promise, predict_hits
from .queue import choose_queue, explain_rows, queue_of_tested_rows, with_table_columns
from .readable import Readable, fit_readable
from .reasons import Usual, summarise_columns
from .rows import Roles, amounts, assign_roles, in_order, moments
from .settings import Settings, check_settings, settings_of
from .shift import Shift, measure_shift

__all__ = ["Audit", "Settings", "Source", "audit"]

Progress = Callable[[str, int, int], None]

SIMULATED_ROWS = 30_000


@dataclass(frozen=True)
class Source:
    """The origin of the table."""

    name: str
    sha256: str
    simulated: bool = False


@dataclass
class Audit:
    """The result of an audit.

    Attributes
    ----------
    settings : Settings
    source : Source
    target : Target
    roles : Roles
        Which rows were learned from, and which were ranked.
    profile : Profile
    plan : Plan
        The methods that were to be compared.
    comparison : Comparison
        How the methods did on rows that they had not seen.
    model : Pipeline
        The winner, fitted on all rows whose outcome is known.
    promise : Promise
        The number of positives to expect in the queue.
    shift : Shift or None
        The difference of the rows to rank from those that were learned from; None without rows of unknown outcome.
    readable : Readable
        A few rules in words, and their price.
    menu : list of MenuEntry
        For the objective profit, what precision costs.
    certificates : list of Certificate
        For the objective F1, the highest F1 that families of models can have on the rows learned from.
    exploration : Exploration or None
        The random share of the queue.
    queue : DataFrame
        The rows to check, the most suspicious first.
    usual : dict of Usual
        The usual values of each column, against which reasons are measured.
    task : Task
        The labelled rows and the objective that were compared on.
    new_rows : bool
        Whether the queue holds rows of unknown outcome; otherwise it holds tested rows of known outcome.
    rows_to_rank : int
        The number of rows that were ranked.
    warnings : list of str
    seconds : float
    """

    settings: Settings
    source: Source
    target: Target
    roles: Roles
    profile: Profile
    plan: Plan
    comparison: Comparison
    model: Pipeline
    promise: Promise
    shift: Shift | None
    readable: Readable
    menu: list[MenuEntry]
    certificates: list[Certificate]
    exploration: Exploration | None
    queue: pd.DataFrame
    usual: dict[str, Usual]
    task: Task
    new_rows: bool
    rows_to_rank: int
    warnings: list[str]
    seconds: float

    @property
    def threshold(self) -> float:
        """The threshold of the refitted winner."""
        return float(self.model[-1].threshold_)


def audit(
    table: str | os.PathLike[str] | pd.DataFrame | None = None,
    target: str | None = None,
    *,
    progress: Progress = lambda step, done, total: None,
    **options: Any,
) -> Audit:
    """Compare methods on a table and rank the rows to check.

    Parameters
    ----------
    table : path or DataFrame, optional
        CSV, Parquet or a frame. Without one, simulated payments are audited.
    target : str
        The column of outcomes: two values, empty where the outcome is unknown.
    progress : callable
        Called with the name of the step, the effort spent so far, and the effort of the whole audit.
    **options
        The other options of :class:`Settings`, such as ``budget=200`` and ``time="date"``.

    Returns
    -------
    Audit
    """
    start = clock.perf_counter()
    settings = settings_of({"target": target, **options})
    frame, source = _open(table)
    if source.simulated:
        settings = replace(
            settings,
            target=settings.target or "fraud",
            amount=settings.amount or "amount",
            time=settings.time or "date",
        )
    check_settings(settings, frame)
    progress("Reading the columns", 0, 1)
    result = _Run(settings, source, frame, progress).audit()
    result.seconds = clock.perf_counter() - start
    return result


class _Run:
    """The stages of one audit, each of which sets what the next ones need."""

    def __init__(self, settings: Settings, source: Source, frame: pd.DataFrame, progress: Progress) -> None:
        self.settings, self.source, self.frame, self.progress = settings, source, frame, progress
        self.warnings: list[str] = []
        self.shift: Shift | None = None
        self.exploration: Exploration | None = None
        self.budget = settings.budget_plan

    def audit(self) -> Audit:
        self.read()
        task, folds, blocks = self.prepare()
        plan = self.make_plan(task, folds)
        spent = self.effort_of(plan, folds)
        comparison = compare(plan.candidates, task, folds, blocks, spent, minutes=self.settings.minutes)
        spent("Learning from all rows", 0)
        model = task.fit(comparison.winner.candidate.model)
        spent("Finding reasons", self.final)
        usual = summarise_columns(task.X, self.profile.features)
        queue, promise = self.make_queue(comparison, model, usual)
        winner = comparison.winner
        readable = fit_readable(
            task, folds, self.profile.features, winner.candidate.name, winner.figures["ap"].estimate
        )
        spent("Done", self.final)
        return Audit(
            settings=self.settings,
            source=self.source,
            target=self.target,
            roles=self.roles,
            profile=self.profile,
            plan=plan,
            comparison=comparison,
            model=model,
            promise=promise,
            shift=self.shift,
            readable=readable,
            menu=self.make_menu(comparison, task),
            certificates=certify(plan.candidates, task) if self.settings.objective == "f1" else [],
            exploration=self.exploration,
            queue=queue,
            usual=usual,
            task=task,
            new_rows=bool(len(self.new)),
            rows_to_rank=self.rows_to_rank,
            warnings=self.warnings,
            seconds=0.0,
        )

    def read(self) -> None:
        """Type the columns, and find out which rows are learned from and which are ranked."""
        settings, frame = self.settings, self.frame
        self.target = read_target(frame, str(settings.target), settings.positive)
        self.roles = assign_roles(frame, self.target.y, settings)
        y = self.roles.y
        rule = settings.rank_rule
        of_roles = [name for name in (rule[0] if rule else None, settings.checked) if name is not None]
        drop = [*settings.drop, *(name for name in of_roles if name not in settings.keep)]
        amount, about_amounts = amounts(frame, settings.amount)
        self.profile, typed = profile_table(
            frame, str(settings.target), y, time=settings.time, keep=settings.keep, drop=drop
        )
        gains, about_gains = gains_of_table(settings, typed, amount)
        self.warnings += [*self.profile.warnings, *about_amounts, *about_gains, *self.roles.assumed]
        self.times = None if settings.time is None else moments(frame, typed, self.profile, settings.time)
        order = in_order(typed, y, self.times)
        self.labelled, self.new = order[y[order] >= 0], order[self.roles.to_rank[order]]
        self.X = typed[[c.name for c in self.profile.features]]
        self.y, self.amount, self.gains = y, amount, gains
        self.groups = None
        if settings.distinct is not None:
            self.groups = pd.factorize(typed[settings.distinct], use_na_sentinel=False)[0].astype(np.intp)
        self.period: IntArray | None = None
        if self.budget.period is not None and self.times is not None:
            self.period = periods_of(self.times, self.budget.period)

    def prepare(self) -> tuple[Task, Folds, Blocks]:
        """Divide the rows of known outcome into folds and blocks."""
        labelled, settings = self.labelled, self.settings
        y = self.y[labelled]
        times = None if self.times is None else self.times.iloc[labelled]
        folds = make_folds(y, times, settings.seed, delay=settings.delay, period=self.budget.period)
        new = len(self.new) > 0
        self.rows_to_rank = len(self.new) if new else len(folds.tested)
        checks = self.budget.checks
        if self.period is not None:
            to_rank = self.period[self.new if new else labelled[folds.tested]]
            rows_of_periods = np.unique(to_rank, return_counts=True)[1]
            blocks = make_period_blocks(
                folds, self.period[labelled], checks, len(rows_of_periods) if new else 1, str(self.budget.period)
            )
            self.size = int(np.minimum(rows_of_periods, checks).sum())
        else:
            self.size = min(checks, self.rows_to_rank)
            blocks = make_blocks(folds, self.rows_to_rank, self.size)
        task = Task(
            self.X.iloc[labelled],
            y,
            settings.objective,
            amount=None if self.amount is None else self.amount[labelled],
            gains=None if self.gains is None else self.gains[labelled],
            groups=None if self.groups is None else self.groups[labelled],
            left_out=self.figures_left_out(),
            seed=settings.seed,
        )
        return task, folds, blocks

    def figures_left_out(self) -> tuple[str, ...]:
        """Leave the figures within the budget out where the budget is enough for every row."""
        if self.size < self.rows_to_rank:
            return ()
        words = "the budget of " + str(self.budget)
        self.warnings.append(
            f"There are {self.rows_to_rank:,} rows to rank, and {words} is enough for all of them: all are queued, and "
            "figures within the budget are left out, because every method would check the same rows."
        )
        return ("precision", "recall", "money")

    def make_plan(self, task: Task, folds: Folds) -> Plan:
        settings = self.settings
        plan = make_plan(
            settings.objective,
            self.profile.features,
            Size(len(task.y), int(task.y.sum()), inner_folds(task.y, folds), settings.seed),
            self.size / self.rows_to_rank,
            methods=settings.methods,
            quick=settings.quick,
            time=settings.time,
        )
        self.warnings += plan.remarks
        return plan

    def effort_of(self, plan: Plan, folds: Folds) -> Callable[[str, int], None]:
        """Return the function that adds up the effort spent, for the progress bar."""
        total = sum(c.effort for c in plan.candidates) * len(folds.splits)
        self.final = max(1, total // 8)
        done = 0

        def spent(step: str, effort: int) -> None:
            nonlocal done
            done += effort
            self.progress(step, done, total + 2 * self.final)

        return spent

    def make_queue(
        self, comparison: Comparison, model: Pipeline, usual: dict[str, Usual]
    ) -> tuple[pd.DataFrame, Promise]:
        settings = self.settings
        shown = list(
            dict.fromkeys(
                [*self.profile.identifiers, *filter(None, [settings.time, settings.distinct, settings.amount])]
            )
        )
        if not len(self.new):
            threshold = float(model[-1].threshold_)
            queue = queue_of_tested_rows(comparison, threshold, self.X, usual, self.labelled)
            promise = predict_hits(queue["probability"].to_numpy(), past_queues(comparison))
            queue["probability"] = shifted(queue["probability"].to_numpy(), promise.shift)
            return with_table_columns(queue, self.frame, shown, self.frame[settings.target]), promise
        rows = self.X.iloc[self.new]
        gains = None if self.gains is None else self.gains[self.new]
        score, own, flagged = scored(model, rows, gains)
        folds = comparison.folds
        self.shift = measure_shift(
            self.X.iloc[self.labelled],
            rows,
            self.profile.features,
            comparison.winner.score,
            score,
            folds.splits if folds.by_time else (),
            seed=settings.seed,
        )
        period, groups = (None if a is None else a[self.new] for a in (self.period, self.groups))
        chosen, chance = choose_queue(score, own, self.budget, settings.explore, period, groups, settings.seed)
        by_score = chance[chosen] == 1
        promise = predict_hits(own[chosen], past_queues(comparison))
        probability = shifted(own, promise.shift)
        queue = explain_rows(model, rows.iloc[chosen], score[chosen], usual, self.labelled)
        queue["flagged"] = ["yes" if is_flagged else "no" for is_flagged in flagged[chosen]]
        queue["probability"] = probability[chosen]
        if gains is not None:
            queue["expected_gain"] = gain_of_flagging(gains[chosen], probability[chosen])
        if not by_score.all():
            rest = np.setdiff1d(np.arange(len(score)), chosen[by_score])
            self.exploration = plan_exploration(probability[rest], chance[rest], self.budget.period)
            queue["drawn"] = np.where(by_score, "by score", "at random")
            queue["chance_drawn"] = chance[chosen]
        return with_table_columns(queue, self.frame, shown), promise

    def make_menu(self, comparison: Comparison, task: Task) -> list[MenuEntry]:
        if task.gains is None:
            return []
        tested = comparison.folds.tested
        return precision_menu(comparison.winner.probability, task.y[tested], task.gains[tested], task.weights(tested))


def _open(table: str | os.PathLike[str] | pd.DataFrame | None) -> tuple[pd.DataFrame, Source]:
    if table is None:
        frame = make_transactions(SIMULATED_ROWS, seed=0).frame
        return frame, Source("simulated payments", _hash_of(frame), simulated=True)
    if isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=True)
        frame.columns = frame.columns.map(str)
        return frame, Source("the table", _hash_of(frame))
    return read_table(table), Source(Path(table).name, sha256(table))


def _hash_of(frame: pd.DataFrame) -> str:
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
