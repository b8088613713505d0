"""Tables read from CSV, Parquet and Excel files."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import pandas as pd

from scarce._errors import TableError
from scarce._extras import MissingPackage

from .files import CSV_SUFFIXES, EXCEL_SUFFIXES, PARQUET_SUFFIXES, Raw, raw_batches, read_raw
from .readings import Kind, Reading
from .table import Table, table_of

__all__ = ["read_batches", "read_table", "read_typed_frame"]

BATCH_ROWS = 100_000


def read_table(
    path: str | os.PathLike[str],
    *,
    types: Mapping[str, Kind] | None = None,
    drop: Collection[str] = (),
    needs: Mapping[str, Collection[str]] | None = None,
    readings: Sequence[Reading] | None = None,
) -> Table:
    """Read a CSV, Parquet or Excel file.

    The separator of CSV (comma, semicolon, tab or bar) is that in which most lines have as many fields as the header.
    Its encoding is UTF-8, UTF-16 or else Latin-1. How numbers and dates are written is decided for each column on all
    of its cells; of Excel the first sheet is read.

    Parameters
    ----------
    path : path
        The file. CSV may be compressed by gzip.
    types : dict of str, optional
        The kind of some columns: "number", "category" or "date". Their cells that do not fit are read as empty.
    drop : collection of str
        Columns that will not be used, whose faults do not matter.
    needs : dict of collections of str, optional
        Columns that the table must have, by the parameter that names them, such as ``{"target": ["fraud"]}``.
    readings : sequence of Reading, optional
        How columns are read, from another table; columns without a reading are read as text. `types` is not used.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With all faults of the table in one message.
    """
    return table_of(_raw(path), types, drop, needs, readings)


def read_typed_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a file whose types are right as they are, such as the Parquet file of a data set."""
    return _raw(path).arrow.to_pandas()


def _raw(path: str | os.PathLike[str]) -> Raw:
    path = _checked(path)
    try:
        raw = read_raw(path)
    except MissingPackage as error:
        raise TableError(str(error)) from error
    except (ValueError, OSError, BadZipFile, KeyError) as error:  # the parsers' own errors are ValueErrors
        if isinstance(error, TableError):
            raise
        raise _unreadable(path, error) from error
    if not raw.arrow.num_rows and not raw.faults:
        raise TableError(f"{path} holds no rows; export the table again with its rows.")
    return raw


def read_batches(
    path: str | os.PathLike[str], readings: Sequence[Reading], *, rows: int = BATCH_ROWS
) -> Iterator[Table]:
    """Read the columns that have a reading in parts of at most `rows` rows, each typed as in the whole table.

    The parts are those of the whole table, whatever `rows` is. CSV and Parquet are never whole in memory.
    """
    path = _checked(path)
    try:
        for batch in raw_batches(path, rows):
            held = batch.select([reading.name for reading in readings if reading.name in batch.column_names])
            yield table_of(Raw(held, typed=True), readings=readings)
    except TableError:
        raise
    except (ValueError, OSError, BadZipFile, KeyError) as error:
        raise _unreadable(path, error) from error


def _checked(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if not path.exists():
        raise TableError(f"There is no file {path}; check the path{_near_file(path)}.")
    if path.is_dir():
        raise TableError(f"{path} is a folder; name the CSV, Parquet or Excel file in it.")
    if not path.is_file():
        raise TableError(f"{path} is a pipe or a device, which can be read only once; write the table to a file.")
    if not path.name.lower().endswith(CSV_SUFFIXES + PARQUET_SUFFIXES + EXCEL_SUFFIXES):
        raise TableError(
            f"{path} is neither CSV nor Parquet nor Excel by its name; save the table as .csv, .parquet or .xlsx and "
            "name that file."
        )
    return path


def _unreadable(path: Path, error: Exception) -> TableError:
    reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "it is damaged"
    if "straddl" in reason:  # Arrow's word for a line that is longer than it reads at once
        reason = "it has a line of more than 1 MB, perhaps because a quote is not closed"
    return TableError(f"{path} cannot be read ({reason}); export the table again as CSV or Parquet.")


def _near_file(path: Path) -> str:
    siblings = [p.name for p in path.parent.iterdir() if p.exists()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, siblings, n=1)
    return f", or did you mean {path.parent / near[0]}" if near else ""
