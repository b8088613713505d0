"""The types of a table's columns: numbers, categories and dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from scarce._typing import Cell

from .readings import Kind

__all__ = ["MISSING", "Column", "Role", "cell_text", "conform"]

Role = Literal["feature", "identifier", "constant", "text", "leak", "dropped", "order"]

MISSING = "(missing)"


@dataclass
class Column:
    """One column of the table and what becomes of it.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"number", "category", "date"}
        What its cells are read as.
    role : str
        ``"feature"`` if it is learned from; otherwise why it is not.
    missing : float
        Share of empty cells.
    distinct : int
        Number of different values.
    remark : str
        A sentence for the report, where there is something to note.
    """

    name: str
    kind: Kind
    role: Role = "feature"
    missing: float = 0.0
    distinct: int = 0
    remark: str = ""


def conform(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return columns of a table's frame as methods take them: float64, text without gaps, and dates.

    Infinite numbers count as missing, and an empty category is one of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.tables import Column, conform
    >>> table = pd.DataFrame({"shop": [3, None], "paid": [7, 8]})
    >>> conform(table, [Column("shop", "category"), Column("paid", "number")]).values.tolist()
    [['3', 7.0], ['(missing)', 8.0]]
    """
    return pd.DataFrame({c.name: _typed(frame[c.name], c) for c in columns}, index=frame.index)


def _typed(values: pd.Series, column: Column) -> pd.Series:
    if column.kind == "number":
        numbers = pd.to_numeric(values).astype("float64")
        return numbers.where(np.isfinite(numbers))
    if column.kind == "date":
        return pd.to_datetime(values, utc=True).dt.tz_localize(None).astype("datetime64[us]")
    if not isinstance(values.dtype, pd.StringDtype):
        values = values.astype(object).where(values.notna(), None).map(cell_text, na_action="ignore")
    return values.fillna(MISSING).astype(str)


def cell_text(value: Cell) -> str:
    """Return a cell as a person would write it: 1.0 as 1."""
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
