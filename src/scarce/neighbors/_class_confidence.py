"""CCW k-NN: each neighbour votes with its density in its own class."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.utils import gen_batches

from scarce._messages import fewest_of_a_class
from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Label, Number, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import contrast, explain_near, voters
from scarce.neighbors._class_densities import ClassDensities
from scarce.neighbors._search import TINY, ClassIndex, Neighbors, merge_by_number, nearest_by_class

__all__ = ["ClassConfidenceKNN"]


# Rows that are taken away at once, so that memory does not grow with the table.
_ROWS_AT_ONCE = 2048


class ClassConfidenceKNN(RareEventClassifier):
    """CCW k-NN: each of the nearest neighbours votes with its density in its own class.

    A neighbour x_i votes for its class with the weight p(x_i | class of x_i), and the class of the larger sum wins. A
    density within a class does not depend on how large the class is, so a row in the midst of a rare class counts as
    much as one in the midst of a common class.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours vote. The paper's choice could not be confirmed.
    weights : {"uniform", "distance"}, default="uniform"
        "distance" divides each vote by the distance. Where a neighbour is at distance 0, only such neighbours vote.
    temper : bool, default=False
        Take the n_features-th root of the densities. With many features densities differ by orders of magnitude, and
        one neighbour decides alone.
    threshold : "default", str, Objective or float, default="default"
        "default" is the vote, which is a threshold of 0.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    log_weights_ : ndarray of shape (n_samples,)
        The logarithm of the weight of each training row, less the largest of all.
    n_components_ : list of int
        The components of the mixture of each class, the positive one last; 0 where the class is too small for one.
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    CCNND : Distances compared with those within each class.
    NWKNN : Votes by similarity and by the size of the class.

    Notes
    -----
    Built after the description in Zhu et al. (Knowledge-Based Systems, 2015) and the abstract. Open there, and decided
    here: the number of components, their covariances, and small classes, as above; the default number of neighbours.

    The density of a class is a mixture of up to three Gaussians with diagonal covariances, fitted by EM to the
    features divided by their standard deviations. The number of components is that of the lowest BIC, with at least
    five rows for each. A class of fewer than five rows has one round Gaussian of the pooled variance within classes.
    All features are taken for numbers; for categorical ones the paper has Bayesian networks, which are not here.

    The score is the logarithm of the ratio of the two sums; with ``calibration=None``, `predict_proba` is the share of
    the positive class in the vote. A class that none of the neighbours belongs to is given less than the lightest vote
    of all training rows, and the less the farther its nearest row is: this orders rows on whose class the neighbours
    agree, and changes no prediction. A tie is negative.

    Honest scores are leave-one-out: among all other rows, with the density of the row's class as it is without the
    row. Where that is a mixture of several Gaussians, the row is taken out of their means and variances with the part
    that each has in it, instead of another run of EM for each row.
    `sample_weight` counts in objectives only.

    References
    ----------
    W. Liu, S. Chawla, "Class Confidence Weighted kNN Algorithms for Imbalanced Data Sets", PAKDD 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import ClassConfidenceKNN
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> model = ClassConfidenceKNN().fit(X[:300], y[:300])
    >>> float(model.log_weights_.max())
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"uniform", "distance"})],
        "temper": ["boolean"],
    }
    _multi_class = True
    _leaves_one_out = True
    _largest_value = 1e150  # it takes squares

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = "uniform",
        temper: bool = False,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.temper = temper
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._k = voters(self.n_neighbors, len(X))
        self.index_ = ClassIndex().fit(X, y)
        rows = X.astype(np.float64)
        self._densities = ClassDensities().fit(rows, y)
        self.n_components_ = [density.n_components for density in self._densities.classes]
        log_weights = self._log_weights(self._densities.log_density(rows, y))
        # One maximum for all classes: the densities of the classes must stay comparable.
        self._heaviest = float(log_weights.max())
        self.log_weights_ = log_weights - self._heaviest

    def _log_weights(self, log_density: FloatArray) -> FloatArray:
        return log_density / self.n_features_in_ if self.temper else log_density

    def _votes(
        self, near: Neighbors, vote: FloatArray, distance: FloatArray, lightest: Number
    ) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of the votes of the neighbours, by their weights, and of the sums of the classes."""
        last = near.distance[:, -1:]
        if self.weights == "distance":
            on_it = near.distance == 0
            # Distances relative to the last neighbour's: a vote is then never lighter than the row's weight.
            nearness = np.log(np.maximum(last, TINY)) - np.log(np.maximum(near.distance, TINY))
            vote = vote + np.where(on_it.any(axis=1, keepdims=True), np.where(on_it, 0.0, -np.inf), nearness)
        codes = np.arange(distance.shape[1])
        sums = logsumexp(np.where(near.code[:, :, None] == codes, vote[:, :, None], -np.inf), axis=1)
        nearest = distance[:, :, 0]
        floor = lightest - nearest / (nearest + last)
        return vote, np.where(np.isneginf(sums), floor, sums)

    def _votes_at(self, X: NDArray) -> tuple[Neighbors, FloatArray, FloatArray]:
        distance, number = nearest_by_class(self.index_, X, self._k)
        near = merge_by_number(distance, number)
        return near, *self._votes(near, self.log_weights_[near.number], distance, self.log_weights_.min())

    def _score(self, X: NDArray) -> FloatArray:
        return self._compare(self._votes_at(X)[2])

    def _compare(self, sums: FloatArray) -> FloatArray:
        return softmax(sums, axis=1) if sums.shape[1] > 2 else sums[:, 1] - sums[:, 0]

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        fewest_of_a_class(y, f"Choosing a threshold for {self!r}", "the threshold as a number")
        scores = np.empty(len(rows) if len(self.classes_) == 2 else (len(rows), len(self.classes_)))
        first, second = np.argpartition(self.log_weights_, 1)[:2]
        scaled = self._densities.scale(X.astype(np.float64))
        for part in gen_batches(len(rows), _ROWS_AT_ONCE):
            mine = rows[part]
            distance, number = nearest_by_class(self.index_, X[mine], min(self._k, len(X) - 1), skip=mine)
            near = merge_by_number(distance, number)
            weight = self.log_weights_[near.number]
            for code, density in enumerate(self._densities.classes):
                own = np.flatnonzero(y[mine] == code)
                # The other classes do not change when this row is gone.
                without = density.log_density_without(scaled[mine[own]], scaled[near.number[own]])
                without = self._log_weights(without) - self._heaviest
                weight[own] = np.where(near.code[own] == code, without, weight[own])
            lightest = self.log_weights_[np.where(mine == first, second, first)][:, None]
            scores[part] = self._compare(self._votes(near, weight, distance, lightest)[1])
        return scores

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        near, vote, _ = self._votes_at(X)
        share = softmax(vote, axis=1)
        # Votes against the positive class count below 0; with several classes, votes for others do not count.
        signed = np.where(near.code == 1, share, -share) if code is None else share * (near.code == code[:, None])
        return explain_near(self, X, code, near, signed, effects=contrast(self, X, code), **known)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(4, weights="distance")
        yield cls(3, temper=True)
