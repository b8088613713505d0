"""The inside of a comparison's winner: figures by period and segment, calibration, importance and dependence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.tables import Column, Usual, show

from .blocks import first_of_blocks
from .compare import Comparison
from .importance import Dependence, Importance, column_importance, dependence
from .segments import Segment, by_period, by_segment, weak_spots
from .task import Task

__all__ = ["Decile", "Inside", "look_inside", "make_deciles"]

_MOST_PERIODS = 16
_DRAWN_COLUMNS = 5


@dataclass(frozen=True)
class Decile:
    """A tenth of the tested rows, by probability: the mean of it, and the share of positives with its 95 % interval."""

    rows: int
    positives: int
    expected: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class Inside:
    """The answers to a validator's questions about a model.

    Attributes
    ----------
    periods : list of Segment
        Figures within the budget by time, where rows have one.
    recall : float
        The share of all positives of the tested blocks within the budget.
    segments, weak : list of Segment
        Figures within the budget by groups of values, and the groups where positives are missed more often.
    sensitive : list of Segment
        The figures of each group of values of the sensitive columns.
    deciles : list of Decile
        Calibration on the tested rows.
    importance : list of Importance
        All columns, the most important first.
    dependence : list of Dependence
        Of the five most important columns.
    """

    periods: list[Segment]
    recall: float
    segments: list[Segment]
    weak: list[Segment]
    sensitive: list[Segment]
    deciles: list[Decile]
    importance: list[Importance]
    dependence: list[Dependence]


def look_inside(
    comparison: Comparison,
    task: Task,
    columns: Sequence[Column],
    sensitive: tuple[Sequence[Column], pd.DataFrame],
    usual: dict[str, Usual],
    probability_of: Callable[[pd.DataFrame], FloatArray],
    times: pd.Series | None,
) -> Inside:
    """Judge the winner on the rows that it was tested on.

    Parameters
    ----------
    comparison : Comparison
        The winner still has the models of its folds.
    task : Task
        The rows of known outcome.
    columns : sequence of Column
        The columns to compare figures by.
    sensitive : (sequence of Column, DataFrame)
        The columns between whose values figures are compared in any case, learned from or not, and their cells in the
        rows of `task`.
    usual : dict of Usual
        Their usual values.
    probability_of : callable
        The probability of rows by the model of all rows.
    times : Series, optional
        The time of each row of `task`.
    """
    winner, folds, blocks = comparison.winner, comparison.folds, comparison.blocks
    units = winner.units
    queued = first_of_blocks(units, blocks.budget)
    rows = folds.tested[units.row]
    segments = by_segment(task.X.iloc[rows], columns, units.truth, queued)
    compared = by_segment(sensitive[1].iloc[rows], sensitive[0], units.truth, queued)
    found, positives = int(units.truth[queued].sum()), int(units.truth.sum())
    recall = found / positives if positives else 0.0
    # The latest part that has positives, without which there is no average precision to lose.
    model, test = next(
        (model, test)
        for model, (_, test) in reversed(list(zip(winner.models, folds.splits, strict=True)))
        if task.y[test].any()
    )
    importance = column_importance(model.score_samples, task.rows_to_test(test), task.y[test], seed=task.seed)
    drawn = [i.column for i in importance[:_DRAWN_COLUMNS]]
    return Inside(
        periods=[] if times is None else _periods(times.iloc[rows], units.block, units.truth, queued),
        recall=recall,
        segments=segments,
        weak=weak_spots(segments, recall),
        sensitive=compared,
        deciles=make_deciles(winner.probability[units.row], units.truth),
        importance=importance,
        dependence=dependence(probability_of, task.X, usual, drawn, seed=task.seed),
    )


def _periods(times: pd.Series, block: IntArray, y: IntArray, queued: BoolArray) -> list[Segment]:
    """Return the figures of blocks in order of time, some of them together where there are many."""
    starts = times.groupby(block).min().sort_values(kind="stable")
    groups = np.array_split(starts.index.to_numpy(), min(len(starts), _MOST_PERIODS))
    period = np.zeros(int(block.max()) + 1, dtype=np.intp)
    for number, group in enumerate(groups):
        period[group] = number
    names = [f"from {show(starts[group[0]])}" for group in groups]
    return by_period(names, period[block], y, queued)


def make_deciles(probability: FloatArray, y: IntArray, parts: int = 10) -> list[Decile]:
    """Divide rows into tenths by probability, with equal probabilities in one part."""
    order = np.argsort(probability, kind="stable")
    values = probability[order]
    starts = values[(np.arange(1, parts) * len(values)) // parts]
    part = np.searchsorted(np.unique(starts), probability, side="right")
    deciles = []
    for number in np.unique(part):
        rows = part == number
        n, positives = int(rows.sum()), int(y[rows].sum())
        interval = binomtest(positives, n).proportion_ci(0.95, "wilson")
        deciles.append(
            Decile(
                n, positives, float(probability[rows].mean()), positives / n, float(interval.low), float(interval.high)
            )
        )
    return deciles
