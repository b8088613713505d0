"""The part of a classifier that a method writes: it learns, scores, and has a threshold of its own."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from scarce._typing import FittedThreshold, FloatArray, IntArray, Label, Labels, MatrixLike, Rows, Threshold

__all__ = ["Method"]


class Method(BaseEstimator, metaclass=ABCMeta):
    """The hooks that a method implements, and the attributes that all parts of the template know.

    See :class:`~scarce.base.RareEventClassifier` for them.
    """

    pos_label: Label
    threshold: Threshold
    classes_: Labels
    pos_label_: Label
    threshold_: FittedThreshold
    n_features_in_: int

    # The largest absolute value whose powers the method can take; features must differ by more than its reciprocal.
    _largest_value: ClassVar[float] = np.inf

    @abstractmethod
    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        """Learn. `y` is 1 for positive rows and 0 for the others, or class codes with more than two classes."""

    @abstractmethod
    def _score(self, X: Rows) -> FloatArray:
        """Score rows, higher for positive; one column for each class with more than two classes."""

    @abstractmethod
    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        """Return the threshold of the method's own rule. Called after `_fit`, with the same arguments."""

    @classmethod
    @abstractmethod
    def _examples(cls) -> Iterator[Self]:
        """Yield the small instances that the common tests run, the default one first."""

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=reset)
        if np.isfinite(self._largest_value):
            self._check_powers(X, fitting=reset)
        return X

    def _check_powers(self, X: NDArray, *, fitting: bool) -> None:
        """Refuse values whose powers overflow or, among training rows, vanish."""
        name, low, high = type(self).__name__, X.min(axis=0), X.max(axis=0)
        largest, spread = float(np.maximum(-low, high).max()), float((high / 2 - low / 2).max())
        if largest > self._largest_value:
            raise ValueError(
                f"{name} multiplies values, and powers of {largest:.1e} overflow; divide the features until they are "
                f"below {self._largest_value:g}."
            )
        if fitting and 0 < spread < 1 / self._largest_value:
            raise ValueError(
                f"{name} multiplies differences, and powers of {spread:.1e} vanish; multiply the features until they "
                f"differ by more than {1 / self._largest_value:g}."
            )

    @property
    def _feature_names(self) -> list[str]:
        return [str(n) for n in getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])]
