"""Figures on resamples of test rows, drawn alike for every method, so that their differences have an interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, IntArray

__all__ = ["resampled_precisions"]

RESAMPLES = 1_000
# With fewer positives among the test rows, resamples of them say nothing.
FEWEST_POSITIVES = 20


def resampled_precisions(
    truth: NDArray[np.int64],
    scores: FloatArray,
    groups: IntArray | None = None,
    n_groups: int = 0,
    n_resamples: int = RESAMPLES,
) -> FloatArray:
    """Return the average precision of each resample of the test rows; none if there are too few positives.

    Parameters
    ----------
    truth : ndarray of shape (n_samples,)
        1 or 0.
    scores : ndarray of shape (n_samples,)
        Higher means more likely positive.
    groups : ndarray of int of shape (n_samples,), optional
        The customer of each row, from 0 to `n_groups` - 1: whole customers are then drawn, of all there are, so that
        the test rows of several weeks are resampled together.
    n_groups : int
        How many customers there are.
    n_resamples : int
        How often to draw.
    """
    if truth.sum() < FEWEST_POSITIVES:
        return np.empty(0)
    order = np.argsort(-scores, kind="stable")
    last_of_ties = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    positive = truth[order] == 1
    unit = order if groups is None else groups[order]
    n_units = len(truth) if groups is None else n_groups
    random = np.random.default_rng(0)
    figures = np.empty(n_resamples)
    for i in range(n_resamples):
        weight = np.bincount(random.integers(n_units, size=n_units), minlength=n_units)[unit]
        seen, found = np.cumsum(weight)[last_of_ties], np.cumsum(weight * positive)[last_of_ties]
        # Rows of no weight before the first that has one were not seen.
        precision = np.divide(found, seen, out=np.zeros(len(found)), where=seen > 0)
        figures[i] = np.diff(found, prepend=0) @ precision / max(found[-1], 1)
    return figures
