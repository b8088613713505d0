"""The audit from a table to a queue: profile, plan, compare, choose, rank, explain."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._typing import IntArray
from scarce.engines.sample import Drawn
from scarce.profit import MenuEntry
from scarce.profit._gains import gain_of_flagging
from scarce.tables import Table, Usual, gather, profile_table, read_table, read_target, summarise_columns

from .blocks import Blocks, first_of_blocks, make_blocks, make_period_blocks
from .certificate import certify
from .checked import Checks, chances_of_checks
from .compare import Comparison, compare, measure_for_all_rows, scored
from .dictionary import Dictionary, read_dictionary
from .ellipsoids import ellipsoids_around
from .evidence import Reason
from .explore import Exploration, plan_exploration
from .folds import Folds, check_outcomes, inner_folds, make_folds, periods_of
from .gather import MOST_CASES, gather_evidence
from .histories import Histories, make_histories
from .inside import look_inside
from .kept import Kept, key_of
from .methods import Size
from .money import gains_of_table, precision_menu
from .opening import MOST_ROWS, open_table, sample_tested
from .outlook import make_outlook, shifted
from .plan import Plan, make_plan
from .promise import Promise
from .queue import choose_queue, explain_rows, queue_of_tested_rows, with_table_columns
from .readable import fit_readable
from .result import Audit, Source
from .reviews import apply_reviews
from .rows import amounts, assign_roles, check_readings, in_order, moments
from .settings import Settings, check_settings, settings_of
from .shift import Shift, measure_shift
from .task import Task
from .warnings import one_line_each

__all__ = ["audit"]

Progress = Callable[[str, int, int], None]


def audit(
    table: str | os.PathLike[str] | pd.DataFrame | None = None,
    target: str | None = None,
    *,
    progress: Progress = lambda step, done, total: None,
    read_reviews: Callable[[str], pd.DataFrame] = lambda source: read_table(source).frame,
    partial: Path | None = None,
    **options: Any,
) -> Audit:
    """Compare methods on a table and rank the rows to check.

    Parameters
    ----------
    table : path or DataFrame, optional
        CSV, Parquet, Excel or a frame. Without one, simulated payments are audited.
    target : str
        The column of outcomes: two values, empty where the outcome is unknown.
    progress : callable
        Called with the name of the step, the effort spent so far, and the effort of the whole audit.
    read_reviews : callable
        Takes the option `reviews` and returns the verdicts; reads a file if not given.
    partial : path, optional
        A folder in which finished methods are kept. Where the same audit was killed, those that it finished are taken
        from there. Remove it when the audit is saved.
    **options
        The other options of :class:`Settings`, such as ``budget=200`` and ``time="date"``.

    Returns
    -------
    Audit
    """
    start = clock.perf_counter()
    settings = settings_of({"target": target, **options})
    if table is None:
        settings = replace(
            settings,
            target=settings.target or "fraud",
            amount=settings.amount or "amount",
            time=settings.time or "date",
        )
    check_settings(settings)
    progress("Reading the table", 0, 1)
    names = Dictionary() if settings.columns is None else read_dictionary(settings.columns)
    opened, source, drawn = open_table(table, settings, names, progress)
    progress("Reading the columns", 0, 1)
    kept = None if partial is None else Kept(partial, key_of(source.sha256, settings, read_reviews))
    result = _Run(settings, source, opened, names, progress, read_reviews, drawn, kept).audit()
    result.seconds = clock.perf_counter() - start
    return result


class _Run:
    """The stages of one audit, each of which sets what the next ones need."""

    def __init__(
        self,
        settings: Settings,
        source: Source,
        table: Table,
        names: Dictionary,
        progress: Progress,
        read_reviews: Callable[[str], pd.DataFrame],
        drawn: Drawn | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.read_reviews, self.kept = read_reviews, kept
        self.settings, self.source, self.names, self.progress = settings, source, names, progress
        self.table, self.frame = table, table.frame
        self.warnings: list[str] = []
        self.drawn = drawn
        self.shift: Shift | None = None
        self.exploration: Exploration | None = None
        self.budget = settings.budget_plan

    def audit(self) -> Audit:
        self.read()
        task, folds, blocks = self.prepare()
        plan = self.make_plan(task, folds)
        spent = self.effort_of(plan, folds)
        comparison = compare(plan.candidates, task, folds, blocks, spent, minutes=self.settings.minutes, kept=self.kept)
        spent("Learning from all rows", 0)
        model = task.fit(comparison.winner.candidate.model)
        spent("Finding reasons", self.final)
        usual = summarise_columns(task.X, self.profile.features)
        queue, promise, reasons = self.make_queue(comparison, model, usual, task)
        winner = comparison.winner
        readable = fit_readable(
            task, folds, self.profile.features, winner.candidate.name, winner.figures["ap"].estimate, self.names
        )
        evidence = gather_evidence(
            queue,
            reasons,
            self.frame,
            self.X,
            self.cases,
            self.y,
            self.profile.features,
            rules=[None if rule is None else str(rule) for rule in readable.of_rows(self.cases)],
            inside=ellipsoids_around(comparison, task, self.cases.iloc[:MOST_CASES]),
            entities=self.entities,
            amount=self.amount,
            folds=inner_folds(task.y, folds),
            seed=self.settings.seed,
            time=self.settings.time,
        )
        inside = look_inside(
            comparison,
            task,
            self.own,
            self.sensitive,
            usual,
            lambda X: shifted(scored(model, X)[1], promise.shift),
            None if self.times is None else self.times.iloc[self.labelled],
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
            evidence=evidence,
            inside=inside,
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
            checks=self.weigh_checks(comparison, task),
            frame=self.frame,
            cases=self.cases,
            entities=self.entities,
            histories=self.histories,
            readings=self.table.readings,
            warnings=one_line_each([self.names.conceal(warning) for warning in self.warnings]),
            seconds=0.0,
            names=self.names,
        )

    @property
    def entities(self) -> list[str]:
        """The columns that name someone or something in several rows: those given, or else those that seem to."""
        if self.settings.entity:
            return list(dict.fromkeys([*self.settings.entity, *filter(None, [self.settings.distinct])]))
        repeated = [c.name for c in self.profile.columns if c.role == "identifier" and 1 < c.distinct < len(self.frame)]
        return list(dict.fromkeys([*repeated, *filter(None, [self.settings.distinct])]))

    def read(self) -> None:
        """Type the columns, and find out which rows are learned from and which are ranked."""
        settings, frame = self.settings, self.frame
        check_readings(self.table.readings, settings)
        self.target, (amount, about_amounts), self.times = gather(
            lambda: read_target(frame, str(settings.target), settings.positive),
            lambda: amounts(frame, settings.amount),
            lambda: None if settings.time is None else moments(frame[settings.time], self.table.readings),
        )
        if settings.reviews is not None:
            frame, sentences = apply_reviews(frame, self.target, self.read_reviews(settings.reviews))
            self.frame, self.warnings = frame, sentences
            self.target = read_target(frame, str(settings.target), self.target.positive)
        self.roles = assign_roles(frame, self.target.y, settings)
        y = self.roles.y
        check_outcomes(y)
        rule = settings.rank_rule
        of_roles = [name for name in (rule[0] if rule else None, settings.checked) if name is not None]
        drop = [*settings.drop, *(name for name in of_roles if name not in settings.keep)]
        self.profile, typed = profile_table(
            self.table, str(settings.target), y, time=settings.time, keep=settings.keep, drop=drop
        )
        gains, about_gains = gains_of_table(settings, typed, amount)
        sampled = [] if self.drawn is None else [self.drawn.sentence]
        notes = [*sampled, *self.table.notes, *about_amounts, *about_gains, *self.roles.assumed]
        self.warnings += [*self.profile.warnings, *notes]
        order = in_order(typed, y, self.times)
        self.own = self.profile.features
        self.histories: Histories | None = None
        if settings.entity:
            self.progress("Reading the histories", 0, 1)
            self.histories = make_histories(self.frame, y, settings)
            self.profile.columns += self.histories.columns
            typed = typed.join(self.histories.frame)
            self.names = self.names.with_made(self.histories.sources)
        self.labelled, self.new = order[y[order] >= 0], order[self.roles.to_rank[order]]
        also = [c for c in self.profile.columns if self.names[c.name].sensitive]
        self.sensitive = also, typed[[c.name for c in also]].iloc[self.labelled]
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
        to_rank = self.new if new else labelled[folds.tested]
        self.size, self.most = self.checks_of(to_rank)
        if self.period is not None:
            periods = len(np.unique(self.period[to_rank])) if new else 1
            blocks = make_period_blocks(folds, self.period[labelled], checks, periods, str(self.budget.period))
        else:
            checks = min(checks, self.rows_to_rank)
            blocks = make_blocks(folds, self.rows_to_rank, checks)
        when_tested = None
        if self.histories is not None:
            when_tested = self.histories.when_tested(self.frame, labelled, folds, blocks)
        drawn = None if self.drawn is None else self.drawn.weight[labelled]
        folds, blocks, weight, sentences = sample_tested(y, folds, blocks, settings, drawn)
        self.warnings += sentences
        task = Task(
            self.X.iloc[labelled],
            y,
            settings.objective,
            amount=None if self.amount is None else self.amount[labelled],
            gains=None if self.gains is None else self.gains[labelled],
            groups=None if self.groups is None else self.groups[labelled],
            weight=weight,
            drawn=drawn,
            sample=settings.sample or MOST_ROWS,
            left_out=self.figures_left_out(),
            seed=settings.seed,
            when_tested=when_tested,
        )
        return task, folds, blocks

    def checks_of(self, rows: IntArray) -> tuple[int, int]:
        """Return how many checks the budget allows for some rows, and how many would be enough for all of them."""
        unit = rows if self.groups is None else self.groups[rows]
        period = np.zeros(len(rows), dtype=np.intp) if self.period is None else self.period[rows]
        pairs = np.unique(np.column_stack((period, unit)), axis=0)
        of_period = np.unique(pairs[:, 0], return_counts=True)[1]
        return int(np.minimum(of_period, self.budget.checks).sum()), len(pairs)

    def figures_left_out(self) -> tuple[str, ...]:
        """Leave the figures within the budget out where the budget is enough for every row."""
        if self.size < self.most:
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
        self, comparison: Comparison, model: Pipeline, usual: dict[str, Usual], task: Task
    ) -> tuple[pd.DataFrame, Promise, list[list[Reason]]]:
        settings = self.settings
        given = [settings.time, settings.distinct, *settings.entity, settings.amount]
        shown = self.names.visible(dict.fromkeys([*self.profile.identifiers, *filter(None, given)]))
        moments = (None if self.times is None else self.times.iloc[rows] for rows in (self.labelled, self.new))
        outlook = make_outlook(comparison, task, *moments)
        if not len(self.new):
            threshold = float(model[-1].threshold_)
            units = comparison.winner.units
            best = units.row[first_of_blocks(units, comparison.blocks.budget)]
            promise = outlook.promise_like_past(comparison.winner.probability[best])
            queue, reasons = queue_of_tested_rows(comparison, threshold, task, usual, promise.shift, self.names)
            place = pd.Index(self.labelled).get_indexer(queue.index)
            self.cases = task.rows_to_test(place)
            if settings.explore:
                self.warnings.append("No row was drawn at random, because every outcome is known already.")
            return with_table_columns(queue, self.frame, shown, self.frame[settings.target]), promise, reasons
        rows = self.X.iloc[self.new]
        gains = None if self.gains is None else self.gains[self.new]
        score, own, flagged = scored(model, rows, gains)
        folds = comparison.folds
        self.shift = measure_shift(
            self.X.iloc[self.labelled],
            rows,
            [column for column in self.own if not self.names[column.name].hidden],
            comparison.winner.score,
            score,
            folds.splits if folds.by_time else (),
            seed=settings.seed,
        )
        period, groups = (None if a is None else a[self.new] for a in (self.period, self.groups))
        chosen, chance = choose_queue(score, own, self.budget, settings.explore, period, groups, settings.seed)
        by_score = chance[chosen] == 1
        self.cases = rows.iloc[chosen]
        promise = outlook.promise(own[chosen], own)
        probability = shifted(own, promise.shift)
        queue, reasons = explain_rows(model, rows.iloc[chosen], score[chosen], usual, promise.shift, self.names)
        queue["flagged"] = ["yes" if is_flagged else "no" for is_flagged in flagged[chosen]]
        queue["probability"] = probability[chosen]
        if gains is not None:
            queue["expected_gain"] = gain_of_flagging(gains[chosen], probability[chosen])
        if not by_score.all():
            rest = np.setdiff1d(np.arange(len(score)), chosen[by_score])
            self.exploration = plan_exploration(probability[rest], chance[rest], self.budget.period)
            queue["drawn"] = np.where(by_score, "by score", "at random")
            queue["chance_drawn"] = chance[chosen]
        return with_table_columns(queue, self.frame, shown), promise, reasons

    def weigh_checks(self, comparison: Comparison, task: Task) -> Checks | None:
        """Add the figures for all rows, where only some were ever checked."""
        if self.roles.checked is None:
            return None
        possible = np.flatnonzero(~self.roles.to_rank) if self.settings.rank else np.arange(len(self.y))
        checks = chances_of_checks(
            self.X.iloc[possible], self.roles.checked[possible], self.profile.features, self.settings.seed
        )
        chance = np.ones(len(self.y))
        chance[possible] = checks.chance
        measure_for_all_rows(comparison, task, chance[self.labelled])
        return checks

    def make_menu(self, comparison: Comparison, task: Task) -> list[MenuEntry]:
        if task.gains is None:
            return []
        tested = comparison.folds.tested
        return precision_menu(comparison.winner.probability, task.y[tested], task.gains[tested], task.weights(tested))
