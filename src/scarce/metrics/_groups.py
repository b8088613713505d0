"""Figures of groups, such as cards or customers, of which only some can be checked in a day."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from scarce._typing import BoolArray, FloatArray, IntArray, Label
from scarce.metrics._checks import check_column, check_labels, rows_by_code


def group_precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike,
    period: ArrayLike | None = None,
    k: int = 100,
    *,
    pos_label: Label | None = None,
) -> float:
    """Mean share of positive groups among the `k` groups of highest score in each period.

    An investigator calls `k` customers a day, not `k` payments. A group's score in a period is the highest of its
    rows, and the group is positive if one of its rows in that period is. A positive group that was among the first
    `k` is found: its rows no longer count in later periods.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth: two labels at most.
    y_score : array-like of shape (n_samples,)
        Higher means more likely positive; finite.
    groups : array-like of shape (n_samples,)
        The card, customer or company of each row.
    period : array-like of shape (n_samples,), optional
        The day, week or month of each row, in an order that sorting keeps; one period for all rows if left out.
    k : int, default=100
        Number of distinct groups that can be checked in a period.
    pos_label : bool, int, float or str, optional
        The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.

    Returns
    -------
    float
        The mean over the periods of the number of positive groups among the first `k`, divided by `k`.

    Notes
    -----
    Where equal scores leave open which groups are among the first `k`, each tied group is among them to the same
    extent, and stays to be found to the rest. With one period this is the expectation over all orders of tied groups.

    References
    ----------
    Y.-A. Le Borgne, W. Siblini, B. Lebichot and G. Bontempi, "Reproducible Machine Learning for Credit Card Fraud
    Detection - Practical Handbook", Université Libre de Bruxelles, 2022, chapter 4: card precision top-k, CP@k.

    See Also
    --------
    precision_at_k : The same for rows.
    scarce.model_selection.DelayedTimeSplit : Test rows without groups that were known before.

    Examples
    --------
    Card "a" is found on the first day, so on the second day "b" is called:

    >>> from scarce.metrics import group_precision_at_k
    >>> cards, days = ["a", "b", "a", "b"], [1, 1, 2, 2]
    >>> group_precision_at_k([1, 0, 1, 1], [0.9, 0.2, 0.9, 0.5], cards, days, k=1)
    1.0
    """
    if not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a whole number of groups, at least 1; got {k!r}.")
    (positive,) = check_labels(pos_label, check_column(y_true, "y_true"))
    score = check_column(y_score, "y_score", np.float64)
    names = check_column(groups, "groups")
    days = np.zeros(len(score), dtype=np.intp) if period is None else check_column(period, "period")
    check_consistent_length(positive, score, names, days)
    group = np.unique(names, return_inverse=True)[1]
    day = np.unique(days, return_inverse=True)[1]
    left = np.ones(group.max() + 1)  # the extent to which each group is not found yet
    figures, fewest = [], k
    for rows in rows_by_code(day):
        candidates, best, is_positive = _best_by_group(group[rows], score[rows], positive[rows])
        fewest = min(fewest, len(candidates))
        checked = _extent_among_first(best, left[candidates], k)
        figures.append(checked[is_positive].sum() / k)
        left[candidates[is_positive]] -= checked[is_positive]
    if fewest < k:
        warnings.warn(
            f"k={k} is more than the {fewest} groups of a period; the precision is still divided by {k}.", stacklevel=2
        )
    return float(np.mean(figures))


def _best_by_group(group: IntArray, score: FloatArray, positive: BoolArray) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return the groups of some rows, the highest score of each, and whether it has a positive row."""
    found, code = np.unique(group, return_inverse=True)
    best = np.full(len(found), -np.inf)
    np.maximum.at(best, code, score)
    return found, best, np.bincount(code, weights=positive) > 0


def _extent_among_first(score: FloatArray, weight: FloatArray, k: int) -> FloatArray:
    """Return to which extent, at most its weight, each group is among the first `k`, ties sharing what is left."""
    place = np.unique(-score, return_inverse=True)[1]
    mass = np.bincount(place, weights=weight)
    before = np.cumsum(mass) - mass
    share = np.divide(np.clip(k - before, 0, mass), mass, out=np.zeros_like(mass), where=mass > 0)
    return weight * share[place]
