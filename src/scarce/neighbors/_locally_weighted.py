"""The nearest neighbour with one learned weight for each training row, for a high g-mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from scarce._typing import Calibration, FloatArray, IntArray, Keywords, Label, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import differences, explain_near
from scarce.neighbors._search import ClassIndex, Listed, Neighbors, list_classes, nearest_by_class, search_classes

__all__ = ["LocallyWeightedNN"]


_STEEPNESS = 10.0
_STEP = 0.1
_SMALLEST_STEP = 1e-4
_ITERATIONS = 200
_LARGEST_LOG_WEIGHT = 3.0
_LARGEST_LOG_RATIO = np.log(1e3)
# How many nearest rows of each class are listed, once for all steps. Fewer were measured to cost time, as did more.
_LISTED = 32


class LocallyWeightedNN(RareEventClassifier):
    """The nearest neighbour under distances with one learned weight for each training row.

    The distance of a query to a training row is multiplied by the weight of the row, and the class of the nearest row
    is the answer. The weights ascend a smooth g-mean of leave-one-out predictions: a row that often is the nearest of
    its own class gets a smaller weight and a larger region, one that stands among the other class a larger weight. It
    is γ of γk-NN with a factor for each row in place of one for the class.

    Parameters
    ----------
    threshold : "default", str, Objective or float, default="default"
        "default" is the class of the nearest row, which is a threshold of 0.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    weights_ : ndarray of shape (n_samples,)
        The weight of each training row, between exp(-3) and exp(3).
    n_iter_ : int
        The steps that were taken.
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    GammaKNN : One factor for all positive rows.
    InformativeKNN : With ``mode="global"``, factors by how often a row misleads.

    Notes
    -----
    The formulas of the paper could not be had; these follow its abstract and the learning of prototypes by Paredes
    and Vidal, and are our reading. For a training row, r is the weighted distance to the nearest row of the other
    class, over that to the nearest other row of its own; σ(r) = 1 / (1 + exp(10 (1 - r))) stands for a right
    prediction, and J is the geometric mean of the averages of σ over both classes. A step adds 0.1 times the gradient
    of n J to the logarithms of the weights, n being the number of rows, for without it the step would vanish with
    many rows. Steps that do not raise J are halved, and there are at most 200. The weights of the highest g-mean of
    leave-one-out predictions on the way are kept, the earliest of equal ones: so without a gain they stay at 1. Every
    nearest row is found exactly.

    The score is the logarithm of the weighted distance to the nearest negative row over that to the nearest positive
    one. Of two rows at the query itself the one of smaller weight is the nearer, and a tie is negative.

    Honest scores come from stratified cross-fitting, 5 folds: a row also shapes the weights of others, by up to 200
    steps, and to leave out one at a time would take an ascent for each. `sample_weight` is how much a row counts in the
    g-mean that is ascended, and in objectives.

    References
    ----------
    Z. Hajizadeh, M. Taheri, M. Z. Jahromi, "Nearest Neighbor Classification with Locally Weighted Distance for
    Imbalanced Data", International Journal of Computer and Communication Engineering 3(2), 2014.

    R. Paredes, E. Vidal, "Learning Weighted Metrics to Minimize Nearest-Neighbor Classification Error", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 28(7), 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import LocallyWeightedNN
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> model = LocallyWeightedNN().fit(X, y)
    >>> bool((model.weights_[y == 1] < 0.9).any())  # regions of positive rows that have grown
    True
    """

    _largest_value = 1e150  # it takes squares

    def __init__(
        self, *, threshold: Threshold = "default", calibration: Calibration = "auto", pos_label: Label = None
    ) -> None:
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex().fit(X, y)
        self.weights_, self.n_iter_ = _learn_weights(self.index_, X, y, _shares(y, sample_weight))

    def _score(self, X: NDArray) -> FloatArray:
        distance = nearest_by_class(self.index_, X, 1, self.weights_)[0]
        return np.log(distance[:, 0, 0]) - np.log(distance[:, 1, 0])

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        number = nearest_by_class(self.index_, X, 1, self.weights_)[1][:, :, 0]
        parts = [differences(self.index_, X, rows) ** 2 for rows in number.T]
        plain = np.sqrt(np.stack([part.sum(axis=1) for part in parts], axis=1))
        near = Neighbors(plain, number, np.broadcast_to([0, 1], number.shape))
        negative, positive = (self.weights_[rows, None] ** 2 * part for rows, part in zip(number.T, parts, strict=True))
        return explain_near(self, X, code, near, **_log_ratio_effects(known["score"], positive, negative), **known)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()


def _log_ratio_effects(score: FloatArray, to_positive: FloatArray, to_negative: FloatArray) -> Keywords:
    """Share log(d⁻ / d⁺) out to the features in proportion to their parts in d⁻² - d⁺².

    Where both distances are 0 the weights of the two rows make the score, and the base value is the score.
    """
    gap, total = (to_negative - to_positive).sum(axis=1), (to_negative + to_positive).sum(axis=1)
    usable = np.isfinite(total) & (total > 0)
    # Where the two are all but equal, log(d⁻ / d⁺) is (d⁻² - d⁺²) / (d⁻² + d⁺²).
    differ = usable & (np.abs(gap) > 1e-9 * total)
    size = np.divide(score, gap, out=np.divide(1.0, total, out=np.zeros(len(gap)), where=usable), where=differ)
    effects = np.where(usable[:, None], to_negative - to_positive, 0.0) * size[:, None]
    return {"effects": effects, "base_value": np.where(usable, 0.0, score), "additive": True}


def _shares(y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
    """Return the share of each row in the mean over its class."""
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    total = np.bincount(y, weights=weight)
    if (total == 0).any():
        raise ValueError("LocallyWeightedNN needs rows of a sample_weight above 0 in each class.")
    return weight / total[y]


class _State(NamedTuple):
    """The smooth g-mean of some weights, its gradient, and the g-mean of predictions."""

    smooth: float
    gradient: FloatArray
    hard: float


def _learn_weights(index: ClassIndex, X: NDArray, y: IntArray, share: FloatArray) -> tuple[FloatArray, int]:
    """Ascend the smooth g-mean, and return the weights of the best g-mean on the way and the number of steps."""
    listed = list_classes(index, X, _LISTED, np.arange(len(X)))
    log_weight = np.zeros(len(X))
    state = _evaluate(X, y, share, listed, log_weight)
    best, kept = state.hard, log_weight
    step, n_iter = _STEP, 0
    while n_iter < _ITERATIONS and step >= _SMALLEST_STEP and state.gradient.any():
        move = step * len(X) * state.gradient
        tried = np.clip(log_weight + move, -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)
        new = _evaluate(X, y, share, listed, tried)
        if new.smooth <= state.smooth:
            step /= 2
            continue
        log_weight, state = tried, new
        n_iter += 1
        if state.hard > best:
            best, kept = state.hard, log_weight
    return np.exp(kept), n_iter


def _evaluate(X: NDArray, y: IntArray, share: FloatArray, listed: list[Listed], log_weight: FloatArray) -> _State:
    found = search_classes(X, listed, np.exp(log_weight), 1)
    distance, number = (part[:, :, 0] for part in found)
    rows = np.arange(len(y))
    # A row alone in its class has no other of its own: infinitely far, and right under no weights.
    log_ratio = np.log(distance[rows, 1 - y]) - np.log(distance[rows, y])
    ratio = np.exp(np.clip(log_ratio, -_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO))
    right = expit(_STEEPNESS * (ratio - 1))
    means = np.bincount(y, weights=share * right)
    smooth = float(np.sqrt(means.prod()))
    pull = smooth / 2 * share / means[y] * _STEEPNESS * right * (1 - right) * ratio
    gradient = np.zeros(len(y))
    for side, sign in ((1 - y, 1.0), (y, -1.0)):
        row = number[rows, side]
        there = row >= 0
        gradient += sign * np.bincount(row[there], weights=pull[there], minlength=len(y))
    called = distance[:, 0] > distance[:, 1]
    hits = np.bincount(y, weights=share * (called == (y == 1)))
    return _State(smooth, gradient, float(np.sqrt(hits.prod())))
