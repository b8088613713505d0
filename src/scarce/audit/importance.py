"""The importance of each column for the ranking, and the probability as it depends on a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from scarce._typing import Cell, FloatArray, IntArray
from scarce.tables import Usual

__all__ = ["Dependence", "Importance", "column_importance", "dependence"]

_NEGATIVES = 4_000
_REPEATS = 3
_ROWS = 300


@dataclass(frozen=True)
class Importance:
    """The average precision that is lost when the values of a column are exchanged between rows."""

    column: str
    loss: float
    low: float
    high: float


@dataclass(frozen=True)
class Dependence:
    """The mean probability when all rows take a value of a column, for each of its usual values."""

    column: str
    values: list[Cell]
    probability: list[float]


def column_importance(
    score: Callable[[pd.DataFrame], FloatArray],
    X: pd.DataFrame,
    y: IntArray,
    *,
    seed: int = 0,
) -> list[Importance]:
    """Return the importance of each column on rows that the model has not seen, the greatest first.

    All positives and at most 4,000 negatives take part, which stand for all others.

    Parameters
    ----------
    score : callable
        Takes rows, returns one score for each.
    X, y : DataFrame, ndarray
        Tested rows and their outcomes.
    seed : int
        For the exchange.
    """
    rng = np.random.default_rng(seed)
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    some = rng.permutation(negatives)[:_NEGATIVES]
    rows = np.concatenate([positives, some])
    weight = np.concatenate([np.ones(len(positives)), np.full(len(some), len(negatives) / max(len(some), 1))])
    sample, truth = X.iloc[rows].reset_index(drop=True), y[rows]

    def quality(frame: pd.DataFrame) -> float:
        return float(average_precision_score(truth, score(frame), sample_weight=weight))

    whole = quality(sample)
    # Values are drawn as often as they occur among all rows, of which the positives are few.
    drawn = [rng.choice(len(rows), len(rows), p=weight / weight.sum()) for _ in range(_REPEATS)]
    found = []
    for name in X.columns:
        losses = [
            whole
            - quality(sample.assign(**{str(name): sample[name].to_numpy()[other]}).astype(sample.dtypes.to_dict()))
            for other in drawn
        ]
        found.append(Importance(str(name), float(np.mean(losses)), float(min(losses)), float(max(losses))))
    return sorted(found, key=lambda importance: -importance.loss)


def dependence(
    probability_of: Callable[[pd.DataFrame], FloatArray],
    X: pd.DataFrame,
    usual: Mapping[str, Usual],
    columns: Sequence[str],
    *,
    seed: int = 0,
) -> list[Dependence]:
    """Return how the mean probability of some rows depends on each of the given columns.

    Parameters
    ----------
    probability_of : callable
        Takes rows, returns the calibrated probability of each.
    X : DataFrame
        Rows as they occur; at most 300 of them are used.
    usual : mapping of str to Usual
        The usual values of each column.
    columns : sequence of str
        The columns to draw.
    seed : int
        For the choice of rows.
    """
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:_ROWS])
    sample = X.iloc[rows].reset_index(drop=True)
    found = []
    for name in columns:
        values, _ = usual[name].weighted(X[name].dtype)
        tiled = sample.iloc[np.tile(np.arange(len(sample)), len(values))].reset_index(drop=True)
        tiled[name] = values.iloc[np.repeat(np.arange(len(values)), len(sample))].reset_index(drop=True)
        probability = probability_of(tiled).reshape(len(values), -1).mean(axis=1)
        found.append(Dependence(name, list(usual[name].values), [float(p) for p in probability]))
    return found
