"""CCW k-NN: each neighbour votes with its density in its own class."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from scarce._messages import fewest_of_a_class
from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Label, Number, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import contrast, explain_near, voters
from scarce.neighbors._search import TINY, ClassIndex, Neighbors, merge_by_number, nearest_by_class

__all__ = ["ClassConfidenceKNN"]


_MOST_COMPONENTS = 3
_ROWS_PER_COMPONENT = 5
# Added to the variances, as a share of the variance of the feature.
_REGULARISATION = 1e-3


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
    The density of a class is a mixture of up to three Gaussians with diagonal covariances, fitted by EM to the
    features divided by their standard deviations. The number of components is that of the lowest BIC, with at least
    five rows for each. A class of fewer than five rows has one round Gaussian of the pooled variance within classes.
    All features are taken for numbers; for categorical ones the paper has Bayesian networks, which are not here.

    The score is the logarithm of the ratio of the two sums, so that `predict_proba` is the share of the positive class
    in the vote. A class that none of the neighbours belongs to is given less than the lightest vote of all training
    rows, and the less the farther its nearest row is: this orders rows on whose class the neighbours agree, and
    changes no prediction. A tie is negative.

    Honest scores are leave-one-out: those among all other rows, which vote with densities that were learned without
    the row, in 5 folds. Densities without one row at a time would be as many runs of EM as there are rows.
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
        self.log_weights_, self.n_components_ = self._learn(X, y, np.arange(len(X)))

    def _learn(self, X: NDArray, y: IntArray, rows: IntArray) -> tuple[FloatArray, list[int]]:
        """Return the logarithms of the weights of all rows, and the components, as learned from some of the rows."""
        log_density, components = _log_densities(X.astype(np.float64), y, rows)
        if self.temper:
            log_density = log_density / X.shape[1]
        # One maximum for all classes: the densities of the classes must stay comparable.
        return log_density - log_density.max(), components

    def _votes(
        self, distance: FloatArray, number: IntArray, log_weights: FloatArray, lightest: Number
    ) -> tuple[Neighbors, FloatArray, FloatArray]:
        """Return the neighbours, the logarithms of their votes, and those of the sums of the classes."""
        near = merge_by_number(distance, number)
        vote = log_weights[near.number]
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
        return near, vote, np.where(np.isneginf(sums), floor, sums)

    def _votes_at(self, X: NDArray) -> tuple[Neighbors, FloatArray, FloatArray]:
        return self._votes(*nearest_by_class(self.index_, X, self._k), self.log_weights_, self.log_weights_.min())

    def _score(self, X: NDArray) -> FloatArray:
        return self._compare(self._votes_at(X)[2])

    def _compare(self, sums: FloatArray) -> FloatArray:
        return softmax(sums, axis=1) if sums.shape[1] > 2 else sums[:, 1] - sums[:, 0]

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        fewest = fewest_of_a_class(y, f"Choosing a threshold for {self!r}", "the threshold as a number")
        distance, number = nearest_by_class(self.index_, X, min(self._k, len(X) - 1), skip=np.arange(len(X)))
        scores = np.empty(len(y) if len(self.classes_) == 2 else (len(y), len(self.classes_)))
        # Folds by contents, not by position: scores must not depend on the order of the rows.
        order = np.lexsort((y, *X.T[::-1]))
        for learn, score in self._folds(fewest).split(order, y[order]):
            rows = order[score]
            log_weights, _ = self._learn(X, y, np.sort(order[learn]))
            first, second = np.argpartition(log_weights, 1)[:2]
            lightest = log_weights[np.where(rows == first, second, first)][:, None]
            scores[rows] = self._compare(self._votes(distance[rows], number[rows], log_weights, lightest)[2])
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


def _log_densities(X: FloatArray, y: IntArray, rows: IntArray) -> tuple[FloatArray, list[int]]:
    """Return the log-density of each row in its class, and the components of each class, as learned from `rows`."""
    spread = X[rows].std(axis=0)
    X = (X - X[rows].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    learned, known = X[rows], y[rows]
    sizes = np.bincount(known)
    centres = np.array([learned[known == code].mean(axis=0) for code in range(len(sizes))])
    pooled = ((learned - centres[known]) ** 2).sum(axis=0) / max(1, len(rows) - len(sizes))
    variance = float(pooled.mean()) + _REGULARISATION
    log_density = np.empty(len(X))
    components = []
    for code, size in enumerate(sizes):
        mine = y == code
        if size < _ROWS_PER_COMPONENT:
            squares = ((X[mine] - centres[code]) ** 2).sum(axis=1)
            log_density[mine] = -0.5 * (squares / variance + X.shape[1] * np.log(2 * np.pi * variance))
            components.append(0)
        else:
            mixture = _mixture(learned[known == code])
            log_density[mine] = mixture.score_samples(X[mine])
            components.append(mixture.n_components)
    return log_density, components


def _mixture(X: FloatArray) -> GaussianMixture:
    """Return the mixture of lowest BIC."""
    # EM starts from a draw of rows; in this order the draw does not depend on the order in which they came.
    X = X[np.lexsort(X.T)]
    most = min(_MOST_COMPONENTS, len(X) // _ROWS_PER_COMPONENT, len(np.unique(X, axis=0)))
    with warnings.catch_warnings():
        # A mixture on which EM has not settled competes by its BIC as it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = [_with_components(n).fit(X) for n in range(1, most + 1)]
    return min(fitted, key=lambda mixture: mixture.bic(X))


def _with_components(n: int) -> GaussianMixture:
    # Seeds of k-means, not k-means itself, whose threads add up in any order.
    return GaussianMixture(
        n,
        covariance_type="diag",
        reg_covar=_REGULARISATION,
        n_init=3 if n > 1 else 1,
        init_params="k-means++",
        random_state=0,
    )
