"""Figures within the budget by period and by segment, and the segments where the ranking is weak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from scarce._typing import BoolArray, Cell, IntArray
from scarce.metrics._holm import holm
from scarce.tables import Column, show

__all__ = ["Segment", "by_period", "by_segment", "weak_spots"]

_GROUPS = 4
_MOST_CATEGORIES = 12
_MIN_POSITIVES = 8
_LEVEL = 0.05


@dataclass(frozen=True)
class Segment:
    """The tested rows of one period, or of one group of values of a column.

    Attributes
    ----------
    column : str
        The column; empty for a period.
    name : str
        The values, or the period.
    rows, positives : int
        How many tested rows it has, and how many of them are positive.
    queued, hits : int
        How many of its rows are within the budget, and how many of those are positive.
    p_value : float
        Of the test that positives are found here as often as elsewhere, over all segments compared (Holm); 1 for
        periods.
    """

    column: str
    name: str
    rows: int
    positives: int
    queued: int
    hits: int
    p_value: float = 1.0

    @property
    def precision(self) -> float | None:
        """The share of positives among queued rows."""
        return self.hits / self.queued if self.queued else None

    @property
    def recall(self) -> float | None:
        """The share of positives that is queued."""
        return self.hits / self.positives if self.positives else None

    @property
    def false_positive_rate(self) -> float | None:
        """The share of negatives that is queued, and would be checked for nothing."""
        negatives = self.rows - self.positives
        return (self.queued - self.hits) / negatives if negatives else None

    def interval(self, what: str) -> tuple[float, float] | None:
        """Return the 95 % interval of ``"precision"`` or ``"recall"`` (Wilson)."""
        n = self.queued if what == "precision" else self.positives
        if not n:
            return None
        found = binomtest(self.hits, n).proportion_ci(0.95, "wilson")
        return float(found.low), float(found.high)


def by_period(names: Sequence[str], period: IntArray, y: IntArray, queued: BoolArray) -> list[Segment]:
    """Return the figures of each period.

    Parameters
    ----------
    names : sequence of str
        The name of each period.
    period, y, queued : ndarray of shape (n_tested,)
        The period, the outcome, and whether a row is within the budget.
    """
    return [_segment("", name, period == place, y, queued) for place, name in enumerate(names)]


def by_segment(X: pd.DataFrame, columns: Sequence[Column], y: IntArray, queued: BoolArray) -> list[Segment]:
    """Return the figures of each group of values of each column: categories, or quarters of numbers and dates.

    Parameters
    ----------
    X : DataFrame of shape (n_tested, n_columns)
        The typed columns of the tested rows.
    columns : sequence of Column
        The columns to divide by.
    y, queued : ndarray of shape (n_tested,)
        The outcome, and whether a row is within the budget.
    """
    segments, tests = [], []
    for column in columns:
        for name, rows in _groups(X[column.name], column.kind):
            segment = _segment(column.name, name, rows, y, queued)
            segments.append(segment)
            tests.append(_found_elsewhere(segment, y, queued))
    adjusted = holm(tests)
    return [Segment(**{**vars(s), "p_value": p}) for s, p in zip(segments, adjusted, strict=True)]


def weak_spots(segments: Sequence[Segment], overall: float) -> list[Segment]:
    """Return the segments whose positives are found less often than others, beyond chance, the worst first.

    Parameters
    ----------
    segments : sequence of Segment
        Of :func:`by_segment`.
    overall : float
        The share of all positives that is within the budget.
    """
    weak = [s for s in segments if s.p_value < _LEVEL and s.recall is not None and s.recall < overall]
    return sorted(weak, key=lambda s: (s.recall, s.p_value))


def _segment(column: str, name: str, rows: BoolArray, y: IntArray, queued: BoolArray) -> Segment:
    return Segment(
        column, name, int(rows.sum()), int(y[rows].sum()), int(queued[rows].sum()), int(y[rows & queued].sum())
    )


def _groups(values: pd.Series, kind: str) -> list[tuple[str, BoolArray]]:
    if kind == "category":
        frequent = values.value_counts().head(_MOST_CATEGORIES)
        groups = [(str(name), (values == name).to_numpy()) for name in frequent.index]
        others = ~values.isin(frequent.index).to_numpy()
        return [*groups, ("other values", others)] if others.any() else groups
    missing = values.isna().to_numpy()
    known = values[~missing]
    groups = []
    if len(known):
        inner = known.quantile(np.arange(1, _GROUPS) / _GROUPS, interpolation="lower")
        ends: list[Cell] = sorted({*inner.tolist(), known.max()})
        low: Cell = None
        for end in ends:
            rows = (values <= end).to_numpy() if low is None else ((values > low) & (values <= end)).to_numpy()
            name = f"up to {show(end)}" if low is None else f"above {show(low)}, up to {show(end)}"
            groups.append((name, rows))
            low = end
    return [*groups, ("empty", missing)] if missing.any() else groups


def _found_elsewhere(segment: Segment, y: IntArray, queued: BoolArray) -> float:
    """Return the p-value of Fisher's test that positives of a segment are found as often as all others."""
    others, found = int(y.sum()) - segment.positives, int(y[queued].sum()) - segment.hits
    if min(segment.positives, others) < _MIN_POSITIVES:
        return 1.0
    table = [[segment.hits, segment.positives - segment.hits], [found, others - found]]
    return float(fisher_exact(table).pvalue)
