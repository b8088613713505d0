"""The base of the metric learners: a linear map whose factor L-BFGS finds."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from scarce._typing import FloatArray, IntArray, Label, Labels, MatrixLike
from scarce.metric_learning._kernels import nearest_rivals, project
from scarce.neighbors import ClassIndex

Loss = Callable[[FloatArray], tuple[float, FloatArray]]


class LinearMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta):
    """A linear map learned from labelled rows, after which the plain distance is the learned one."""

    components_: FloatArray
    classes_: Labels
    n_iter_: int

    def fit(self, X: MatrixLike, y: Any) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows, with features of like scale.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes; y has only one class, {self.classes_[0]!r}."
            )
        target = self._target(y, code)
        # Class by class, and in an order of their own: the map must not depend on the order of arrival.
        order = np.lexsort((*X.T[::-1], target))
        self.components_, self.n_iter_ = self._learn(np.ascontiguousarray(X[order]), target[order])
        return self

    def _target(self, y: NDArray[Any], code: IntArray) -> IntArray:
        """Return the codes of the classes to learn from."""
        return code

    @abstractmethod
    def _learn(self, X: FloatArray, y: IntArray) -> tuple[FloatArray, int]:
        """Return the map, of shape (n_components, n_features), and the iterations it took."""

    def transform(self, X: MatrixLike) -> FloatArray:
        """Return the rows times the map, of shape (n_samples, n_components)."""
        check_is_fitted(self)
        return project(validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False), self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class RareMetric(LinearMetric):
    """A map for two classes, of which one is the positive."""

    pos_label: Label
    pos_label_: Label

    def _target(self, y: NDArray[Any], code: IntArray) -> IntArray:
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}. The type of the target is "
                f"{type_of_target(y)}. LMNN takes more classes."
            )
        if self.pos_label is not None and self.pos_label not in self.classes_:
            raise ValueError(f"pos_label={self.pos_label!r} is not in y, which has {self.classes_.tolist()}.")
        counts = np.bincount(code)
        rarer = self.classes_[int(counts[1] <= counts[0])]
        self.pos_label_ = rarer if self.pos_label is None else self.pos_label
        return (y == self.pos_label_).astype(np.intp)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Not a classifier, but scikit-learn's checks read here whether more than two classes are allowed.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def neighbours_within(X: FloatArray, y: IntArray, k: int) -> IntArray:
    """Return the k nearest other rows of the own class, padded with -1."""
    index = ClassIndex().fit(X, y)
    out = np.empty((len(X), k), dtype=np.intp)
    for code in range(len(index.class_sizes)):
        mine = np.flatnonzero(y == code)
        out[mine] = index.kneighbors(X[mine], code, k, mine)[1]
    return out


def rivals_within(Z: FloatArray, y: IntArray, reach: FloatArray, k: int) -> IntArray:
    """Return the k nearest rows of other classes within a squared reach, padded with -1; rows stand class by class."""
    # Along the axes of largest spread first, most rows are seen to be out of reach after a few terms.
    spread = Z - Z.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1][:, ::-1]
    return nearest_rivals(spread @ axes, y, reach, k)


def stray(factor: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖LᵀL - I‖² of a factor L and its gradient."""
    beyond = factor.T @ factor - np.eye(factor.shape[1])
    return float(np.sum(beyond**2)), 4 * factor @ beyond


def descend(loss: Loss, start: FloatArray, max_iter: int) -> tuple[FloatArray, float, int]:
    """Return where L-BFGS ends, the loss there, and the number of its iterations."""

    def flat(parameters: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(parameters.reshape(start.shape))
        return value, gradient.ravel()

    # Neighbours have long settled when the loss falls by less: some ten more iterations change its fourth digit.
    options = {"maxiter": max_iter, "ftol": 1e-5, "gtol": 1e-8}
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(start.shape), float(found.fun), int(found.nit)
