"""The identity of a case: that of its audit, or columns that the office states, the same for all audits of a desk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session as Transaction

from scarce._typing import Json

from .errors import DeskError
from .schema import Case, CaseData, Meta

__all__ = ["key_of_desk", "keyed", "state_key", "titles_of"]

# The fact of the store that holds the stated key.
STATED = "key"
_CHUNK = 500


class _Named(NamedTuple):
    name: str
    identity: Mapping[str, str]
    cells: Mapping[str, str]


def titles_of(manifest: Json) -> dict[str, str]:
    """Return what people call each column of an audit that has a title."""
    return {column["name"]: column["title"] for column in manifest.get("columns", ()) if column.get("title")}


def key_of_desk(transaction: Transaction) -> list[str]:
    """Return the columns that were stated as the key of the desk's cases; none if it is that of each audit."""
    found = transaction.get(Meta, STATED)
    return [] if found is None else list(json.loads(found.value))


def state_key(transaction: Transaction, key: Sequence[str], titles: Mapping[str, str]) -> None:
    """Make columns the key of all cases, of those that the desk has already as of those to come."""
    if list(key) == key_of_desk(transaction):
        return
    new: dict[int, str] = {}
    seen: set[str] = set()
    for number, case in _stored(transaction):
        own = _key(case, key, titles)
        if own in seen:
            raise DeskError(_twice(case, key))
        seen.add(own)
        new[number] = own
    numbers = list(new)
    for start in range(0, len(numbers), _CHUNK):
        rows = [{"id": number, "key": new[number]} for number in numbers[start : start + _CHUNK]]
        transaction.execute(update(Case), rows)
    transaction.merge(Meta(name=STATED, value=json.dumps(list(key))))


def keyed(cases: Sequence[Json], key: Sequence[str], titles: Mapping[str, str]) -> list[Json]:
    """Return the cases of an audit with identities made of the stated columns."""
    found, seen = [], set()
    for case in cases:
        cells = {cell["title"]: cell["value"] for cell in case["data"]["cells"]}
        named = _Named(case["name"], case["identity"], cells)
        own = _key(named, key, titles)
        if own in seen:
            raise DeskError(_twice(named, key))
        seen.add(own)
        found.append({**case, "id": own})
    return found


def _key(case: _Named, key: Sequence[str], titles: Mapping[str, str]) -> str:
    values = {}
    for column in key:
        title = titles.get(column, column)
        value = case.cells.get(title, case.identity.get(column))
        if value is None:
            columns = ", ".join(dict.fromkeys([*case.cells, *case.identity]))
            raise DeskError(f"{case.name} has no column {column!r}; the key (`key`) may be made of {columns}.")
        values[column] = value
    return "stated " + hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()[:24]


def _twice(case: _Named, key: Sequence[str]) -> str:
    return (
        f"{case.name} and another case agree in {', '.join(key)}, so that these columns cannot tell cases apart; state "
        "more columns (`key`)."
    )


def _stored(transaction: Transaction) -> Iterator[tuple[int, _Named]]:
    numbers = list(transaction.scalars(select(Case.id).order_by(Case.id)))
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        query = (
            select(Case.id, Case.name, Case.identity, CaseData.data)
            .join(CaseData, CaseData.case_id == Case.id)
            .where(Case.id.in_(chunk))
        )
        for number, name, identity, data in transaction.execute(query):
            yield number, _Named(name, identity, {cell["title"]: cell["value"] for cell in data["cells"]})
