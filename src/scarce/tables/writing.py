"""Tables for people: CSV that no spreadsheet runs as a formula, Parquet and Excel."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from scarce._typing import Cell

from .types import cell_text

__all__ = ["inert_cell", "write_csv", "write_excel", "write_parquet"]

# A spreadsheet takes a cell that begins with one of these for a formula, and runs it; some take the wide forms too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d+)*|\d*\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_NOT_IN_EXCEL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def write_csv(frame: pd.DataFrame, file: Path) -> None:
    """Write a table as CSV; texts that a spreadsheet would run get an apostrophe in front."""
    _inert(frame).to_csv(file, index=False)


def write_excel(frame: pd.DataFrame, file: Path) -> None:
    """Write a table as an Excel file, with a frozen first row; texts stay texts."""
    safe = _inert(frame.map(lambda cell: _NOT_IN_EXCEL.sub("", cell) if isinstance(cell, str) else cell))
    with pd.ExcelWriter(file, engine="openpyxl") as book:
        safe.to_excel(book, index=False, sheet_name="queue", freeze_panes=(1, 0))


def write_parquet(frame: pd.DataFrame, file: Path) -> None:
    """Write a table as Parquet; columns of mixed cells, which it has no type for, become texts."""
    mixed = [name for name in frame if frame[name].dtype == object]
    texts = {name: frame[name].map(cell_text, na_action="ignore").astype("string") for name in mixed}
    frame.assign(**texts).to_parquet(file, index=False)


def _inert(frame: pd.DataFrame) -> pd.DataFrame:
    safe = frame.copy(deep=False)
    for place, kind in enumerate(frame.dtypes):
        if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)):
            safe.isetitem(place, frame.iloc[:, place].map(inert_cell))
    safe.columns = [inert_cell(name) for name in frame.columns]
    return safe


def inert_cell(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet runs: an apostrophe stands before a text that looks like a formula."""
    if not isinstance(cell, str):
        return cell
    runs = cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)
    # A carriage return alone would end the row: writers of CSV quote line feeds, and not these.
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if runs else text
