"""The rows to compare methods on, and the fit of a method on some of them."""

from __future__ import annotations

from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from scarce._typing import FloatArray, IntArray, Keywords

from .settings import ObjectiveName

__all__ = ["DECIDING", "Task", "learnable", "sample_of_negatives"]

DECIDING: dict[ObjectiveName, str] = {
    "ap": "ap",
    "f1": "f1",
    "gmean": "gmean",
    "budget": "precision",
    "profit": "profit",
}


@dataclass(frozen=True)
class Task:
    """The rows to compare on, and what a good answer is.

    Attributes
    ----------
    X : DataFrame
        The columns to learn from, typed.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    objective : {"ap", "f1", "gmean", "budget", "profit"}
        What chooses the winner.
    amount : ndarray of shape (n_rows,), optional
        The money at stake in each row, 0 or more.
    gains : ndarray of shape (n_rows, 4), optional
        What each outcome (tp, fp, tn, fn) of a row earns.
    groups : ndarray of shape (n_rows,), optional
        The number of the card or customer of each row, of which each is checked once.
    weight : ndarray of shape (n_rows,), optional
        How many rows each tested row stands for.
    sample : int, optional
        The most rows to learn from: all positives, and a weighted sample of the negatives.
    drawn : ndarray of shape (n_rows,), optional
        How many rows each row stands for, where the table itself is a sample.
    left_out : tuple of str
        Figures that would tell nothing.
    seed : int
        Seed of resampling and of samples.
    when_tested : DataFrame, optional
        Some columns of all rows as they are when a row is tested, where they differ from those of a training row:
        the histories of entities, without the outcomes of the rows that are ranked together with it.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    objective: ObjectiveName
    amount: FloatArray | None = None
    gains: FloatArray | None = None
    groups: IntArray | None = None
    weight: FloatArray | None = None
    sample: int | None = None
    drawn: FloatArray | None = None
    left_out: tuple[str, ...] = ()
    seed: int = 0
    when_tested: pd.DataFrame | None = None

    @property
    def deciding(self) -> str:
        """The figure that chooses the winner."""
        return "ap" if DECIDING[self.objective] in self.left_out else DECIDING[self.objective]

    @property
    def figure_names(self) -> list[str]:
        """The figures that are measured."""
        names = ["ap", "f1", *(["gmean"] if self.objective == "gmean" else []), "precision", "recall"]
        names += ["money"] if self.amount is not None else []
        names += ["profit"] if self.objective == "profit" else []
        return [name for name in names if name not in self.left_out]

    def weights(self, rows: IntArray) -> FloatArray:
        """Return how many rows each of some rows stands for."""
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]

    def rows_to_test(self, rows: IntArray, X: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return some rows of `X`, or of a frame of the same rows, as they are when they are tested."""
        chosen = (self.X if X is None else X).iloc[rows]
        if self.when_tested is None:
            return chosen
        return chosen.assign(**{str(name): self.when_tested[name].iloc[rows] for name in self.when_tested})

    def fit(self, model: Pipeline, rows: IntArray | slice = slice(None)) -> Pipeline:
        """Fit a candidate's pipeline on some of the rows."""
        chosen = np.arange(len(self.y))[rows]
        chosen, weight = self.training_rows(chosen)
        params: Keywords = {}
        if self.objective == "profit" and self.gains is not None:
            params["method__gains"] = learnable(self.gains[chosen])
        if weight is not None:
            params["method__sample_weight"] = weight
        # Forests grow in parallel but score in one thread: threads add up the trees' votes in any order, and the last
        # bit of a sum decides who comes first among equals.
        # One thread for linear algebra, since more of them only wait for each other on matrices this narrow.
        with joblib.parallel_config("threading", n_jobs=-1), threadpool_limits(1, user_api="blas"):
            return clone(model).fit(self.X.iloc[chosen], self.y[chosen], **params)

    def training_rows(self, rows: IntArray) -> tuple[IntArray, FloatArray | None]:
        """Return the rows to learn from, and how many rows each stands for, if they are a sample."""
        if self.drawn is not None:
            return rows, self.drawn[rows]
        if self.sample is None or len(rows) <= self.sample:
            return rows, None
        return sample_of_negatives(rows, self.y[rows], self.sample, self.seed)


def sample_of_negatives(rows: IntArray, y: IntArray, size: int, seed: int) -> tuple[IntArray, FloatArray]:
    """Return all positive rows and so many negative ones, `size` in all but no fewer than the positives, and weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.audit.task import sample_of_negatives
    >>> rows, weight = sample_of_negatives(np.arange(10), np.array([1, 1] + [0] * 8), 6, seed=0)
    >>> len(rows), float(weight.sum())
    (6, 10.0)
    """
    positive, negative = rows[y == 1], rows[y != 1]
    wanted = min(len(negative), max(size - len(positive), len(positive)))
    drawn = np.random.default_rng(seed).choice(negative, wanted, replace=False)
    chosen = np.concatenate((positive, drawn))
    weight = np.concatenate((np.ones(len(positive)), np.full(wanted, len(negative) / max(wanted, 1))))
    order = np.argsort(chosen, kind="stable")
    return chosen[order], weight[order]


def learnable(gains: FloatArray) -> FloatArray:
    """Return gains without the rows in which no right decision pays, such as those without an amount."""
    tp, fp, tn, fn = gains.T
    return np.where((tn - fp + tp - fn > 0)[:, None], gains, 0.0)
