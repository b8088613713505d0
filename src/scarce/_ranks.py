"""Mean ranks of methods over data sets, and by how much they must differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata, studentized_range

from scarce._typing import FloatArray

__all__ = ["critical_difference", "mean_ranks", "nemenyi"]

# Figures that are equal on paper may differ in their last bits.
DECIMALS = 10


def mean_ranks(values: ArrayLike, *, lower_is_better: bool = False) -> FloatArray:
    """Return the mean rank of each method (column) over the sets (rows); 1 is the best, ties share their places."""
    table = np.asarray(values, dtype=np.float64).round(DECIMALS)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise ValueError("Ranking needs finite figures of at least two methods on at least two sets.")
    ranks: FloatArray = rankdata(table if lower_is_better else -table, axis=1).mean(axis=0)
    return ranks


def nemenyi(n_methods: int, alpha: float = 0.05) -> float:
    """Return the critical value q of Nemenyi's test, which compares all pairs of methods.

    Examples
    --------
    >>> from scarce.study.statistics import nemenyi
    >>> round(nemenyi(5), 3)
    2.728
    """
    return float(studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2))


def critical_difference(q: float, n_methods: int, n_sets: int) -> float:
    """Return by how much two mean ranks must differ to be significant.

    Examples
    --------
    >>> from scarce.study.statistics import bonferroni_dunn, critical_difference
    >>> round(critical_difference(bonferroni_dunn(5), n_methods=5, n_sets=40), 3)
    0.883
    """
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
