"""Rankers of other libraries as methods of a study."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from scarce._typing import Estimator, FloatArray, IntArray

__all__ = ["OneQuery"]


class OneQuery(ClassifierMixin, BaseEstimator):
    """A ranker of queries, such as XGBoost's XGBRanker, with all rows as one query.

    Parameters
    ----------
    estimator : ranker
        Its `fit` takes `group`, the numbers of rows of the queries.
    """

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Learn the order of the rows."""
        self.classes_ = np.unique(y)
        self.estimator_ = clone(self.estimator).fit(X, y, group=[len(y)])
        return self

    def score_samples(self, X: FloatArray) -> FloatArray:
        """Return the score of each row, higher for class 1."""
        return np.asarray(self.estimator_.predict(X), dtype=np.float64)

    def predict(self, X: FloatArray) -> IntArray:
        """Return class 1 for scores above 0; only the order means something."""
        return self.classes_[(self.score_samples(X) > 0).astype(np.intp)]
