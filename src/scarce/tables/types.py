"""The types of a table's columns: numbers, categories and dates, recognised and converted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from scarce._errors import TableError
from scarce._typing import Cell

__all__ = ["MISSING", "NAMED_AS_CODE", "Column", "Kind", "Role", "cell_text", "conform", "infer_column"]

Kind = Literal["number", "category", "date"]
Role = Literal["feature", "identifier", "constant", "text", "leak", "dropped", "order"]

MISSING = "(missing)"
DATE_FORMATS = tuple(
    day + time
    for day in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
    for time in ("", " %H:%M", " %H:%M:%S")
)
ISO = "ISO8601"

NAMED_AS_CODE = re.compile(r"(^|[_\s-])(id|code|key|zip|postcode|mcc)$|[a-z]Id$", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[-+]?\d+")
_CURRENCY = r"(?:[€$£¥%]|EUR|USD|GBP|CHF|JPY)?"
_NUMBER_AS_TEXT = re.compile(
    rf"\(?\s*[-+]?\s*{_CURRENCY}\s*[-+]?(?:\d{{1,3}}(?:[.,'\s]\d{{3}})+(?:[.,]\d+)?|\d*[.,]?\d+)\s*{_CURRENCY}\s*\)?",
    re.IGNORECASE,
)


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
    date_format : str
        How its dates are written, where they come as text.
    remark : str
        A sentence for the report, where there is something to note.
    """

    name: str
    kind: Kind
    role: Role = "feature"
    missing: float = 0.0
    distinct: int = 0
    date_format: str = ISO
    remark: str = ""


def infer_column(values: pd.Series) -> Column:
    """Return what a column is read as, from its cells and its name."""
    name, dtype = str(values.name), values.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Column(name, "date")
    if pd.api.types.is_numeric_dtype(dtype):
        if NAMED_AS_CODE.search(name):
            return Column(name, "category", remark="Read as a category, because its name is that of a code.")
        return Column(name, "number")
    known = values.dropna()
    if known.empty:
        return Column(name, "category")
    first = known.iloc[0]
    if isinstance(first, (list, dict, set, tuple, np.ndarray, bytes)):
        return Column(name, "category", "dropped", remark="Its cells hold more than one value each.")
    if not isinstance(first, str):
        # Decimals, dates without times and the like: pandas knows what they are.
        if pd.api.types.infer_dtype(known) in ("boolean", "decimal", "integer", "floating", "mixed-integer-float"):
            return Column(name, "number")
        return Column(name, "date" if pd.api.types.infer_dtype(known) in ("date", "datetime") else "category")
    text = known.astype(str).str.strip()
    if written_as := _date_format(text):
        ambiguous = "%d" in written_as[0] and "%m/%d/%Y" in written_as[-1]
        return Column(
            name, "date", date_format=written_as[0], remark="Its dates are read as day/month/year." if ambiguous else ""
        )
    _refuse_numbers_as_text(name, text)
    return Column(name, "category")


def _date_format(text: pd.Series) -> list[str]:
    """Return the formats that every cell follows, those that the first cells do not follow left out early."""
    few = text.iloc[:200]
    if not few.str.contains(r"\d[-/.]\d", regex=True).all():
        return []
    return [
        f
        for f in (ISO, *DATE_FORMATS)
        if pd.to_datetime(few, format=f, errors="coerce", utc=True).notna().all()
        and pd.to_datetime(text, format=f, errors="coerce", utc=True).notna().all()
    ]


def _refuse_numbers_as_text(name: str, text: pd.Series) -> None:
    plain = text.str.fullmatch(_PLAIN_NUMBER)
    number = text.str.fullmatch(_NUMBER_AS_TEXT)
    if number.mean() < 0.9:
        return
    decorated = text[number & ~plain]
    advice = "or leave the column out (`drop`)."
    if len(decorated) >= 0.1 * len(text):
        raise TableError(
            f"Column {name!r} holds numbers written as text, such as {decorated.iloc[0]!r}; "
            f"write them as plain numbers (1234.5 for 1,234.5 €), {advice}"
        )
    other = text[~number]
    if 0 < other.nunique() <= 3:
        raise TableError(
            f"Column {name!r} holds numbers and also text such as {other.iloc[0]!r} (data row {other.index[0] + 1}); "
            f"leave such cells empty, {advice}"
        )


def conform(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the named columns of `frame` typed as they were when the model learned.

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
        try:
            numbers = pd.to_numeric(values).astype("float64")
        except (ValueError, TypeError) as error:
            raise TableError(
                f"Column {column.name!r} must hold numbers, and it holds text such as {_first_text(values)!r}; "
                "write plain numbers such as 1234.5, or leave the cell empty."
            ) from error
        return numbers.where(np.isfinite(numbers))
    if column.kind == "date":
        try:
            dates = pd.to_datetime(values, format=column.date_format, utc=True)
        except (ValueError, TypeError) as error:
            raise TableError(
                f"Column {column.name!r} holds cells that are not dates as before; write them like 2024-01-31."
            ) from error
        return dates.dt.tz_localize(None).astype("datetime64[us]")
    text = values.astype(object).where(values.notna(), None).map(cell_text, na_action="ignore")
    return text.fillna(MISSING).astype(str)


def cell_text(value: Cell) -> str:
    """Return a cell as a person would write it: 1.0 as 1."""
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _first_text(values: pd.Series) -> str:
    return str(values[pd.to_numeric(values, errors="coerce").isna() & values.notna()].iloc[0])
