"""Slow, obvious versions of the audit's statistics."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import expit, logit

from scarce._typing import FloatArray


def hits_chances(probability: FloatArray) -> FloatArray:
    """Add up the chances of all combinations of positives and negatives."""
    chances = np.zeros(len(probability) + 1)
    for outcome in product([0, 1], repeat=len(probability)):
        chances[sum(outcome)] += np.prod([p if o else 1 - p for p, o in zip(probability, outcome, strict=True)])
    return chances


def drawn_hits(probability: FloatArray, blocks: list[tuple[FloatArray, int]], n_draws: int, seed: int) -> FloatArray:
    """Draw worlds, keep those whose past is as it was, and return the number of positives of their next queue."""
    rng = np.random.default_rng(seed)
    kept = []
    for _ in range(n_draws):
        mean, spread = rng.normal(0, 0.25), abs(rng.normal(0, 0.25))

        def hits(p: FloatArray, mean: float = mean, spread: float = spread) -> int:
            return int((rng.random(len(p)) < expit(logit(p) + rng.normal(mean, spread))).sum())

        if all(hits(p) == seen for p, seen in blocks):
            kept.append(hits(probability))
    return np.array(kept)
