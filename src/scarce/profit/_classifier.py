"""The template of classifiers that learn from gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from scarce._sweep import check_gains
from scarce.base import FloatArray, RareEventClassifier
from scarce.metrics import profit_score
from scarce.objectives import Profit
from scarce.profit._gains import check_learnable

__all__ = ["ProfitClassifier"]

GainsLike = ArrayLike | Callable[[Any], ArrayLike]
_RIGHT_EARNS_ONE = np.array([1.0, 0.0, 1.0, 0.0])


class ProfitClassifier(RareEventClassifier):
    """A classifier that learns from what each outcome of a row earns.

    A method implements what :class:`~scarce.base.RareEventClassifier` asks for, and finds the gains of the rows to
    learn from in ``self._gains``, an (n_samples, 4) array, while `_fit`, `_default_threshold` and `_honest_scores` run.

    Parameters
    ----------
    pos_label, threshold
        As for :class:`~scarce.base.RareEventClassifier`.
    """

    _gains: FloatArray

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        gains: GainsLike | None = None,
        period: ArrayLike | None = None,
    ) -> Self:
        """Fit the method and choose the threshold.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains, optional
            What each outcome (tp, fp, tn, fn) of a row earns. :class:`~scarce.profit.Gains` are evaluated on `X` as it
            is given. Without gains a right decision earns 1 and a wrong one nothing.
        period : array-like of shape (n_samples,), optional
            The day, week or month of each row, for ``threshold=Budget(k)`` with a budget for each.

        Returns
        -------
        self
        """
        table = gains(X) if callable(gains) else gains
        X, target, weight = self._start(X, y, sample_weight)
        with self._learning_from(table, len(target)):
            self._fit(X, target, weight)
            self.threshold_ = self._choose_threshold(X, target, weight, table, period)
        return self

    def honest_scores(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, gains: GainsLike | None = None
    ) -> FloatArray:
        """Return scores of the given rows, each by a model fitted on the others; parameters as for `fit`.

        Any objective can be optimised on them, without a fit for each: ``Profit().best_threshold(scores, y,
        gains=gains)``. The estimator itself is not changed.
        """
        table = gains(X) if callable(gains) else gains
        model = clone(self)
        X, target, weight = model._start(X, y, sample_weight)
        with model._learning_from(table, len(target)):
            model._fit(X, target, weight)
            return model._honest_scores(X, target, weight)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, gains: GainsLike | None = None
    ) -> float:
        """Return what the predictions earn; without gains, the accuracy."""
        if gains is None:
            return float(super().score(X, y, sample_weight))
        table = gains(X) if callable(gains) else gains
        predicted = self._predict_for_profit(X, table)
        return profit_score(y, predicted, table, pos_label=self.pos_label_, sample_weight=sample_weight)

    def _predict_for_profit(self, X: Any, gains: ArrayLike) -> NDArray[Any]:
        return self.predict(X)

    @contextmanager
    def _learning_from(self, gains: ArrayLike | None, n_samples: int) -> Iterator[None]:
        table = check_learnable(_RIGHT_EARNS_ONE if gains is None else gains, n_samples)
        if (table[:, 0] == table[:, 3]).all() and (table[:, 1] == table[:, 2]).all():
            raise ValueError("The gains of no row depend on its decision, so that there is nothing to learn from them.")
        self._gains = table
        try:
            yield
        finally:
            # As large as the training rows, and of no use afterwards.
            del self._gains
            self.__dict__.pop("_out_of_fold", None)

    def _copy_for(self, rows: NDArray[np.intp]) -> Self:
        model = super()._copy_for(rows)
        model._gains = self._gains[rows]
        return model

    def _choose_threshold(
        self,
        X: Any,
        y: NDArray[np.intp],
        weight: FloatArray | None,
        gains: ArrayLike | None,
        period: ArrayLike | None,
    ) -> float | None:
        # The method has learned from the gains; of the objectives Profit alone takes them too.
        return super()._choose_threshold(X, y, weight, gains if isinstance(self.threshold, Profit) else None, period)


def gains_of_rows(gains: GainsLike, X: Any, n_samples: int) -> FloatArray:
    """Return the gains of rows that are to be predicted."""
    return check_gains(gains(X) if callable(gains) else gains, n_samples)
