"""The rows to check, the most suspicious first, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.engines.scorer import steady_scores
from scarce.tables import Usual

from .blocks import Blocks, first_of_blocks, make_units
from .compare import Comparison, scored
from .dictionary import Dictionary
from .evidence import NO_REASON, Reason, find_reasons
from .explore import draw, inclusion_chances
from .outlook import shifted
from .settings import BudgetPlan
from .task import Task

__all__ = [
    "OWN_COLUMNS",
    "choose_queue",
    "choose_rows",
    "queue_of_new_rows",
    "queue_of_tested_rows",
    "with_table_columns",
]


FIRST_COLUMNS = ("score", "threshold", "flagged", "probability", "expected_gain", "drawn", "chance_drawn")
LAST_COLUMNS = ("reasons",)
OWN_COLUMNS = ("rank", "row", "outcome", "learned_from", *FIRST_COLUMNS, *LAST_COLUMNS)


def choose_rows(score: FloatArray, checks: int, period: IntArray | None, groups: IntArray | None) -> IntArray:
    """Return the places of the rows to check: the first of all, or of each period; of a group its first row only.

    They are in the order of periods and of scores. Of equal scores those come first that come first among the rows.
    """
    n = len(score)
    block = np.zeros(n, dtype=np.intp) if period is None else np.unique(period, return_inverse=True)[1]
    budget = np.full(int(block.max()) + 1, checks, dtype=np.intp)
    blocks = Blocks(block, budget, np.arange(len(budget)), "")
    units = make_units(score, np.zeros(n, dtype=np.intp), np.zeros(n), blocks, groups)
    return units.row[first_of_blocks(units, budget)]


def choose_queue(
    score: FloatArray,
    probability: FloatArray,
    budget: BudgetPlan,
    explore: float,
    period: IntArray | None,
    groups: IntArray | None,
    seed: int,
) -> tuple[IntArray, FloatArray]:
    """Return the places of the rows to check, and the chance of every row to be among them.

    In each period, the rows that the score chooses come first and have the chance 1. The share `explore` of the
    checks, rounded, goes to rows that are drawn from all others with chances in proportion to the square root of their
    probability. Of a group that is queued by its score, other rows have no chance, and neither has any but the first
    row of a group.
    """
    every = choose_rows(score, budget.checks, period, groups)
    if not explore:
        chance = np.zeros(len(score))
        chance[every] = 1.0
        return every, chance
    for_chance = max(1, round(explore * budget.checks))
    first = choose_rows(score, budget.checks - for_chance, period, groups)
    drawn, chance = [], np.zeros(len(score))
    rest = np.ones(len(score), dtype=bool)
    if groups is not None:
        # One row for each group and period can be drawn: its best one.
        rest[:] = False
        rest[choose_rows(score, len(score), period, groups)] = True
    rest[first] = False
    block = np.zeros(len(score), dtype=np.intp) if period is None else period
    for number in np.unique(block):
        others = np.flatnonzero(rest & (block == number))
        size = min(for_chance, len(others))
        if size:
            chance[others] = inclusion_chances(probability[others], size)
            drawn.append(others[draw(chance[others], seed + int(number))])
    chance[first] = 1.0
    chosen = np.concatenate([first, *drawn]).astype(np.intp)
    return chosen[np.lexsort((-score[chosen], chance[chosen] < 1, block[chosen]))], chance


def queue_of_new_rows(
    model: Pipeline,
    X: pd.DataFrame,
    usual: Mapping[str, Usual],
    size: int,
    shift: float = 0.0,
    names: Dictionary | None = None,
) -> pd.DataFrame:
    """Rank rows that the model has not seen, and explain the first `size`; the index is that of `X`."""
    score = steady_scores(model, X)
    order = np.argsort(-score, kind="stable")
    best, rest = order[:size], order[size:]
    if not len(best):
        return _decided(model, X.index[rest], score[rest])
    explained, _ = explain_rows(model, X.iloc[best], score[best], usual, shift, names)
    return pd.concat([explained, _decided(model, X.index[rest], score[rest])]) if len(rest) else explained


def queue_of_tested_rows(
    comparison: Comparison,
    threshold: float,
    task: Task,
    usual: Mapping[str, Usual],
    shift: float = 0.0,
    names: Dictionary | None = None,
) -> tuple[pd.DataFrame, list[list[Reason]]]:
    """Rank rows of known outcome, each scored and explained by the model of the fold in which it was tested.

    Each block gives its share of the queue, as in the comparison; the queue is then put in order of the scores. One
    threshold, that of the model of all rows, decides which are flagged: two rows of one score are treated alike.
    """
    winner, folds = comparison.winner, comparison.folds
    best = winner.units.row[first_of_blocks(winner.units, comparison.blocks.budget)]
    parts: list[pd.DataFrame] = []
    reasons: list[list[Reason]] = []
    for fold, model in enumerate(winner.models):
        chosen = best[folds.fold_of_tested[best] == fold]
        if len(chosen):
            rows = task.rows_to_test(folds.tested[chosen])
            part, found = explain_rows(model, rows, winner.score[chosen], usual, shift, names)
            parts.append(part.assign(probability=shifted(winner.probability[chosen], shift)))
            reasons += found
    queue = pd.concat(parts)
    queue["threshold"] = threshold
    queue["flagged"] = _verdicts(queue["score"].to_numpy() > threshold)
    order = np.argsort(-queue["score"].to_numpy(), kind="stable")
    return queue.iloc[order], [reasons[place] for place in order]


def explain_rows(
    model: Pipeline,
    rows: pd.DataFrame,
    score: FloatArray,
    usual: Mapping[str, Usual],
    shift: float = 0.0,
    names: Dictionary | None = None,
) -> tuple[pd.DataFrame, list[list[Reason]]]:
    """Return scores, verdicts and reasons of some rows; `shift` moves the log-odds of all probabilities.

    Reasons are written in the words of a dictionary, and none is a column that it hides.
    """
    names = names or Dictionary()
    queue = _decided(model, rows.index, score)
    reasons = find_reasons(lambda X: shifted(scored(model, X)[1], shift), rows, usual, hidden=names.hidden)
    queue["reasons"] = ["; ".join(names.sentence(reason) for reason in found) or NO_REASON for found in reasons]
    return queue, reasons


def _decided(model: Pipeline, index: pd.Index, score: FloatArray) -> pd.DataFrame:
    threshold = float(model[-1].threshold_)
    return pd.DataFrame({"score": score, "threshold": threshold, "flagged": _verdicts(score > threshold)}, index=index)


def _verdicts(flagged: BoolArray) -> list[str]:
    return ["yes" if is_flagged else "no" for is_flagged in flagged]


def with_table_columns(
    queue: pd.DataFrame, table: pd.DataFrame, names: Sequence[str], outcome: pd.Series | None = None
) -> pd.DataFrame:
    """Put rank, row and the user's own columns in front of a queue, under names that do not clash."""
    full = pd.DataFrame({"rank": np.arange(1, len(queue) + 1), "row": queue.index}, index=queue.index)
    for name in names:
        full[f"{name} (table)" if name in OWN_COLUMNS else name] = table.loc[queue.index, name]
    for name in FIRST_COLUMNS:
        if name in queue:
            full[name] = queue[name]
    if outcome is not None:
        full["outcome"] = outcome.loc[queue.index]
    for name in LAST_COLUMNS:
        if name in queue:
            full[name] = queue[name]
    return full.reset_index(drop=True)
