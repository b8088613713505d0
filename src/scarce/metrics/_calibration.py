"""Figures of how well probabilities agree with the shares of positives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from scarce._sweep import check_weight
from scarce._typing import FloatArray, Label
from scarce.metrics._checks import check_column, check_labels

__all__ = ["CalibrationBins", "calibration_bins", "expected_calibration_error"]


class CalibrationBins(NamedTuple):
    """Bins of equally many rows, from the lowest to the highest probability."""

    rows: float  # the number of rows in each, not rounded
    probability: FloatArray  # the mean probability in each
    share: FloatArray  # the expected share of positives in each


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    n_bins: int = 15,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance between the probability and the share of positives, over bins of equally many rows.

    Bins of equal width would hold nearly all rows of a rare event in the first. Rows of equal probability that lie on
    both sides of an edge are in each bin by their share, so that their order does not matter.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth: two labels at most.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, between 0 and 1.
    n_bins : int, default=15
        The number of bins.
    pos_label : bool, int, float or str, optional
        The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.

    Returns
    -------
    float
        0 where the probabilities are right in each bin. Of n rows with right probabilities it is not 0, but about
        what chance leaves of bins of n / n_bins rows.

    References
    ----------
    M. Naeini, G. Cooper, M. Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI 2015.

    Examples
    --------
    >>> from scarce.metrics import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 0, 1], [0.1, 0.1, 0.4, 0.4], n_bins=2), 3)
    0.1
    """
    bins = calibration_bins(y_true, y_prob, n_bins, pos_label=pos_label, sample_weight=sample_weight)
    return float(np.abs(bins.share - bins.probability).mean())


def calibration_bins(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    n_bins: int = 15,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationBins:
    """Return the mean probability and the share of positives in bins of equally many rows."""
    (positive,) = check_labels(pos_label, check_column(y_true, "y_true"))
    probability = check_column(y_prob, "y_prob", np.float64)
    check_consistent_length(positive, probability)
    weight = check_weight(sample_weight, len(probability))
    if n_bins < 1 or n_bins != int(n_bins):
        raise ValueError(f"n_bins={n_bins!r} must be a whole number, at least 1.")
    if probability.min() < 0 or probability.max() > 1:
        raise ValueError("y_prob must lie between 0 and 1. Of scores, take predict_proba instead.")
    # Sums over the rows below, read off at the edges between bins: tied rows are one straight piece of each sum.
    at, group = np.unique(probability, return_inverse=True)
    mass, hits = (np.bincount(group, weights=w, minlength=len(at)) for w in (weight, weight * positive))
    rows, positives, sums = (np.r_[0.0, np.cumsum(part)] for part in (mass, hits, mass * at))
    edges = np.linspace(0, rows[-1], int(n_bins) + 1)
    size = float(rows[-1] / n_bins)
    return CalibrationBins(size, *(np.diff(np.interp(edges, rows, part)) / size for part in (sums, positives)))
