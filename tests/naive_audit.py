"""Slow, obvious versions of what the audit computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def blocks(parts: Sequence[int], rows_to_rank: int, checks: int) -> tuple[list[int], list[int]]:
    """Return the block of each tested row, and the budget of each block, for test parts of these sizes."""
    block: list[int] = []
    budget: list[int] = []
    rest_so_far, spent_on_rests = 0, 0
    for size in parts:
        rest = size
        while rest >= rows_to_rank:
            rest -= rows_to_rank
        rest_so_far += rest
        share = int(np.floor(checks * rest_so_far / rows_to_rank + 0.5)) - spent_on_rests
        spent_on_rests += share
        if share > 0:
            block += [len(budget)] * rest
            budget.append(min(share, rest))
        else:
            block += [-1] * rest
        for _ in range((size - rest) // rows_to_rank):
            block += [len(budget)] * rows_to_rank
            budget.append(checks)
    return block, budget


def within_budget(
    score: Sequence[float],
    truth: Sequence[int],
    money: Sequence[float],
    block: Sequence[int],
    budget: Sequence[int],
    group: Sequence[int] | None = None,
) -> dict[str, float]:
    """Return hits, checks, positives and money of all blocks, ties sharing what is left of the budget."""
    hits = checks = positives = caught = at_stake = 0.0
    for number, k in enumerate(budget):
        rows = [i for i in range(len(score)) if block[i] == number]
        names = sorted({group[i] if group is not None else i for i in rows})
        cases = []
        for name in names:
            own = [i for i in rows if (group[i] if group is not None else i) == name]
            worth = sum(money[i] for i in own if truth[i])
            cases.append((max(score[i] for i in own), max(truth[i] for i in own), worth))
        positives += sum(case[1] for case in cases)
        at_stake += sum(case[2] for case in cases)
        left = float(k)
        for value in sorted({case[0] for case in cases}, reverse=True):
            tied = [case for case in cases if case[0] == value]
            share = min(1.0, left / len(tied))
            hits += share * sum(case[1] for case in tied)
            caught += share * sum(case[2] for case in tied)
            checks += share * len(tied)
            left = max(0.0, left - len(tied))
    return {
        "precision": hits / checks if checks else 0.0,
        "recall": hits / positives if positives else 0.0,
        "money": caught / at_stake if at_stake else 0.0,
    }
