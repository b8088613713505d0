"""The usual values of columns, and cells as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scarce._typing import Cell

from .types import MISSING, Column

__all__ = ["Usual", "show", "summarise_columns"]

SIZE = 12


@dataclass(frozen=True)
class Usual:
    """The usual values of a column: a few that stand for all, how often each occurs, and the middle one."""

    values: list[Cell]
    weights: list[float]
    typical: Cell

    def weighted(self, dtype: Any) -> tuple[pd.Series, list[float]]:
        """Return the values as a series of a type, and their weights."""
        return pd.Series(self.values).astype(dtype), self.weights


def summarise_columns(X: pd.DataFrame, columns: Sequence[Column], size: int = SIZE) -> dict[str, Usual]:
    """Summarise each column by at most `size` values.

    Numbers and dates are summarised by evenly spaced quantiles, categories by their most frequent values; empty
    cells count as a value. No row of the table can be put together again from them.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.tables import Column, summarise_columns
    >>> paid = pd.DataFrame({"paid": [1.0, 2.0, 3.0, 4.0]})
    >>> summarise_columns(paid, [Column("paid", "number")], size=2)["paid"]
    Usual(values=[2.0, 4.0], weights=[0.5, 0.5], typical=2.0)
    """
    return {c.name: _usual(X[c.name], c.kind, size) for c in columns}


def _usual(values: pd.Series, kind: str, size: int) -> Usual:
    if kind == "category":
        shares = values.value_counts(normalize=True).head(size)
        return Usual(shares.index.tolist(), (shares / shares.sum()).tolist(), str(shares.index[0]))
    known = values.dropna().sort_values(ignore_index=True)
    if known.empty:
        return Usual([values.iloc[0]], [1.0], None)
    # Values of the column itself, never a mean of two: nobody has two and a half children.
    places = ((np.arange(size) + 0.5) / size * len(known)).astype(np.intp)
    shares = known.iloc[places].value_counts(normalize=True).sort_index() * values.notna().mean()
    found, weights = shares.index.tolist(), shares.tolist()
    if values.isna().any():
        found.append(float("nan") if kind == "number" else pd.NaT)
        weights.append(float(values.isna().mean()))
    typical = known.iloc[[(len(known) - 1) // 2]].tolist()[0]
    return Usual(found, weights, typical)


def show(value: Cell) -> str:
    """Write a cell for people."""
    if isinstance(value, pd.Timestamp):
        return value.isoformat(sep=" ", timespec="minutes").removesuffix(" 00:00")
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return MISSING
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return str(value)
