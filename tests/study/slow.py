"""Estimators for the tests of the runner."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Slow(ClassifierMixin, BaseEstimator):
    """Call a row positive if its first column is above the mean of the training rows, after a while."""

    def __init__(self, seconds: float = 0.0, shift: float = 0.0, fail: bool = False) -> None:
        self.seconds = seconds
        self.shift = shift
        self.fail = fail

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        time.sleep(self.seconds)
        if self.fail:
            raise RuntimeError("It was asked to fail.")
        self.classes_ = np.unique(y)
        self.rows_ = len(X)
        self.mean_ = X[:, 0].mean() + self.shift
        return self

    def decision_function(self, X: NDArray[Any]) -> NDArray[Any]:
        return X[:, 0] - self.mean_

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return (self.decision_function(X) > 0).astype(int)
