"""Payments of months or weeks in a row, for models that are renewed.

The first column is the day, the next two are codes of the customer and of the place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._typing import IntArray
from scarce.datasets import load, make_transactions

__all__ = ["draw_handbook_weeks", "draw_months"]


def draw_months(
    seed: int, *, rows: int = 75_000, months: int = 30, before: int = 182, fraud_rate: float = 0.01, **_: Any
) -> tuple[Any, ...]:
    """Draw simulated payments: the first half year to learn from, two years of use."""
    import pandas as pd

    frame = make_transactions(rows, months=months, fraud_rate=fraud_rate, seed=seed).frame
    day = (frame["date"] - frame["date"].min()).dt.total_seconds().to_numpy() / 86_400
    y = frame["fraud"].to_numpy(np.int64)
    numbers = frame.drop(columns="fraud").select_dtypes("number")
    few = [name for name in ("region", "category", "payment_type", "bank") if name in frame]
    features = pd.concat([numbers, pd.get_dummies(frame[few])], axis=1).to_numpy(np.float64)
    X = np.column_stack([day, _codes(frame["customer_id"]), _codes(frame["shop"]), features])
    first = day < before
    return X[first], y[first], X[~first], y[~first]


def draw_handbook_weeks(seed: int, *, before: int = 42, share: float = 0.5, **_: Any) -> tuple[Any, ...]:
    """Return the card payments of a random share of the customers: six weeks to learn from, the others of use."""
    bunch = load("handbook-payments")
    customers, code = np.unique(bunch.groups, return_inverse=True)
    mine = np.random.default_rng(seed).random(len(customers)) < share
    moment = np.asarray(bunch.times).astype("datetime64[s]").astype(np.int64) / 86_400
    rows = np.flatnonzero(mine[code])
    rows = rows[np.argsort(moment[rows], kind="stable")]
    day = moment[rows] - moment.min()
    place = _codes(bunch.frame["TERMINAL_ID"].to_numpy()[rows])
    X = np.column_stack([day, code[rows], place, np.asarray(bunch.data, dtype=np.float64)[rows]])
    y = np.asarray(bunch.target, dtype=np.int64)[rows]
    first = day < before
    return X[first], y[first], X[~first], y[~first]


def _codes(values: Any) -> IntArray:
    return np.unique(np.asarray(values).astype(str), return_inverse=True)[1]
