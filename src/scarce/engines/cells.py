"""The cells of single rows and of Arrow tables, read as an audit reads its table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scarce._errors import UserError
from scarce._typing import ArrowCells, Cell, IntArray
from scarce.tables import MISSING, Column, Reading
from scarce.tables.cells import as_text
from scarce.tables.dates import ISO
from scarce.tables.labels import label_key
from scarce.tables.numbers import COMMA
from scarce.tables.readings import CODE, apply_reading

__all__ = ["MOST_FAULTS", "NO_DATE", "CellReader", "Fault", "RowError", "RowReader", "as_frame"]

NO_DATE = int(np.iinfo(np.int64).min)
MOST_FAULTS = 20
_MOST_EXACT = 2**53
_LONGEST_SHOWN = 80
_EXPECTED = {"bool": "true or false", "int64": "a whole number", "float64": "a number", "timestamp": "a date"}
# Texts whose reading is plain; all others are read as the cells of a table are.
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ISO_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

# Read a cell as a float, a text, or microseconds since 1970.
CellReader = Callable[[Cell], Any]


class Fault(NamedTuple):
    """A cell that cannot be read."""

    row: int
    column: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"Row {self.row}, column {self.column!r}: expected {self.expected}, found {self.found}."


class RowError(UserError, ValueError):
    """Rows that cannot be scored, with the faults of their cells."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = list(faults)
        super().__init__(" ".join(str(fault) for fault in self.faults))


class _Misfit(Exception):
    pass


class RowReader:
    """The way from cells as they are given to typed columns, of a model's columns in their order.

    A column that is absent holds empty cells, and columns that the model does not know are ignored. Numbers become
    float64 with NaN for empty cells, dates whole microseconds with `NO_DATE`, categories text.
    """

    def __init__(self, columns: Sequence[Column], readings: Sequence[Reading]) -> None:
        stored = {reading.name: reading for reading in readings}
        self.columns = list(columns)
        self.readings = [stored.get(c.name) or Reading(c.name, "string") for c in columns]
        self._readers = [(c.name, _reader(reading)) for c, reading in zip(self.columns, self.readings, strict=True)]

    def of_row(self, row: Mapping[str, Cell], number: int = 0) -> list[Any]:
        """Return the typed cells of one row."""
        try:
            return [read(row.get(name)) for name, read in self._readers]
        except _Misfit:
            raise RowError(self._faults(row, number)) from None

    def of_rows(self, rows: Sequence[Mapping[str, Cell]]) -> list[list[Any]]:
        """Return the typed cells of rows, column by column."""
        read, faults = [], []
        for number, row in enumerate(rows):
            try:
                read.append(self.of_row(row, number))
            except RowError as error:
                faults += error.faults
                if len(faults) >= MOST_FAULTS:
                    break
        if faults:
            raise RowError(faults[:MOST_FAULTS])
        return [list(cells) for cells in zip(*read, strict=True)] if read else [[] for _ in self.columns]

    def of_arrow(self, table: pa.Table) -> list[Any]:
        """Return typed columns of an Arrow table: arrays of numbers and of microseconds, and Arrow arrays of text."""
        typed, faults = [], []
        for reading in self.readings:
            held = table.column(reading.name) if reading.name in table.column_names else None
            try:
                typed.append(_of_arrow(reading, held, table.num_rows))
            except RowError as error:
                faults += error.faults
        if faults:
            raise RowError(faults[:MOST_FAULTS])
        return typed

    def _faults(self, row: Mapping[str, Cell], number: int) -> list[Fault]:
        faults = []
        for (name, read), reading in zip(self._readers, self.readings, strict=True):
            try:
                read(row.get(name))
            except _Misfit:
                expected = _EXPECTED.get(reading.type, "text or a number")
                faults.append(Fault(number, name, expected, shown(row.get(name))))
        return faults


def shown(value: Cell) -> str:
    """Return a cell of a request for a message, shortened, in characters that every output can hold."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    text = text.encode("utf-8", "replace").decode()
    return repr(text) if isinstance(value, str) else text


def as_frame(columns: Sequence[Column], typed: Sequence[Any]) -> pd.DataFrame:
    """Return typed columns as the frame that a model's pipeline takes."""
    held = {}
    for column, cells in zip(columns, typed, strict=True):
        if column.kind == "number":
            held[column.name] = pd.Series(cells, dtype="float64")
        elif column.kind == "date":
            whole = np.asarray(cells, dtype=np.int64)  # NO_DATE is NumPy's own NaT
            held[column.name] = pd.Series(whole.view("datetime64[us]"))
        else:
            held[column.name] = pd.Series(cells if isinstance(cells, list) else cells.to_pylist(), dtype="str")
    return pd.DataFrame(held)


