"""Boosting for profit: GB_prof and its logistic rival."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import train_test_split

from scarce._sklearn import Interval, StrOptions
from scarce.base import FloatArray
from scarce.boosting._lightgbm import BoostedClassifier
from scarce.boosting._losses import exponential_loss, logistic_loss
from scarce.objectives import Objective
from scarce.profit import ProfitClassifier, bayes_threshold
from scarce.profit._classifier import GainsLike, gains_of_rows
from scarce.profit._gains import gain_of_flagging

__all__ = ["ProfitBoosting"]

_LOSSES = {"exponential": exponential_loss, "logistic": logistic_loss}


class ProfitBoosting(ProfitClassifier, BoostedClassifier):
    """Boosted trees that maximise the profit, row by row.

    GB_prof of the thesis: each row weighs as much as its right decision earns more than the wrong one, and the sign of
    the score is the decision, since the row's own threshold is part of the loss. So `predict` needs no gains. The
    trees are grown by LightGBM (``pip install "scarce[boost]"``).

    Parameters
    ----------
    loss : {"exponential", "logistic"}, default="exponential"
        The exponential surrogate of the thesis, which is convex and has a probability behind it; or the expected profit
        itself with a logistic link, as in csboost, which large mistakes dominate less.
    n_estimators : int, default=150
        Number of trees, at the most.
    learning_rate : float, default=0.05
        How much of each tree is taken.
    num_leaves : int, default=8
        Leaves of a tree, at the most.
    max_depth : int, default=-1
        Depth of a tree, at the most; not limited if negative.
    min_child_samples : int, default=20
        Rows in a leaf, at the least.
    reg_lambda : float, default=5.0
        Added to the sum of the second derivatives in a leaf. The gains are divided by their mean first, so that it
        means the same in every currency.
    colsample_bytree : float, default=0.5
        Share of the features that each tree may use.
    n_iter_no_change : int, optional
        Stop when so many trees in a row have not raised the profit on `validation_fraction` of the rows; the number of
        trees found is then grown on all rows.
    validation_fraction : float, default=0.1
        See `n_iter_no_change`.
    random_state : int, RandomState or None, default=None
        For the features of each tree and the rows set aside.
    n_jobs : int, optional
        Threads. The model does not depend on them.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0: the sign of the score. See :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees.
    n_estimators_ : int
        Their number.

    Notes
    -----
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
        "loss": [StrOptions(set(_LOSSES))],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        loss: str = "exponential",
        *,
        n_estimators: int = 150,
        learning_rate: float = 0.05,
        num_leaves: int = 8,
        max_depth: int = -1,
        min_child_samples: int = 20,
        reg_lambda: float = 5.0,
        colsample_bytree: float = 0.5,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label

    def _fit(self, X: Any, y: NDArray[np.intp], sample_weight: FloatArray | None) -> None:
        tp, fp, tn, fn = self._gains.T
        worth = gain_of_flagging(self._gains, y)
        if sample_weight is not None:
            worth = worth * sample_weight
        worth = worth / (np.abs(tp - fn) + np.abs(tn - fp)).mean()
        n_estimators = self.n_estimators
        if self.n_iter_no_change is not None:
            n_estimators = self._best_number_of_trees(X, y, worth, self.n_iter_no_change)
        self._keep(self._grow_for(X, worth, n_estimators), self._constant(worth))
        self.n_estimators_ = 0 if self.booster_ is None else self.booster_.num_trees()

    def _grow_for(self, X: Any, worth: FloatArray, n_estimators: int, **kwargs: Any) -> Any:
        loss = _LOSSES[self.loss]
        sign, weight = np.where(worth > 0, 1.0, -1.0), np.abs(worth)

        def derivatives(score: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, gradient, hessian = loss(score, sign, weight)
            return gradient, hessian

        return self._grow(X, derivatives, start=self._constant(worth), n_estimators=n_estimators, **kwargs)

    def _constant(self, worth: FloatArray) -> float:
        """Return the score to start from, the same for all rows."""
        if self.loss == "logistic":
            return 0.0  # not the best constant, which is at infinity, where the loss is flat
        for_calling, against = worth[worth > 0].sum(), -worth[worth < 0].sum()
        return float(np.clip(np.log((for_calling + 1e-9) / (against + 1e-9)) / 2, -5, 5))

    def _best_number_of_trees(self, X: Any, y: NDArray[np.intp], worth: FloatArray, patience: int) -> int:
        if np.bincount(y).min() < 2:
            raise ValueError("Early stopping sets rows aside, and needs at least two rows of each class.")
        size = max(2, round(self.validation_fraction * len(y)))  # one row of each class, at the least
        train, aside = train_test_split(np.arange(len(y)), test_size=size, stratify=y, random_state=self.random_state)
        X_aside, worth_aside = X[aside], worth[aside]
        score = np.full(len(aside), self._constant(worth[train]))
        most, best = -np.inf, 1

        def stop(booster: Any) -> bool:
            nonlocal most, best
            grown = booster.num_trees()
            score[:] += booster.predict(X_aside, raw_score=True, start_iteration=grown - 1, num_iteration=1)
            profit = float(worth_aside[score > 0].sum())
            if profit > most:
                most, best = profit, grown
            return grown - best >= patience

        self._grow_for(X[train], worth[train], self.n_estimators, stop=stop)
        return best

    def _default_threshold(self, X: Any, y: NDArray[np.intp], sample_weight: FloatArray | None) -> float:
        return 0.0

    def _positive_share(self, score: FloatArray) -> FloatArray:
        return expit((2 if self.loss == "exponential" else 1) * (score - self.threshold_))

    def predict_proba(self, X: Any, gains: GainsLike | None = None) -> FloatArray:
        """Return a share for each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains, optional
            What each outcome (tp, fp, tn, fn) of these rows earns. With them, the exponential loss gives the
            probability of the class by the link of the thesis, p = 1 / (1 + (1 - s) / s · exp(-2F)) with the row's own
            threshold s. Without them, the share is 1/2 at the threshold and agrees with `predict`.
        """
        if gains is None:
            return super().predict_proba(X)
        if self.loss != "exponential":
            raise ValueError("There is no probability behind loss='logistic'. Leave the gains out of predict_proba.")
        score = self.score_samples(X)
        s = np.clip(bayes_threshold(gains_of_rows(gains, X, len(score))), 1e-12, 1 - 1e-12)
        positive = expit(2 * score - np.log((1 - s) / s))
        both = np.column_stack((1 - positive, positive))
        return both if self.pos_label_ == self.classes_[1] else both[:, ::-1]

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(n_estimators=30, min_child_samples=5, random_state=0)
        yield cls("logistic", n_estimators=30, min_child_samples=5, n_iter_no_change=5, random_state=0)
