"""The trade-off of a retailer: less profit for fewer false positives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d

from scarce._sklearn import safe_indexing
from scarce._typing import CV, Estimator, Keywords, Label, Labels, MatrixLike
from scarce.metrics import predict_for_profit, profit_score
from scarce.profit._gains import Gains

__all__ = ["MenuEntry", "profit_menu"]


class MenuEntry(NamedTuple):
    """The result of one value of the constant that prices a false positive.

    Attributes
    ----------
    value : float
        The value.
    profit, gap : float
        Profit, and its gap to that of perfect decisions as a share of it, both by the gains as given. The gap is NaN
        where perfect decisions earn nothing.
    given_up : float
        The profit of the best entry less this one.
    precision, recall, f1 : float
        Of the decisions; 0 where nothing is called positive.
    flagged : int
        The number of rows called positive.

    See Also
    --------
    profit_menu : The function that makes the entries.
    """

    value: float
    profit: float
    gap: float
    given_up: float
    precision: float
    recall: float
    f1: float
    flagged: int


def profit_menu(
    estimator: Estimator,
    X: MatrixLike,
    y: ArrayLike,
    gains: Gains,
    values: Iterable[float],
    *,
    constant: str = "zeta",
    cv: CV = 5,
) -> list[MenuEntry]:
    """Return the profit that must be given up for more precision.

    Where customers must not be annoyed, a false positive can be given a higher cost than it has. The model learns and
    decides with each value of a constant of the gains, such as the cost of a false positive; all of them are judged by
    the gains as they are.

    Parameters
    ----------
    estimator : classifier
        Whose `fit` takes gains.
    X : array or data frame of shape (n_samples, n_features)
        The rows, with the columns that the gains need.
    y : array-like of shape (n_samples,)
        Their classes.
    gains : Gains
        What the outcomes really earn.
    values : iterable of float
        The values to offer.
    constant : str, default="zeta"
        The constant of the gains that takes them.
    cv : int, splitter or iterable of (train, test), default=5
        Where to judge: on rows that the model did not see. Of several parts, all test rows are judged together.

    Returns
    -------
    list of MenuEntry
        One for each value, in their order. ``pandas.DataFrame(menu)`` makes a table of it.

    See Also
    --------
    scarce.plotting.ProfitMenuDisplay : The same as a figure.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> from scarce.profit import BayesProfitClassifier, Gains, profit_menu
    >>> X, y = make_classification(3000, weights=[0.95], random_state=0)
    >>> gains = Gains(fn=-80, fp="-zeta", zeta=5)
    >>> low, high = profit_menu(BayesProfitClassifier(LogisticRegression()), X, y, gains, [5, 40])
    >>> high.profit < low.profit, high.precision > low.precision
    (True, True)
    """
    truth = column_or_1d(y)
    real = gains(X)
    splits = [
        (np.asarray(train), np.asarray(test)) for train, test in check_cv(cv, truth, classifier=True).split(X, truth)
    ]
    judged = np.concatenate([test for _, test in splits])
    found: list[tuple[float, Labels, Label]] = []
    for value in values:
        offered = gains.replace(**{constant: value})(X)
        predicted = []
        for train, test in splits:
            model = clone(estimator).fit(safe_indexing(X, train), truth[train], gains=offered[train])
            predicted.append(predict_for_profit(model, safe_indexing(X, test), offered[test]))
        found.append((float(value), np.concatenate(predicted), model.pos_label_))
    profits = [profit_score(truth[judged], called, real[judged], pos_label=label) for _, called, label in found]
    most = profit_score(truth[judged], truth[judged], real[judged], pos_label=model.pos_label_)
    entries = []
    for (value, called, label), profit in zip(found, profits, strict=True):
        rates: Keywords = {"pos_label": label, "zero_division": 0.0}
        entries.append(
            MenuEntry(
                value=value,
                profit=profit,
                gap=(most - profit) / abs(most) if most else np.nan,
                given_up=max(profits) - profit,
                precision=float(precision_score(truth[judged], called, **rates)),
                recall=float(recall_score(truth[judged], called, **rates)),
                f1=float(f1_score(truth[judged], called, **rates)),
                flagged=int((called == label).sum()),
            )
        )
    return entries