def _reader(reading: Reading) -> CellReader:
    if reading.kind == "category":
        return _text_reader(reading)
    return _date_reader(reading) if reading.kind == "date" else _number_reader(reading)


def _number_reader(reading: Reading) -> CellReader:
    plain = reading.type == "float64"
    plain_text = plain and reading.written != COMMA

    def read(value: Cell) -> float:
        kind = type(value)
        if kind is float and plain:
            return value if math.isfinite(value) else math.nan
        if value is None:
            return math.nan
        if (kind is int and plain) or kind is bool:
            try:
                return float(value)
            except OverflowError:
                raise _Misfit from None
        if kind is str and plain_text and _PLAIN_NUMBER.fullmatch(value):
            number = float(value)
            return number if math.isfinite(number) else math.nan
        found = _read_alone(reading, value)
        return math.nan if found is None or not math.isfinite(found) else float(found)

    return read


def _date_reader(reading: Reading) -> CellReader:
    iso = reading.written in ("", ISO)

    def read(value: Cell) -> int:
        if value is None:
            return NO_DATE
        if iso and type(value) is str and _ISO_DATE.fullmatch(value):
            try:
                moment = datetime.fromisoformat(value)
                if moment.tzinfo is not None:
                    moment = moment.astimezone(UTC).replace(tzinfo=None)
            except (ValueError, OverflowError):
                raise _Misfit from None
            return (moment - _EPOCH) // _MICROSECOND
        found = _read_alone(reading, value)
        return NO_DATE if found is None else int(found)

    return read


def _text_reader(reading: Reading) -> CellReader:
    labels, code = reading.labels, reading.written == CODE

    def read(value: Cell) -> str:
        kind = type(value)
        if value is None:
            return MISSING
        if kind is str and not code and value.isascii() and value.isprintable():
            text = value.strip(" ")
            if not text:
                return MISSING
            return labels.get(label_key(text), text) if labels else text
        if kind is int and abs(value) < _MOST_EXACT and not labels:
            return str(value)
        if kind is float and value.is_integer() and abs(value) < _MOST_EXACT and not labels:
            return str(int(value))
        found = _read_alone(reading, value)
        return MISSING if found is None else str(found)

    return read


def _read_alone(reading: Reading, value: Cell) -> Cell:
    """Read one cell as a column of one row."""
    if isinstance(value, (list, dict)):
        raise _Misfit
    if reading.type == "string" and isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        cells = pa.chunked_array([pa.array([value])])
        typed, misfit = apply_reading(_typed_reading(reading), cells)
        if reading.type == "timestamp":
            typed = pc.cast(typed, pa.int64())
        found = typed[0].as_py()
    except (pa.ArrowException, UnicodeError, OverflowError, ValueError):
        raise _Misfit from None
    if misfit is not None and not reading.lenient:
        raise _Misfit
    return found


def _typed_reading(reading: Reading) -> Reading:
    return Reading(reading.name, "string") if reading.type == "nested" else reading


def _of_arrow(reading: Reading, cells: ArrowCells | None, rows: int) -> Any:
    if cells is None:
        cells = pa.chunked_array([pa.nulls(rows, pa.string())])
    try:
        typed, misfit = apply_reading(_typed_reading(reading), cells)
    except (pa.ArrowException, ValueError):
        raise RowError([_fault(reading, 0, f"cells of the type {cells.type}")]) from None
    if misfit is not None and not reading.lenient:
        row = pc.index(pc.and_(pc.is_valid(as_text(cells)), pc.is_null(typed)), True).as_py()
        raise RowError([_fault(reading, row, shown(misfit))])
    if reading.kind == "category":
        return pc.fill_null(typed, MISSING)
    if reading.kind == "date":
        return pc.fill_null(pc.cast(typed, pa.int64()), NO_DATE).to_numpy()
    numbers = pc.cast(typed, pa.float64()).to_numpy()
    finite = np.isfinite(numbers)
    return numbers if finite.all() else np.where(finite, numbers, np.nan)


def _fault(reading: Reading, row: int, found: str) -> Fault:
    return Fault(row, reading.name, _EXPECTED.get(reading.type, "text or a number"), found)


def codes_of(words: Any, known: Mapping[str, int], unknown: int) -> IntArray:
    """Return the code of each word of a list or of an Arrow array."""
    if isinstance(words, list):
        return np.array([known.get(word, unknown) for word in words], dtype=np.intp)
    encoded = pc.dictionary_encode(words).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no rows
        return np.empty(0, dtype=np.intp)
    own = np.array([known.get(word, unknown) for word in encoded.dictionary.to_pylist()], dtype=np.intp)
    return own[encoded.indices.to_numpy()]
