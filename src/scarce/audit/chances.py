"""Calibrated probabilities of the tested rows and of the queue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._calibration import Calibrator, fit_calibrator
from scarce._typing import FloatArray

from .blocks import first_of_blocks
from .compare import Comparison

__all__ = ["Chances", "QueuedBlock", "calibrate"]


@dataclass(frozen=True)
class QueuedBlock:
    """What the queue of a block of tested rows held.

    Attributes
    ----------
    probability : ndarray of shape (n_queued,)
        The calibrated probability of each queued row, from the other parts of the tested rows.
    hits : int
        The number of positives among them.
    """

    probability: FloatArray
    hits: int


@dataclass(frozen=True)
class Chances:
    """Probabilities that hold for the queue.

    Attributes
    ----------
    calibrator : Calibrator
        From the winner's own probabilities to calibrated ones, fitted on all its tested rows, or on the distinct cards
        or customers that are checked.
    tested : ndarray of shape (n_tested,)
        The probability of each tested row, calibrated on the other test parts; NaN outside of blocks.
    blocks : list of QueuedBlock
        What queues like the one to come held.
    """

    calibrator: Calibrator
    tested: FloatArray
    blocks: list[QueuedBlock]


def calibrate(comparison: Comparison) -> Chances:
    """Calibrate the winner's probabilities on rows that it had not seen."""
    winner, blocks = comparison.winner, comparison.blocks
    units = winner.units
    own = winner.probability[units.row]
    part = comparison.folds.fold_of_tested[units.row]
    calibrator = fit_calibrator(own, units.truth, units.weight)
    honest = np.empty(len(own))
    for number in np.unique(part):
        inside = part == number
        others = units.truth[~inside]
        # One part alone, or others without positives, cannot calibrate; then its own rows do.
        fitted = (
            calibrator
            if not 0 < others.sum() < len(others)
            else fit_calibrator(own[~inside], others, units.weight[~inside])
        )
        honest[inside] = fitted(own[inside])
    tested = np.full(len(winner.score), np.nan)
    tested[units.row] = honest
    queued = first_of_blocks(units, blocks.budget)
    queue = blocks.like_queue[units.block]
    found = []
    for number in np.unique(queue):
        rows = np.flatnonzero(queued & (queue == number))
        times = np.maximum(np.rint(units.weight[rows]).astype(np.intp), 1)
        found.append(QueuedBlock(np.repeat(honest[rows], times), int(times @ units.truth[rows])))
    return Chances(calibrator, tested, found)
