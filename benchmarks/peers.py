"""The γk-NN that one would write: γ is a parameter, and a grid search finds it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data


class PlainGammaKNN(ClassifierMixin, BaseEstimator):
    """Two neighbour searches, positive distances times γ, the k smallest vote. The positive class is label 1."""

    def __init__(self, n_neighbors: int = 3, gamma: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Self:
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.positive_ = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X[y == 1])
        self.negative_ = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X[y != 1])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        k = self.n_neighbors
        positive = self.gamma * self.positive_.kneighbors(X)[0]
        negative = self.negative_.kneighbors(X)[0]
        # Positives come first and the sort is stable, so they win ties.
        nearest = np.argsort(np.hstack((positive, negative)), axis=1, kind="stable")[:, :k]
        votes = (nearest < k).sum(axis=1)
        return self.classes_[(2 * votes >= k).astype(int)]


class ArrayGammaKNN(ClassifierMixin, BaseEstimator):
    """The same rule on arrays: all distances at once, those to positives times γ, the k smallest vote."""

    def __init__(self, n_neighbors: int = 3, gamma: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Self:
        self.X_, self.y_ = validate_data(self, X, y)
        self.classes_ = np.unique(self.y_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        k = self.n_neighbors
        distance = cdist(X, self.X_) * np.where(self.y_ == 1, self.gamma, 1.0)
        nearest = np.argpartition(distance, k, axis=1)[:, :k]
        votes = (self.y_[nearest] == 1).sum(axis=1)
        return self.classes_[(2 * votes >= k).astype(int)]
