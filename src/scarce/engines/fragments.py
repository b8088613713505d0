"""Tables in one file or many: which files they are, whether they fit together, and their rows in batches."""

from __future__ import annotations

import glob
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet

from scarce._errors import TableError
from scarce._messages import listed
from scarce._typing import PathLike
from scarce.tables.faults import missing_columns
from scarce.tables.files import CSV_SUFFIXES, PARQUET_SUFFIXES, csv_columns, raw_batches

__all__ = ["BATCH_ROWS", "Fragment", "batches_of", "find_fragments", "is_folder", "require_columns"]

# Rows of one batch: enough to make the cost of a call small, few enough for a small memory.
BATCH_ROWS = 32_768


@dataclass(frozen=True)
class Fragment:
    """One file of a table.

    Attributes
    ----------
    path : str
        Where it is.
    name : str
        Its name in results: the path below the folder that all files share.
    size : int
        Its rows where the file says how many it has, which Parquet does, and otherwise its bytes.
    rows : int, optional
        Its rows, where the file says how many.
    modified : int
        When it was last changed, in nanoseconds.
    """

    path: str
    name: str
    size: int
    rows: int | None
    modified: int


def is_folder(data: PathLike) -> bool:
    """Return whether a path stands for several files: a folder, or a pattern such as ``payments/*.parquet``."""
    return Path(data).is_dir() or (glob.has_magic(str(data)) and not Path(data).exists())


def find_fragments(
    data: PathLike, columns: Sequence[str] = (), given: Mapping[str, str | None] = MappingProxyType({})
) -> list[Fragment]:
    """Return the files of a table by name, after a look at the columns of each.

    Parameters
    ----------
    data : path
        A CSV or Parquet file, a folder of such files, or a pattern such as ``payments/*.parquet``. Of a folder, files
        whose names begin with a point or an underscore are not rows, as elsewhere.
    columns : sequence of str
        The columns that will be read, which must be there and have one type in all files.
    given : dict of str
        Those that the user named, by their parameters.
    """
    paths = _paths(data)
    kinds = {path.name.lower().endswith(PARQUET_SUFFIXES) for path in paths}
    if len(kinds) > 1:
        raise TableError(f"{data} holds CSV and Parquet files; name those of one kind, such as {data}/*.parquet.")
    root = paths[0].parent
    while not all(path.is_relative_to(root) for path in paths):
        root = root.parent
    found: list[Fragment] = []
    first: dict[str, pa.DataType] = {}
    for path in paths:
        with _readable(path):
            types, rows = _types(path)
        own = {name: types[name] for name in (columns or types) if name in types}
        if not found:
            require_columns(list(types), columns, given)
            first = own
        elif other := _difference(first, own):
            raise TableError(
                f"{paths[0]} and {path} do not have the same columns: {other}; export them again in one way, or name "
                "files of one kind alone."
            )
        about = path.stat()
        size = about.st_size if rows is None else rows
        found.append(Fragment(str(path), path.relative_to(root).as_posix(), size, rows, about.st_mtime_ns))
    return found


def require_columns(
    names: Sequence[str], columns: Sequence[str], given: Mapping[str, str | None] = MappingProxyType({})
) -> None:
    """Refuse a table that lacks columns, of which the user named those `given`."""
    for parameter, column in given.items():
        for fault in missing_columns(names, [] if column is None else [column], parameter):
            raise TableError(fault)
    if absent := [name for name in dict.fromkeys(columns) if name not in names]:
        raise TableError(f"The table lacks what the model learned from: add the column {listed(absent)}.")


def batches_of(
    fragment: Fragment, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Read a file in batches, which hold the named columns or all; a file is never whole in memory."""
    with _readable(Path(fragment.path)):
        for part in raw_batches(Path(fragment.path), rows, columns):
            for batch in part.to_batches():
                if batch.num_rows:
                    yield batch


def _paths(data: PathLike) -> list[Path]:
    path = Path(data)
    if path.is_file():
        found = [path]
    elif path.is_dir():
        found = [p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path))]
    else:
        found = [p for p in map(Path, glob.glob(str(data), recursive=True)) if p.is_file() and not _is_hidden(p)]
    if not found:
        what = "no file in" if path.is_dir() else "no file"
        raise TableError(f"There is {what} {data}; check the path.")
    for file in found:
        if not file.name.lower().endswith(CSV_SUFFIXES + PARQUET_SUFFIXES):
            raise TableError(
                f"{file} is neither CSV nor Parquet by its name; name the files that are, such as "
                f"{path if path.is_dir() else file.parent}/*.parquet."
            )
    return sorted(found)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts[-1:]) or any(
        part.startswith("_") or (part.startswith(".") and part not in (".", "..")) for part in path.parts[:-1]
    )


def _types(path: Path) -> tuple[dict[str, pa.DataType], int | None]:
    if path.name.lower().endswith(PARQUET_SUFFIXES):
        with pa.parquet.ParquetFile(path) as file:
            return {field.name: field.type for field in file.schema_arrow}, file.metadata.num_rows
    return dict.fromkeys(csv_columns(path), pa.string()), None


def _difference(first: dict[str, pa.DataType], other: dict[str, pa.DataType]) -> str:
    """Return in what the columns differ; a column of empty cells alone fits any other."""
    for name in first.keys() | other.keys():
        if name not in other:
            return f"the second lacks {name}"
        if name not in first:
            return f"the first lacks {name}"
    for name, type_ in first.items():
        own = other[name]
        if pa.types.is_null(own) or pa.types.is_null(type_):
            continue
        if _plain(own) != _plain(type_):
            return f"{name} is {type_} in the first and {own} in the second"
    return ""


def _plain(type_: pa.DataType) -> pa.DataType:
    """Return the type of the cells, however they are stored."""
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return pa.string() if pa.types.is_large_string(type_) or pa.types.is_string_view(type_) else type_


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name the file that cannot be read."""
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError as error:
        raise TableError(f"There is no file {path}; check the path.") from error
    except (ValueError, OSError, EOFError, zlib.error) as error:  # the parsers' own errors are ValueErrors
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "it is damaged"
        raise TableError(
            f"{path} ends early or is damaged ({reason}); export it again, or leave it out of the files."
        ) from error
