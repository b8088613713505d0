"""Probabilities where rows and classes come and go: curves are fitted when they are first needed after a change."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._calibration import Calibrator
from scarce._typing import FloatArray, IntArray, Label, Labels, MatrixLike
from scarce.base import RareEventClassifier

__all__ = ["StreamProbabilities"]


class StreamProbabilities(RareEventClassifier):
    """The part of CCNND that calibrates on the stored rows, whose leave-one-out scores are known.

    They stand for the rows that left the window too, since a window for each class would make the rare one more
    frequent than it is.
    """

    class_count_: Any
    _stored: Any
    _sides: Any
    _came: dict[Label, int]  # the rows of each class, those that left the window included

    def predict(self, X: MatrixLike) -> Labels:
        """Return the class of each row."""
        if len(getattr(self, "classes_", ())) != 1:
            return super().predict(X)
        return np.repeat(self.classes_, len(self._check_X(X, reset=False)))

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return a share for each class; see :meth:`RareEventClassifier.predict_proba`. A class that is alone has 1."""
        if len(getattr(self, "classes_", ())) != 1:
            return super().predict_proba(X)
        return np.ones((len(self._check_X(X, reset=False)), 1))

    @property
    def _curves(self) -> tuple[Calibrator, ...] | None:
        if self._curves_are_due:
            self._calibrate(None, None, None)
        return self._fitted_curves

    @_curves.setter
    def _curves(self, value: tuple[Calibrator, ...] | None) -> None:
        self._fitted_curves, self._curves_are_due = value, False

    def _calibrate(self, X: Any, y: Any, weight: FloatArray | None) -> None:
        if self._splits_are_given:  # in a fit with groups, whose honest scores are of all its rows
            super()._calibrate(X, y, weight)
            return
        code, weight = self._stored.in_order()
        came = np.array([self._came[label] for label in self.classes_.tolist()])
        two = len(self.classes_) == 2
        super()._calibrate(None, self._sides[code] if two else code, weight * (came / self.class_count_)[code])

    def _count(self, change: IntArray) -> None:
        """Add the numbers of new rows of each class."""
        for label, n in zip(self.classes_.tolist(), change.tolist(), strict=True):
            self._came[label] = self._came.get(label, 0) + n
