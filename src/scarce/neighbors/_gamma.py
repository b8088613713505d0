"""γk-NN: nearest neighbours with the distances to positive rows multiplied by γ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from scarce._messages import fewest_of_a_class
from scarce._sklearn import HasMethods, Interval, StrOptions
from scarce._typing import (
    Calibration,
    Estimator,
    FloatArray,
    IntArray,
    Keywords,
    Label,
    Labels,
    MatrixLike,
    Metric,
    Number,
    Threshold,
)
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import (
    ROUNDING,
    SEARCH,
    additive_power,
    bounded_ratio,
    contrast,
    differences,
    explain_near,
    labels_by_code,
    ratio_effects,
    voters,
)
from scarce.neighbors._search import (
    TINY,
    ClassIndex,
    TransformedIndex,
    best_gammas,
    given_gammas,
    kth_distance_of_some,
    lazy_f_threshold,
    merge_by_class,
    precedence,
    vote_scores,
)
from scarce.objectives import FBeta, Objective

__all__ = ["GammaKNN"]

# A ratio of distances is above or below another for sure if they differ by this share, for scores that are not as good
# as 1, where a share of 1 - score matters.
_SURE, _NEARLY_ONE = 1e-9, 0.999


class GammaKNN(RareEventClassifier):
    """γk-NN: a k-nearest-neighbour vote in which positive rows seem closer than they are.

    The distance from a query to every positive row is multiplied by γ < 1 before the k nearest are taken, which
    widens the region of the rare class. Which γ makes a query positive can be read off two distances: the
    query is positive as long as γ is below the ratio of the distance to its (k-j+1)-th nearest negative to that
    to its j-th nearest positive row, j being the votes that positive needs. That critical γ, brought into
    [0, 1], is the score, so that one neighbour search serves all γ and choosing γ is choosing a threshold.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote.
    gamma : float, dict, "class_ratio" or None, default=None
        The factor; a dict has those of classes by their labels, 1 for others. None chooses the γ in (0, gamma_max] of
        highest F1 on leave-one-out scores, exactly. "class_ratio" is (n_positive / n_negative) ** (1 / n_features), as
        in :class:`ClassWeightedKNN`.
    gamma_max : float, default=1.0
        The largest γ to consider. Above 1 the rare class shrinks, which the paper found to overfit.
    threshold : "default", str, Objective or float, default="default"
        "default" is the threshold that `gamma` stands for. Anything else excludes `gamma`.
    tie : {"positive", "negative"}, default="positive"
        The class that wins where the vote is half and half, or where a positive and a negative row are equally far once
        γ is applied. Two rows at distance 0 are taken for equally near: below γ = 1 the positive one is the nearer.
    metric : str or callable, default="minkowski"
        Any metric of scikit-learn's ``NearestNeighbors``.
    p : float, default=2
        The power of the Minkowski metric.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "ivf"}, default="auto"
        The search engine. All are exact but "ivf", which is for a hundred thousand rows and more: it looks for the
        nearest rows of the largest class in the nearest cells only (an inverted file) and searches the other classes
        exactly. It is for Euclidean distances, and its cells are made by faiss, of ``scarce[ann]``.
    recall : float, default=0.99
        For "ivf", the share of rows whose `n_neighbors`-th distance is to be right. As many cells are looked into as
        that takes on a sample of the training rows; `recall_` is measured on another sample.
    n_jobs : int, default=None
        Threads of a tree search. The brute-force search takes all cores.
    metric_transform : transformer or None, default=None
        A learned metric for the distances to positive rows, such as :class:`~scarce.metric_learning.MLFP`: they are
        measured between the transformed query and row, those to negative rows as they are. A clone is
        fitted on the rows and on 1 for positive and 0 for negative; scikit-learn's ``FrozenEstimator`` keeps one that
        is fitted already. For two classes.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    gamma_ : float or ndarray of shape (n_classes,)
        The γ in use. With more than two classes, that of each class: 1 for the largest.
    index_ : ClassIndex
        The training rows by class.
    recall_ : float
        The share of right distances to the largest class; 1 for exact searches.
    metric_transform_ : transformer
        The fitted transformer, if there is one.

    See Also
    --------
    ClassWeightedKNN : The same vote with the γ of the class sizes.
    scarce.sampling.ResampledGammaKNN : A second γ, for synthetic positives.
    scarce.metric_learning.MLFPKNN : A factor for each feature in place of one γ.

    Notes
    -----
    `sample_weight` is how much a row counts in the choice of γ, not how many copies of it exist.

    With a `metric_transform`, the honest score of a row is that among all other rows, under a metric learned from the
    four fifths of the rows without it. Such a score needs two rows of each class.

    With more than two classes each class but the largest has a γ. They are found by exact coordinate sweeps: one
    γ at a time moves to where the macro-F1 of leave-one-out predictions is highest, until none moves.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, S. Riou, M. Sebban, "An Adjusted Nearest Neighbor Algorithm
    Maximizing the F-Measure from Imbalanced Data", ICTAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import GammaKNN
    >>> X, y = make_classification(1000, weights=[0.95], flip_y=0.02, random_state=0)
    >>> model = GammaKNN().fit(X, y)
    >>> bool(0 < model.gamma_ <= 1)
    True
    >>> model.set_params(threshold="f2").fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), dict, StrOptions({"class_ratio"}), None],
        "gamma_max": [Interval(Real, 0, None, closed="neither")],
        "tie": [StrOptions({"positive", "negative"})],
        **SEARCH,
        "metric_transform": [HasMethods(["fit", "transform"]), None],
    }
    _multi_class = True
    metric_transform: Estimator = None  # for the special cases among the subclasses, which have no such parameter
    _transformed: ClassVar[tuple[int, ...]] = (1,)  # the classes to which metric_transform applies
    _known_scores: FloatArray | None = None  # honest scores, NaN where not known; kept for as long as it learns
    _score_is_ratio = True  # so the share is d⁻ / (d⁻ + γ d⁺)

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        gamma: float | Mapping[Any, float] | str | None = None,
        gamma_max: float = 1.0,
        threshold: Threshold = "default",
        tie: str = "positive",
        metric: Metric = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        recall: float = 0.99,
        n_jobs: int | None = None,
        metric_transform: Estimator = None,
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.gamma_max = gamma_max
        self.threshold = threshold
        self.tie = tie
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.recall = recall
        self.n_jobs = n_jobs
        self.metric_transform = metric_transform
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        if self.gamma is not None and self.threshold != "default":
            both = f"gamma={self.gamma!r} and threshold={self.threshold!r}"
            raise ValueError(f"{both} both fix the threshold. Give one of them.")
        k = voters(self.n_neighbors, len(X))
        plain = ClassIndex(self.metric, self.p, self.algorithm, self.n_jobs, self.recall, k).fit(X, y)
        self.recall_ = plain.recall_
        self.index_: ClassIndex | TransformedIndex = plain
        if self.metric_transform is not None:
            self.metric_transform_ = self._learn_metric(X, y)
            self.index_ = TransformedIndex(plain, self.metric_transform_, self._transformed)
        self._k = k
        if len(self.index_.class_sizes) > 2:
            self._fit_multi_class(X, y, sample_weight)
        elif self.index_.class_sizes[1] < self._positive_order:
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a row needs {self._positive_order} positive neighbours to be "
                f"called positive, and there are {self.index_.class_sizes[1]}, so no row will be predicted positive. "
                "Use a smaller n_neighbors.",
                stacklevel=3,
            )

    @property
    def _plain(self) -> ClassIndex:
        """The search without a learned metric."""
        return self.index_.plain if isinstance(self.index_, TransformedIndex) else self.index_

    @property
    def _positive_order(self) -> int:
        """The number of the k neighbours that must be positive."""
        return self._k // 2 + 1 if self.tie == "negative" else (self._k + 1) // 2

    @property
    def _negative_order(self) -> int:
        """The negative neighbour that must be farther than the deciding positive one."""
        return self._k - self._positive_order + 1

    def _learn_metric(self, X: NDArray, y: IntArray) -> Estimator:
        transform = clone(self.metric_transform)
        if "pos_label" in transform.get_params(deep=False):
            transform.set_params(pos_label=1)
        return transform.fit(X, y)

    def _ratio(self, index: ClassIndex | TransformedIndex, X: NDArray, skip: IntArray | None) -> FloatArray:
        positive = index.kth_distance(X, 1, self._positive_order, skip)
        negative = index.kth_distance(X, 0, self._negative_order, skip)
        return bounded_ratio(negative, positive)

    def _score(self, X: NDArray) -> FloatArray:
        if len(self.classes_) > 2:
            return vote_scores(self._plain, X, self._k, self._gammas, self.tie)
        return self._ratio(self.index_, X, None)

    def predict(self, X: MatrixLike) -> Labels:
        """Return the class of each row."""
        check_is_fitted(self)
        threshold = self.threshold_
        if threshold is None or not 0 < threshold <= _NEARLY_ONE or self.metric_transform is not None:
            return super().predict(X)
        X = self._check_X(X, reset=False)
        positive = self._plain.kth_distance(X, 1, self._positive_order)
        # Which side of γ d⁺ the negative distance is on decides; next to it, the score that rounding gives.
        edge = threshold / (1 - threshold) * positive
        about = edge * (1 - _SURE), edge * (1 + _SURE)
        negative = self._plain.kth_distance(X, 0, self._negative_order, None, *about)
        return labels_by_code(self)[(bounded_ratio(negative, positive) > threshold).astype(np.intp)]

    @property
    def _leaves_one_out(self) -> bool:
        return self.metric_transform is None

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        if len(self.classes_) > 2:
            return vote_scores(self._plain, X[rows], self._k, self._gammas, self.tie, rows)
        if self._known_scores is None:
            return self._ratio(self.index_, X[rows], rows)
        scores = self._known_scores[rows]
        new = rows[np.isnan(scores)]
        scores[np.isnan(scores)] = self._ratio(self.index_, X[new], new)
        return scores

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        if self._leaves_one_out:
            return super()._honest_scores(X, y, sample_weight)
        fewest = fewest_of_a_class(y, f"Choosing γ for {self!r}", "the threshold as a number")
        scores = np.empty(len(y))
        # Folds by contents, not by position: scores must not depend on the order of the rows.
        order = np.lexsort((y, *X.T[::-1]))
        for learn, score in self._folds(fewest).split(order, y[order]):
            rows = order[score]
            learned = self._learn_metric(X[order[learn]], y[order[learn]])
            scores[rows] = self._ratio(TransformedIndex(self._plain, learned, self._transformed), X[rows], rows)
        return scores

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        if self.gamma is not None:
            return self._threshold_of(self._given_gammas[1] / self._given_gammas[0])
        if self.metric_transform is not None or self._splits_are_given or self.algorithm == "ivf":
            honest = self._compute_honest_scores(X, y, sample_weight)
            return FBeta(1).best_threshold(honest, y, sample_weight, between=self._threshold_range).threshold
        return self._best_f(1.0, X, y, sample_weight, self._threshold_range)

    def _best_threshold(
        self, objective: Objective, X: NDArray, y: IntArray, sample_weight: FloatArray | None, **columns: Any
    ) -> float:
        bounded = self._leaves_one_out and not self._splits_are_given and self.algorithm != "ivf"
        if not bounded or type(objective) is not FBeta or any(column is not None for column in columns.values()):
            return super()._best_threshold(objective, X, y, sample_weight, **columns)
        return self._best_f(objective.beta, X, y, sample_weight, (-np.inf, np.inf))

    def _best_f(
        self, beta: float, X: NDArray, y: IntArray, sample_weight: FloatArray | None, between: tuple[float, float]
    ) -> float:
        """Return the threshold of the highest F on leave-one-out scores, most of which are only bounded."""
        positive = self._plain.kth_distance(X, 1, self._positive_order, np.arange(len(X)))
        bound = np.ones(len(X))
        # A search in cells stops early by itself; another one is spared where a bound is enough.
        if additive_power(self.metric, self.p) != 2 or self.algorithm != "auto":
            bound = bounded_ratio(kth_distance_of_some(self._plain, X, y, self._negative_order), positive)

        def scores_from(rows: IntArray, low: float) -> FloatArray:
            scores = bound[rows]
            unsure = scores >= low
            rows, near = rows[unsure], positive[rows[unsure]]
            enough = None if low <= 0 or low > _NEARLY_ONE else low / (1 - low) * near * (1 - _SURE)
            negative = self._plain.kth_distance(X[rows], 0, self._negative_order, rows, enough)
            scores[unsure] = bounded_ratio(negative, near)
            return scores

        threshold, self._known_scores = lazy_f_threshold(scores_from, y, sample_weight, between, beta)
        return threshold

    def _calibrate(self, X: NDArray, y: IntArray, weight: FloatArray | None) -> None:
        try:
            super()._calibrate(X, y, weight)
        finally:
            self.__dict__.pop("_known_scores", None)  # as large as the training rows, and of no use afterwards

    @property
    def _threshold_range(self) -> tuple[float, float]:
        return 0.0, self._threshold_of(self.gamma_max)

    def _threshold_of(self, gamma: Number) -> float:
        """Return the threshold on the score that stands for γ, a little to the side of the loser of ties."""
        threshold = gamma / (1 + gamma)
        return threshold * (1 + ROUNDING) if self.tie == "negative" else threshold * (1 - ROUNDING)

    def _fit_multi_class(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        if self.gamma is not None:
            self._gammas = self._given_gammas
            return
        splits = None if self._metadata.groups is None else self._splits_to_learn(y)
        self._gammas = best_gammas(self._plain, X, y, self._k, self.gamma_max, self.tie, sample_weight, splits)

    @property
    def _given_gammas(self) -> FloatArray:
        return given_gammas(self.gamma, labels_by_code(self), self.index_.class_sizes, self.n_features_in_)

    @property
    def gamma_(self) -> Number:
        """The γ in use, one for each class where there are more than two."""
        if not hasattr(self, "threshold_"):
            raise AttributeError("gamma_ is known once the model is fitted.")
        if self.threshold_ is None:
            return self._gammas
        return self.threshold_ / (1 - self.threshold_) if self.threshold_ < 1 else np.inf

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        codes = list(range(len(self.index_.class_sizes)))
        found = [self.index_.kneighbors(X, c, self._k) for c in codes]
        if code is None:
            near = merge_by_class(found, codes, 2 * self._k)
            negative, positive = found[0][1][:, self._negative_order - 1], found[1][1][:, self._positive_order - 1]
            shares = self._shares(X, negative, positive, known["score"])
            return explain_near(self, X, code, near, **shares, **known)
        order = precedence(self.index_.class_sizes, self.tie).tolist()
        scaled = [(np.maximum(found[c][0], TINY) * self.gamma_[c], found[c][1]) for c in order]
        near = merge_by_class(scaled, order, self._k)
        votes = (near.code == code[:, None]) / self._k
        near = near._replace(distance=near.distance / self.gamma_[near.code])
        return explain_near(self, X, code, near, votes, effects=contrast(self, X, code, self.gamma_), **known)

    def _shares(self, X: NDArray, negative: IntArray, positive: IntArray, score: FloatArray) -> Keywords:
        """Return the effects of the features, given the rows that decided; nothing where these cannot be known."""
        power = additive_power(self.metric, self.p)
        if power is None:
            return {}
        found = ((1, positive), (0, negative))
        parts = [self._parts(code, differences(self.index_, X, rows), power) for code, rows in found]
        return {} if parts[0] is None or parts[1] is None else ratio_effects(score, parts[0], parts[1], power)

    def _parts(self, code: int, difference: FloatArray, power: int) -> FloatArray | None:
        """Return the part of each feature in powers of distances; None where a transform leaves no features to name."""
        hidden = self.metric_transform is not None and code in self._transformed
        return None if hidden else np.abs(difference) ** power

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(1, gamma=0.5)
        yield cls(4, gamma="class_ratio", tie="negative", algorithm="kd_tree")
        yield cls(2, gamma_max=2.0, metric="manhattan")
        yield cls(metric_transform=StandardScaler())

    def _check_multi_class(self, y: NDArray[Any]) -> None:
        if self._multi_class and self.metric_transform is not None:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__} with a metric_transform. The type "
                f"of the target is {type_of_target(y)}. Leave metric_transform out for more classes."
            )
        super()._check_multi_class(y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class and self.metric_transform is None
        return tags
