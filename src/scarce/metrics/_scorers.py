"""The metrics as scorers, for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from scarce._sweep import gains_at
from scarce._typing import Estimator, GainsLike, Label, MatrixLike
from scarce.metrics._decisions import gmean_score, profit_score
from scarce.metrics._ranking import precision_at_k, recall_at_k, value_at_k


def precision_at_k_scorer(k: int | float, *, pos_label: Label | None = None) -> Callable[..., float]:
    """Return a scorer of :func:`precision_at_k` for `cross_validate`, `GridSearchCV` and the like.

    `k` counts rows of the part that is scored, so a share carries over to folds of other sizes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.metrics import precision_at_k_scorer
    >>> X, y = make_classification(weights=[0.9], class_sep=3, random_state=0)
    >>> precision_at_k_scorer(0.05)(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    return _score_scorer(precision_at_k, k=k, pos_label=pos_label)


def recall_at_k_scorer(k: int | float, *, pos_label: Label | None = None) -> Callable[..., float]:
    """Return a scorer of :func:`recall_at_k`; see :func:`precision_at_k_scorer`."""
    return _score_scorer(recall_at_k, k=k, pos_label=pos_label)


def value_at_k_scorer(k: int | float, *, pos_label: Label | None = None) -> Callable[..., float]:
    """Return a scorer of :func:`value_at_k` that asks for `value` by scikit-learn's metadata routing.

    Examples
    --------
    >>> from sklearn import config_context
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from scarce.metrics import value_at_k_scorer
    >>> X, y = make_classification(weights=[0.9], class_sep=3, random_state=0)
    >>> with config_context(enable_metadata_routing=True):
    ...     scorer = value_at_k_scorer(0.1).set_score_request(value=True)
    ...     found = cross_validate(LogisticRegression(), X, y, scoring=scorer, cv=2, params={"value": 10 * y})
    >>> bool(found["test_score"].sum() <= 10 * y.sum())
    True
    """
    return _score_scorer(value_at_k, k=k, pos_label=pos_label)


_score_scorer = partial(make_scorer, response_method=("decision_function", "predict_proba"))

gmean_scorer: Callable[..., float] = make_scorer(gmean_score)


class ProfitScorer:
    """A scorer of :func:`profit_score` that hands the gains on to `predict` where the estimator decides by them.

    Parameters
    ----------
    pos_label : bool, int, float or str, optional
        The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    """

    def __init__(self, pos_label: Label | None = None) -> None:
        self.pos_label = pos_label

    def __repr__(self) -> str:
        return "profit_scorer()" if self.pos_label is None else f"profit_scorer(pos_label={self.pos_label!r})"

    def __call__(self, estimator: Estimator, X: MatrixLike, y_true: ArrayLike, gains: GainsLike | None = None) -> float:
        """Return the profit of the estimator's predictions."""
        if gains is None:
            raise ValueError(
                "profit_scorer needs gains: enable metadata routing and pass them, params={'gains': gains} to "
                "cross_validate or gains=gains to the fit of a search."
            )
        # The scorer sees the rows as they came, before any step of a pipeline: the place to evaluate Gains.
        table = gains_at(gains, X)
        return profit_score(y_true, predict_for_profit(estimator, X, table), table, pos_label=self.pos_label)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request: `gains`."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="gains", alias=True)
        return request


def profit_scorer(pos_label: Label | None = None) -> ProfitScorer:
    """Return a scorer of :func:`profit_score` that asks for `gains` by scikit-learn's metadata routing.

    The gains go on to the estimator's `predict` where it takes them, as that of
    :class:`~scarce.profit.BayesProfitClassifier` does. They may be an array or :class:`~scarce.profit.Gains`.
    For gains that are the same for all rows, ``make_scorer(profit_score, gains=…)`` needs no routing.
    """
    return ProfitScorer(pos_label)


def predict_for_profit(estimator: Estimator, X: MatrixLike, gains: ArrayLike) -> NDArray[Any]:
    """Return the predictions of a fitted estimator, or of a pipeline or search, by gains if it takes them."""
    model: Estimator = getattr(estimator, "best_estimator_", estimator)  # the predict of a search takes no metadata
    last = model[-1] if isinstance(model, Pipeline) else model
    takes_gains = "gains" in signature(last.predict).parameters
    if takes_gains and getattr(last, "threshold", "default") == "default":
        return np.asarray(model.predict(X, gains=gains))
    return np.asarray(model.predict(X))
