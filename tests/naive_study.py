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
