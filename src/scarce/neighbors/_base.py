"""Pieces that several nearest-neighbour methods share: limits, ratios of distances, labels, explanations."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, StrOptions
from scarce._typing import FloatArray, IntArray
from scarce.base import RareEventClassifier
from scarce.neighbors._search import Neighbors

# Sums and distances this close, relative to their size, are taken for equal: a tie must not hang on the last bit.
ROUNDING = 4 * np.finfo(np.float64).eps

# The parameters of the search, for `_parameter_constraints`.
SEARCH: dict[str, list[Any]] = {
    "metric": [str, callable],
    "p": [Interval(Real, 0, None, closed="neither")],
    "algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
    "n_jobs": [Integral, None],
}


def voters(n_neighbors: int, n_rows: int) -> int:
    """Return the number of neighbours that vote, and warn the caller of `fit` if there are too few rows."""
    if n_neighbors > n_rows:
        warnings.warn(f"n_neighbors={n_neighbors} is more than the {n_rows} training rows.", stacklevel=4)
    return min(n_neighbors, n_rows)


def bounded_ratio(negative: FloatArray, positive: FloatArray) -> FloatArray:
    """Return d⁻ / (d⁻ + d⁺): 1/2 where both are 0 or both are missing, which an infinite distance stands for."""
    total = positive + negative
    score = np.full(len(total), 0.5)
    np.divide(negative, total, out=score, where=(total > 0) & np.isfinite(total))
    score[np.isinf(positive) & np.isfinite(negative)] = 0.0
    score[np.isinf(negative) & np.isfinite(positive)] = 1.0
    return score


def upper_limit(rate: Any, n: Any, z: float) -> Any:
    """Return the upper limit of Wilson's confidence interval for a rate that was observed in n cases."""
    spread = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return (rate + z**2 / (2 * n) + spread) / (1 + z**2 / n)


def one_fewer(sizes: IntArray, code: int) -> IntArray:
    """Return the class sizes once a row of a class is left out."""
    return sizes - (np.arange(len(sizes)) == code)


def labels_by_code(model: RareEventClassifier) -> NDArray[Any]:
    """Return the label of each class code: with two classes the positive one has the code 1."""
    return model.classes_[::-1] if model.pos_label_ == model.classes_[0] else model.classes_


def describe(model: RareEventClassifier, near: Neighbors, **more: NDArray) -> list[list[dict[str, Any]]]:
    """Return the neighbours of each query as plain data: row, class, distance, and the columns of `more`."""
    columns = {"row": near.number, "class": labels_by_code(model)[near.code], "distance": near.distance, **more}
    return [
        [{name: column[i, c].item() for name, column in columns.items()} for c in np.flatnonzero(near.number[i] >= 0)]
        for i in range(len(near.number))
    ]
