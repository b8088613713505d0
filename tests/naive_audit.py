"""Slow, obvious versions of the audit's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import expit, logit

from scarce._typing import FloatArray
from scarce.audit.promise import Block, Queue


def hits_chances(probability: FloatArray) -> FloatArray:
    """Add up the chances of all combinations of positives and negatives."""
    chances = np.zeros(len(probability) + 1)
    for outcome in product([0, 1], repeat=len(probability)):
        chances[sum(outcome)] += np.prod([p if o else 1 - p for p, o in zip(probability, outcome, strict=True)])
    return chances


def drawn_hits(queue: Queue, past: list[Block], n_draws: int, seed: int, *, period: float = 0.0) -> FloatArray:
    """Draw worlds, keep those whose past is as it was, and return the number of positives of their next queue."""
    rng = np.random.default_rng(seed)
    kept = []
    for _ in range(n_draws):
        always, trend, misled = rng.normal(0, 0.25), rng.normal(0, 0.5), rng.normal(0, 0.5)
        wander, spread = abs(rng.normal(0, 0.5)), abs(rng.normal(0, 0.25))
        steps = trend * period + wander * np.sqrt(period) * rng.normal(size=len(queue.ahead))

        def hits(queue: Queue, always=always, misled=misled, spread=spread, steps=steps) -> int:  # type: ignore[no-untyped-def]
            shift = always + queue.ahead @ steps + misled * queue.move + rng.normal(0, spread)
            return int((rng.random(len(queue.probability)) < expit(logit(queue.probability) + shift)).sum())

        if all(hits(block.queue) == block.hits for block in past):
            kept.append(hits(queue))
    return np.array(kept)


def shift_after_one_queue(probability: FloatArray, hits: int, covariance: FloatArray) -> tuple[float, float, float]:
    """Integrate over a grid of the past queue's shift: the chance of its positives, and the next shift given them."""
    grid = np.linspace(-8, 8, 4_001)
    chances = [np.prod(1 - expit(logit(probability) + s)) for s in grid]
    likelihood = np.array(chances) * np.exp(grid * hits) / np.prod(1 - probability)
    belief = likelihood * np.exp(-(grid**2) / (2 * covariance[0, 0]))
    belief /= np.sqrt(2 * np.pi * covariance[0, 0]) / (grid[1] - grid[0])
    evidence = belief.sum()
    mean = (belief @ grid) / evidence
    variance = (belief @ (grid - mean) ** 2) / evidence
    slope = covariance[0, 1] / covariance[0, 0]
    return np.log(evidence), slope * mean, covariance[1, 1] - slope * covariance[0, 1] + slope**2 * variance


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


def menu(probability: Sequence[float], y: Sequence[int], gains: Sequence[Sequence[float]], share: float) -> float:
    """Return the highest precision that gives up no more than a share of the best profit, trying every price."""

    def decided(price: float) -> list[bool]:
        return [
            p * (tp - fn) / max(1 - p, 1e-12) - (tn - fp) > price
            for p, (tp, fp, tn, fn) in zip(probability, gains, strict=True)
        ]

    prices = [
        p * (tp - fn) / max(1 - p, 1e-12) - (tn - fp) for p, (tp, fp, tn, fn) in zip(probability, gains, strict=True)
    ]
    found = []
    for price in {0.0, *(price for price in prices if price > 0)}:
        called = decided(price)
        if not any(called):
            continue
        profit = sum(
            (g[0] if c else g[3]) if truth else (g[1] if c else g[2])
            for g, c, truth in zip(gains, called, y, strict=True)
        )
        found.append((profit, sum(c and t for c, t in zip(called, y, strict=True)) / sum(called)))
    best = max(profit for profit, _ in found)
    return max(precision for profit, precision in found if profit >= best - share * abs(best) - 1e-9)
