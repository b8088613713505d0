"""The rows to check, the most suspicious first, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._typing import FloatArray, IntArray
from scarce.occlusion import contributions

from .compare import Comparison
from .reasons import Usual, nearest_positives, sentences

__all__ = ["OWN_COLUMNS", "queue_of_new_rows", "queue_of_tested_rows"]


OWN_COLUMNS = (
    "rank",
    "row",
    "score",
    "threshold",
    "flagged",
    "learned_from",
    "outcome",
    "reasons",
    "nearest_positives",
)


def queue_of_new_rows(
    model: Pipeline,
    X: pd.DataFrame,
    usual: Mapping[str, Usual],
    size: int,
    trained_on: IntArray | None = None,
) -> pd.DataFrame:
    """Rank rows that the model has not seen, and explain the first `size`; the index is that of `X`."""
    score = model.score_samples(X)
    order = np.argsort(-score, kind="stable")
    best, rest = order[:size], order[size:]
    if not len(best):
        return _decided(model, X.index[rest], score[rest])
    explained = _explained(model, X.iloc[best], score[best], usual, trained_on)
    return pd.concat([explained, _decided(model, X.index[rest], score[rest])]) if len(rest) else explained


def queue_of_tested_rows(
    comparison: Comparison,
    X: pd.DataFrame,
    usual: Mapping[str, Usual],
    size: int,
    labelled: IntArray,
) -> pd.DataFrame:
    """Rank rows of known outcome, each scored and explained by the model of the fold in which it was tested.

    Each fold gives its share of the queue, as in the comparison; the queue is then put in order of the scores.
    """
    winner, folds = comparison.winner, comparison.folds
    best = np.lexsort((folds.tested, -winner.score, -winner.rank))[:size]
    parts = []
    for fold, (model, (train, _)) in enumerate(zip(winner.models, folds.splits, strict=True)):
        chosen = best[folds.fold_of_tested[best] == fold]
        if len(chosen):
            rows = X.loc[labelled[folds.tested[chosen]]]
            parts.append(_explained(model, rows, winner.score[chosen], usual, labelled[train]))
    queue = pd.concat(parts)
    order = np.lexsort((queue.index, -queue["score"]))
    return queue.iloc[order]


def _explained(
    model: Pipeline,
    rows: pd.DataFrame,
    score: FloatArray,
    usual: Mapping[str, Usual],
    trained_on: IntArray | None,
) -> pd.DataFrame:
    queue = _decided(model, rows.index, score)
    values = [column.weighted(rows[name].dtype) for name, column in usual.items()]
    queue["reasons"] = sentences(contributions(model.score_samples, rows, values), rows, usual)
    if trained_on is not None:
        near = nearest_positives(model, rows, trained_on)
        if any(near):
            queue["nearest_positives"] = near
    return queue


def _decided(model: Pipeline, index: pd.Index, score: FloatArray) -> pd.DataFrame:
    threshold = float(model[-1].threshold_)
    flagged = np.where(score > threshold, "yes", "no")
    return pd.DataFrame({"score": score, "threshold": threshold, "flagged": flagged}, index=index)


def with_table_columns(
    queue: pd.DataFrame, table: pd.DataFrame, names: Sequence[str], outcome: pd.Series | None = None
) -> pd.DataFrame:
    """Put rank, row and the user's own columns in front of a queue, under names that do not clash."""
    full = pd.DataFrame({"rank": np.arange(1, len(queue) + 1), "row": queue.index}, index=queue.index)
    for name in names:
        full[f"{name} (table)" if name in OWN_COLUMNS else name] = table.loc[queue.index, name]
    for name in ("score", "threshold", "flagged"):
        full[name] = queue[name]
    if outcome is not None:
        full["outcome"] = outcome.loc[queue.index]
    for name in ("reasons", "nearest_positives"):
        if name in queue:
            full[name] = queue[name]
    return full.reset_index(drop=True)
