"""The ellipsoids of known positives in which the queued cases lie, where ME² was compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._typing import IntArray

from .compare import Comparison
from .task import Task

__all__ = ["ellipsoids_around"]


def ellipsoids_around(comparison: Comparison, task: Task, cases: pd.DataFrame) -> list[list[int]]:
    """Return for each case the known positive rows of the table in whose ellipsoids it lies.

    A tested row is judged by the model of its fold, which has not seen it; a new row by one of all known rows.

    Parameters
    ----------
    comparison : Comparison
        Where ME² was compared to the end, it still has the models of its folds.
    task : Task
        The rows of known outcome.
    cases : DataFrame
        The queued rows, as they were ranked.
    """
    outcome = next((o for o in comparison.outcomes if o.candidate.key == "me2"), None)
    if outcome is None or not len(cases):
        return [[] for _ in range(len(cases))]
    place = task.X.index.get_indexer(cases.index)
    if (place < 0).all():
        every = np.arange(len(task.y))
        return _inside(task.fit(outcome.candidate.model), task, every, cases)
    found: list[list[int]] = [[] for _ in range(len(cases))]
    for model, (train, test) in zip(outcome.models, comparison.folds.splits, strict=True):
        chosen = np.flatnonzero(np.isin(place, test))
        if len(chosen):
            for case, rows in zip(chosen, _inside(model, task, train, cases.iloc[chosen]), strict=True):
                found[case] = rows
    return found


def _inside(model: Pipeline, task: Task, train: IntArray, cases: pd.DataFrame) -> list[list[int]]:
    rows = task.X.index[task.training_rows(train)[0]]
    return [[int(row) for row in rows[near]] for near in model[-1].ellipsoids_around(model[:-1].transform(cases))]
