"""Slow, obvious versions of what the engines compute in parts."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np


def naive_top(parts: Sequence[Sequence[tuple[int, int]]], k: int, with_id: bool) -> list[tuple[float, str, int]]:
    """Sort the (score, id) rows of all files and take the first."""
    every = [
        (-score, own if with_id else 0, f"f{number}", row)
        for number, part in enumerate(parts)
        for row, (score, own) in enumerate(part)
    ]
    return [(-float(score), file, row) for score, _, file, row in sorted(every)[:k]]


def naive_repeats(ids: Sequence[int]) -> list[int]:
    """Return the ids that occur more than once."""
    return sorted(own for own, count in Counter(ids).items() if count > 1)


def naive_sample(
    outcomes: Sequence[Sequence[str | None]], size: int, seed: int
) -> tuple[list[tuple[int, int]], list[float]]:
    """Give every row a number, and take the negatives of the lowest numbers."""
    numbered = []
    for file, part in enumerate(outcomes):
        draws = np.random.default_rng([seed, zlib.crc32(f"{file}.parquet".encode())])
        numbered += [(draws.random(), file, row, value) for row, value in enumerate(part)]
    positive = [one for one in numbered if one[3] == "1"]
    negative = sorted(one for one in numbered if one[3] == "0")
    wanted = min(max(size - len(positive), len(positive), 1), len(negative), size)
    weight = {"1": 1.0, "0": len(negative) / max(wanted, 1)}
    chosen = sorted(positive + negative[:wanted], key=lambda one: one[1:3])
    return [one[1:3] for one in chosen], [weight[str(one[3])] for one in chosen]
