"""NWKNN: neighbours vote by their similarity, those of large classes with less weight."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Label, Threshold
from scarce.neighbors._base import contrast
from scarce.neighbors._search import Neighbors
from scarce.neighbors._vote import Vote, margin

__all__ = ["NWKNN"]


class NWKNN(Vote):
    """Neighbour-weighted k-NN: neighbours vote by their similarity, those of large classes with less weight.

    The score of a class is the sum of the similarities of its rows among the k nearest, times
    (n_smallest / n_class) ** (1 / c); the largest wins. For two classes the score is that of the positive class less
    that of the negative.

    Parameters
    ----------
    n_neighbors : int, default=8
        How many neighbours vote. If none of them is of the rare class, no weight helps it.
    c : float, default=2.5
        How little the class sizes count: at 1 they are fully made up for, and large values approach an unweighted
        vote.
    similarity : {"inverse", "cosine", "rbf"}, default="inverse"
        "inverse" is 1 / (1 + d) of the Euclidean distance d. "rbf" is exp(-(d / d_k)² / 2), with the distance d_k
        of the k-th neighbour for a scale. "cosine" is the cosine of the angle between two rows, 0 where it
        is negative, and the neighbours are those of largest cosine, as for texts; a row of zeros is similar only to
        other rows of zeros.
    n_jobs : int, default=None
        As in :class:`GammaKNN`.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is 0.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class, in the order of `classes_`.
    index_ : ClassIndex
        The training rows by class; rows of length 1 for the cosine.

    See Also
    --------
    DistanceWeightedKNN : Weights by the distance alone.
    ClassConfidenceKNN : Weights by the density within the class.

    Notes
    -----
    The method was made for texts and their cosine, and the paper that this library follows leaves the
    similarity of other tables open: "inverse" and "rbf" are choices. Of rows at the same distance that of the
    rarer class is taken first. `sample_weight` counts in the objective only.

    References
    ----------
    S. Tan, "Neighbor-weighted K-nearest neighbor for unbalanced text corpus", Expert Systems with Applications
    28(4), 2005.

    Examples
    --------
    >>> from scarce.neighbors import NWKNN
    >>> model = NWKNN(3, c=1).fit([[0], [1], [2], [7], [8], [9]], [1, 0, 0, 0, 0, 0])
    >>> model.class_weight_
    array([0.2, 1. ])
    >>> model.predict([[1], [8]])
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Vote._parameter_constraints,
        "c": [Interval(Real, 1, None, closed="left")],
        "similarity": [StrOptions({"inverse", "cosine", "rbf"})],
    }
    _multi_class = True

    def __init__(
        self,
        n_neighbors: int = 8,
        *,
        c: float = 2.5,
        similarity: str = "inverse",
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.c = c
        self.similarity = similarity
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _directions(self, X: NDArray) -> NDArray:
        """Return the rows as they are searched."""
        if self.similarity != "cosine":
            return X
        # On the unit sphere d² = 2 - 2 cos. Rows of zeros have a direction of their own, at right angles to all.
        return np.column_stack((normalize(X), ~X.any(axis=1)))

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        super()._fit(self._directions(X), y, sample_weight)

    def _nearest(self, X: NDArray, skip: IntArray | None = None) -> Neighbors:
        return super()._nearest(self._directions(X), skip)

    def _contrast(self, X: NDArray, code: IntArray | None) -> FloatArray | None:
        effects = contrast(self, self._directions(X), code)
        return None if effects is None else effects[:, : self.n_features_in_]

    def _weights(self, sizes: IntArray) -> FloatArray:
        return (sizes[sizes > 0].min() / np.maximum(sizes, 1)) ** (1 / self.c)

    @property
    def class_weight_(self) -> FloatArray:
        """The weight of each class, in the order of `classes_`."""
        weights = self._weights(self.index_.class_sizes)
        return weights[::-1] if self.pos_label_ == self.classes_[0] else weights

    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        there = found.number >= 0
        distance = np.where(there, found.distance, 0.0)
        if self.similarity == "inverse":
            similarity = 1 / (1 + distance)
        elif self.similarity == "cosine":
            similarity = np.maximum(0.0, 1 - distance**2 / 2)
        else:
            last = distance.max(axis=1, keepdims=True)
            similarity = np.exp(-((distance / np.where(last > 0, last, 1.0)) ** 2) / 2)
        return np.where(there, similarity * self._weights(sizes)[found.code], 0.0)

    def _rate(self, X: NDArray, skip: IntArray | None, sizes: IntArray) -> FloatArray:
        sums = self._class_sums(self._nearest(X, skip), sizes)
        if len(sizes) == 2:
            return margin(sums)
        # All neighbours may be at right angles to the query.
        return np.where(sums.any(axis=1, keepdims=True), sums, 1.0)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(5, c=1, similarity="cosine")
        yield cls(3, similarity="rbf")
