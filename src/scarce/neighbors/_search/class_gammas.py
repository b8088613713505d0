"""γk-NN with more than two classes: votes, and the γ of each class by exact sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, Fold, IntArray, Labels
from scarce.neighbors._search._kernels_class_gammas import class_votes, label_changes, sweep_macro_f1
from scarce.neighbors._search.index import ClassIndex


def _class_distances(index: ClassIndex, X: NDArray, k: int, skip: IntArray | None) -> FloatArray:
    """Return the k nearest distances to each class, of shape (n_rows, n_classes, k).

    A distance of 0 becomes the smallest that γ can still scale, so that of two rows at the query γ decides.
    """
    codes = range(len(index.class_sizes))
    found = np.stack([index.kneighbors(X, code, k, skip)[0] for code in codes], axis=1)
    return np.maximum(found, 1e-300)


def precedence(sizes: IntArray, tie: str) -> IntArray:
    """Return the classes in the order in which they win ties: the rarest first, or the largest."""
    rarest_first = np.lexsort((-np.arange(len(sizes)), sizes))
    return rarest_first if tie == "positive" else rarest_first[::-1].copy()


def vote_scores(
    index: ClassIndex, X: NDArray, k: int, gamma: FloatArray, tie: str, skip: IntArray | None = None
) -> FloatArray:
    """Return the share of each class in the vote, without the row `skip`, with ties broken: the largest is the class.

    Below the votes come, in turn, the precedence of the class and how near it is, so small that they decide only
    between equal votes and order the rows of equal votes.
    """
    order = precedence(index.class_sizes, tie)
    distance = _class_distances(index, X, k, skip)
    votes = class_votes(distance, gamma, order)
    nearest = distance[:, :, 0] * gamma
    near = np.where(np.isfinite(nearest), 1 / (1 + nearest), 0.0)
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))[::-1]
    return (votes + 0.01 * (rank + near) / (len(order) + 1)) / k


def best_gammas(
    index: ClassIndex,
    X: NDArray,
    y: IntArray,
    k: int,
    gamma_max: float,
    tie: str,
    sample_weight: FloatArray | None,
    splits: Sequence[Fold] | None = None,
) -> FloatArray:
    """Return the γ of each class, 1 for the largest, that no change of one γ in (0, gamma_max] improves.

    The measure is the macro-F1 of predictions by all other rows, or by the training rows of each of the `splits`.
    """
    sizes = index.class_sizes
    order = precedence(sizes, tie)
    if splits is None:
        distance = _class_distances(index, X, k, np.arange(len(X)))
    else:
        distance = np.empty((len(X), len(sizes), k))
        for train, test in splits:
            part = ClassIndex(index.metric, index.p, index.algorithm, index.n_jobs).fit(X[train], y[train])
            distance[test] = _class_distances(part, X[test], k, None)
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    gamma = np.where(np.arange(len(sizes)) == sizes.argmax(), 1.0, min(1.0, gamma_max))
    best = -1.0
    improved = True
    while improved:
        improved = False
        for code in np.delete(np.arange(len(sizes)), sizes.argmax()):
            start, at, row, label = label_changes(distance, gamma, order, int(code), gamma_max)
            fall = np.argsort(-at, kind="stable")
            value, high, low = sweep_macro_f1(start, at[fall], row[fall], label[fall], y, weight, len(sizes))
            if value > best + 1e-12:
                # Each step raises the measure, which takes finitely many values, so this ends.
                best, improved = value, True
                gamma[code] = gamma_max if np.isinf(high) else (high + low) / 2
    return gamma


def given_gammas(gamma: Any, labels: Labels, sizes: IntArray, n_features: int) -> FloatArray:
    """Return the γ of each class, by its code: 1 for the negative class of two, for the largest of more."""
    if isinstance(gamma, Mapping):
        return _gammas_by_label(gamma, labels.tolist())
    if isinstance(gamma, str):
        return class_ratio(sizes, n_features)
    fixed = 0 if len(sizes) == 2 else sizes.argmax()
    return np.where(np.arange(len(sizes)) == fixed, 1.0, np.float64(gamma))


def _gammas_by_label(given: Mapping[Any, Any], labels: list[Any]) -> FloatArray:
    if unknown := [label for label in given if label not in labels]:
        raise ValueError(f"gamma has a factor for {unknown[0]!r}, which is not in y; y has {sorted(labels)}.")
    for label, factor in given.items():
        if not isinstance(factor, Real) or not 0 < float(factor) < np.inf:
            raise ValueError(f"gamma must be greater than 0 and finite for each class; for {label!r} it is {factor!r}.")
    return np.array([float(given.get(label, 1.0)) for label in labels])


def class_ratio(sizes: IntArray, n_features: int) -> FloatArray:
    """Return the fixed γ of each class: relative to the negative class of two, to the largest of more."""
    return (sizes / (sizes[0] if len(sizes) == 2 else sizes.max())) ** (1 / n_features)
