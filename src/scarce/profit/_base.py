"""The template of classifiers that learn from gains."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce._sweep import check_gains, gains_at
from scarce._typing import FloatArray, GainsLike, MatrixLike, Rows
from scarce.base import RareEventClassifier
from scarce.metrics import profit_score
from scarce.profit._gains import check_learnable

__all__ = ["ProfitClassifier"]

_RIGHT_EARNS_ONE = np.array([1.0, 0.0, 1.0, 0.0])


class ProfitClassifier(RareEventClassifier):
    """A classifier that learns from what each outcome of a row earns.

    A method implements the hooks of :class:`~scarce.base.RareEventClassifier` and finds the gains of the rows to
    learn from in ``self._gains``, an (n_samples, 4) array, while `_fit`, `_default_threshold` and `_honest_scores` run.

    Parameters
    ----------
    pos_label, threshold, calibration
        As for :class:`~scarce.base.RareEventClassifier`.

    See Also
    --------
    BayesProfitClassifier : The Bayes rule on the probabilities of any classifier.
    scarce.trees.ProfitTree, scarce.trees.ProfitForest, scarce.boosting.ProfitBoosting : Methods that learn from gains.
    """

    @property
    def _gains(self) -> FloatArray:
        """The gains of the rows to learn from."""
        gains = self._metadata.gains
        assert gains is not None  # while it learns
        return gains

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, gains: GainsLike | None = None
    ) -> float:
        """Return the profit of the predictions; without gains, the accuracy."""
        if gains is None:
            return float(super().score(X, y, sample_weight))
        table = gains_at(gains, X)
        predicted = self._predict_for_profit(X, table)
        return profit_score(y, predicted, table, pos_label=self.pos_label_, sample_weight=sample_weight)

    def _predict_for_profit(self, X: Rows, gains: ArrayLike) -> NDArray[Any]:
        return self.predict(X)

    def _gains_to_learn(self, gains: ArrayLike | None, n_samples: int) -> FloatArray:
        if gains is None:
            warnings.warn(
                f"Without gains {type(self).__name__} maximises accuracy: every right decision earns 1. Pass what each "
                "outcome of a row earns: fit(X, y, gains=Gains(tp=…, fp=…, tn=…, fn=…)), or an array of these four "
                "columns.",
                stacklevel=3,  # of `fit`, which calls this
            )
        table = check_learnable(_RIGHT_EARNS_ONE if gains is None else gains, n_samples)
        if (table[:, 0] == table[:, 3]).all() and (table[:, 1] == table[:, 2]).all():
            raise ValueError(
                "The gains do not depend on the decision in any row, so there is nothing to learn. "
                "Check the columns tp, fp, tn, fn."
            )
        return table


def gains_of_rows(gains: GainsLike, X: MatrixLike, n_samples: int) -> FloatArray:
    """Return the gains of rows that are to be predicted."""
    return check_gains(gains_at(gains, X), n_samples)
