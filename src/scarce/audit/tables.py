"""Reading a table and its target, and writing results whole or not at all."""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "AuditError",
    "Target",
    "check_free",
    "listed",
    "read_table",
    "read_target",
    "require_columns",
    "sha256",
    "written_whole",
]

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
MAX_LISTED = 5


class AuditError(ValueError):
    """Something that the user can put right; the message is a sentence that says how."""


@dataclass(frozen=True)
class Target:
    """The outcome to look for.

    Attributes
    ----------
    name : str
        The column of the table.
    positive : str
        The value that counts as positive, as it is written in the table.
    others : list of str
        The other values.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 where the outcome is unknown.
    said : str
        A sentence on how the positive value was chosen.
    """

    name: str
    positive: str
    others: list[str]
    y: NDArray[np.int64]
    said: str


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a CSV or Parquet file into a frame whose rows are numbered from 0."""
    path = Path(path)
    name = path.name.lower()
    if not path.exists():
        raise AuditError(f"There is no file {path}; check the path{_near_file(path)}.")
    if path.is_dir():
        raise AuditError(f"{path} is a folder; name the CSV or Parquet file in it.")
    if not name.endswith(CSV_SUFFIXES + PARQUET_SUFFIXES):
        raise AuditError(
            f"{path} is neither CSV nor Parquet by its name; save the table as .csv or .parquet and name that file."
        )
    try:
        frame = pd.read_parquet(path) if name.endswith(PARQUET_SUFFIXES) else _read_csv(path)
    except ImportError as error:
        raise AuditError(f'{path} needs a package to be read; pip install "scarce[audit]" brings it.') from error
    except UnicodeDecodeError as error:
        raise AuditError(f"{path} is not written in UTF-8; save it again as UTF-8 CSV.") from error
    except (ValueError, OSError) as error:  # the parsers' own errors are ValueErrors
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "it is damaged"
        raise AuditError(f"{path} cannot be read ({reason}); export the table again as CSV or Parquet.") from error
    if frame.empty:
        raise AuditError(f"{path} holds no rows; export the table again with its rows.")
    frame.columns = frame.columns.map(str)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise AuditError(f"{path} has two columns named {twice!r}; rename one of them.")
    return frame.reset_index(drop=True)


def _read_csv(path: Path) -> pd.DataFrame:
    # pandas' own detection of the separator needs its slow parser; the header line tells as well.
    header = pd.read_csv(path, sep="\0", header=None, nrows=1, encoding="utf-8-sig", engine="c", dtype=str)
    line = str(header.iloc[0, 0])
    separator = max((",", ";", "\t", "|"), key=line.count)
    return pd.read_csv(path, sep=separator, encoding="utf-8-sig", low_memory=False)


def _near_file(path: Path) -> str:
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, siblings, n=1)
    return f", or did you mean {path.parent / near[0]}" if near else ""


def require_columns(frame: pd.DataFrame, names: Iterable[str], option: str) -> None:
    """Refuse a column name that the table does not have, and name the nearest that it has."""
    for name in names:
        if name not in frame.columns:
            folded = {column.casefold(): column for column in frame.columns}
            near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.5)
            hint = (
                f"did you mean {listed([folded[n] for n in near], ' or ')}?"
                if near
                else f"choose one of its columns {listed(list(frame.columns))}."
            )
            raise AuditError(f"The table has no column {name!r} for {option}; {hint}")


def read_target(frame: pd.DataFrame, name: str, positive: str | None = None) -> Target:
    """Find the positive value of the target: the rarer of two, or the one that was asked for."""
    require_columns(frame, [name], "--target")
    column = frame[name]
    known = column.notna().to_numpy()
    text = column[known].map(written)
    counts = text.value_counts()
    if not len(counts):
        raise AuditError(f"The target column {name!r} is empty; fill in the outcomes that are known.")
    if positive is not None:
        wanted = positive if positive in counts.index else _as_number(positive, counts.index)
        if wanted is None:
            raise AuditError(
                f"No row has {name} = {positive}, so there is no positive to learn from; "
                f"--positive takes one of the values {listed(list(counts.index))}."
            )
        said = f"{name} = {wanted} is positive, as asked."
    elif len(counts) > 2:
        raise AuditError(
            f"The target column {name!r} has {len(counts)} different values ({listed(list(counts.index))}); "
            "name a column with two values, or the value to look for with --positive VALUE."
        )
    else:
        # Of two equally frequent values the larger is positive, as everywhere in the library.
        wanted = min(sorted(counts.index, reverse=True), key=lambda value: counts[value])
        said = f"{name} = {wanted} is positive, because it is the rarer value."
    if len(counts) == 1:
        raise AuditError(
            f"The target column {name!r} has only one value ({counts.index[0]}); "
            "a comparison needs rows with both outcomes."
        )
    y = np.full(len(frame), -1, dtype=np.int64)
    y[known] = (text == wanted).to_numpy()
    return Target(name, wanted, [v for v in counts.index if v != wanted], y, said)


def written(value: Any) -> str:
    """Return a cell as a person would write it: 1.0 as 1, timestamps in ISO form."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _as_number(wanted: str, values: Iterable[str]) -> str | None:
    """Find ``1`` when the user writes ``1.0`` or ``true``."""
    return next((v for v in values if v.casefold() == wanted.casefold() or _number(v) == _number(wanted)), None)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def listed(names: Sequence[str], last: str = " and ") -> str:
    """Return a few names in quotes, and how many were left out."""
    shown = [repr(str(name)) for name in names[:MAX_LISTED]]
    if len(names) > MAX_LISTED:
        shown.append(f"{len(names) - MAX_LISTED} more")
    return last.join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_free(destination: Path, *, force: bool = False) -> None:
    """Refuse a place where something is that must not be replaced; an empty folder is free."""
    if not destination.exists() or (destination.is_dir() and not any(destination.iterdir())):
        return
    if not force:
        raise AuditError(f"{destination} exists already; name another place with --out, or replace it with --force.")
    if destination.is_dir() and not (destination / "manifest.json").exists():
        raise AuditError(f"{destination} holds something other than an audit; name another place with --out.")


@contextmanager
def written_whole(destination: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a path for a file or folder that becomes `destination` if the block ends well, and vanishes otherwise."""
    destination = destination.absolute()
    destination.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{destination.name}-", dir=destination.parent))
    try:
        new = work / destination.name
        yield new
        check_free(destination, force=force)
        if destination.exists():
            destination.rename(work / "old")
        new.rename(destination)
    finally:
        shutil.rmtree(work)
