"""Files of tables as Arrow tables: CSV as text in every cell, Parquet and Excel with their own types."""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from scarce._errors import TableError
from scarce._extras import require
from scarce._typing import Cell, Keywords

from .cells import as_text

__all__ = [
    "CSV_SUFFIXES",
    "EXCEL_SUFFIXES",
    "PARQUET_SUFFIXES",
    "SIMULATED",
    "Raw",
    "csv_columns",
    "raw_batches",
    "read_raw",
]

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
EXCEL_SUFFIXES = (".xlsx", ".xlsm")

# A key in the metadata of Parquet files of simulated rows.
SIMULATED = b"scarce.simulated"
# Words that programs write into empty cells.
EMPTY = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"),
)
# Where two fit, the comma is the one that texts and numbers hold.
DELIMITERS = ("\t", ";", "|", ",")
SAMPLE = 1 << 18
CHUNK = 1 << 20
MAX_LINES_NAMED = 5
MAX_SAMPLED_RECORDS = 200


class Raw(NamedTuple):
    """A table as its file holds it, whether the file has types, notes on how it was opened, and its faults."""

    arrow: pa.Table
    typed: bool
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Dialect(NamedTuple):
    """The encoding, the delimiter and the header of a CSV file."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]


def read_raw(path: Path) -> Raw:
    """Read a whole file."""
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        table = pa.parquet.read_table(path)
        simulated = SIMULATED in (table.schema.metadata or {})
        return Raw(table, True, (f"{path.name} is SIMULATED: no row in it is real.",) if simulated else ())
    return _read_excel(path) if name.endswith(EXCEL_SUFFIXES) else _read_csv(path)


def raw_batches(path: Path, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Read a file in parts of at most `rows` rows; of Excel, which cannot be read in parts, the whole at once.

    The parts hold the named columns, or all.
    """
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                yield pa.Table.from_batches([batch])
        return
    if name.endswith(EXCEL_SUFFIXES):
        yield from _sliced(_chosen(_read_excel(path).arrow, columns), rows)
        return
    dialect = _dialect(path)
    faulty: list[int] = []
    with _open(path) as stream, pa.csv.open_csv(stream, **_options(dialect, faulty)) as reader:
        for batch in reader:
            if faulty:
                raise TableError(_wrong_fields(path, dialect, len(faulty)))
            part = pa.Table.from_batches([batch]).rename_columns(list(dialect.names))
            yield from _sliced(_chosen(part, columns), rows)
    if faulty:
        raise TableError(_wrong_fields(path, dialect, len(faulty)))


def csv_columns(path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a CSV file."""
    return _dialect(path).names


def _chosen(table: pa.Table, columns: Sequence[str] | None) -> pa.Table:
    return table if columns is None else table.select([name for name in columns if name in table.column_names])


def _sliced(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)


def _read_csv(path: Path) -> Raw:
    dialect = _dialect(path)
    faulty: list[int] = []
    with _open(path) as stream:
        table = pa.csv.read_csv(stream, **_options(dialect, faulty))
    table = table.rename_columns(list(dialect.names))
    if dialect.names[-1].startswith("Unnamed: ") and table.column(-1).null_count == table.num_rows:
        table = table.remove_column(table.num_columns - 1)  # every line ends with a delimiter
    notes: tuple[str, ...] = ()
    if dialect.encoding in ("cp1252", "latin-1"):
        notes = (f"{path.name} is not written in UTF-8; it was read as Latin-1 ({dialect.encoding}).",)
    return Raw(table, False, notes, (_wrong_fields(path, dialect, len(faulty)),) if faulty else ())


def _options(dialect: Dialect, faulty: list[int]) -> Keywords:
    places = [str(place) for place in range(len(dialect.names))]  # the names may not be different

    def skip(row: pa.csv.InvalidRow) -> str:
        faulty.append(row.actual_columns)
        return "skip"

    return {
        "read_options": pa.csv.ReadOptions(
            column_names=places, skip_rows_after_names=1, encoding=dialect.encoding, use_threads=False
        ),
        "parse_options": pa.csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True, invalid_row_handler=skip
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()), null_values=list(EMPTY), strings_can_be_null=True
        ),
    }


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb"))


def _dialect(path: Path) -> Dialect:
    encoding = _encoding(path)
    with _open(path) as stream:
        start = stream.read(SAMPLE)
        whole = len(start) < SAMPLE
    text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)().decode(start)
    if not text.strip():
        raise TableError(f"{path} cannot be read (it is empty); export the table again as CSV or Parquet.")
    found = []
    for delimiter in DELIMITERS:
        records = _records(text, delimiter, whole)
        if records:
            share = sum(len(record) == len(records[0]) for record in records) / len(records)
            found.append((len(records[0]) > 1, share, len(records[0]), delimiter, records[0]))
    if not found:
        raise TableError(f"{path} cannot be read (its first line is no header); export the table again as CSV.")
    *_, delimiter, header = max(found, key=lambda candidate: candidate[:3])
    names = tuple(name.strip() or f"Unnamed: {place}" for place, name in enumerate(header))
    return Dialect(encoding, delimiter, names)


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the first records of a sample, the last one left out if it may be incomplete."""
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) > MAX_SAMPLED_RECORDS:
                return records[:-1]
    except csv.Error:
        return records
    return records if whole or len(records) < 2 else records[:-1]


