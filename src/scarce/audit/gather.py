"""Gather the evidence of the queued cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scarce._typing import FloatArray, IntArray
from scarce.tables import Column

from .evidence import Evidence, Reason, find_links
from .look_alikes import LookAlikes

__all__ = ["MOST_CASES", "gather_evidence"]

# Beyond these, a case has its reasons alone: nobody opens a thousand cases from one page.
MOST_CASES = 300


def gather_evidence(
    queue: pd.DataFrame,
    reasons: Sequence[Sequence[Reason]],
    frame: pd.DataFrame,
    X: pd.DataFrame,
    cases: pd.DataFrame,
    y: IntArray,
    columns: Sequence[Column],
    *,
    rules: Sequence[str | None],
    inside: Sequence[Sequence[int]],
    entities: Sequence[str],
    amount: FloatArray | None,
    folds: int,
    seed: int,
    time: str | None,
) -> list[Evidence]:
    """Return the evidence of each row of the queue.

    Parameters
    ----------
    queue : DataFrame
        With the columns ``row`` and ``probability``, in its order.
    reasons : sequence of sequences of Reason
        The reasons of each queued row.
    frame : DataFrame
        The table, all rows.
    X : DataFrame
        The columns that are learned from, typed, all rows.
    cases : DataFrame
        The same of the queued rows, as they were ranked.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    columns : sequence of Column
        The columns that are learned from.
    rules : sequence of (str or None)
        The rule of the readable model that each queued row falls under.
    inside : sequence of sequences of int
        The known positive rows in whose ellipsoids each of the first queued rows lies.
    entities : sequence of str
        The columns of the table that name entities, such as the card.
    amount : ndarray of shape (n_rows,), optional
        The money at stake.
    folds, seed, time
        As for :class:`~scarce.audit.look_alikes.LookAlikes`.
    """
    rows = queue["row"].to_numpy()
    known = np.flatnonzero(y >= 0)
    opened = rows[:MOST_CASES]
    alike = LookAlikes(columns, X.iloc[known], y[known], folds=folds, seed=seed, time=time).of(cases.iloc[:MOST_CASES])
    links = find_links(frame, y, opened, entities)
    return [
        Evidence(
            int(row),
            float(probability),
            None if amount is None else float(probability * amount[row]),
            list(found),
            alike[place] if place < len(alike) else [],
            links[place] if place < len(links) else [],
            rules[place],
            list(inside[place]) if place < len(inside) else [],
        )
        for place, (row, probability, found) in enumerate(zip(rows, queue["probability"], reasons, strict=True))
    ]
