"""A table that is read and typed: Arrow columns, how they were read, and notes on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scarce._errors import TableError
from scarce._messages import listed

from .faults import missing_columns, raise_faults
from .files import Raw, excel_column
from .readings import Kind, Reading, Verdict, apply_reading, infer_reading

__all__ = ["Table", "table_of"]

# The first and the last date of which nanoseconds since 1970 are whole numbers of 64 bits, in microseconds.
_FIRST, _LAST = (int(np.datetime64(day, "us").astype(np.int64)) for day in ("1678-01-01", "2261-12-31"))


@dataclass(frozen=True)
class Table:
    """A table whose types are those of its Arrow schema.

    Attributes
    ----------
    arrow : pyarrow.Table
        The cells: int64, float64, bool, timestamp[us] or string, and null where a cell is empty.
    readings : tuple of Reading
        How each column was read. With them, other rows are read in the same way.
    notes : tuple of str
        Sentences on choices that a reader may want to correct, such as spellings that were joined.
    remarks : dict of str
        A sentence on some of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.tables import Table
    >>> table = Table.from_frame(pd.DataFrame({"paid": ["$1,250.00", "$8.50"], "late": ["yes", "Yes "]}))
    >>> print(table)
    2 rows
    paid  number    float64  written 1,234.5
    late  category  string   labels of several spellings: 1
    Column 'late': 'Yes ' and 'yes' are read as one label, 'Yes'.
    >>> table.frame["paid"].tolist()
    [1250.0, 8.5]
    """

    arrow: pa.Table
    readings: tuple[Reading, ...]
    notes: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """Return a pandas frame of the table, its rows numbered from 0."""
        return self.arrow.to_pandas(split_blocks=True)

    def __str__(self) -> str:
        rows = [(r.name, r.kind, r.type, _described(r)) for r in self.readings]
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
        return "\n".join([f"{self.arrow.num_rows:,} rows", *(line.rstrip() for line in lines), *self.notes])

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        types: Mapping[str, Kind] | None = None,
        drop: Collection[str] = (),
        needs: Mapping[str, Collection[str]] | None = None,
        readings: Sequence[Reading] | None = None,
    ) -> Table:
        """Type a pandas frame as a file would be; see `read_table` for the parameters."""
        names = [str(name) for name in frame.columns]
        columns = [_of_pandas(frame.iloc[:, place]) for place in range(len(names))]
        return table_of(Raw(pa.Table.from_arrays(columns, names), typed=True), types, drop, needs, readings)

    @classmethod
    def from_arrow(
        cls,
        table: pa.Table,
        *,
        typed: bool = True,
        types: Mapping[str, Kind] | None = None,
        drop: Collection[str] = (),
        needs: Mapping[str, Collection[str]] | None = None,
        readings: Sequence[Reading] | None = None,
    ) -> Table:
        """Type an Arrow table as a file would be; see `read_table`. `typed` is false where it is of CSV."""
        return table_of(Raw(table, typed), types, drop, needs, readings)


def _described(reading: Reading) -> str:
    if reading.labels:
        return f"labels of several spellings: {len(reading.labels)}"
    return f"written {reading.written}" if reading.written else ""


def _of_pandas(values: pd.Series) -> pa.ChunkedArray:
    """Return a column of a frame; what pandas keeps as objects is typed by all of its cells."""
    if values.dtype.kind == "c" or any(isinstance(cell, complex) for cell in _objects(values)):
        raise TableError(
            f"Column {str(values.name)!r} holds complex numbers; give their parts as two columns, or leave it out."
        )
    if values.dtype != object:
        if isinstance(values.dtype, np.dtype) and values.dtype.kind == "M":
            values = values.astype("datetime64[us]")
        column = pa.array(values, from_pandas=True)
        if isinstance(column.type, pa.BaseExtensionType):  # periods and intervals
            column = pa.array(values.astype("str"), from_pandas=True)
        return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    known = values.dropna()
    if len(known) and isinstance(known.iloc[0], (list, dict, set, tuple, np.ndarray, bytes)):
        return pa.chunked_array([pa.array([None if c is None else [str(c)] for c in values], pa.list_(pa.string()))])
    inferred = pd.api.types.infer_dtype(known)
    if inferred in ("decimal", "integer", "floating", "mixed-integer-float"):
        values = pd.to_numeric(values.astype(object).where(values.notna(), None)).astype("float64")
        whole = inferred == "integer" and not values.isna().any()
        return pa.chunked_array([pa.array(values.astype("int64") if whole else values, from_pandas=True)])
    if inferred in ("date", "datetime", "datetime64"):
        dates = pd.to_datetime(values, utc=True).dt.tz_localize(None).astype("datetime64[us]")
        return pa.chunked_array([pa.array(dates, from_pandas=True)])
    return excel_column([None if missing else cell for cell, missing in zip(values, values.isna(), strict=True)])


def _objects(values: pd.Series) -> Iterable[Any]:
    return values if values.dtype == object else ()


def table_of(
    raw: Raw,
    types: Mapping[str, Kind] | None = None,
    drop: Collection[str] = (),
    needs: Mapping[str, Collection[str]] | None = None,
    readings: Sequence[Reading] | None = None,
) -> Table:
    """Type the cells of a raw table, or name all of its faults in one message."""
    names, faults = raw.arrow.column_names, list(raw.faults)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise_faults([*faults, f"Two or more columns are named {listed(twice, ' or ')}; rename all but one."])
    for parameter, wanted in {**(needs or {}), "types": list(types or ())}.items():
        faults += missing_columns(names, wanted, parameter)
    for kind in (types or {}).values():
        if kind not in get_args(Kind):
            faults.append(f"{kind!r} is no kind of column (`types`); choose one of {listed(list(get_args(Kind)))}.")
    types = {name: kind for name, kind in (types or {}).items() if kind in get_args(Kind)}
    stored = {reading.name: reading for reading in readings or ()}
    columns, found, remarks, notes = [], [], {}, list(raw.notes)
    for name in names:
        cells = raw.arrow.column(name)
        if readings is not None:
            verdict = Verdict(stored.get(name) or Reading(name, "string"))
        else:
            verdict = infer_reading(name, cells, types.get(name), typed=raw.typed)
        typed, misfit = apply_reading(verdict.reading, cells)
        fault = verdict.fault
        if misfit is not None and not verdict.reading.lenient:
            fault = _misfit(verdict.reading, misfit)
        elif verdict.reading.type == "timestamp":
            fault = fault or _out_of_range(name, typed)
        if fault and name not in drop:
            faults.append(fault)
        columns.append(typed)
        found.append(verdict.reading)
        notes += verdict.notes if name not in drop else ()
        if verdict.remark:
            remarks[name] = verdict.remark
    raise_faults(faults)
    return Table(pa.Table.from_arrays(columns, names), tuple(found), tuple(notes), remarks)


def _out_of_range(name: str, dates: pa.ChunkedArray) -> str:
    """Return a sentence on dates that cannot be counted in nanoseconds, as pandas and NumPy count them."""
    ends = pc.min_max(dates)
    first, last = (ends[end].value for end in ("min", "max"))
    for wrong in (first, last):
        if wrong is not None and not _FIRST <= wrong <= _LAST:
            return (
                f"Column {name!r} holds dates before 1678 or after 2261, such as "
                f"{np.datetime64(wrong, 'us').astype('datetime64[D]')}; correct them or leave these cells empty, or "
                "leave the column out (`drop`)."
            )
    return ""


def _misfit(reading: Reading, cell: str) -> str:
    if reading.kind == "date":
        return (
            f"Column {reading.name!r} holds cells that are not dates as before, such as {cell!r}; write them like "
            "2024-01-31, or as in the table that was learned from."
        )
    what = "numbers" if reading.type == "float64" else "whole numbers" if reading.type == "int64" else "true or false"
    return (
        f"Column {reading.name!r} must hold {what}, and it holds text such as {cell!r}; write plain numbers such as "
        "1234.5, or leave the cell empty."
    )
