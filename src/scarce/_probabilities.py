"""Probabilities: a wrapped classifier's own, the score calibrated on honest scores, or the score squeezed."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from scarce._calibration import Calibrator, fit_calibrator, sample_by_contents
from scarce._honest import HonestScores
from scarce._sklearn import StrOptions
from scarce._typing import FloatArray, IntArray, MatrixLike, Rows

__all__ = ["Probabilities"]

# A curve needs no more rows than these, and rows times table no more than that. Positive rows are few and count more.
_ROWS, _ROWS_TIMES_TABLE, _POSITIVES = 1_500, 30_000_000, 10_000


class Probabilities(HonestScores):
    """The part of the template that turns scores into probabilities."""

    # For the wrappers, which pass probabilities through and have no such parameter.
    calibration: str | None = "auto"
    _curves: tuple[Calibrator, ...] | None = None
    _curves_by_class: bool = False  # of `_class_score`

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"calibration": [StrOptions({"auto", "honest"}), None]}
    # True if scores are a / (a + b) of two quantities at odds, which the threshold weighs against each other.
    _score_is_ratio: ClassVar[bool] = False

    # For a method to implement, where it has probabilities of its own ----------------------------------------

    @property
    def _has_own_probabilities(self) -> bool:
        return False

    def _own_probabilities(self, X: Rows) -> FloatArray:
        """Return the method's own probability of each class, by its code."""
        raise NotImplementedError

    # For users to call ---------------------------------------------------------------------------------------

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return a probability of each class if `calibration` gives one, else the score squeezed into (0, 1).

        A calibrated probability ranks rows as `score_samples` does (but for `APTree` and `ProfitTree`, whose leaves of
        few rows are trusted less), and is right on average: of the rows with a
        probability of 0.1, a tenth is positive. It is not compared with 1/2: `predict` compares the score with
        `threshold_`. A squeezed score is 1/2 at the threshold and is no probability. With more than two classes, each
        class is calibrated against the rest, and the probabilities are divided by their sum.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        if self._has_own_probabilities:
            return self._by_label(self._own_probabilities(X))
        score = np.asarray(self._class_score(X) if self._curves_by_class else self._score(X), dtype=np.float64)
        return self._by_label(self._squeezed(score) if self._curves is None else _by_curves(self._curves, score))

    # How -----------------------------------------------------------------------------------------------------

    def _by_label(self, by_code: FloatArray) -> FloatArray:
        """Return columns in the order of `classes_`: of two classes the positive one has the code 1."""
        return by_code[:, ::-1] if self.pos_label_ is not None and self.pos_label_ == self.classes_[0] else by_code

    def _squeezed(self, score: FloatArray) -> FloatArray:
        if self.threshold_ is None:
            return score / score.sum(axis=1, keepdims=True)
        share = self._positive_share(score)
        share = np.where(score > self.threshold_, np.maximum(share, np.nextafter(0.5, 1)), np.minimum(share, 0.5))
        both = np.column_stack((1 - share, share))
        # On the threshold the first column wins an argmax, which is right only where that is the negative class.
        both[share == 0.5] = np.nextafter(0.5, 1), 0.5
        return both

    def _positive_share(self, score: FloatArray) -> FloatArray:
        """Squeeze scores into [0, 1], with 1/2 at the threshold."""
        if self._score_is_ratio and 0 < self.threshold_ < 1:
            near, far = score * (1 - self.threshold_), self.threshold_ * (1 - score)
            return near / (near + far)
        return expit(score - self.threshold_)

    def _calibrate(self, X: Rows, y: IntArray, weight: FloatArray | None) -> None:
        """Fit the curves of the calibrated probabilities. Called after the threshold is chosen."""
        self._curves, self._curves_by_class = None, False
        if self.calibration is not None and not self._has_own_probabilities:
            scores, y, count = self._scores_for_curves(X, y, weight)
            self._curves_by_class = scores is not None and self._kept_class_scores is not None
            self._curves = self._fit_curves(self._kept_class_scores if self._curves_by_class else scores, y, count)
            self._curves_by_class &= self._curves is not None

    def _scores_for_curves(
        self, X: Rows, y: IntArray, weight: FloatArray | None
    ) -> tuple[FloatArray | None, IntArray, FloatArray]:
        """Return honest scores, or None, with the codes of their rows and how many rows each stands for."""
        count = np.ones(len(y)) if weight is None else weight
        if self._kept_honest_scores is not None:
            return self._kept_honest_scores, y, count
        cheap = not self._splits_are_given and np.bincount(y).min() >= 2
        if cheap and self._leaves_one_out:
            rows, factor = self._some_rows(X, y, count)
            return self._leave_one_out(X, y, rows), y[rows], count[rows] * factor
        if self.calibration == "honest":
            return self._compute_honest_scores(X, y, weight), y, count
        return self._cheap_honest_scores(X, y, weight) if cheap else None, y, count

    def _some_rows(self, X: Rows, y: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return rows of each class, all if they are few, and how many rows each of them stands for."""
        chosen, factors = [], []
        enough = max(_ROWS, _ROWS_TIMES_TABLE // len(y))
        for code, n in enumerate(np.bincount(y)):
            most = max(enough, _POSITIVES) if self.pos_label_ is not None and code == 1 else enough
            chosen.append(sample_by_contents(X, np.flatnonzero(y == code), most, weight))
            factors.append(np.full(len(chosen[-1]), n / len(chosen[-1])))
        return np.concatenate(chosen), np.concatenate(factors)

    def _fit_curves(self, scores: FloatArray | None, y: IntArray, weight: FloatArray) -> tuple[Calibrator, ...] | None:
        if scores is None:
            return None
        columns = scores[:, None] if scores.ndim == 1 else scores
        tested = np.isfinite(columns).all(axis=1)
        if len(np.unique(y[tested])) < len(self.classes_):
            return None
        codes = [1] if scores.ndim == 1 else range(columns.shape[1])
        return tuple(
            fit_calibrator(column[tested], (y[tested] == code).astype(np.intp), weight[tested])
            for code, column in zip(codes, columns.T, strict=True)
        )


def _by_curves(curves: tuple[Calibrator, ...], score: FloatArray) -> FloatArray:
    if score.ndim == 1:
        positive = curves[0](score)
        return np.column_stack((1 - positive, positive))
    each = np.column_stack([curve(column) for curve, column in zip(curves, score.T, strict=True)])
    return each / each.sum(axis=1, keepdims=True)
