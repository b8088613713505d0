"""The protocol of Parambath et al. and of CONE: one part of the training rows to fit on, one to choose by.

Penalties, class weights and thresholds are chosen by F1 on the validation rows, and the model that was chosen there is
kept as it is: it never learns from these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import f1_score
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline

from scarce._typing import BoolArray, Estimator, FloatArray, IntArray, MatrixLike
from scarce.objectives import FBeta
from scarce.tuned import positive_score

__all__ = ["HoldoutChoice", "ValidatedThreshold", "bisected_threshold"]


class HoldoutChoice(ClassifierMixin, BaseEstimator):
    """A grid of parameters, chosen by F1 on validation rows that no model is fitted on, then or later.

    A model with the parameter `validation` is given these rows as a mask, chooses by them what it chooses, and has the
    F1 there as `f_`; any other is fitted on the other rows and judged by its labels.

    Parameters
    ----------
    estimator : Pipeline
        Its last step is the classifier.
    grid : mapping of str to sequence
        Parameters of the pipeline and their values; of equals the first is taken.
    share : float
        The share of the rows to validate on.
    random_state : int
        Which rows these are.
    """

    def __init__(self, estimator: Pipeline, grid: Mapping[str, Sequence[Any]], share: float, random_state: int) -> None:
        self.estimator = estimator
        self.grid = grid
        self.share = share
        self.random_state = random_state

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Fit a model for each point of the grid and keep the one of highest F1 on the validation rows."""
        split = StratifiedShuffleSplit(1, test_size=self.share, random_state=self.random_state)
        [(fit, judge)] = split.split(X, y)
        held_out = np.zeros(len(y), dtype=bool)
        held_out[judge] = True
        self.classes_ = np.unique(y)
        self.f_ = -1.0
        for params in ParameterGrid(self.grid):
            model = clone(self.estimator).set_params(**params)
            name, last = model.steps[-1]
            before = model[:-1].fit(X[fit], y[fit]) if len(model.steps) > 1 else None
            prepared = X if before is None else before.transform(X)
            if "validation" in last.get_params(deep=False):
                last.set_params(validation=held_out).fit(prepared, y)
                f = last.f_
            else:
                last.fit(prepared[fit], y[fit])
                f = f1_score(y[judge], last.predict(prepared[judge]), zero_division=0.0)
            if f > self.f_:
                self.f_, self.best_params_ = float(f), params
                self.best_estimator_ = Pipeline([*([] if before is None else before.steps), (name, last)])
        return self

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the class of each row."""
        return np.asarray(self.best_estimator_.predict(X))

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the score of each row, higher for class 1."""
        return positive_score(self.best_estimator_, X)


class ValidatedThreshold(ClassifierMixin, BaseEstimator):
    """A classifier fitted once, and its threshold, chosen by F1 on validation rows.

    Parameters
    ----------
    estimator : classifier
        Any with `predict_proba` or `decision_function`.
    rule : {"own", "best", "bisection"}, default="best"
        "own": its own threshold; "best": that of the highest F1 (Koyejo et al., 2014); "bisection": found by halving
        the interval of F1 values that it may have, for probabilities (Narasimhan et al., 2015, their second algorithm).
    balanced : bool, default=False
        Give the rows of each class the share of the other one as weight, so that both classes weigh the same.
    validation : ndarray of bool
        True for each row to validate on.
    """

    def __init__(
        self,
        estimator: Estimator,
        rule: str = "best",
        balanced: bool = False,
        validation: BoolArray | None = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.balanced = balanced
        self.validation = validation

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Fit on the rows that are not for validation, and choose the threshold on those that are."""
        assert self.validation is not None
        fit, judge = np.flatnonzero(~self.validation), np.flatnonzero(self.validation)
        self.classes_ = np.unique(y)
        positive = y[fit].mean()
        weight = np.where(y[fit] == 1, 1 - positive, positive) if self.balanced else None
        self.estimator_ = clone(self.estimator).fit(X[fit], y[fit], sample_weight=weight)
        score = positive_score(self.estimator_, X[judge])
        if self.rule == "best":
            self.threshold_ = FBeta(1).best_threshold(score, y[judge]).threshold
        elif self.rule == "bisection":
            self.threshold_ = bisected_threshold(score, y[judge])
        else:
            self.threshold_ = 0.5 if hasattr(self.estimator_, "predict_proba") else 0.0
        self.f_ = float(f1_score(y[judge], score > self.threshold_, zero_division=0.0))
        return self

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the class of each row."""
        return self.classes_[(positive_score(self.estimator_, X) > self.threshold_).astype(np.intp)]

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the score of each row less the threshold."""
        return positive_score(self.estimator_, X) - self.threshold_


def bisected_threshold(probability: FloatArray, y: IntArray, steps: int = 100) -> float:
    """Return the threshold that the bisection of Narasimhan et al. ends at.

    With the loss of an F1 of g a row is called positive if its probability is above g / 2. If these calls have an F1 of
    at least g, a higher one is sought, else a lower one.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.study.holdout import bisected_threshold
    >>> round(bisected_threshold(np.array([0.1, 0.2, 0.6, 0.7]), np.array([0, 0, 1, 1])), 3)
    0.5
    """
    low, high = 0.0, 1.0
    for _ in range(steps):
        g = (low + high) / 2
        if f1_score(y, probability > g / 2, zero_division=0.0) >= g:
            low = g
        else:
            high = g
    return low / 2
