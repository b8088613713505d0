"""The promise of a queue, from what queues of tested rows held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from scarce._moments import moments_of
from scarce._typing import FloatArray, IntArray

from .blocks import first_of_blocks
from .compare import Comparison
from .promise import Block, Promise, Queue, predict_hits
from .task import Task

__all__ = ["Outlook", "make_outlook", "shifted"]

CERTAIN = 1e-12
# Time is divided into so many periods, and so many of the latest queues count: more would take long and tell little.
_PERIODS, _MOST_QUEUES = 60, 100


@dataclass(frozen=True)
class Outlook:
    """The queues of tested rows, and how time goes on from the training rows to the rows to rank.

    Attributes
    ----------
    past : list of Block
        Queues of tested rows in the order of time, each as large as the one to come.
    later : ndarray of shape (n_periods,)
        The share of the training rows after the beginning of each period.
    later_to_rank : ndarray of shape (n_periods,)
        The same of the rows to rank.
    log_odds : float
        The log-odds of a positive among the training rows.
    period : float
        The length of a period, where that of all training rows is 1.
    """

    past: list[Block]
    later: FloatArray
    later_to_rank: FloatArray
    log_odds: float
    period: float

    def promise(self, queued: FloatArray, ranked: FloatArray) -> Promise:
        """Promise the positives of a queue of new rows, from probabilities of the queued and of all ranked rows."""
        ahead, move = self.later_to_rank - self.later, _log_odds(float(ranked.mean())) - self.log_odds
        return predict_hits(Queue(queued, ahead, move), self.past, period=self.period)

    def promise_like_past(self, queued: FloatArray) -> Promise:
        """Promise the positives of another queue like those of the past, which models as old as theirs have ranked."""
        queues = [block.queue for block in self.past] or [Queue(queued)]
        ahead, move = np.mean([q.ahead for q in queues], axis=0), float(np.mean([q.move for q in queues]))
        return predict_hits(Queue(queued, ahead, move), self.past, period=self.period)


def make_outlook(comparison: Comparison, task: Task, times: pd.Series | None, to_rank: pd.Series | None) -> Outlook:
    """Collect the probabilities and the positives of queues of tested rows, each as large as the one to come.

    A row that stands for several, in a sample, counts as several.

    Parameters
    ----------
    comparison : Comparison
        The winner's probabilities of the tested rows, and the blocks that these are divided into.
    task : Task
        The rows of known outcome.
    times, to_rank : Series, optional
        When these rows and the rows to rank happened.
    """
    moments, new, starts, period = _periods(times, to_rank)
    folds, blocks, units = comparison.folds, comparison.blocks, comparison.winner.units
    probability, tested, fold = comparison.winner.probability, folds.tested, folds.fold_of_tested
    queued = first_of_blocks(units, blocks.budget)
    queue = blocks.like_queue[units.block]
    of_tested = np.where(blocks.block >= 0, blocks.like_queue[blocks.block], -1)
    past = []
    for number in np.unique(queue[queued])[-_MOST_QUEUES:]:
        rows = np.flatnonzero(queued & (queue == number))
        times_each = np.maximum(np.rint(units.weight[rows]).astype(np.intp), 1)
        ranked = np.flatnonzero(of_tested == number)
        train = folds.splits[fold[ranked[0]]][0]
        expected = np.average(probability[ranked], weights=task.weights(tested[ranked]))
        found = Queue(
            np.repeat(probability[units.row[rows]], times_each),
            _later(moments, tested[ranked], starts) - _later(moments, train, starts),
            _log_odds(float(expected)) - _log_odds(float(task.y[train].mean())),
        )
        past.append(Block(found, int(times_each @ units.truth[rows])))
    everything = np.arange(len(task.y))
    return Outlook(
        past,
        _later(moments, everything, starts),
        _later(new, np.arange(len(new)), starts),
        _log_odds(float(task.y.mean())),
        period,
    )


def shifted(probability: FloatArray, shift: float) -> FloatArray:
    """Return probabilities moved by what the promise expects them to be off, in log-odds."""
    return np.asarray(expit(logit(np.clip(probability, CERTAIN, 1 - CERTAIN)) + shift))


def _periods(times: pd.Series | None, to_rank: pd.Series | None) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the moments of both kinds of rows, the beginning of each period, and its length; those known span 1."""
    nothing = np.empty(0)
    if times is None:
        return nothing, nothing, nothing, 0.0
    both = [nothing if t is None else np.asarray(moments_of(t)[0], np.float64) for t in (times, to_rank)]
    first, last = both[0].min(), both[0].max()
    known, new = ((moments - first) / ((last - first) or 1.0) for moments in both)
    edges = np.linspace(min(0.0, new.min(initial=0)), max(1.0, new.max(initial=1)), _PERIODS + 1)
    return known, new, edges[:-1], float(edges[1] - edges[0])


def _later(moments: FloatArray, rows: IntArray, starts: FloatArray) -> FloatArray:
    """Return the share of some rows that are at or after the beginning of each period."""
    if not len(starts):
        return np.empty(0)
    return 1 - np.searchsorted(np.sort(moments[rows]), starts) / max(len(rows), 1)


def _log_odds(chance: float) -> float:
    return float(logit(np.clip(chance, CERTAIN, 1 - CERTAIN)))
