"""Small distributions of the table's columns, positives beside negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from scarce._typing import FloatArray, IntArray
from scarce.tables import MISSING, Column, conform, show

__all__ = ["Distribution", "distributions", "sparkline"]

BINS = 12
MOST_ROWS = 20_000
# Values beyond these quantiles count in the outer bins, or one of them would leave all others in one bin.
_OUTER = (0.01, 0.99)
_BAR, _HEIGHT = 8, 22


@dataclass(frozen=True)
class Distribution:
    """The distribution of a column among the rows of known outcome.

    Attributes
    ----------
    labels : list of str
        The values of each bin.
    positive, negative : list of float
        The share of the positive and of the negative rows in each bin; empty cells are in none.
    """

    labels: list[str]
    positive: list[float]
    negative: list[float]


def distributions(
    frame: pd.DataFrame, columns: Sequence[Column], y: IntArray, *, seed: int = 0
) -> dict[str, Distribution]:
    """Return the distribution of each column that has one; of very many rows all positives and a sample are counted.

    Parameters
    ----------
    frame : DataFrame
        The table, with all rows.
    columns : sequence of Column
        The columns to describe.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    seed : int
        Seed of the sample.
    """
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(y == label) for label in (1, 0)]
    rows = [r if len(r) <= MOST_ROWS else np.sort(rng.choice(r, MOST_ROWS, replace=False)) for r in rows]
    typed = conform(frame.iloc[np.concatenate(rows)], columns)
    truth = np.repeat([True, False], [len(r) for r in rows])
    found = {}
    for column in columns:
        bins = _categories(typed[column.name]) if column.kind == "category" else _ranges(typed[column.name])
        if bins is None:
            continue
        labels, place = bins
        shares = [
            np.bincount(place[own & (place >= 0)], minlength=len(labels)) / max(own.sum(), 1) for own in (truth, ~truth)
        ]
        found[column.name] = Distribution(labels, *([float(v) for v in share] for share in shares))
    return found


def _categories(values: pd.Series) -> tuple[list[str], IntArray] | None:
    counts = values[values != MISSING].value_counts()
    if counts.empty or counts.iloc[0] == 1:
        return None
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    kept = order[:BINS] if len(order) <= BINS else order[: BINS - 1]
    codes = {value: number for number, value in enumerate(kept)}
    rest = len(kept) if len(order) > len(kept) else -1
    place = values.map(lambda value: -1 if value == MISSING else codes.get(value, rest)).to_numpy(dtype=np.intp)
    return [*map(str, kept), *(["others"] if rest >= 0 else [])], place


def _ranges(values: pd.Series) -> tuple[list[str], IntArray] | None:
    known = values.notna().to_numpy()
    dated = pd.api.types.is_datetime64_any_dtype(values.dtype)
    numbers = (values.astype("int64") if dated else values).to_numpy(dtype=np.float64)
    if not known.any():
        return None
    different = np.unique(numbers[known])
    if len(different) <= BINS:
        edges, labels = different, [_shown(value, dated=dated) for value in different]
        place = np.searchsorted(edges, numbers)
    else:
        edges = _edges(numbers[known])
        place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, BINS - 1)
        labels = [f"{_shown(a, dated=dated)} to {_shown(b, dated=dated)}" for a, b in pairwise(edges)]
    return labels, np.where(known, place, -1).astype(np.intp)


def _edges(numbers: FloatArray) -> FloatArray:
    low, high = np.quantile(numbers, _OUTER)
    if low == high:
        low, high = numbers.min(), numbers.max()
    return np.linspace(low, high, BINS + 1)


def _shown(value: float, *, dated: bool) -> str:
    return show(pd.Timestamp(int(value), unit="us").floor("D")) if dated else f"{value:.3g}"


def sparkline(distribution: Distribution) -> str:
    """Return a picture of a distribution as SVG: grey bars for negatives, narrow coloured ones for positives."""
    most = max(*distribution.positive, *distribution.negative) or 1.0
    bars = []
    for place, (label, positive, negative) in enumerate(
        zip(distribution.labels, distribution.positive, distribution.negative, strict=True)
    ):
        title = f"{_escaped(label)}: {positive:.0%} of the positive rows, {negative:.0%} of the negative ones"
        parts = "".join(
            f'<rect class="{name}" x="{place * _BAR + inset:g}" y="{_HEIGHT * (1 - share / most):.1f}" '
            f'width="{width:g}" height="{_HEIGHT * share / most:.1f}"/>'
            for name, share, inset, width in (("neg", negative, 0, _BAR - 1), ("pos", positive, 2, _BAR - 5))
        )
        bars.append(f"<g><title>{title}</title>{parts}</g>")
    width = _BAR * len(distribution.labels)
    return (
        f'<svg class="spark" role="img" width="{width}" height="{_HEIGHT}" viewBox="0 0 {width} {_HEIGHT}">'
        f"<title>Distribution among positive and negative rows</title>{''.join(bars)}</svg>"
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
