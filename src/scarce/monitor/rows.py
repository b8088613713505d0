"""New rows, part by part: counts of all of them, and samples whose size does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray
from scarce.audit.reference import OWN
from scarce.tables import MISSING, Column

__all__ = ["FirstRows", "NewRows", "RandomRows", "first_of_periods"]

SAMPLE = 20_000
KNOWN = 10_000


class RandomRows:
    """A random sample of rows that come in parts: the same one however they are divided.

    Each row draws a number, and those of the smallest numbers are kept.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.seen = 0
        self._random = np.random.default_rng(seed)
        self._number = np.empty(0)
        self._frame: pd.DataFrame | None = None

    def add(self, rows: pd.DataFrame) -> None:
        """Take a part of the rows."""
        number = self._random.random(len(rows))
        self.seen += len(rows)
        if len(self._number) == self.size:
            inside = number < self._number.max()
            rows, number = rows[inside], number[inside]
        if not len(rows):
            return
        frame = rows if self._frame is None else pd.concat([self._frame, rows], ignore_index=True)
        number = np.concatenate([self._number, number])
        kept = np.sort(np.argsort(number, kind="stable")[: self.size])
        self._frame, self._number = frame.iloc[kept].reset_index(drop=True), number[kept]

    @property
    def frame(self) -> pd.DataFrame:
        """The sample, in the order in which the rows came."""
        return pd.DataFrame() if self._frame is None else self._frame

    @property
    def weight(self) -> float:
        """The number of rows that each row of the sample stands for."""
        return self.seen / max(len(self._number), 1)


class FirstRows:
    """The rows of highest score of each period, as many as the budget allows; of a group its first row only."""

    def __init__(self, checks: int) -> None:
        self.checks = checks
        self._frame: pd.DataFrame | None = None

    def add(self, rows: pd.DataFrame) -> None:
        """Take a part of the rows."""
        before = 0 if self._frame is None else len(self._frame)
        light = [name for name in (OWN + "bucket", OWN + "score", OWN + "group") if name in rows]
        parts = [rows] if self._frame is None else [self._frame, rows]
        both = pd.concat([part[light] for part in parts], ignore_index=True)
        kept = _first(both, self.checks, OWN + "bucket")
        chosen = [rows.iloc[kept[kept >= before] - before]]
        if self._frame is not None:
            chosen.insert(0, self._frame.iloc[kept[kept < before]])
        self._frame = pd.concat(chosen, ignore_index=True)

    @property
    def frame(self) -> pd.DataFrame:
        """The first rows, in the order in which they came."""
        return pd.DataFrame() if self._frame is None else self._frame


def first_of_periods(rows: pd.DataFrame, checks: int, period: str) -> pd.DataFrame:
    """Return the rows of highest score of each period, ties and all rows in the order in which they came."""
    return rows.iloc[_first(rows, checks, period)].reset_index(drop=True)


def _first(rows: pd.DataFrame, checks: int, period: str) -> IntArray:
    order = np.lexsort((-rows[OWN + "score"].to_numpy(), rows[period].to_numpy()))
    if OWN + "group" in rows:
        order = order[~rows.iloc[order].duplicated([period, OWN + "group"]).to_numpy()]
    of_period = rows[period].to_numpy()[order]
    starts = np.flatnonzero(np.append(True, of_period[1:] != of_period[:-1]))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return np.sort(order[place < checks])


@dataclass
class NewRows:
    """The counts and samples that are kept of new rows.

    Parameters
    ----------
    columns : sequence of Column
        The columns that the model learned from.
    categories : mapping of str to set of str
        The values of category columns that the model knows.
    checks : int
        The budget of a period.
    seed : int
        Seed of the samples.

    Attributes
    ----------
    count : int
        The number of rows.
    missing, unknown : dict of int
        The number of empty cells and of unknown categories of each column.
    sample : RandomRows
        Up to 20,000 of all rows.
    positive, negative : RandomRows
        Up to 10,000 rows each whose outcome is known.
    queue : FirstRows
        The rows within the budget.
    of_period : DataFrame
        The rows, those of known outcome, and the latest moment of each period.
    """

    columns: Sequence[Column]
    categories: Mapping[str, set[str]]
    checks: int
    seed: int = 0
    count: int = 0
    probability: float = 0.0
    squared: float = 0.0
    latest: float = -np.inf
    missing: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    of_period: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        self.sample = RandomRows(SAMPLE, self.seed)
        self.positive, self.negative = RandomRows(KNOWN, self.seed + 1), RandomRows(KNOWN, self.seed + 2)
        self.queue = FirstRows(self.checks)
        self.missing = {c.name: 0 for c in self.columns}
        self.unknown = dict.fromkeys(self.categories, 0)

    def add(self, rows: pd.DataFrame) -> None:
        """Take a part of the rows: columns of the model, and our own of score, probability, outcome and time."""
        probability = rows[OWN + "probability"].to_numpy()
        self.count += len(rows)
        self.probability += float(probability.sum())
        self.squared += float(probability @ probability)
        self.latest = max(self.latest, float(rows[OWN + "moment"].max()))
        for column in self.columns:
            cells = rows[column.name]
            empty = cells == MISSING if column.kind == "category" else cells.isna()
            self.missing[column.name] += int(empty.sum())
            if column.name in self.categories:
                self.unknown[column.name] += int((~_is_in(cells, self.categories[column.name])).sum())
        self.sample.add(rows)
        outcome = rows[OWN + "outcome"].to_numpy()
        if (outcome >= 0).any():
            self.positive.add(rows[outcome == 1])
            self.negative.add(rows[outcome == 0])
        self.queue.add(rows)
        counted = pd.DataFrame(
            {
                "rows": 1,
                "known": (outcome >= 0).astype(np.int64),
                "latest": rows[OWN + "moment"].to_numpy(),
                "period": rows[OWN + "period"].to_numpy(),
            }
        )
        counted = counted.groupby("period").agg({"rows": "sum", "known": "sum", "latest": "max"})
        if self.of_period is not None:
            both = pd.concat([self.of_period, counted])
            counted = both.groupby(level=0).agg({"rows": "sum", "known": "sum", "latest": "max"})
        self.of_period = counted

    @property
    def expected(self) -> tuple[float, float]:
        """The mean probability of all rows, and its standard error."""
        mean = self.probability / self.count
        variance = max(self.squared / self.count - mean**2, 0.0)
        return mean, float(np.sqrt(variance / self.count))

    def known(self) -> tuple[pd.DataFrame, FloatArray]:
        """Return the samples of rows of known outcome, and how many rows each row of them stands for."""
        parts = [part for part in (self.positive, self.negative) if part.seen]
        if not parts:
            return pd.DataFrame(), np.empty(0)
        weight = np.concatenate([np.full(len(part.frame), part.weight) for part in parts])
        return pd.concat([part.frame for part in parts], ignore_index=True), weight


def _is_in(cells: pd.Series, known: set[str]) -> NDArray[np.bool_]:
    """Return which cells hold a known value; each different value is looked up once."""
    code, values = pd.factorize(cells)
    return np.array([value in known for value in values], dtype=bool)[code]
