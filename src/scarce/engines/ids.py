"""The check that a column names every row, in a memory that hardly grows with their number."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scarce._errors import TableError
from scarce._files import temporary_folder

from .fragments import Fragment, batches_of

__all__ = ["IdCheck", "check_ids", "refuse_repeats"]

# Marks are sorted in so many parts, one after the other.
_PARTS = 64
_MIX = np.uint64(0x9E3779B97F4A7C15)


class IdCheck:
    """A search for marks of 64 bits that occur twice; they wait on the disk, so that few are in memory."""

    def __enter__(self) -> Self:
        self._open = ExitStack()
        folder = self._open.enter_context(temporary_folder(Path(tempfile.gettempdir()), "scarce-ids"))
        self._files: list[BinaryIO] = [
            self._open.enter_context((folder / str(part)).open("w+b", buffering=1 << 16)) for part in range(_PARTS)
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def add(self, ids: pa.Array) -> None:
        """Take the ids of some rows."""
        mark = marks_of(ids)
        part = ((mark * _MIX) >> np.uint64(58)).astype(np.intp)
        order = np.argsort(part, kind="stable")
        for file, held in zip(
            self._files, np.split(mark[order], np.searchsorted(part[order], np.arange(1, _PARTS))), strict=True
        ):
            if len(held):
                file.write(held.tobytes())

    def repeated(self) -> NDArray[np.uint64]:
        """Return the marks that occur more than once."""
        found = [np.zeros(0, dtype=np.uint64)]
        for file in self._files:
            file.flush()
            file.seek(0)
            mark = np.sort(np.frombuffer(file.read(), dtype=np.uint64))
            found.append(np.unique(mark[1:][mark[1:] == mark[:-1]]))
        return np.concatenate(found)


def marks_of(ids: pa.Array) -> NDArray[np.uint64]:
    """Return 64 bits for each id, the same for equal ones in this process; whole numbers are their own marks."""
    if pa.types.is_integer(ids.type) and not ids.null_count:
        return np.asarray(ids.to_numpy(zero_copy_only=False).astype(np.int64)).view(np.uint64)
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids)).view(np.uint64)


def check_ids(fragments: Iterable[Fragment], id: str) -> None:
    """Refuse a column of files in which two rows have the same id."""
    fragments = list(fragments)
    with IdCheck() as check:
        for fragment in fragments:
            for batch in batches_of(fragment, [id]):
                check.add(batch.column(id))
        suspects = check.repeated()
    if not len(suspects):
        return
    # Different texts may have equal marks, so that the ids themselves decide.
    seen: set[Any] = set()
    for fragment in fragments:
        for batch in batches_of(fragment, [id]):
            ids = batch.column(id)
            for value in ids.filter(pa.array(np.isin(marks_of(ids), suspects))).to_pylist():
                if value in seen:
                    refuse(id, value)
                seen.add(value)


def refuse_repeats(ids: pa.ChunkedArray | pa.Array, id: str) -> None:
    """Refuse ids of which one stands twice."""
    for entry in pc.value_counts(ids):
        if entry["counts"].as_py() > 1:
            refuse(id, entry["values"].as_py())


def refuse(id: str, value: Any) -> None:
    """Raise the error on an id that several rows have."""
    held = "is empty" if value is None else f"holds {value!r}"
    raise TableError(
        f"Column {id!r} {held} in several rows, so that it does not tell them apart; name a column that differs in "
        "every row, or leave it out (`id`)."
    )
