"""Figures of decisions: what was called positive, and what that earned."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from scarce._sweep import check_gains, check_weight
from scarce._typing import BoolArray, FloatArray, Label
from scarce.metrics._checks import check_column, check_labels, mass_of


def gmean_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Geometric mean of sensitivity and specificity.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels. Both classes must be among the true ones.
    pos_label : bool, int, float or str, optional
        The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.

    Examples
    --------
    >>> from scarce.metrics import gmean_score
    >>> gmean_score([1, 1, 0, 0], [1, 0, 0, 1])
    0.5
    """
    sensitivity, specificity = _rates(y_true, y_pred, pos_label, sample_weight)
    return float(np.sqrt(sensitivity * specificity))


def class_weighted_accuracy_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    alpha: float = 0.7,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """`alpha` times sensitivity plus ``1 - alpha`` times specificity.

    Parameters as for :func:`gmean_score`, and `alpha` between 0 and 1.

    Examples
    --------
    >>> from scarce.metrics import class_weighted_accuracy_score
    >>> class_weighted_accuracy_score([1, 1, 0, 0], [1, 1, 0, 1], alpha=0.75)
    0.875
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}.")
    sensitivity, specificity = _rates(y_true, y_pred, pos_label, sample_weight)
    return alpha * sensitivity + (1 - alpha) * specificity


def profit_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    gains: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Money that the predictions earn: the sum over the rows of what their outcome is worth.

    Parameters
    ----------
    y_true, y_pred, pos_label, sample_weight
        As for :func:`gmean_score`, but one class is enough.
    gains : array-like of shape (n_samples, 4) or (4,)
        What a row earns as a true positive, false positive, true negative and false negative, in this order:
        for each row, or four numbers for all. Losses are negative.

    Examples
    --------
    >>> from scarce.metrics import profit_score
    >>> profit_score([1, 1, 0, 0], [1, 0, 0, 1], gains=[50, -5, 0, -80])
    -35.0
    """
    y, predicted, weight = _decisions(y_true, y_pred, pos_label, sample_weight)
    return _profit(y, predicted, weight, gains)


def profit_gap_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    gains: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the profit of perfect predictions that was missed; 0 is best.

    It is ``(most - profit) / abs(most)``, where `most` is what perfect predictions earn: tp for every
    positive, tn for every negative row. It is negative where a mistake earns more than the right decision,
    and undefined where perfect predictions earn nothing. Parameters as for :func:`profit_score`.

    Examples
    --------
    >>> from scarce.metrics import profit_gap_score
    >>> profit_gap_score([1, 1, 0, 0], [1, 0, 0, 0], gains=[50, -5, 0, -10])
    0.6
    """
    y, predicted, weight = _decisions(y_true, y_pred, pos_label, sample_weight)
    most = _profit(y, y, weight, gains)
    return _relative(most - _profit(y, predicted, weight, gains), most, "Perfect predictions")


def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    gains: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Profit beyond that of calling all rows the same, relative to it; 0 means that no model is needed.

    It is ``(profit - base) / abs(base)``, where `base` is the profit of calling every row positive or every
    row negative, whichever is larger. Where all gains are costs (negative) or 0, 1 means that no cost is
    left. Undefined where `base` is 0. Parameters as for :func:`profit_score`.

    Examples
    --------
    >>> from scarce.metrics import savings_score
    >>> savings_score([1, 1, 0, 0], [1, 1, 0, 1], gains=[-5, -5, 0, -80])
    0.25
    """
    y, predicted, weight = _decisions(y_true, y_pred, pos_label, sample_weight)
    base = max(_profit(y, np.full(len(y), called), weight, gains) for called in (False, True))
    return _relative(_profit(y, predicted, weight, gains) - base, base, "Equal predictions for all rows")


def _decisions(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Label | None, sample_weight: ArrayLike | None
) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Return the true class, the predicted class and the weight of each row."""
    truth, predicted = check_column(y_true, "y_true"), check_column(y_pred, "y_pred")
    check_consistent_length(truth, predicted)
    y, called = check_labels(pos_label, truth, predicted)
    return y, called, check_weight(sample_weight, len(y))


def _rates(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Label | None, sample_weight: ArrayLike | None
) -> tuple[float, float]:
    """Return sensitivity and specificity."""
    y, called, weight = _decisions(y_true, y_pred, pos_label, sample_weight)
    sensitivity = weight[y & called].sum() / mass_of(y, weight, "positive")
    specificity = weight[~y & ~called].sum() / mass_of(~y, weight, "negative")
    return float(sensitivity), float(specificity)


def _profit(y: BoolArray, called: BoolArray, weight: FloatArray, gains: ArrayLike) -> float:
    tp, fp, tn, fn = check_gains(gains, len(y)).T
    gained = np.where(called, np.where(y, tp, fp), np.where(y, fn, tn))
    # Not a dot product: where the cores are busy, its threads wait for each other longer than all the rest takes.
    return float((weight * gained).sum())


def _relative(difference: float, reference: float, whose: str) -> float:
    if difference == 0:
        return 0.0
    if reference == 0:
        raise ValueError(f"{whose} earn nothing, so a relative profit is undefined. Use profit_score instead.")
    return difference / abs(reference)
