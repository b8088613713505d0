"""The bodies of requests to the service: JSON and Arrow IPC, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
from fastapi import HTTPException, Request

from .errors import DeskError

__all__ = ["ARROW_FILE", "ARROW_STREAM", "Batch", "arrow_bytes", "check_id", "read_batch", "read_json"]

ARROW_STREAM: Final = "application/vnd.apache.arrow.stream"
ARROW_FILE: Final = "application/vnd.apache.arrow.file"
MOST_ROWS: Final = 100_000
_LONGEST_ID = 200


class Batch(NamedTuple):
    """The rows of a request, and what else it holds.

    Attributes
    ----------
    rows : list of mappings, or Table
        One row or many.
    ids : list of str, or None
        The ids of the rows.
    alone : bool
        Whether it was one row, which has one answer.
    rest : dict
        The other fields of a JSON body, such as the gains.
    """

    rows: Any
    ids: list[str | None] | None
    alone: bool
    rest: Mapping[str, Any]

    @property
    def is_arrow(self) -> bool:
        """Return whether the rows are an Arrow table."""
        return isinstance(self.rows, pa.Table)

    def __len__(self) -> int:
        return self.rows.num_rows if self.is_arrow else len(self.rows)


async def read_batch(request: Request, others: Sequence[str] = ()) -> Batch:
    """Read the rows of a request: JSON with `row` and `id` or `rows` and `ids`, or Arrow IPC.

    Parameters
    ----------
    request : Request
    others : sequence of str
        Other fields that a JSON body may have.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind in (ARROW_STREAM, ARROW_FILE):
        return _of_arrow(body, kind, request.query_params.get("id_column"))
    if kind != "application/json":
        raise HTTPException(415, f"Send the rows as application/json, {ARROW_STREAM} or {ARROW_FILE}.")
    held = read_json(body)
    allowed = ("row", "id", "rows", "ids", *others)
    if unknown := sorted(set(held) - set(allowed)):
        raise DeskError(f"The body has a field {unknown[0]!r}; it may have {', '.join(allowed)}.")
    if ("row" in held) == ("rows" in held):
        raise DeskError("The body is an object with either `row`, one object, or `rows`, a list of objects.")
    rest = {name: held[name] for name in others if held.get(name) is not None}
    if "row" in held:
        if "ids" in held or not isinstance(held["row"], dict):
            raise DeskError("`row` is an object of cells by the names of their columns, and its id is `id`.")
        given = held.get("id")
        return Batch([held["row"]], None if given is None else [check_id(given)], True, rest)
    rows, ids = held["rows"], held.get("ids")
    if "id" in held or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DeskError("`rows` is a list of objects, each with cells by the names of their columns; ids are `ids`.")
    if ids is not None and not (isinstance(ids, list) and len(ids) == len(rows)):
        raise DeskError("`ids` is a list with an id, or null, for each row.")
    _check_number(len(rows))
    return Batch(rows, None if ids is None else [None if one is None else check_id(one) for one in ids], False, rest)


def read_json(body: bytes) -> dict[str, Any]:
    """Return the object of a JSON body, or refuse it with a sentence."""
    try:
        text = body.decode("utf-8")
        held = json.loads(text, parse_constant=_no_constant)
        if "\\ud" in text or "\\uD" in text:  # half of a character, which nothing can write
            json.dumps(held, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise DeskError("The body is not text in UTF-8.") from None
    except RecursionError:
        raise DeskError("The body is nested too deeply.") from None
    except ValueError as error:
        raise DeskError(f"The body is not JSON ({error}).") from None
    if not isinstance(held, dict):
        raise DeskError("The body must be a JSON object.")
    return held


def arrow_bytes(table: pa.Table, kind: str) -> bytes:
    """Return a table as Arrow IPC."""
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_file if kind == ARROW_FILE else pa.ipc.new_stream
    with new(sink, table.schema) as writer:
        writer.write_table(table)
    held: bytes = sink.getvalue().to_pybytes()
    return held


def _of_arrow(body: bytes, kind: str, id_column: str | None) -> Batch:
    try:
        opened = pa.ipc.open_file(body) if kind == ARROW_FILE else pa.ipc.open_stream(body)
        table = opened.read_all()
        table.validate(full=True)
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = str(error).strip().split("\n")[0].encode("utf-8", "replace").decode()
        raise DeskError(f"The body is not Arrow IPC ({reason[:200]}).") from None
    if len(set(table.column_names)) < len(table.column_names):
        raise DeskError("Two or more columns have the same name; rename all but one.")
    _check_number(table.num_rows)
    ids = None
    if id_column is not None:
        if id_column not in table.column_names:
            raise DeskError(f"There is no column {id_column!r} with the ids of the rows (`id_column`).")
        ids = [None if one is None else check_id(one) for one in table.column(id_column).to_pylist()]
    return Batch(table, ids, False, {})


def _check_number(rows: int) -> None:
    if rows > MOST_ROWS:
        raise DeskError(f"A request has at most {MOST_ROWS:,} rows; send several.")


def check_id(given: Any) -> str:
    """Return an id as text, or refuse it with a sentence."""
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str) or not 1 <= len(given) <= _LONGEST_ID or "\0" in given:
        raise DeskError(f"An id is a text of 1 to {_LONGEST_ID} characters or a whole number.")
    return given


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON; leave an empty cell out, or send null")
