"""The promise of a queue, from what queues of tested rows held."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from scarce._typing import FloatArray

from .blocks import first_of_blocks
from .compare import Comparison
from .promise import Block

__all__ = ["past_queues", "shifted"]

_CERTAIN = 1e-12


def past_queues(comparison: Comparison) -> list[Block]:
    """Return the probabilities and the positives of queues of tested rows, each as large as the one to come.

    A row that stands for several, in a sample, counts as several.
    """
    units, blocks = comparison.winner.units, comparison.blocks
    queued = first_of_blocks(units, blocks.budget)
    queue = blocks.like_queue[units.block]
    found = []
    for number in np.unique(queue[queued]):
        rows = np.flatnonzero(queued & (queue == number))
        times = np.maximum(np.rint(units.weight[rows]).astype(np.intp), 1)
        probability = comparison.winner.probability[units.row[rows]]
        found.append(Block(np.repeat(probability, times), int(times @ units.truth[rows])))
    return found


def shifted(probability: FloatArray, shift: float) -> FloatArray:
    """Return probabilities moved by what past queues were off on average, in log-odds."""
    return np.asarray(expit(logit(np.clip(probability, _CERTAIN, 1 - _CERTAIN)) + shift))
