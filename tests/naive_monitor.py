"""Slow, obvious versions of what the monitor computes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.stats import fisher_exact


def stability_index(old: Sequence[float | None], new: Sequence[float | None], bins: int = 10) -> float:
    """The population stability index of numbers, None being an empty cell."""
    known = sorted(value for value in old if value is not None)
    edges = sorted({float(np.quantile(known, part / bins)) for part in range(1, bins)}) if known else []

    def place(value: float | None) -> int | str:
        return "empty" if value is None else sum(edge < value for edge in edges)

    counts = [Counter(place(value) for value in part) for part in (old, new)]
    held = set(counts[0]) | set(counts[1])
    totals = [sum(count[name] + 0.5 for name in held) for count in counts]
    index = 0.0
    for name in held:
        before, now = ((count[name] + 0.5) / total for count, total in zip(counts, totals, strict=True))
        index += (now - before) * math.log(now / before)
    return index


def fisher_drifts(mistakes: Sequence[bool], window: int, level: float) -> list[int]:
    """The rows at which Fisher's exact test finds more mistakes in a window than in all rows before it."""
    found, start, tests = [], 0, 0
    for end in range(len(mistakes)):
        rows = mistakes[start : end + 1]
        if len(rows) % window or len(rows) == window:
            continue
        before, latest = rows[:-window], rows[-window:]
        tests += 1
        table = [[sum(latest), window - sum(latest)], [sum(before), len(before) - sum(before)]]
        if fisher_exact(table, alternative="greater").pvalue < level / (tests * (tests + 1)):
            found.append(end)
            start, tests = end + 1, 0
    return found


def first_of_periods(
    score: Sequence[float], period: Sequence[int], checks: int, group: Sequence[str] | None = None
) -> list[int]:
    """The rows of highest score of each period, one for each group."""
    chosen: dict[int, list[int]] = defaultdict(list)
    taken = set()
    for row in sorted(range(len(score)), key=lambda row: (-score[row], row)):
        key = (period[row], row if group is None else group[row])
        if len(chosen[period[row]]) < checks and key not in taken:
            taken.add(key)
            chosen[period[row]].append(row)
    return sorted(row for rows in chosen.values() for row in rows)


def area_under_curve(truth: Sequence[int], score: Sequence[float]) -> float:
    """The share of pairs of a positive and a negative in which the positive has the higher score, ties counted half."""
    pairs = [
        1.0 if one > zero else 0.5 if one == zero else 0.0
        for y, one in zip(truth, score, strict=True)
        if y == 1
        for z, zero in zip(truth, score, strict=True)
        if z == 0
    ]
    return sum(pairs) / len(pairs)
