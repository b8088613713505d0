"""A model in use for months whose desk remembers what was decided, for the study ``profit/renewal``."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from scarce._typing import Estimator, FloatArray, IntArray
from scarce.monitor.renewal import Renewed

from .links import LinkCounts
from .memory import DAYS, START

__all__ = ["RenewedWithMemory"]


class RenewedWithMemory(Renewed):
    """As :class:`~scarce.monitor.renewal.Renewed`, and verdicts of a day move linked rows of the next days.

    Confirmed and cleared rows of the last 14 days that share a code add to the log-odds, with the weights that a desk
    starts with.
    """

    def fit(self, X: FloatArray, y: IntArray) -> RenewedWithMemory:
        """Learn from the rows before the first week of use."""
        super().fit(X, y)
        self.counts_ = LinkCounts(DAYS)
        return self

    def _scores(self, model: Estimator, X: FloatArray, today: float) -> FloatArray:
        self.counts_.advance(today)
        score = np.asarray(logit(np.clip(self._probability(model, X), 1e-9, 1 - 1e-9)))
        for column in range(self.entities):
            codes, of_row = np.unique(X[:, 1 + column], return_inverse=True)
            seen = np.array([self.counts_.of((column, code)) for code in codes.tolist()])
            score += START.correction(seen)[of_row]
        return score

    def _decided(self, X: FloatArray, y: IntArray, today: float) -> None:
        for i, (row, positive) in enumerate(zip(X, y, strict=True)):
            entities = [(column, row[1 + column].item()) for column in range(self.entities)]
            self.counts_.decide((today, i), entities, bool(positive), today)
