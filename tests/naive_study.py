"""Slow, obvious versions of what studies compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def mean_ranks(values: NDArray[np.float64]) -> list[float]:
    """Rank each row by counting, ties in the middle of their places."""
    ranks = [
        [1 + sum(other > one for other in row) + (sum(other == one for other in row) - 1) / 2 for one in row]
        for row in values.round(10).tolist()
    ]
    return [sum(column) / len(ranks) for column in zip(*ranks, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Multiply each p by how many are left, from the smallest on, and never let a later one be smaller."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    steps = [(len(p_values) - place) * p_values[i] for place, i in enumerate(order)]
    return [min(1.0, max(steps[: order.index(i) + 1])) for i in range(len(p_values))]


def naive_resampled_precisions(
    truth: NDArray[np.int64],
    scores: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
    n_groups: int,
    n_resamples: int,
) -> list[float]:
    """Repeat each row as often as it, or its customer, was drawn, and rank what came out."""
    unit = np.arange(len(truth)) if groups is None else groups
    n_units = len(truth) if groups is None else n_groups
    random = np.random.default_rng(0)
    figures = []
    for _ in range(n_resamples):
        drawn = random.integers(n_units, size=n_units).tolist()
        rows = [row for u in drawn for row in np.flatnonzero(unit == u).tolist()]
        y, s = truth[rows], scores[rows]
        hits = [np.mean(y[s >= s[i]]) for i in range(len(y)) if y[i] == 1]
        figures.append(float(np.mean(hits)) if hits else 0.0)
    return figures


def naive_bootstrap_clusters(
    values: Sequence[float], clusters: Sequence[str], n_resamples: int
) -> tuple[float, float, float]:
    """Gather the values of each drawn cluster, and take their mean."""
    names = sorted(set(clusters))
    drawn = np.random.default_rng(0).integers(len(names), size=(n_resamples, len(names)))
    means = [
        np.mean([v for place in some for v, c in zip(values, clusters, strict=True) if c == names[place]])
        for some in drawn.tolist()
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)


def naive_bisection(probability: Sequence[float], y: Sequence[int]) -> float:
    """Halve the interval of F1 a hundred times, counting the hits of each threshold."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = low + (high - low) / 2
        called = [p > middle / 2 for p in probability]
        hits = sum(bool(one) and c for one, c in zip(y, called, strict=True))
        total = sum(y) + sum(called)
        if (2 * hits / total if total else 0.0) >= middle:
            low = middle
        else:
            high = middle
    return low / 2
