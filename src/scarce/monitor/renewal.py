"""Models in use for months, renewed by the calendar, by the advice of the monitor, or never."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from scarce._typing import Estimator, FloatArray, IntArray

from .advice import Known, Score, advise

__all__ = ["Renewed"]

WEEK, MONTH = 7, 28
# Training rows: all positives, and so many negatives.
MOST_NEGATIVES = 5_000
# The monitor asks for no more than this many rows of the training rows.
MOST_OLD = 5_000


class Renewed(BaseEstimator):
    """A classifier in use for weeks.

    The first column of X is the day of each row. The next ones may be codes of what rows share, such as a customer;
    they are not learned from.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` and sample weights.
    when : {"never", "month", "week", "monitor"}
        When it learns again from all rows whose outcome is known: never, every four weeks, every week, or when the
        monitor's advice on the rows since the last time is to renew.
    share : float
        The share of the rows of each day that can be checked.
    delay : int
        The days after which an outcome is known.
    entities : int
        The number of columns of codes.
    random_state : int, optional
        Seed of the sample of negatives.
    """

    def __init__(
        self,
        estimator: Estimator,
        when: Literal["never", "month", "week", "monitor"] = "never",
        share: float = 0.01,
        delay: int = 7,
        entities: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.when = when
        self.share = share
        self.delay = delay
        self.entities = entities
        self.random_state = random_state

    def fit(self, X: FloatArray, y: IntArray) -> Renewed:
        """Learn from the rows before the first week of use."""
        self.classes_ = np.unique(y)
        self.X_, self.y_ = X, y
        self.first_ = self._learn(X, y)
        return self

    def run(self, X: FloatArray, y: IntArray) -> tuple[NDArray[Any], NDArray[Any]]:
        """Use the model week after week; `renewed_` lists the weeks before which it was renewed.

        Returns
        -------
        checked, by_first : ndarray
            1 for the rows within the budget of their day, with renewals and without any.
        """
        everything, truth = np.concatenate([self.X_, X]), np.concatenate([self.y_, y])
        day = X[:, 0]
        start = float(np.floor(day.min()))
        week = ((day - start) // WEEK).astype(np.intp)
        model, learned_until = self.first_, float(self.X_[:, 0].max())
        checked, by_first = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
        self.renewed_: list[int] = []
        for number in range(int(week.max()) + 1):
            now = start + WEEK * number
            known = everything[:, 0] + self.delay <= now
            if number and self._is_time(number, everything, truth, known, learned_until, model):
                model, learned_until = self._learn(everything[known], truth[known]), now - self.delay
                self.renewed_.append(number)
            for today in np.unique(np.floor(day[week == number])):
                rows = np.flatnonzero(np.floor(day) == today)
                budget = round(self.share * len(rows))
                chosen = rows[_best(self._scores(model, X[rows], today))[:budget]]
                checked[chosen] = 1
                by_first[rows[_best(self._probability(self.first_, X[rows]))[:budget]]] = 1
                self._decided(X[chosen], y[chosen], today)
        return checked, by_first

    def _scores(self, model: Estimator, X: FloatArray, today: float) -> FloatArray:
        """Return what the rows of a day are ordered by."""
        return self._probability(model, X)

    def _decided(self, X: FloatArray, y: IntArray, today: float) -> None:
        """Take the verdicts about the rows that were checked on a day."""

    def _features(self, X: FloatArray) -> FloatArray:
        return X[:, 1 + self.entities :]

    def _probability(self, model: Estimator, X: FloatArray) -> FloatArray:
        return np.asarray(model.predict_proba(self._features(X))[:, 1])

    def _learn(self, X: FloatArray, y: IntArray) -> Estimator:
        rows, weight = self._sample(y, MOST_NEGATIVES)
        return clone(self.estimator).fit(self._features(X[rows]), y[rows], sample_weight=weight)

    def _sample(self, y: IntArray, most: int) -> tuple[IntArray, FloatArray]:
        rng = np.random.default_rng(self.random_state)
        negative = np.flatnonzero(y == 0)
        kept = rng.choice(negative, min(most, len(negative)), replace=False)
        rows = np.sort(np.concatenate([np.flatnonzero(y == 1), kept]))
        return rows, np.where(y[rows] == 1, 1.0, len(negative) / max(len(kept), 1))

    def _is_time(
        self,
        number: int,
        everything: FloatArray,
        truth: IntArray,
        known: NDArray[np.bool_],
        learned_until: float,
        model: Estimator,
    ) -> bool:
        if self.when == "month":
            return number % (MONTH // WEEK) == 0
        if self.when != "monitor":
            return self.when == "week"
        new = known & (everything[:, 0] > learned_until)
        old = known & ~new
        parts = [self._known(everything[part], truth[part], model) for part in (old, new)]
        return advise(self._recipe, *parts, share=self.share, seed=self.random_state or 0).action == "renew"

    def _known(self, X: FloatArray, y: IntArray, model: Estimator) -> Known:
        rows, weight = self._sample(y, MOST_OLD)
        probability = self._probability(model, X[rows]) if len(rows) else np.empty(0)
        return Known(pd.DataFrame(self._features(X[rows])), y[rows], weight, np.ones(len(rows)), probability)

    def _recipe(self, rows: Known) -> Score:
        fitted = clone(self.estimator).fit(rows.X.to_numpy(), rows.y, sample_weight=rows.weight)
        return lambda X: fitted.predict_proba(X.to_numpy())[:, 1]


def _best(score: FloatArray) -> IntArray:
    return np.argsort(-score, kind="stable")
