"""The k nearest rows vote, each with a weight."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval, StrOptions
from scarce.base import RareEventClassifier
from scarce.neighbors._gamma import GammaKNN
from scarce.neighbors._index import ClassIndex
from scarce.neighbors._multiclass import precedence
from scarce.objectives import Objective

__all__ = ["NWKNN", "DistanceWeightedKNN"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Sums and distances this close, relative to their size, are taken for equal: a tie must not hang on the last bit.
ROUNDING = 4 * np.finfo(np.float64).eps
# A distance below this is taken for 0, so that its reciprocal and sums of reciprocals are finite.
_ZERO = 1e-300


class Neighbors(NamedTuple):
    """The k nearest rows of each query, ascending; where there are fewer, the rest is infinite and numbered -1."""

    distance: FloatArray
    code: IntArray
    row: IntArray


class Vote(RareEventClassifier):
    """What the votes share: the index, leave-one-out by class, explanations."""

    n_neighbors: int
    n_jobs: int | None
    index_: ClassIndex

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    @abstractmethod
    def _rate(self, X: NDArray, skip: IntArray | None, sizes: IntArray) -> FloatArray:
        """Score rows, each without the training row `skip`, in a table with so many rows of each class."""

    @abstractmethod
    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        """Return how much each neighbour's vote counts; 0 where there is none."""

    def _new_index(self) -> ClassIndex:
        return ClassIndex(n_jobs=self.n_jobs)

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = self._new_index().fit(X, y)
        if len(X) < self.n_neighbors:
            warnings.warn(f"n_neighbors={self.n_neighbors} is more than the {len(X)} training rows.", stacklevel=3)

    def _score(self, X: NDArray) -> FloatArray:
        return self._rate(X, None, self.index_.class_sizes)

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        out = np.empty(len(X))
        for code in (0, 1):
            rows = np.flatnonzero(y == code)
            out[rows] = self._rate(X[rows], rows, one_fewer(self.index_.class_sizes, code))
        return out

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    def _nearest(self, X: NDArray, skip: IntArray | None = None) -> Neighbors:
        sizes = self.index_.class_sizes
        k = min(self.n_neighbors, int(sizes.sum()))
        order = [1, 0] if len(sizes) == 2 else precedence(sizes, "positive").tolist()
        return merge([self.index_.kneighbors(X, code, k, skip) for code in order], order, k)

    def _class_sums(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        votes = self._votes(found, sizes)
        return np.stack([np.where(found.code == code, votes, 0.0).sum(axis=1) for code in range(len(sizes))], axis=1)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """Return for each row who voted.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
                With more than two classes a list, one for each class.
            neighbors : list of {"row", "distance", "label", "vote"}
                The training rows that voted, by their number in `X` of `fit`, the nearest first, and how much the
                vote counted.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        score, found = self._score(X), self._nearest(X)
        votes = self._votes(found, self.index_.class_sizes)
        labels = labels_by_code(self)
        return [
            {
                "score": score[i].tolist(),
                "neighbors": [
                    {"row": int(row), "distance": float(distance), "label": labels[code], "vote": float(vote)}
                    for distance, code, row, vote in zip(*(part[i] for part in found), votes[i], strict=True)
                    if vote > 0
                ],
            }
            for i in range(len(X))
        ]


def merge(found: list[tuple[FloatArray, IntArray]], codes: list[int], k: int) -> Neighbors:
    """Return the k nearest of what was found in each class; of equal distances that of the earlier class is first."""
    distance, row = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
    code = np.repeat(codes, [part.shape[1] for part, _ in found])
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return Neighbors(
        np.take_along_axis(distance, nearest, axis=1), code[nearest], np.take_along_axis(row, nearest, axis=1)
    )


def labels_by_code(model: RareEventClassifier) -> list[Any]:
    """Return the label of each class code as plain data."""
    labels: list[Any] = model.classes_.tolist()
    return labels[::-1] if len(labels) == 2 and model.pos_label_ == model.classes_[0] else labels


def one_fewer(sizes: IntArray, code: int) -> IntArray:
    """Return the class sizes once a row of a class is left out."""
    return sizes - (np.arange(len(sizes)) == code)


def margin(sums: FloatArray) -> FloatArray:
    """Return the positive less the negative sum, 0 where they differ by rounding only."""
    difference = sums[:, 1] - sums[:, 0]
    return np.where(np.abs(difference) <= ROUNDING * sums.sum(axis=1), 0.0, difference)


class DistanceWeightedKNN(Vote):
    """wk-NN: the k nearest rows vote, nearer ones with more weight.

    A row is positive if the weights of its positive neighbours sum to more than those of the negative ones. The
    score is the difference s of the two sums. Reciprocal weights have no upper limit, so there the score is s divided
    by 1 plus its absolute value, in [-1, 1].

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote.
    weights : {"inverse", "dudani"}, default="inverse"
        "inverse" is 1 / d. Where neighbours are at distance 0, only they vote, with a weight of 1 each.
        "dudani" is (d_k - d) / (d_k - d_1), with the distances d_1 and d_k of the nearest and the k-th nearest row;
        it is 1 if those are equal. The k-th neighbour has no say, so that k = 2 is the nearest neighbour alone.
    metric, p, algorithm, n_jobs
        As in :class:`GammaKNN`.
    threshold : "default", str, Objective or float, default="default"
        Where to cut the score; "default" is 0.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    index_ : ClassIndex
        The training rows by class.

    Notes
    -----
    Of rows at the same distance that of the rarer class is taken first, so nothing depends on the order of the rows.
    `sample_weight` counts in the objective only. With more than two classes the scores are the shares of the
    classes in the sum of all weights.

    The γk-NN paper calls the reciprocal weight by the name of Dudani, who proposed it as an alternative; his own is
    the other one.

    References
    ----------
    S. A. Dudani, "The Distance-Weighted k-Nearest-Neighbor Rule", IEEE Transactions on Systems, Man, and Cybernetics
    6(4), 1976.

    Examples
    --------
    >>> from scarce.neighbors import DistanceWeightedKNN
    >>> model = DistanceWeightedKNN(3).fit([[0], [2], [3], [9]], [1, 0, 0, 0])
    >>> model.predict([[0.5], [1.5]])  # 1/0.5 against 1/1.5 + 1/2.5; 1/1.5 against 1/0.5 + 1/1.5
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Vote._parameter_constraints,
        "weights": [StrOptions({"inverse", "dudani"})],
        **{name: GammaKNN._parameter_constraints[name] for name in ("metric", "p", "algorithm")},
    }
    _multi_class = True

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        weights: str = "inverse",
        metric: Any = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label

    def _new_index(self) -> ClassIndex:
        return ClassIndex(self.metric, self.p, self.algorithm, self.n_jobs)

    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        distance, there = found.distance, found.row >= 0
        if self.weights == "dudani":
            last = np.where(there, distance, 0.0).max(axis=1, keepdims=True)
            span = last - distance[:, :1]
            votes = np.divide(last - distance, span, out=np.ones_like(distance), where=there & (span > 0))
            return np.where(there, votes, 0.0)
        here = distance <= _ZERO
        return np.where(here.any(axis=1, keepdims=True), here, 1 / np.maximum(distance, _ZERO))

    def _rate(self, X: NDArray, skip: IntArray | None, sizes: IntArray) -> FloatArray:
        found = self._nearest(X, skip)
        sums = self._class_sums(found, sizes)
        if len(sizes) > 2:
            return sums / sums.sum(axis=1, keepdims=True)
        score = margin(sums)
        if self.weights == "dudani":
            return score
        return np.where(found.distance[:, 0] <= _ZERO, np.sign(score), score / (1 + np.abs(score)))

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(5, weights="dudani")
        yield cls(4, metric="manhattan", algorithm="kd_tree")


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
        Where to cut the score; "default" is 0.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class, in the order of `classes_`.
    index_ : ClassIndex
        The training rows by class; rows of length 1 for the cosine.

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
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.c = c
        self.similarity = similarity
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        X = super()._check_X(X, reset=reset)
        if self.similarity != "cosine":
            return X
        # On the unit sphere d² = 2 - 2 cos. Rows of zeros have a direction of their own, at right angles to all.
        return np.column_stack((normalize(X), ~X.any(axis=1)))

    def _weights(self, sizes: IntArray) -> FloatArray:
        return (sizes[sizes > 0].min() / np.maximum(sizes, 1)) ** (1 / self.c)

    @property
    def class_weight_(self) -> FloatArray:
        """The weight of each class, in the order of `classes_`."""
        weights = self._weights(self.index_.class_sizes)
        return weights[::-1] if self.pos_label_ == self.classes_[0] else weights

    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        there = found.row >= 0
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
