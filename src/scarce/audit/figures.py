"""The figures of a method on rows that it had not seen, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.metrics import ConfidenceInterval

from .blocks import Blocks, Units, shares_checked

if TYPE_CHECKING:
    from .compare import Outcome
    from .task import Task

__all__ = ["WITHIN_BUDGET", "draws_of_figures", "interval_of", "lead_of"]

RESAMPLES = 200
CONFIDENCE = 0.95
WITHIN_BUDGET = ("precision", "recall", "money")


def draws_of_figures(
    outcome: Outcome, task: Task, tested: IntArray, blocks: Blocks, names: list[str]
) -> dict[str, FloatArray]:
    """Return each figure of the tested rows, followed by the same of resamples.

    Resamples are the same for every method, so that the differences of two are those of pairs.

    Parameters
    ----------
    outcome : Outcome
        What a method gave each tested row.
    task : Task
        The rows and the objective.
    tested : ndarray
        The tested rows.
    blocks : Blocks
        The queues that they are divided into.
    names : list of str
        The figures.
    """
    truth = task.y[tested]
    weight = task.weights(tested)
    of_rows: dict[str, Callable[[FloatArray], float]] = {
        "ap": _average_precision(outcome.rank, truth),
        "f1": lambda w: _f1(w, truth == 1, outcome.flagged),
        "gmean": lambda w: _gmean(w, truth == 1, outcome.flagged),
    }
    if "profit" in names and task.gains is not None:
        gains = task.gains[tested]
        called = np.where(outcome.flagged[:, None], gains[:, [0, 1]], gains[:, [3, 2]])
        earned = np.where(truth == 1, called[:, 0], called[:, 1])
        of_rows["profit"] = lambda w: float(w @ earned)
    units = outcome.units
    found: dict[str, list[float]] = {name: [] for name in names}
    for counts in _resamples(truth, task.seed):
        for name in names:
            if name in of_rows:
                found[name].append(of_rows[name](weight * counts))
    if any(name in WITHIN_BUDGET for name in names):
        for counts in _resamples(units.truth, task.seed + 1):
            for name, value in _within_budget(units, blocks, units.weight * counts).items():
                if name in names:
                    found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


def interval_of(draws: FloatArray) -> ConfidenceInterval:
    """Return a figure, which comes first, and the percentiles of its resamples."""
    low, high = np.quantile(draws[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return ConfidenceInterval(float(draws[0]), float(min(low, draws[0])), float(max(high, draws[0])))


def lead_of(first: FloatArray, second: FloatArray) -> ConfidenceInterval:
    """Return the difference of two methods' figures on the same rows and resamples."""
    return interval_of(first - second)


def _resamples(truth: IntArray, seed: int) -> Iterator[FloatArray]:
    """Yield how often each row counts: once, then as often as it is drawn with replacement.

    A resample without one of the classes is drawn again. Classes are drawn together: the next table will not hold
    exactly as many positives as this one.
    """
    n = len(truth)
    yield np.ones(n)
    rng = np.random.default_rng(seed)
    both = 0 < truth.sum() < n
    for _ in range(RESAMPLES):
        while True:
            counts = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
            if not both or 0 < counts @ truth < n:
                break
        yield counts


def _average_precision(rank: FloatArray, truth: IntArray) -> Callable[[FloatArray], float]:
    """Return the average precision as a function of weights; rows are sorted once, not for each resample."""
    order = np.argsort(-rank, kind="stable")
    positive = (truth[order] == 1).astype(np.float64)
    first_of_ties = np.concatenate(([0], np.flatnonzero(np.diff(rank[order])) + 1))

    def figure(weight: FloatArray) -> float:
        weight = weight[order]
        caught = np.add.reduceat(weight * positive, first_of_ties)
        seen = np.cumsum(np.add.reduceat(weight, first_of_ties))
        precision = np.divide(np.cumsum(caught), seen, out=np.zeros_like(seen), where=seen > 0)
        return float((caught * precision).sum() / caught.sum())

    return figure


def _f1(weight: FloatArray, positive: BoolArray, flagged: BoolArray) -> float:
    both = weight[positive & flagged].sum()
    either = weight[positive].sum() + weight[flagged].sum()
    return float(2 * both / either) if either else 0.0


def _gmean(weight: FloatArray, positive: BoolArray, flagged: BoolArray) -> float:
    found = weight[positive & flagged].sum() / max(weight[positive].sum(), 1e-300)
    spared = weight[~positive & ~flagged].sum() / max(weight[~positive].sum(), 1e-300)
    return float(np.sqrt(found * spared))


def _within_budget(units: Units, blocks: Blocks, weight: FloatArray) -> dict[str, float]:
    """Return the share of positives among the checks of all blocks, and the shares of positives and money found."""
    checked = weight * shares_checked(units, blocks.budget, weight)
    hits, positives = checked @ units.truth, weight @ units.truth
    at_stake = weight @ units.money
    return {
        "precision": float(hits / checked.sum()) if checked.any() else 0.0,
        "recall": float(hits / positives) if positives else 0.0,
        "money": float(checked @ units.money / at_stake) if at_stake else 0.0,
    }
