"""Boosting for the average precision: SGBAP."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import Tags, check_random_state

from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Label, MatrixLike, RandomState, Rows, Threshold
from scarce.base import RareEventClassifier
from scarce.boosting._lightgbm import BoostedClassifier
from scarce.boosting._losses import ap_loss, log_ap_loss, sigmoid_ap_gradient
from scarce.explanation import Explanation
from scarce.objectives import FBeta

__all__ = ["APBoosting"]


class APBoosting(BoostedClassifier):
    """Boosted trees that maximise a smooth average precision, as published.

    SGBAP: the average precision is replaced by A = Σ₊ exp(αf) / Σ exp(αf), the share that positive rows have in the
    exponentials of the scores, whose gradient takes linear time. The trees are grown by LightGBM
    (``pip install "scarce[boost]"``).

    It is here to repeat the papers. For a ranking use :class:`~scarce.trees.MetaAPForest`, or LightGBM's own log-loss
    with enough bins, ``lightgbm.LGBMClassifier(max_bin=2047)``: log-loss ranks better with the same trees.

    Parameters
    ----------
    loss : {"log", "linear"}, default="log"
        -log A, with Newton steps under a positive bound of the curvature; or 1 - A itself, with first-order steps,
        since it curves downwards at positive rows.
    alpha : float, default=1.0
        The weight of the top of the ranking.
    variant : {"mean_of_trees"}, optional
        "mean_of_trees", for comparison, repeats the program that Viola et al. call SGBAP: scikit-learn's regression
        trees, a first one fitted to the classes, steps along :func:`sigmoid_ap_gradient`, and the plain mean of all
        trees as the score, whatever the learning rate. It does not need LightGBM, takes `n_estimators`,
        `learning_rate` and `max_depth` alone, and no missing values; it is explained by occlusion.
    n_estimators : int, default=150
        Number of trees.
    learning_rate : float, default=0.05
        The share of each tree that is added.
    num_leaves : int, default=8
        Maximum number of leaves of a tree.
    max_depth : int, default=-1
        Maximum depth of a tree; not limited if negative.
    min_child_samples : int, default=20
        Minimum number of rows in a leaf.
    reg_lambda : float, default=5.0
        Added to the sum of the second derivatives in a leaf.
    colsample_bytree : float, default=0.5
        Share of the features that each tree may use.
    max_bin : int, default=2047
        Maximum number of intervals of a feature, whose ends are the thresholds that splits can have. With few positives
        LightGBM's own 255 are too coarse; more than 2047 take longer and gain little.
    subsample : float, default=1.0
        Share of the negative rows that each tree is grown from, besides all positive ones.
    random_state : int, RandomState or None, default=None
        For features and rows of each tree.
    n_jobs : int, optional
        Threads. The model does not depend on them.
    threshold : "default", str, Objective or float, default="default"
        "default" is the F1-optimal threshold on honest scores, since a ranking has none of its own; see
        :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees; not with ``variant="mean_of_trees"``.
    trees_ : list of dict
        The trees with ``variant="mean_of_trees"``, as arrays.

    See Also
    --------
    ProfitBoosting : Boosted trees that learn from gains.
    scarce.trees.MetaAPForest : A forest for the average precision, with out-of-bag scores.

    Notes
    -----
    Built after the descriptions in Viola et al. (Pattern Recognition Letters, 2022) and the abstract. Open there, and
    decided here: the exponential form of the surrogate, first-order steps, and the drawing of rows. The "mean_of_trees"
    repeats a program, and is compared with its output.

    Test average precision beside log-loss, both with the default trees of this class and 2047 bins, on the data that
    the default of `max_bin` was chosen on: .590 against .712 on two weeks of card payments, .775 against .816 on the
    mean of 14 small sets (``scarce study run rankers/bins``). A is near 1 once a few positives are far ahead of all
    other rows, wherever the rest of them are.

    References
    ----------
    J. Frery, A. Habrard, M. Sebban, O. Caelen and L. He-Guelton, "Efficient top rank optimization with gradient
    boosting for supervised anomaly detection", ECML-PKDD 2017. R. Viola, L. Gautheron, A. Habrard and M. Sebban,
    "MetaAP: a meta-tree-based ranking algorithm optimizing the average precision from imbalanced data", Pattern
    Recognition Letters 161 (2022).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.boosting import APBoosting
    >>> from scarce.metrics import average_precision
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> model = APBoosting(threshold=0.0, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(average_precision(y[1000:], model.score_samples(X[1000:])) > y.mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostedClassifier._parameter_constraints,
        "loss": [StrOptions({"log", "linear"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions({"mean_of_trees"}), None],
        "subsample": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        loss: str = "log",
        *,
        alpha: float = 1.0,
        variant: str | None = None,
        n_estimators: int = 150,
        learning_rate: float = 0.05,
        num_leaves: int = 8,
        max_depth: int = -1,
        min_child_samples: int = 20,
        reg_lambda: float = 5.0,
        colsample_bytree: float = 0.5,
        max_bin: int = 2047,
        subsample: float = 1.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.variant = variant
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        if self.variant == "mean_of_trees":
            self._fit_mean_of_trees(X, y, sample_weight)
            return
        positive = y == 1
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        loss = log_ap_loss if self.loss == "log" else ap_loss
        draws = check_random_state(self.random_state)
        # A row's derivatives are shares of a whole: times the weight of all rows they are of the size of one row.
        size = weight.sum()

        def derivatives(score: FloatArray) -> tuple[FloatArray, FloatArray]:
            used = weight
            if self.subsample < 1:
                used = np.where(positive | (draws.random_sample(len(y)) < self.subsample), weight, 0.0)
            _, gradient, hessian = loss(score, positive, self.alpha, used)
            if self.loss == "linear":
                return gradient * size, used
            return gradient * size, hessian * size

        self._keep(self._grow(X, derivatives), 0.0)

    def _fit_mean_of_trees(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        draws = check_random_state(self.random_state)
        depth = self.max_depth if self.max_depth > 0 else None
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        score: FloatArray = np.zeros(len(y))
        target: NDArray[Any] = y
        self.trees_: list[dict[str, NDArray[Any]]] = []
        for step in range(self.n_estimators):
            tree = DecisionTreeRegressor(max_depth=depth, random_state=draws.randint(2**31 - 1))
            grown = tree.fit(X, target, sample_weight).tree_
            # Arrays, since a stored tree of scikit-learn is code that a loader would have to trust.
            self.trees_.append(
                {
                    "feature": grown.feature,
                    "threshold": grown.threshold,
                    "children": np.column_stack((grown.children_left, grown.children_right)),
                    "value": grown.value[:, 0, 0],
                }
            )
            score += (self.learning_rate if step else 1.0) * _leaf_values(self.trees_[-1], X)
            target = sigmoid_ap_gradient(score, y == 1, weight)

    def _score(self, X: Rows) -> FloatArray:
        if self.variant == "mean_of_trees":
            return expit(np.mean([_leaf_values(tree, X) for tree in self.trees_], axis=0))
        return super()._score(X)

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return self._best_threshold(FBeta(1), X, y, sample_weight)

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        explain = RareEventClassifier._explain if self._needs_background else BoostedClassifier._explain
        return explain(self, X, code, **known)

    @property
    def _needs_background(self) -> bool:
        return self.variant == "mean_of_trees"  # whose score is no sum of trees

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        # The trees of the variant are scikit-learn's, read as arrays without its handling of missing values.
        return (
            super()._check_X(X, reset=reset)
            if self.variant is None
            else RareEventClassifier._check_X(self, X, reset=reset)
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.variant is None
        return tags

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(n_estimators=20, min_child_samples=5, random_state=0)
        yield cls("linear", n_estimators=20, min_child_samples=5, subsample=0.8, random_state=0)
        yield cls(variant="mean_of_trees", n_estimators=20, max_depth=3, learning_rate=0.1, random_state=0)


def _leaf_values(tree: dict[str, NDArray[Any]], X: NDArray[Any]) -> FloatArray:
    """Return the value of the leaf that each row falls into."""
    X = X.astype(np.float32, copy=False)  # as scikit-learn's trees compare them
    rows = np.arange(len(X))
    node = np.zeros(len(X), dtype=np.intp)
    while (inner := tree["children"][node, 0] >= 0).any():
        at = node[inner]
        right = X[rows[inner], tree["feature"][at]] > tree["threshold"][at]
        node[inner] = tree["children"][at, right.astype(np.intp)]
    return tree["value"][node]
