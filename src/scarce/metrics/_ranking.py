"""Figures of the rows of highest score, those that somebody has the time to check."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from scarce._sweep import check_weight
from scarce._typing import FloatArray, Label
from scarce.metrics._checks import check_column, check_labels, mass_of


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int | float,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of positives among the `k` rows of highest score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth: two labels at most.
    y_score : array-like of shape (n_samples,)
        Higher means more likely positive; finite.
    k : int or float
        A whole number is a number of rows (all of them, with a warning, where there are fewer); a float in (0, 1]
        is a share of the rows. So ``1`` is one row and ``1.0`` is all. A share is not rounded: of 150 rows, ``0.01`` is
        the first row and half of the second.
    pos_label : bool, int, float or str, optional
        The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for. `k` counts these.

    Returns
    -------
    float
        The expected number of positives among the first `k` rows, divided by `k` or by the number of rows if
        that is smaller; 0 where there are no positives at all.

    Examples
    --------
    The second and third row are tied, and one of them is positive:

    >>> from scarce.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    first = _First(y_true, y_score, k, pos_label, sample_weight)
    return first.expected(first.weight) / first.size


def recall_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int | float,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of all positives that are among the `k` rows of highest score.

    Parameters as for :func:`precision_at_k`; `y_true` must hold a positive.

    Examples
    --------
    >>> from scarce.metrics import recall_at_k
    >>> recall_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    first = _First(y_true, y_score, k, pos_label, sample_weight)
    return first.expected(first.weight) / mass_of(first.positive, first.weight, "positive")


def value_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int | float,
    value: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Sum of the values of the positives among the `k` rows of highest score.

    Parameters
    ----------
    y_true, y_score, k, pos_label, sample_weight
        As for :func:`precision_at_k`.
    value : array-like of shape (n_samples,)
        What catching each row is worth if it is positive, such as the amount of a fraud. The values of
        negative rows are not looked at, except that they must be finite.

    Examples
    --------
    >>> from scarce.metrics import value_at_k
    >>> value_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2, value=[100, 80, 30, 7])
    115.0
    """
    first = _First(y_true, y_score, k, pos_label, sample_weight)
    worth = check_column(value, "value", np.float64)
    check_consistent_length(first.weight, worth)
    return first.expected(first.weight * worth)


class _First:
    """The first `k` rows: those above a threshold, and of those tied at it a share.

    All orders of the tied rows are equally likely, so each of them is among the first to the same extent.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        k: int | float,
        pos_label: Label | None,
        sample_weight: ArrayLike | None,
    ) -> None:
        (self.positive,) = check_labels(pos_label, check_column(y_true, "y_true"))
        score = check_column(y_score, "y_score", "numeric")
        check_consistent_length(self.positive, score)
        self.weight = check_weight(sample_weight, len(score))
        order = np.argsort(score)[::-1]
        reached = np.cumsum(self.weight[order])
        wanted = _check_k(k, reached[-1])
        if wanted > reached[-1]:
            warnings.warn(f"k={k} is more than the {reached[-1]:g} rows, so all of them are counted.", stacklevel=3)
        self.size = float(min(wanted, reached[-1]))
        threshold = score[order[np.searchsorted(reached, self.size)]]
        self._above, self._tied = score > threshold, score == threshold
        left = self.size - self.weight[self._above].sum()
        self._share = np.clip(left / self.weight[self._tied].sum(), 0, 1)

    def expected(self, amount: FloatArray) -> float:
        """Return the expected sum of an amount over the positive rows among the first."""
        # The rows above and the tied ones are summed apart: whole numbers then add up without rounding,
        # whatever the order of the rows.
        above, tied = (amount[rows & self.positive].sum() for rows in (self._above, self._tied))
        return float(above + self._share * tied)


def _check_k(k: int | float, n_rows: float) -> float:
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 1:
        return float(k)
    if isinstance(k, (float, np.floating)) and 0 < k <= 1:
        return float(k) * n_rows
    raise ValueError(
        "k must be a whole number of rows, at least 1, or a share of them, a float greater than 0 and at most "
        f"1; got {k!r}."
    )
