"""Rows of an audit for later: new rows are compared with them, and renewals are tried on them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray, IntArray, Json
from scarce.engines.saved import REFERENCE

from .money import OUTCOMES
from .outlook import shifted
from .result import Audit

__all__ = ["OWN", "write_reference"]

OWN = "scarce."
DRAWN, ADDED = 10_000, 10_000


def write_reference(result: Audit, folder: Path) -> None:
    """Write a sample of the tested rows with their honest scores and probabilities, outcomes and times.

    Up to 10,000 rows are drawn at random from all tested ones (``scarce.drawn``), and stand for them as they are. Up
    to 10,000 others are added: the positives, and the negatives that rank highest. With ``scarce.weight``, all rows
    together stand for all tested ones. Figures that a sample would blur are in the file's metadata.
    """
    comparison, task = result.comparison, result.task
    winner, tested = comparison.winner, comparison.folds.tested
    y, times = task.y[tested], task.weights(tested)
    drawn, chosen, weight = _sample(y == 1, winner.rank, times, result.settings.seed)
    rows = task.X.iloc[tested[chosen]]
    frame = pd.DataFrame({name: rows[name].to_numpy() for name in rows.columns})
    frame[OWN + "score"] = winner.score[chosen]
    frame[OWN + "probability"] = shifted(winner.probability[chosen], result.promise.shift)
    frame[OWN + "outcome"] = y[chosen]
    frame[OWN + "weight"] = weight
    frame[OWN + "rank"] = winner.rank[chosen]
    frame[OWN + "drawn"] = drawn
    frame[OWN + "fold"] = comparison.folds.fold_of_tested[chosen]
    if task.amount is not None:
        frame[OWN + "amount"] = task.amount[tested[chosen]]
    if task.gains is not None:
        for name, column in zip(OUTCOMES, task.gains[tested[chosen]].T, strict=True):
            frame[OWN + name] = column
    if result.settings.time is not None:
        frame[OWN + "time"] = result.frame.loc[rows.index, result.settings.time].to_numpy()
    about = {
        "rows": float(times.sum()),
        "positives": float(times @ y),
        "spread": result.promise.spread,
        "unknown": _unknown(result),
    }
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(
        table.replace_schema_metadata({**table.schema.metadata, b"scarce": _bytes(about)}), folder / REFERENCE
    )


def _bytes(about: Json) -> bytes:
    return json.dumps(about, allow_nan=False).encode()


def _sample(
    positive: BoolArray, rank: FloatArray, times: FloatArray, seed: int
) -> tuple[BoolArray, IntArray, FloatArray]:
    """Return which of the chosen rows were drawn from all, the chosen rows in order, and their weights.

    A row that stands for several is drawn more often.
    """
    rng, n = np.random.default_rng(seed), len(positive)
    is_drawn = np.zeros(n, dtype=bool)
    is_drawn[np.arange(n) if n <= DRAWN else rng.choice(n, DRAWN, replace=False, p=times / times.sum())] = True
    others = np.flatnonzero(positive & ~is_drawn)
    added = others if len(others) <= ADDED else rng.choice(others, ADDED, replace=False)
    negative = np.flatnonzero(~positive)
    first = negative[np.argsort(-rank[negative], kind="stable")]
    room = ADDED - len(added)
    # All negatives down to the last one that there is room for.
    high = first[: np.searchsorted(np.cumsum(~is_drawn[first]), room, side="right")]
    is_high = np.zeros(n, dtype=bool)
    is_high[high] = True
    chosen = is_drawn | is_high
    chosen[added] = True
    weight = np.zeros(n)
    for kind in (positive, is_high, ~positive & ~is_high):
        inside = chosen & kind
        if inside.any():
            weight[inside] = times[inside] * times[kind].sum() / times[inside].sum()
    rows = np.flatnonzero(chosen)
    return is_drawn[rows], rows, weight[rows]


def _unknown(result: Audit) -> dict[str, float]:
    """Return for each category column the share of tested rows with a value that their model had not seen."""
    task, shares = result.task, {}
    for column in result.profile.features:
        if column.kind != "category":
            continue
        values: NDArray[np.int64] = pd.factorize(task.X[column.name], use_na_sentinel=False)[0]
        new = total = 0.0
        for train, test in result.comparison.folds.splits:
            seen = np.unique(values[task.training_rows(train)[0]])
            weight = task.weights(test)
            new += float(weight @ ~np.isin(values[test], seen))
            total += float(weight.sum())
        shares[column.name] = new / total
    return shares