def _encoding(path: Path) -> str:
    with _open(path) as stream:
        start = stream.read(4096)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for parity, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        # Without its mark, UTF-16 of mostly Latin letters has a zero in every other byte.
        if len(start) > 1 and start[parity::2].count(0) > len(start) // 4:
            return encoding
    # The Windows code page is Latin-1 with the euro sign, among others, in place of control codes.
    return next((encoding for encoding in ("utf-8", "cp1252") if _decodes(path, encoding)), "latin-1")


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _open(path) as stream:
            while part := stream.read(CHUNK):
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _wrong_fields(path: Path, dialect: Dialect, count: int) -> str:
    """Return a sentence that names the first lines whose number of fields is not that of the header."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    wrong: list[str] = []
    line = 1
    with io.TextIOWrapper(_open(path), encoding=encoding, newline="") as text:
        reader = csv.reader(text, delimiter=dialect.delimiter)
        for record in reader:
            if record and len(record) != len(dialect.names):
                wrong.append(f"line {line} has {len(record)}")
                if len(wrong) == min(count, MAX_LINES_NAMED):
                    break
            line = reader.line_num + 1
    more = f", and {count - len(wrong):,} more lines are wrong" if count > len(wrong) else ""
    return (
        f"{path} has lines with a wrong number of fields: the header has {len(dialect.names)}, {', '.join(wrong)}"
        f"{more}; put cells that hold the separator in quotes, or correct these lines."
    )


def _read_excel(path: Path) -> Raw:
    openpyxl = require("openpyxl", path.name)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = [sheet.title for sheet in book.worksheets]
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(cell is not None for cell in row)]
    finally:
        book.close()
    if not rows:
        raise TableError(f"{path} holds no rows; export the table again with its rows.")
    width = max(place + 1 for row in rows for place, cell in enumerate(row) if cell is not None)
    header, *cells = [(*row, *[None] * width)[:width] for row in rows]
    names = ["" if cell is None else str(cell).strip() for cell in header]
    names = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    columns = [excel_column([row[place] for row in cells]) for place in range(width)]
    notes = (f"{path.name} has {len(sheets)} sheets; the first, {sheets[0]!r}, was read.",) if len(sheets) > 1 else ()
    return Raw(pa.Table.from_arrays(columns, names), True, notes)


def excel_column(cells: Sequence[Cell]) -> pa.ChunkedArray:
    """Return cells of one type as they are, and others as the text that a person would write."""
    known = [None if isinstance(cell, str) and cell in EMPTY else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if not kinds:
        column = pa.array(known, pa.string())
    elif kinds == {bool} or kinds <= {int} or kinds <= {str}:
        column = pa.array(known)
    elif kinds <= {int, float}:
        column = pa.array(known, pa.float64())
    elif kinds <= {dt.datetime, dt.date}:
        column = pa.array(known, pa.timestamp("us"))
    else:
        return pa.chunked_array([as_text(pa.array([_cell(cell) for cell in known], pa.string()))])
    return pa.chunked_array([column])


def _cell(cell: Cell) -> str | None:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return None if cell is None else str(cell)
