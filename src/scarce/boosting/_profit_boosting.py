"""Boosting for profit: the log-odds of the class plus those of the stakes, or a loss in money."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval, StrOptions
from scarce._typing import (
    Booster,
    Calibration,
    FloatArray,
    GainsLike,
    IntArray,
    Label,
    MatrixLike,
    RandomState,
    Rows,
    Threshold,
)
from scarce.boosting._lightgbm import BoostedClassifier
from scarce.boosting._losses import cross_entropy, exponential_loss, logistic_loss
from scarce.explanation import Unit
from scarce.profit import ProfitClassifier, bayes_threshold
from scarce.profit._base import gains_of_rows
from scarce.profit._gains import gain_of_flagging, log_ratio, stakes

__all__ = ["ProfitBoosting"]

_LOSSES = {"exponential": exponential_loss, "logistic": logistic_loss}

# Stakes are mostly a plain function of an amount, which few trees learn: from all features, and by bounded steps, as
# the first would overshoot where stakes are very unequal. (1.0 would keep the features that the tree before had.)
_TREES_OF_STAKES = 20
_GROWING_STAKES = {
    "num_leaves": 8,
    "learning_rate": 0.3,
    "feature_fraction": 0.99999,
    "lambda_l2": 0.0,
    "max_delta_step": 2.0,
}


class ProfitBoosting(ProfitClassifier, BoostedClassifier):
    """Boosted trees whose sign is the decision that earns most.

    The score is positive where the odds of the class, times the odds of what is at stake, speak for calling the row
    positive. Both are learned from the features, so that `predict` needs no gains. The trees are grown by LightGBM
    (``pip install "scarce[boost]"``).

    Parameters
    ----------
    loss : {"log_loss", "exponential", "logistic"}, default="log_loss"
        "log_loss" learns the log-odds of the class from rows that all weigh the same, and adds those of the stakes,
        which 20 further trees learn from the gains alone. The others learn the decision at once, and each row is
        weighted by the difference in profit between the right and the wrong decision: "exponential" is the convex
        surrogate of Metzler et al., GB_prof; "logistic" is the expected profit itself with a logistic link, as in the
        csboost of Höppner et al., which large mistakes dominate less. A few expensive rows weigh much then, and with
        few positives that costs more than it brings.
    n_estimators : int, default=150
        Maximum number of trees, without those for the stakes.
    learning_rate : float, default=0.05
        The share of each tree that is added.
    num_leaves : int, default=8
        Maximum number of leaves of a tree.
    max_depth : int, default=-1
        Maximum depth of a tree; not limited if negative.
    min_child_samples : int, default=20
        Minimum number of rows in a leaf.
    reg_lambda : float, default=5.0
        Added to the sum of the second derivatives in a leaf. Gains that are weights are divided by their mean first, so
        that it means the same in every currency.
    colsample_bytree : float, default=0.5
        Share of the features that each tree may use.
    max_bin : int, default=2047
        Maximum number of intervals of a feature, whose ends are the thresholds that splits can have. With few positives
        LightGBM's own 255 are too coarse; more than 2047 take longer and gain little.
    n_iter_no_change : int, optional
        Stop when this number of trees in a row has not raised the profit on `validation_fraction` of the rows; the
        number of trees found is then grown on all rows.
    validation_fraction : float, default=0.1
        See `n_iter_no_change`.
    random_state : int, RandomState or None, default=None
        For the features of each tree and the rows set aside.
    n_jobs : int, optional
        Threads. The model does not depend on them.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0: the sign of the score. See :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`. With the log-loss "auto" gives those of
        the trees for the class.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees; with "log_loss" those for the stakes come last.
    n_estimators_ : int
        The number of trees, without those for the stakes.

    See Also
    --------
    scarce.profit.BayesProfitClassifier : The Bayes rule on the probabilities of any classifier.
    scarce.trees.ProfitForest : A forest that learns from gains.
    APBoosting : Boosted trees for the average precision.

    Notes
    -----
    It is best to call a row positive if ``p (tp - fn) > (1 - p) (tn - fp)``, so the score of "log_loss" is
    ``log(p / (1 - p)) + log(U / D)``, with U and D the means of ``tp - fn`` and ``tn - fp`` among rows with such
    features. If the features determine the gains, as they do if the amount is one of them, this is the Bayes rule, row
    by row. It assumes that positive rows have the same stakes as others with the same features; if they do not, because
    the amount is not among the features, the other losses allow for it.

    With gains tp, fp, tn, fn of a row, the exponential loss is ``(tp - fn) exp(-F)`` if it is positive and
    ``(tn - fp) exp(F)`` if not. Where ``tp < fn`` or ``tn < fp``, so that the same decision is right whatever the
    class, the row pulls towards that decision.

    References
    ----------
    G. Metzler, X. Badiche, B. Belkasmi, E. Fromont, A. Habrard and M. Sebban, "Tree-based cost sensitive methods
    for fraud detection in imbalanced data", IDA 2018.
    S. Höppner, B. Baesens, W. Verbeke and T. Verdonck, "Instance-dependent cost-sensitive learning for detecting
    transfer fraud", European Journal of Operational Research, 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.boosting import ProfitBoosting
    >>> from scarce.metrics import profit_score
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> gains = [0, -5, 0, -80]
    >>> model = ProfitBoosting(random_state=0).fit(X, y, gains=gains)
    >>> profit_score(y, model.predict(X), gains) > profit_score(y, 0 * y, gains)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostedClassifier._parameter_constraints,
        "loss": [StrOptions({"log_loss", *_LOSSES})],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        n_estimators: int = 150,
        learning_rate: float = 0.05,
        num_leaves: int = 8,
        max_depth: int = -1,
        min_child_samples: int = 20,
        reg_lambda: float = 5.0,
        colsample_bytree: float = 0.5,
        max_bin: int = 2047,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        n_estimators = self.n_estimators
        if self.n_iter_no_change is not None:
            n_estimators = self._best_number_of_trees(X, y, weight, self.n_iter_no_change)
        derivatives, start = self._to_descend(y, self._gains, weight)
        booster = self._grow(X, derivatives, start=start, n_estimators=n_estimators)
        self.n_estimators_ = 0 if booster is None else booster.num_trees()
        self._class_start = float(start)
        if self.loss == "log_loss":
            start += self._add_stakes(booster, self._gains, weight)
        self._keep(booster, start)

    def _to_descend(
        self, y: IntArray, gains: FloatArray, weight: FloatArray
    ) -> tuple[Callable[[FloatArray], tuple[FloatArray, FloatArray]], float]:
        """Return the derivatives of the loss, and the constant score to start from."""
        up, down = stakes(gains)
        if self.loss == "log_loss":
            share, size = y.astype(np.float64), np.where(up + down > 0, weight, 0.0)
            return lambda score: cross_entropy(score, share, size)[1:], log_ratio(size @ y, size @ (1 - y))
        worth = weight * gain_of_flagging(gains, y) / (up + down).mean()
        sign, size = np.where(worth > 0, 1.0, -1.0), np.abs(worth)
        loss = _LOSSES[self.loss]
        # The best constant of the logistic loss is at infinity, where the loss is flat.
        start = 0.0 if self.loss == "logistic" else log_ratio(size @ (sign > 0), size @ (sign < 0)) / 2
        return lambda score: loss(score, sign, size)[1:], start

    def _add_stakes(self, booster: Booster, gains: FloatArray, weight: FloatArray) -> float:
        """Add trees for the log-odds of the stakes, and return the constant that these start from."""
        up, down = stakes(gains)
        size = weight * (up + down)
        start = log_ratio(weight @ up, weight @ down)
        share = np.divide(up, up + down, out=np.zeros(len(up)), where=up + down > 0)
        if booster is None or np.ptp(share[size > 0]) < 1e-12:
            return start
        size /= size.mean()
        before: FloatArray | None = None

        def derivatives(score: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
            nonlocal before
            before = score.copy() if before is None else before
            return cross_entropy(start + score - before, share, size)[1:]

        booster.reset_parameter(_GROWING_STAKES)
        for _ in range(_TREES_OF_STAKES):
            if booster.update(fobj=derivatives):
                break
        return start

    def _best_number_of_trees(self, X: Rows, y: IntArray, weight: FloatArray, patience: int) -> int:
        n_aside = round(self.validation_fraction * len(y))
        train, aside = self._set_aside(y, n_aside, self.random_state, "Early stopping", "set n_iter_no_change=None")
        X_aside, gains = X[aside], self._gains
        worth = weight[aside] * gain_of_flagging(gains[aside], y[aside])
        derivatives, start = self._to_descend(y[train], gains[train], weight[train])
        score = np.full(len(aside), start)
        if self.loss == "log_loss":
            # The stakes of these rows are known, so that no trees are needed for them.
            score += log_ratio(*stakes(gains[aside]))
        most, best = -np.inf, 1

        def stop(booster: Booster) -> bool:
            nonlocal most, best
            grown = booster.num_trees()
            score[:] += booster.predict(X_aside, raw_score=True, start_iteration=grown - 1, num_iteration=1)
            profit = float(worth[score > 0].sum())
            if profit > most:
                most, best = profit, grown
            return grown - best >= patience

        self._grow(X[train], derivatives, start=start, stop=stop)
        return best

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    def _positive_share(self, score: FloatArray) -> FloatArray:
        return expit(self._log_odds_per_score * (score - self.threshold_))

    @property
    def _score_unit(self) -> Unit:
        return "log-odds" if self.loss == "log_loss" else "score"

    @property
    def _has_own_probabilities(self) -> bool:
        # Those of the trees for the class, which do not know the gains.
        return self.loss == "log_loss" and self.calibration == "auto"

    def _own_probabilities(self, X: Rows) -> FloatArray:
        positive = expit(self._class_start + self._sum_of_trees(X, self.n_estimators_))
        return np.column_stack((1 - positive, positive))

    @property
    def _log_odds_per_score(self) -> int:
        return 2 if self.loss == "exponential" else 1

    def predict_proba(self, X: MatrixLike, gains: GainsLike | None = None) -> FloatArray:
        """Return the probability of each class for the log-loss or if calibrated, else the score squeezed into (0, 1).

        With the log-loss the probabilities are those of the trees for the class alone, unless `calibration` says
        otherwise.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains, optional
            What each outcome (tp, fp, tn, fn) of these rows earns. With them, the probability of the class: for the
            exponential loss by the link p = 1 / (1 + (1 - s) / s · exp(-2F)), with the row's own
            threshold s; for the log-loss the gains do not change it.
        """
        if gains is None:
            return super().predict_proba(X)
        if self.loss == "logistic":
            raise ValueError("There is no probability behind loss='logistic'. Leave the gains out of predict_proba.")
        check_is_fitted(self)
        rows = self._check_X(X, reset=False)
        table = gains_of_rows(gains, X, len(rows))
        if self.loss == "log_loss":
            # The stakes in the score are learned: taking the row's own off it would leave what the two differ by.
            return self._by_label(self._own_probabilities(rows))
        s = np.clip(bayes_threshold(table), 1e-12, 1 - 1e-12)
        positive = expit(self._log_odds_per_score * self._score(rows) - logit(1 - s))
        return self._by_label(np.column_stack((1 - positive, positive)))

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(n_estimators=30, min_child_samples=5, random_state=0)
        yield cls("exponential", n_estimators=30, min_child_samples=5, random_state=0)
        yield cls("logistic", n_estimators=30, min_child_samples=5, n_iter_no_change=5, random_state=0)
