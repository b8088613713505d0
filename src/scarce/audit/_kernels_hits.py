"""Chances of a number of positives among rows of known probabilities."""

from __future__ import annotations

import numpy as np
from numba import njit

from scarce._typing import FloatArray

__all__ = ["hits_chances"]

# Chances below this one are taken as 0, so that the work grows with the spread of the number and not with its range.
_LEAST = 1e-30


@njit(cache=True)
def hits_chances(probability: FloatArray) -> FloatArray:
    """Return, for each row of a matrix of probabilities, the chance of 0, 1, …, n positives among its n columns.

    Columns are taken one by one: a number is reached by a negative from itself, or by a positive from one less.
    """
    n_cases, n = probability.shape
    chances = np.zeros((n_cases, n + 1))
    for case in range(n_cases):
        chance = chances[case]
        chance[0] = 1.0
        low = high = 0  # the numbers whose chance is above the least one
        for column in range(n):
            p = probability[case, column]
            chance[high + 1] = chance[high] * p
            for hits in range(high, low, -1):
                chance[hits] = chance[hits] * (1.0 - p) + chance[hits - 1] * p
            chance[low] *= 1.0 - p
            high += 1
            while high > low and chance[high] < _LEAST:
                chance[high] = 0.0
                high -= 1
            while low < high and chance[low] < _LEAST:
                chance[low] = 0.0
                low += 1
    return chances
