"""The audit from a table to a queue: profile, compare, choose, rank, explain."""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._errors import AuditError
from scarce._files import sha256
from scarce._typing import FloatArray
from scarce.datasets import make_transactions
from scarce.tables import Kind, Profile, Reading, Table, Target, gather, profile_table, read_table, read_target

from .candidates import MAX_ROWS_FOR_NEIGHBOURS, make_candidates
from .compare import Comparison, ObjectiveName, Task, compare, threshold_for
from .folds import inner_folds, make_folds
from .queue import queue_of_new_rows, queue_of_tested_rows, with_table_columns
from .reasons import Usual, summarise_columns

__all__ = ["Audit", "Settings", "Source", "audit"]

Progress = Callable[[str, int, int], None]

SIMULATED_ROWS = 30_000


@dataclass(frozen=True)
class Settings:
    """The arguments of an audit; see :func:`audit`."""

    target: str
    budget: int
    objective: ObjectiveName = "ap"
    positive: str | None = None
    amount: str | None = None
    time: str | None = None
    check_cost: float | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    seed: int = 0
    types: Mapping[str, Kind] = field(default_factory=dict)


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
    profile : Profile
    comparison : Comparison
        How the methods did on rows that they had not seen.
    model : Pipeline
        The winner, fitted on all rows whose outcome is known.
    queue : DataFrame
        The rows to check, the most suspicious first.
    usual : dict of Usual
        The usual values of each column, against which reasons are measured.
    task : Task
        The labelled rows and the objective that were compared on.
    readings : tuple of Reading
        How the columns of the table were read.
    new_rows : bool
        Whether the queue holds rows of unknown outcome; otherwise it holds tested rows of known outcome.
    warnings : list of str
    seconds : float
    """

    settings: Settings
    source: Source
    target: Target
    profile: Profile
    comparison: Comparison
    model: Pipeline
    queue: pd.DataFrame
    usual: dict[str, Usual]
    task: Task
    readings: tuple[Reading, ...]
    new_rows: bool
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
    budget: int = 200,
    objective: ObjectiveName = "ap",
    positive: str | None = None,
    amount: str | None = None,
    time: str | None = None,
    check_cost: float | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    types: Mapping[str, Kind] | None = None,
    seed: int = 0,
    progress: Progress = lambda step, done, total: None,
) -> Audit:
    """Compare methods on a table and rank the rows to check.

    Parameters
    ----------
    table : path or DataFrame, optional
        CSV, Parquet, Excel or a frame. Without one, simulated payments are audited.
    target : str
        The column of outcomes: two values, empty where the outcome is unknown.
    budget : int
        How many rows can be checked.
    objective : {"ap", "f1", "budget", "profit"}
        What chooses the winner: average precision; F1 at the threshold; precision among the first `budget` rows;
        or money, where a caught positive saves its `amount` and every check costs `check_cost`. The threshold is
        chosen for the same, and for F1 in the case of average precision, which has none.
    positive : str, optional
        The value of the target to look for; the rarer of two if not given.
    amount : str, optional
        A column of money at stake.
    time : str, optional
        A column of dates or numbers that orders the rows; methods are then tested on later rows than their
        training rows.
    check_cost : float, optional
        What one check costs; needed for the objective "profit".
    keep, drop : sequences of str
        Columns to learn from, or not, whatever the profile finds.
    types : dict of str, optional
        The kind of some columns, "number", "category" or "date", whatever their cells look like.
    seed : int
        The same seed gives the same queue.
    progress : callable
        Called with the name of the step, the effort spent so far, and the effort of the whole audit.

    Returns
    -------
    Audit
    """
    start = clock.perf_counter()
    if table is None:
        target, amount, time = target or "fraud", amount or "amount", time or "date"
    if target is None:
        raise AuditError("Name the column of outcomes (`target`).")
    settings = Settings(
        *(target, budget, objective, positive, amount, time, check_cost, tuple(keep), tuple(drop), seed),
        dict(types or {}),
    )
    _check_settings(settings)
    progress("Reading the table", 0, 1)
    opened, source = _open(table, settings)
    frame = opened.frame
    outcome, (money, warnings), moments = gather(
        lambda: read_target(frame, target, positive),
        lambda: _amounts(frame, amount),
        lambda: None if time is None else _moments(frame[time], opened.readings),
    )
    progress("Reading the columns", 0, 1)
    profile, typed = profile_table(opened, target, outcome.y, time=time, keep=keep, drop=drop)
    warnings = [*profile.warnings, *opened.notes, *warnings]

    labelled, new = np.flatnonzero(outcome.y >= 0), np.flatnonzero(outcome.y < 0)
    names = [c.name for c in profile.features]
    X, y = typed[names], outcome.y[labelled]
    folds = make_folds(y, None if moments is None else moments[labelled], seed)
    at_stake = len(new) if len(new) else len(folds.tested)
    if budget > at_stake:
        warnings.append(f"The budget of {budget:,} is more than the {at_stake:,} rows to rank; all of them are queued.")
    size = min(budget, at_stake)
    task = Task(
        X.iloc[labelled],
        y,
        objective,
        budget=size / at_stake if len(new) else size,
        amount=None if money is None else money[labelled],
        check_cost=check_cost or 0.0,
        seed=seed,
    )
    candidates = make_candidates(
        profile.features,
        threshold_for(objective, size / at_stake),
        rows=len(labelled),
        folds=inner_folds(y, folds),
        seed=seed,
        time=time,
    )
    if len(labelled) > MAX_ROWS_FOR_NEIGHBOURS:
        warnings.append(
            f"γk-NN and k-NN were left out: with more than {MAX_ROWS_FOR_NEIGHBOURS:,} rows they would take hours."
        )
    total = sum(c.effort for c in candidates) * len(folds.splits)
    final = max(1, total // 8)
    done = 0

    def spent(step: str, effort: int) -> None:
        nonlocal done
        done += effort
        progress(step, done, total + 2 * final)

    comparison = compare(candidates, task, folds, spent)
    spent("Learning from all rows", 0)
    model = task.fit(comparison.winner.candidate.model)
    spent("Finding reasons", final)
    usual = summarise_columns(task.X, profile.features)
    if len(new):
        queue = queue_of_new_rows(model, X.iloc[new], usual, size, labelled).head(size)
    else:
        queue = queue_of_tested_rows(comparison, X, usual, size, labelled)
    shown = list(dict.fromkeys([*profile.identifiers, *filter(None, [time, amount])]))
    queue = with_table_columns(queue, frame, shown, None if len(new) else frame[target])
    spent("Done", final)
    return Audit(
        settings,
        source,
        outcome,
        profile,
        comparison,
        model,
        queue,
        usual,
        task,
        opened.readings,
        new_rows=bool(len(new)),
        warnings=warnings,
        seconds=clock.perf_counter() - start,
    )


def _open(table: str | os.PathLike[str] | pd.DataFrame | None, settings: Settings) -> tuple[Table, Source]:
    needs = {
        parameter: [given] if isinstance(given, str) else given or ()
        for parameter in ("target", "amount", "time", "keep", "drop")
        for given in [getattr(settings, parameter)]
    }
    if table is None or isinstance(table, pd.DataFrame):
        frame = make_transactions(SIMULATED_ROWS, seed=0).frame if table is None else table
        opened = Table.from_frame(frame, types=settings.types, drop=settings.drop, needs=needs)
        return opened, Source(
            "simulated payments" if table is None else "the table", _hash_of(frame), simulated=table is None
        )
    opened = read_table(table, types=settings.types, drop=settings.drop, needs=needs)
    return opened, Source(Path(table).name, sha256(table))


def _hash_of(frame: pd.DataFrame) -> str:
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def _check_settings(settings: Settings) -> None:
    if settings.budget < 1:
        raise AuditError(f"`budget` is the number of rows that can be checked, at least 1; it was {settings.budget}.")
    for option in ("amount", "time", "keep", "drop"):
        given = getattr(settings, option)
        names = given if isinstance(given, tuple) else filter(None, [given])
        for name in names:
            if name == settings.target:
                raise AuditError(f"`{option}` names the target column {name!r}; name another column.")
    if settings.objective == "profit":
        if settings.amount is None:
            raise AuditError("The objective profit needs the money at stake in each row; name its column (`amount`).")
        if settings.check_cost is None:
            raise AuditError("The objective profit needs the cost of one check (`check_cost`).")
    if settings.check_cost is not None and not (np.isfinite(settings.check_cost) and settings.check_cost >= 0):
        raise AuditError(f"`check_cost` is what one check costs, 0 or more; it was {settings.check_cost:g}.")


def _amounts(frame: pd.DataFrame, name: str | None) -> tuple[FloatArray | None, list[str]]:
    if name is None:
        return None, []
    values = pd.to_numeric(frame[name], errors="coerce").astype("float64")
    wrong = frame[name][values.isna() & frame[name].notna()]
    if len(wrong):
        raise AuditError(
            f"The amount column {name!r} must hold numbers, and data row {wrong.index[0] + 1} holds "
            f"{str(wrong.iloc[0])!r}; write plain numbers such as 1234.5."
        )
    known = np.isfinite(values)
    warnings = [f"Rows without an amount, which counts as 0: {int((~known).sum()):,}."] if not known.all() else []
    if (values < 0).any():
        warnings.append(f"Rows with a negative amount, which counts as it is: {int((values < 0).sum()):,}.")
    return values.where(known, 0.0).to_numpy(), warnings


def _moments(values: pd.Series, readings: Sequence[Reading]) -> pd.Series:
    name, kind = values.name, next(r.kind for r in readings if r.name == values.name)
    if kind == "category":
        example = str(values.dropna().iloc[0]) if values.notna().any() else ""
        raise AuditError(
            f"The time column {name!r} holds cells that are neither dates nor numbers, such as {example!r}; "
            "write dates like 2024-01-31 or 2024-01-31 14:05."
        )
    if kind == "number":
        values = values.astype("float64").where(np.isfinite(values.astype("float64")))
    if values.isna().any():
        raise AuditError(
            f"The time column {name!r} is empty in {int(values.isna().sum()):,} rows, which cannot be put in "
            "order; fill these cells, or test on random folds (no `time`)."
        )
    return values
