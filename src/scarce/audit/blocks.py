"""Blocks of tested rows, each as large as the rows to rank, in which the budget is spent as it will be."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scarce._typing import BoolArray, FloatArray, IntArray

from .folds import Folds

__all__ = ["Blocks", "Units", "first_of_blocks", "make_blocks", "make_period_blocks", "make_units", "shares_checked"]


@dataclass(frozen=True)
class Blocks:
    """A division of the tested rows into queues of their own.

    Attributes
    ----------
    block : ndarray of shape (n_tested,)
        The block of each tested row, in the order of ``Folds.tested``; -1 for a row in none.
    budget : ndarray of shape (n_blocks,)
        The number of checks in each block; a fraction where its rows stand for others.
    like_queue : ndarray of shape (n_blocks,)
        Blocks of one number together are as large as the rows to rank; a period is a block of its own, and the rows to
        rank may be of several.
    description : str
        A sentence for the report.
    """

    block: IntArray = field(repr=False)
    budget: IntArray | FloatArray
    like_queue: IntArray
    description: str

    def __len__(self) -> int:
        return len(self.budget)

    def __str__(self) -> str:
        return self.description


def make_blocks(folds: Folds, rows_to_rank: int, checks: int) -> Blocks:
    """Divide each test part into blocks as large as the rows to rank, counted from its end.

    The rows that remain of a part, or all of a part that is smaller, are a block with its share of the budget; these
    shares are rounded so that they add up. A block whose share is less than half a check is left out.

    Parameters
    ----------
    folds : Folds
        The test parts, with rows in the order of time, or in any order where they have none.
    rows_to_rank : int
        The size of a block.
    checks : int
        The budget of a block of that size.
    """
    blocks: list[IntArray] = []
    budgets: list[int] = []
    left = smaller = 0
    for _, test in folds.splits:
        full, rest = divmod(len(test), rows_to_rank)
        share = _rounded(checks * (left + rest), rows_to_rank) - _rounded(checks * left, rows_to_rank)
        left += rest
        block = np.full(rest, -1)
        if share:
            block[:] = len(budgets)
            budgets.append(min(share, rest))
            smaller += 1
        whole = len(budgets) + np.repeat(np.arange(full), rows_to_rank)
        budgets += [checks] * full
        blocks += [block, whole]
    budget = np.array(budgets, dtype=np.intp)
    return Blocks(
        np.concatenate(blocks).astype(np.intp),
        budget,
        np.arange(len(budget)),
        _description(budget, smaller, rows_to_rank, checks),
    )


def _rounded(product: int, size: int) -> int:
    """Return the quotient, rounded half up."""
    return (2 * product + size) // (2 * size)


def _description(budget: IntArray, smaller: int, rows_to_rank: int, checks: int) -> str:
    full = len(budget) - smaller
    large = f"{full} blocks of {rows_to_rank:,} tested rows, as many as there are to rank, with {checks:,} checks each"
    small = f"{smaller} smaller blocks with their share of the budget, {int(budget.sum()) - full * checks:,} checks"
    parts = [text for text, n in ((large, full), (small, smaller)) if n]
    return "Figures within the budget are of " + " and of ".join(parts) + "."


def make_period_blocks(folds: Folds, period: IntArray, checks: int, periods_to_rank: int, name: str) -> Blocks:
    """Make a block of the tested rows of each period.

    Parameters
    ----------
    folds : Folds
        The test parts, none of which divides a period.
    period : ndarray of shape (n_rows,)
        The number of the period of each row that can be tested.
    checks : int
        The budget of each period.
    periods_to_rank : int
        The number of periods among the rows to rank.
    name : str
        The word for a period.
    """
    found, block = np.unique(period[folds.tested], return_inverse=True)
    rows = np.bincount(block)
    like_queue = np.zeros(len(found), dtype=np.intp)
    part_of = np.zeros(len(found), dtype=np.intp)
    part_of[block] = folds.fold_of_tested
    next_queue = 0
    for part in np.unique(part_of):
        inside = np.flatnonzero(part_of == part)[::-1]
        queues = np.arange(len(inside)) // periods_to_rank
        like_queue[inside] = next_queue + queues
        next_queue += int(queues[-1]) + 1
    description = f"Figures within the budget are of {len(found)} tested {name}s with {checks:,} checks each."
    return Blocks(block.astype(np.intp), np.minimum(rows, checks).astype(np.intp), like_queue, description)


@dataclass(frozen=True)
class Units:
    """The rows, or the distinct cards or customers, that checks are spent on; only those in a block.

    Attributes
    ----------
    row : ndarray of shape (n_units,)
        The place of the unit among the tested rows; of a card, its row of highest score.
    score, truth, money, weight : ndarray of shape (n_units,)
        The highest score of its rows, 1 if one of them is positive, the money of its positive rows, and the number of
        rows that it stands for.
    block : ndarray of shape (n_units,)
        Its block.
    """

    row: IntArray
    score: FloatArray
    truth: IntArray
    money: FloatArray
    weight: FloatArray
    block: IntArray


def no_units() -> Units:
    """Return no units at all."""
    number, count = np.empty(0), np.empty(0, dtype=np.intp)
    return Units(count, number, count, number, number, count)


def make_units(
    score: FloatArray,
    truth: IntArray,
    money: FloatArray,
    blocks: Blocks,
    groups: IntArray | None = None,
    weight: FloatArray | None = None,
) -> Units:
    """Return what is checked: rows, or groups of them in each block; arrays follow ``Folds.tested``."""
    inside = np.flatnonzero(blocks.block >= 0)
    weight = np.ones(len(score)) if weight is None else weight
    order = inside[np.lexsort((inside, -score[inside], blocks.block[inside]))]
    money = np.where(truth == 1, money, 0.0)
    if groups is None:
        return Units(order, score[order], truth[order], money[order], weight[order], blocks.block[order])
    code = blocks.block[order] * (groups.max() + 1) + groups[order]
    _, first, unit = np.unique(code, return_index=True, return_inverse=True)
    n = len(first)
    positive = (np.bincount(unit, truth[order], minlength=n) > 0).astype(np.intp)
    worth = np.bincount(unit, money[order], minlength=n).astype(np.float64)
    best = order[first]
    again = np.lexsort((best, -score[best], blocks.block[best]))
    best = best[again]
    return Units(best, score[best], positive[again], worth[again], weight[best], blocks.block[best])


def shares_checked(units: Units, budget: IntArray | FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return to which extent each unit is among the first of its block, as many as the budget allows.

    Units of equal score share what is left of the budget.

    Parameters
    ----------
    units : Units
        In the order of blocks, and of scores from the highest.
    budget : ndarray of shape (n_blocks,)
        The number of checks in each block.
    weight : ndarray of shape (n_units,), optional
        Other numbers of rows that the units stand for.
    """
    weight = units.weight if weight is None else weight
    changes = (np.diff(units.block) != 0) | (np.diff(units.score) != 0)
    ties = np.concatenate(([0], np.cumsum(changes)))
    first_of_ties = np.concatenate(([0], np.flatnonzero(changes) + 1))
    mass = np.add.reduceat(weight, first_of_ties)
    before = np.cumsum(mass) - mass
    block = units.block[first_of_ties]
    starts = np.concatenate(([True], np.diff(block) != 0))
    before = before - before[starts][np.cumsum(starts) - 1]
    inside = np.clip(budget[block] - before, 0, mass)
    return np.divide(inside, mass, out=np.zeros_like(mass), where=mass > 0)[ties]


def first_of_blocks(units: Units, budget: IntArray | FloatArray) -> BoolArray:
    """Return which units are checked: the first of each block, ties in the order of the rows."""
    starts = np.concatenate(([True], np.diff(units.block) != 0))
    before = np.cumsum(units.weight) - units.weight
    # Half a check more than the budget would be more checks than there are.
    return before - before[starts][np.cumsum(starts) - 1] + 0.5 * units.weight < budget[units.block]
