"""Verdicts as a table: for `scarce audit`, which learns from them, and for people."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

import pandas as pd
from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select

from scarce._errors import AuditError
from scarce.audit.reviews import OWN_PREFIX, VERDICT
from scarce.tables.writing import write_csv, write_parquet

from .pages import Viewer
from .schema import NEGATIVE, OPEN, POSITIVE, Case, Verdict
from .site import page, to_undo
from .store import Store, existing_url

__all__ = ["entries_table", "read_reviews", "router", "verdicts_table"]

router = APIRouter(include_in_schema=False)
_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def verdicts_table(store: Store) -> pd.DataFrame:
    """Return the decided cases: the identifiers of each, its verdict, and columns of the review, such as who gave it.

    The first columns are those of the table that was audited, so that an audit finds the rows again.
    """
    query = (
        select(Case, Verdict)
        .join(Verdict, Verdict.id == Case.entry)
        .where(Case.status != OPEN)
        .order_by(Verdict.at, Verdict.id)
    )
    with store.read() as transaction:
        rows = [{**case.identity, **_own(case.status, entry)} for case, entry in transaction.execute(query)]
    return _table(rows)


def entries_table(store: Store) -> pd.DataFrame:
    """Return all entries about all cases, in the order in which they were made."""
    query = select(Verdict, Case).join(Case, Case.id == Verdict.case_id).order_by(Verdict.id)
    with store.read() as transaction:
        rows = [
            {
                **case.identity,
                "entry": entry.id,
                "old": entry.old,
                **_own(entry.new, entry),
                f"{OWN_PREFIX}undoes": entry.undoes,
            }
            for entry, case in transaction.execute(query)
        ]
    return _table(rows)


def _own(status: str, entry: Verdict) -> dict[str, object]:
    """Return the verdict and what belongs to it, under names that an audit does not take for columns of its table."""
    own = {
        "time": f"{entry.at:%Y-%m-%d %H:%M:%S}",
        "who": entry.who,
        "reason": entry.reason,
        "note": entry.note,
        "kind": entry.kind,
        "model": entry.model,
    }
    return {VERDICT: status, **{OWN_PREFIX + name: value for name, value in own.items()}}


def _table(rows: list[dict[str, object]]) -> pd.DataFrame:
    keys = dict.fromkeys(name for row in rows for name in row if not str(name).startswith(OWN_PREFIX))
    own = dict.fromkeys(name for row in rows for name in row if str(name).startswith(OWN_PREFIX))
    table = pd.DataFrame(rows, columns=[*keys, *own] or [VERDICT])
    return table.astype({name: "Int64" for name in table if name == f"{OWN_PREFIX}undoes"})


def read_reviews(desk: str) -> pd.DataFrame:
    """Return the verdicts of a desk, given the audit's folder or the URL of the store."""
    store = Store(existing_url(desk))
    try:
        table = verdicts_table(store)
    finally:
        store.close()
    if not table[VERDICT].isin((POSITIVE, NEGATIVE)).any():
        raise AuditError(f"The desk in {desk} holds no verdict yet; decide some cases first (`reviews`).")
    return table


@router.get("/export")
def export_page(request: Request, person: Viewer) -> Response:
    """Return the page that offers the files."""
    with request.app.state.store.read() as transaction:
        decided = transaction.scalar(select(func.count()).where(Case.status != OPEN))
        entries = transaction.scalar(select(func.count()).select_from(Verdict))
        undoable = to_undo(transaction, person.name)
    return page(request, "export.html.jinja", decided=decided or 0, entries=entries or 0, undoable=undoable)


@router.get("/export/{what}.{form}")
def export_file(
    request: Request, person: Viewer, what: Literal["verdicts", "history"], form: Literal["csv", "parquet"]
) -> Response:
    """Return verdicts or entries as a file; in CSV no cell is a formula of a spreadsheet."""
    table = (verdicts_table if what == "verdicts" else entries_table)(request.app.state.store)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{what}.{form}"
        (write_csv if form == "csv" else write_parquet)(table, file)
        body = file.read_bytes()
    return Response(
        body, media_type=_TYPES[form], headers={"Content-Disposition": f'attachment; filename="{file.name}"'}
    )
