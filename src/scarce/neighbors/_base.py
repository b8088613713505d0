"""Pieces that several nearest-neighbour methods share: limits, ratios of distances, labels, explanations."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, StrOptions
from scarce._typing import Estimator, FloatArray, IntArray, Keywords, Metric, Number
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation, distance_effects, neighbours
from scarce.neighbors._search import ClassIndex, Neighbors, TransformedIndex

# Sums and distances this close, relative to their size, are taken for equal: a tie must not hang on the last bit.
ROUNDING = 4 * np.finfo(np.float64).eps

# The parameters of the search, for `_parameter_constraints`.
SEARCH: dict[str, list[Any]] = {
    "metric": [str, callable],
    "p": [Interval(Real, 0, None, closed="neither")],
    "algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree", "ivf"})],
    "recall": [Interval(Real, 0, 1, closed="right")],
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


def upper_limit(rate: Number, n: Number, z: float) -> Number:
    """Return the upper limit of Wilson's confidence interval for a rate that was observed in n cases."""
    spread = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return (rate + z**2 / (2 * n) + spread) / (1 + z**2 / n)


def one_fewer(sizes: IntArray, code: int) -> IntArray:
    """Return the class sizes once a row of a class is left out."""
    return sizes - (np.arange(len(sizes)) == code)


def labels_by_code(model: RareEventClassifier) -> NDArray[Any]:
    """Return the label of each class code: with two classes the positive one has the code 1."""
    return model.classes_[::-1] if model.pos_label_ == model.classes_[0] else model.classes_


def additive_power(metric: Metric, p: float) -> int | None:
    """Return the power in which a distance is a sum over the features: 2, 1, or None for other metrics."""
    if metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2):
        return 2
    return 1 if metric in ("manhattan", "cityblock", "l1") or (metric == "minkowski" and p == 1) else None


def differences(index: ClassIndex | TransformedIndex, X: NDArray[Any], number: IntArray) -> FloatArray:
    """Return each row less a training row; NaN where there is none."""
    nothing = np.full(X.shape[1], np.nan)
    rows = np.stack([index.row(n) if n >= 0 else nothing for n in number.tolist()])
    return X.astype(np.float64) - rows


def contrast(model: Estimator, X: NDArray[Any], code: IntArray | None, scale: Number = 1.0) -> FloatArray | None:
    """Return how much each feature brings rows nearer to the class that is scored than to the others.

    That is, to the nearest row of each, by :func:`~scarce.explanation.distance_effects`; `scale` has a factor on the
    distances to each class. None for a metric that is no sum over the features.
    """
    power = additive_power(getattr(model, "metric", "euclidean"), getattr(model, "p", 2))
    if power is None:
        return None
    found = [model.index_.kneighbors(X, c, 1) for c in range(len(model.index_.class_sizes))]
    distance, number = (np.hstack(part) for part in zip(*found, strict=True))
    rows, own = np.arange(len(X)), np.ones(len(X), dtype=np.intp) if code is None else code
    distance = distance * scale
    distance[rows, own] = np.inf
    sides = [number[rows, own], number[rows, distance.argmin(axis=1)]]
    return distance_effects(*(np.abs(differences(model.index_, X, side)) ** power for side in sides))


def ratio_effects(score: FloatArray, to_positive: FloatArray, to_negative: FloatArray, power: int = 2) -> Keywords:
    """Share a score d⁻ / (d⁻ + d⁺) out to the features, given the part of each in both distances to a power of 1 or 2.

    The score less 1/2 is (d⁻ - d⁺) / (2 (d⁻ + d⁺)), which is (d⁻² - d⁺²) / (2 (d⁻ + d⁺)²): both are sums over the
    features. So the base value is 1/2, but for rounding: some metrics of scikit-learn are in single precision. Where a
    distance is missing there is nothing to share out, and the base value is the score.
    """
    total = sum(np.maximum(parts.sum(axis=1), 0) ** (1 / power) for parts in (to_positive, to_negative))
    usable = np.isfinite(total) & (total > 0)
    size = np.where(usable, 2 * total**power, 1.0)
    effects = np.where(usable[:, None], to_negative - to_positive, 0.0) / size[:, None]
    return {"effects": effects, "base_value": score - effects.sum(axis=1), "additive": True}


def explain_near(
    model: Estimator,
    X: NDArray[Any],
    code: IntArray | None,
    near: Neighbors,
    votes: FloatArray | None = None,
    **known: Any,
) -> Explanation:
    """Explain by the training rows that had a part in the score; by occlusion besides, if `known` has no effects."""
    about = near.number, labels_by_code(model)[near.code], near.distance, votes
    if known.get("effects") is not None:
        return Explanation.from_neighbours(X, *about, **known)
    known.pop("effects", None)
    return Explanation.from_occlusion(
        model._score, X, model._background, code=code, neighbours=neighbours(*about), **known
    )
