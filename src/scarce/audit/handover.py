"""The files for the review desk: the queue with all evidence, and the rows of known outcome."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd

from scarce._errors import AuditError
from scarce._moments import moments_of
from scarce._typing import Cell, Json
from scarce.tables import show
from scarce.tables.types import cell_text

from .cases import case_data
from .page import case_names, cells_of, known_cells
from .result import Audit

__all__ = ["CASES", "KNOWN", "key_of_folder", "write_handover"]

CASES, KNOWN = "cases.json", "known.parquet"
# Characters that hold the names of all columns of a table.
_HEAD = 10_000_000


def write_handover(result: Audit, folder: Path) -> None:
    """Write the queue as ``cases.json`` and the rows of known outcome as ``known.parquet``.

    The second has a column of text for each entity, the column of time as ``time``, and ``outcome``, 1 or 0; its rows
    are in the order of the table. Neither has anything of a hidden column.
    """
    (folder / CASES).write_text(json.dumps(handover(result), ensure_ascii=False, allow_nan=False), encoding="utf-8")
    known_rows(result).to_parquet(folder / KNOWN, index=False)


def handover(result: Audit) -> Json:
    """Return the queue as plain data: each case by its identity, its place, its money, and its evidence."""
    budget = result.settings.budget_plan
    entities, key = result.names.visible(result.entities), key_columns(result)
    amount, time = _visible(result, result.settings.amount), _visible(result, result.settings.time)
    moments = _moments(result)
    queue, names = result.queue, case_names(result)
    cases = []
    for place, evidence in enumerate(result.evidence):
        row = evidence.row
        listed, own = queue.iloc[place], cells_of(result, place)
        identity = {name: _text(own[name]) for name in key}
        data = case_data(evidence, own, result.usual, result.names, names)
        for shown, alike in zip(data["look_alikes"], evidence.look_alikes, strict=True):
            shown["values"] = _values(result, known_cells(result, alike.row))
        cases.append(
            {
                "id": hashlib.sha256(json.dumps(identity, ensure_ascii=False).encode()).hexdigest()[:24],
                "identity": identity,
                "name": _name(result, key, own, row),
                "row": row,
                "rank": int(listed["rank"]),
                "score": float(listed["score"]),
                "probability": evidence.probability,
                "money": evidence.money,
                "expected_gain": float(listed["expected_gain"]) if "expected_gain" in queue else None,
                "amount": None if amount is None or pd.isna(own[amount]) else float(own[amount]),
                "time": None if time is None else show(own[time]),
                "moment": None if moments is None else float(moments.iloc[row]),
                "drawn": "drawn" in queue and listed["drawn"] == "at random",
                "chance": float(listed["chance_drawn"]) if "chance_drawn" in queue else 1.0,
                "entities": {name: _text(own[name]) for name in entities if not pd.isna(own[name])},
                "why": data["reasons"][0]["sentence"] if data["reasons"] else "",
                "data": data,
            }
        )
    return {
        "key": key,  # first, since it is read without the rest
        "entities": entities,
        "checks": budget.checks,
        "period": budget.period,
        "amount": amount,
        "time": time,
        "newest": None if moments is None else float(moments.max()),
        "new_rows": result.new_rows,
        "cases": cases,
    }


def known_rows(result: Audit) -> pd.DataFrame:
    """Return the entities, the time and the outcome of the rows of known outcome."""
    known = result.frame[result.roles.y >= 0]
    entities, time = result.names.visible(result.entities), _visible(result, result.settings.time)
    found = pd.DataFrame(
        {name: known[name].map(cell_text, na_action="ignore").astype("string") for name in entities},
        index=known.index,
    )
    if time is not None:
        found["time"] = known[time]
    return found.assign(outcome=result.roles.y[result.roles.y >= 0])


def key_columns(result: Audit) -> list[str]:
    """Return the columns by which a row is recognised in another audit.

    An identifier that no two rows share; else all identifiers and the time, where no two rows agree in all of them;
    else all columns. Hidden columns are not used.
    """
    frame = result.frame[result.names.visible(result.frame.drop(columns=[result.target.name]))]
    identifiers = [name for name in result.profile.identifiers if name in frame]
    for name in identifiers:
        if frame[name].notna().all() and frame[name].is_unique:
            return [name]
    several = list(dict.fromkeys([*identifiers, *filter(None, [_visible(result, result.settings.time)])]))
    if identifiers and not frame.duplicated(several).any():
        return several
    return [str(name) for name in frame.columns]


def key_of_folder(folder: Path) -> list[str]:
    """Return the key columns of the audit of a folder, none where it has no file for the desk; cases are not read."""
    try:
        with (folder / CASES).open(encoding="utf-8") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        return []
    begins = '{"key": '
    if not head.startswith(begins):
        raise AuditError(f"{folder / CASES} is damaged; run the audit again.")
    found: list[str] = json.JSONDecoder().raw_decode(head, len(begins))[0]
    return found


def _moments(result: Audit) -> pd.Series | None:
    """Return the seconds since 1970 of each row, where the audit has dates."""
    name = _visible(result, result.settings.time)
    if name is None or not pd.api.types.is_datetime64_any_dtype(result.frame[name].dtype):
        return None
    return pd.Series(moments_of(result.frame[name])[0] / 1e9)


def _values(result: Audit, row: pd.Series) -> dict[str, str]:
    """Return the cells of a row under the names that people use."""
    names = result.names
    visible = [str(name) for name in row.index if not names[str(name)].hidden]
    return {names.title(name): names.show(name, show(row[name])) for name in visible}


def _name(result: Audit, key: list[str], own: pd.Series, row: int) -> str:
    """Return what people call a row: its identifiers, and its time where these do not tell it from others."""
    shown = [name for name in result.profile.identifiers if name in own and not result.names[name].hidden]
    named = ", ".join(f"{name} {_text(own[name])}" for name in shown[:2])
    time = result.settings.time
    if named and time in key:
        named += f", {show(own[time])}"
    return named or f"row {row}"


def _visible(result: Audit, name: str | None) -> str | None:
    """Return the name of a column, or None if there is none or it is hidden."""
    return None if name is None or result.names[name].hidden else name


def _text(cell: Cell) -> str:
    return "" if pd.isna(cell) else cell_text(cell)
