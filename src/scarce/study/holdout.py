"""The protocol of the thesis and of Parambath et al.: one part of the training rows to fit on, one to choose by.

Penalties, class weights and thresholds are chosen on the validation rows, and the model that was chosen there is kept
as it is: it never learns from these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline

from scarce._typing import BoolArray, Estimator, FloatArray, IntArray, MatrixLike
from scarce.objectives import FBeta, Objective, PrecisionAtLeast
from scarce.tuned import positive_score

__all__ = ["HoldoutChoice", "ValidatedThreshold", "VotingForest", "bisected_threshold", "precise_threshold"]

# An objective takes no precision of 0, which any threshold has.
TINY = 1e-12


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


class VotingForest(ClassifierMixin, BaseEstimator):
    """A random forest that calls a row positive if enough trees have a majority of positives in its leaf.

    Parameters
    ----------
    n_estimators, max_depth, random_state
        See scikit-learn's RandomForestClassifier.
    min_votes : int
        The votes that make a row positive.
    """

    def __init__(
        self, n_estimators: int = 24, min_votes: int = 9, max_depth: int | None = None, random_state: int | None = None
    ) -> None:
        self.n_estimators = n_estimators
        self.min_votes = min_votes
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Grow the trees."""
        forest = RandomForestClassifier(self.n_estimators, max_depth=self.max_depth, random_state=self.random_state)
        self.forest_ = forest.fit(X, y)
        self.classes_ = self.forest_.classes_
        return self

    def score_samples(self, X: FloatArray) -> FloatArray:
        """Return the votes of each row."""
        return np.sum([tree.predict(X) for tree in self.forest_.estimators_], axis=0)

    def predict(self, X: FloatArray) -> IntArray:
        """Return the class of each row."""
        return self.classes_[(self.score_samples(X) >= self.min_votes).astype(np.intp)]


class ValidatedThreshold(ClassifierMixin, BaseEstimator):
    """A classifier fitted once, and its threshold, chosen on validation rows.

    Parameters
    ----------
    estimator : classifier
        Any with `predict_proba` or `decision_function`.
    rule : {"own", "best", "bisection"} or Objective, default="best"
        "own": its own threshold; "best": that of the highest F1 (Koyejo et al., 2014); "bisection": found by halving
        the interval of F1 values that it may have, for probabilities (Narasimhan et al., 2015, their second algorithm);
        an objective: the threshold that is best for it.
    reference : classifier, default=None
        Another classifier, fitted on the same rows. The threshold is that of the highest recall among those with at
        least its precision on the validation rows; where none has, the one of highest precision.
    balanced : bool, default=False
        Give the rows of each class the share of the other one as weight, so that both classes weigh the same.
    validation : ndarray of bool
        True for each row to validate on.
    """

    def __init__(
        self,
        estimator: Estimator,
        rule: str | Objective = "best",
        reference: Estimator | None = None,
        balanced: bool = False,
        validation: BoolArray | None = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.reference = reference
        self.balanced = balanced
        self.validation = validation

    def fit(self, X: FloatArray, y: IntArray, gains: FloatArray | None = None) -> Self:
        """Fit on the rows that are not for validation, and choose the threshold on those that are."""
        assert self.validation is not None
        fit, judge = np.flatnonzero(~self.validation), np.flatnonzero(self.validation)
        self.classes_ = np.unique(y)
        positive = y[fit].mean()
        weight = np.where(y[fit] == 1, 1 - positive, positive) if self.balanced else None
        self.estimator_ = clone(self.estimator).fit(X[fit], y[fit], sample_weight=weight)
        score = positive_score(self.estimator_, X[judge])
        if self.reference is not None:
            called = clone(self.reference).fit(X[fit], y[fit]).predict(X[judge]) == 1
            self.threshold_ = precise_threshold(score, y[judge], y[judge][called].mean() if called.any() else 1.0)
        elif self.rule == "best" or isinstance(self.rule, Objective):
            objective = FBeta(1) if isinstance(self.rule, str) else self.rule
            money = None if gains is None else gains[judge]
            self.threshold_ = objective.best_threshold(score, y[judge], gains=money).threshold
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


def precise_threshold(score: FloatArray, y: IntArray, precision: float) -> float:
    """Return the threshold of highest recall with at least a precision, or with the highest one that there is.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.study.holdout import precise_threshold
    >>> score, y = np.array([0.1, 0.2, 0.6, 0.7]), np.array([0, 1, 0, 1])
    >>> [round(precise_threshold(score, y, precision), 2) for precision in (1.0, 0.6)]
    [0.65, 0.15]
    """
    order = np.argsort(-score, kind="stable")
    called = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    best = (np.cumsum(y[order])[called] / (called + 1)).max()
    return PrecisionAtLeast(max(float(min(precision, best)), TINY)).best_threshold(score, y).threshold


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
