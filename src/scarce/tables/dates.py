"""Dates as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import pyarrow as pa

from scarce._typing import ArrowCells

__all__ = ["ISO", "best_date_format", "date_formats", "looks_like_dates", "parse_dates"]

ISO = "ISO8601"
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DAYS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%d/%b/%Y", "%b %d, %Y"),
    *("%d %B %Y", "%B %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%d-%b-%y", "%d %b %y", "%d/%b/%y"),
)
FORMATS = tuple(day + time for day in _DAYS for time in _TIMES)
# Digits alone are a number unless the user says that they are dates.
COMPACT = ("%Y%m%d", "%Y%m%d%H%M%S", "%Y")
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_LOOKS_LIKE_DATE = rf"\d[-/.]\d|\d[-/ ]{_MONTH}|^{_MONTH}[a-z]* \d"
# Versions such as 1.2.13 are no dates; days and months of two digits are.
_STRICT = r"\d\d[.-]\d\d[.-]\d\d(?: .*)?"
_FEW = 200


def parse_dates(text: Sequence[str] | pd.Series, written: str) -> pd.Series:
    """Return dates as datetime64[us] without a time zone, in UTC, and NaT where a cell is not a date so written.

    Of two-digit years, 69 to 99 are of the twentieth century and 00 to 68 of the twenty-first.

    Examples
    --------
    >>> from scarce.tables.dates import parse_dates
    >>> [str(date.date()) for date in parse_dates(["28-Feb-97", "01-Mar-68"], "%d-%b-%y")]
    ['1997-02-28', '2068-03-01']
    """
    cells = pd.Series(text, dtype="str")
    dates = pd.to_datetime(cells, format=written, errors="coerce", utc=True)
    if written.startswith(("%d.%m.%y", "%d-%m-%y")):
        dates = dates.where(cells.str.fullmatch(_STRICT))
    return dates.dt.tz_localize(None).astype("datetime64[us]")


def date_formats(values: pa.Array, *, compact: bool = False) -> list[str]:
    """Return the formats that every one of the different cells follows, the preferred first."""
    few = pd.Series(values.slice(0, _FEW).to_pylist(), dtype="str")
    if not compact and not few.str.contains(_LOOKS_LIKE_DATE, regex=True).all():
        return []
    cells = pd.Series(values.to_pylist(), dtype="str")
    # The first cell, and then the first few, exclude most formats early.
    return [
        written
        for written in (ISO, *FORMATS, *(COMPACT if compact else ()))
        if _may_be(few[0], written)
        and parse_dates(few, written).notna().all()
        and (len(cells) <= _FEW or parse_dates(cells, written).notna().all())
    ]


def _may_be(cell: str, written: str) -> bool:
    try:
        return written == ISO or bool(datetime.strptime(cell, written))
    except ValueError:
        return False


def best_date_format(values: pa.Array, counts: ArrowCells) -> str:
    """Return the format that most cells follow."""
    cells = pd.Series(values.to_pylist(), dtype="str")
    number = counts.to_numpy(zero_copy_only=False)
    return max((ISO, *FORMATS, *COMPACT), key=lambda written: number[parse_dates(cells, written).notna()].sum())


def looks_like_dates(cells: Sequence[str]) -> bool:
    """Return whether most cells have digits and marks as dates have."""
    return float(pd.Series(cells, dtype="str").str.contains(_LOOKS_LIKE_DATE, regex=True).mean()) > 0.5
