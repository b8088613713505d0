"""Tables read from CSV and Parquet files."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from scarce._errors import TableError
from scarce._messages import listed

__all__ = ["read_table", "require_columns"]

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a CSV or Parquet file into a frame whose rows are numbered from 0."""
    path = Path(path)
    name = path.name.lower()
    if not path.exists():
        raise TableError(f"There is no file {path}; check the path{_near_file(path)}.")
    if path.is_dir():
        raise TableError(f"{path} is a folder; name the CSV or Parquet file in it.")
    if not name.endswith(CSV_SUFFIXES + PARQUET_SUFFIXES):
        raise TableError(
            f"{path} is neither CSV nor Parquet by its name; save the table as .csv or .parquet and name that file."
        )
    try:
        frame = pd.read_parquet(path) if name.endswith(PARQUET_SUFFIXES) else _read_csv(path)
    except ImportError as error:
        raise TableError(f'{path} needs a package to be read; pip install "scarce[audit]" brings it.') from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not written in UTF-8; save it again as UTF-8 CSV.") from error
    except (ValueError, OSError) as error:  # the parsers' own errors are ValueErrors
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "it is damaged"
        raise TableError(f"{path} cannot be read ({reason}); export the table again as CSV or Parquet.") from error
    if frame.empty:
        raise TableError(f"{path} holds no rows; export the table again with its rows.")
    frame.columns = frame.columns.map(str)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"{path} has two columns named {twice!r}; rename one of them.")
    return frame.reset_index(drop=True)


def _read_csv(path: Path) -> pd.DataFrame:
    # pandas' own detection of the separator needs its slow parser; the header line shows it as well.
    header = pd.read_csv(path, sep="\0", header=None, nrows=1, encoding="utf-8-sig", engine="c", dtype=str)
    line = str(header.iloc[0, 0])
    separator = max((",", ";", "\t", "|"), key=line.count)
    return pd.read_csv(path, sep=separator, encoding="utf-8-sig", low_memory=False)


def _near_file(path: Path) -> str:
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, siblings, n=1)
    return f", or did you mean {path.parent / near[0]}" if near else ""


def require_columns(frame: pd.DataFrame, names: Iterable[str], parameter: str) -> None:
    """Refuse a column name that the table does not have, given as `parameter`, and name the nearest that it has."""
    for name in names:
        if name not in frame.columns:
            folded = {column.casefold(): column for column in frame.columns}
            near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.5)
            hint = (
                f"did you mean {listed([folded[n] for n in near], ' or ')}?"
                if near
                else f"choose one of its columns {listed(list(frame.columns))}."
            )
            raise TableError(f"The table has no column {name!r} for `{parameter}`; {hint}")
