"""The metrics as scorers, for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sklearn import config_context
from sklearn.metrics import make_scorer

from scarce.metrics._checks import Label
from scarce.metrics._decisions import gmean_score, profit_score
from scarce.metrics._ranking import precision_at_k, recall_at_k


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


_score_scorer = partial(make_scorer, response_method=("decision_function", "predict_proba"))

gmean_scorer: Callable[..., float] = make_scorer(gmean_score)


def profit_scorer() -> Callable[..., float]:
    """Return a scorer of :func:`profit_score` that asks for `gains` by scikit-learn's metadata routing.

    For gains that are the same for all rows, ``make_scorer(profit_score, gains=…)`` needs no routing.
    """
    # A request can only be made while routing is on; the scorer then works wherever the user turns it on. It is made
    # anew each time, since imbalanced-learn breaks the requests that were made before its own import.
    with config_context(enable_metadata_routing=True):
        return make_scorer(profit_score).set_score_request(gains=True)
