"""wk-NN: the k nearest rows vote, nearer ones with more weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Label, Metric, Threshold
from scarce.neighbors._base import SEARCH
from scarce.neighbors._search import Neighbors
from scarce.neighbors._vote import Vote, margin

__all__ = ["DistanceWeightedKNN"]


# A distance below this is taken for 0, so that its reciprocal and sums of reciprocals are finite.
_ZERO = 1e-300


class DistanceWeightedKNN(Vote):
    """wk-NN: the k nearest rows vote, nearer ones with more weight.

    A row is positive if the weights of its positive neighbours sum to more than those of the negative ones. The
    score is the difference s of the two sums. Reciprocal weights have no upper limit, so there the score is s divided
    by 1 plus its absolute value, in [-1, 1].

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote.
    weights : {"inverse", "linear"}, default="inverse"
        "inverse" is 1 / d. Where neighbours are at distance 0, only they vote, with a weight of 1 each.
        "linear" is (d_k - d) / (d_k - d_1), with the distances d_1 and d_k of the nearest and the k-th nearest row;
        it is 1 if those are equal. The k-th neighbour has no vote, so that k = 2 is the nearest neighbour alone.
    metric, p, algorithm, recall, n_jobs
        As in :class:`GammaKNN`.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is 0.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    index_ : ClassIndex
        The training rows by class.
    recall_ : float
        The share of right distances to the largest class; 1 for exact searches.

    See Also
    --------
    NWKNN : Weights by similarity and by the size of the class.
    sklearn.neighbors.KNeighborsClassifier : The vote without honest scores and thresholds.

    Notes
    -----
    Of rows at the same distance that of the rarer class is taken first, so nothing depends on the order of the rows.
    `sample_weight` counts in the objective only. With more than two classes the scores are the shares of the
    classes in the sum of all weights.

    Dudani's rule is ``weights="linear"``. He proposed the reciprocal weight as an alternative, and the γk-NN paper
    gives that one his name.

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
        "weights": [StrOptions({"inverse", "linear"})],
        **SEARCH,
    }
    _multi_class = True

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        weights: str = "inverse",
        metric: Metric = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        recall: float = 0.99,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.recall = recall
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        distance, there = found.distance, found.number >= 0
        if self.weights == "linear":
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
        if self.weights == "linear":
            return score
        return np.where(found.distance[:, 0] <= _ZERO, np.sign(score), score / (1 + np.abs(score)))

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(5, weights="linear")
        yield cls(4, metric="manhattan", algorithm="kd_tree")
