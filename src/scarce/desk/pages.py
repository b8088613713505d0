"""The pages of the desk: login, queue and figures."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

import pyarrow as pa
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction
from starlette.concurrency import run_in_threadpool

from scarce.tables.numbers import decide_notation, parse_numbers

from .auth import COOKIE, Attempts, Gate, require_role
from .errors import DeskError
from .evidence import others_at_work
from .queue import Wanted, find_page, position
from .schema import OPEN, STATUSES, Case, Model
from .site import budget_left, page, to_undo
from .tokens import SESSION_HOURS, Person, close_session, open_session

__all__ = ["Viewer", "router", "wanted_of"]

router = APIRouter(include_in_schema=False)
Viewer = Annotated[Person, Depends(require_role("viewer"))]


@router.get("/login")
def login_page(request: Request) -> Response:
    """Return the login page."""
    return page(request, "login.html.jinja", error=None)


@router.post("/login")
async def login(request: Request) -> Response:
    """Open a session for the owner of a token."""
    attempts: Attempts = request.app.state.attempts
    address = request.client.host if request.client else ""
    if attempts.too_many(address):
        return page(request, "login.html.jinja", 429, error="Too many failed logins; wait some minutes and try again.")
    form = await request.form(max_files=0, max_fields=10)
    token = str(form.get("token", "")).strip()[:200]
    cookie = await run_in_threadpool(open_session, request.app.state.store, token)
    if cookie is None:
        attempts.fail(address)
        return page(request, "login.html.jinja", 401, error="This is not a valid token. Ask an administrator for one.")
    answer = RedirectResponse("/", 303)
    secure = request.app.state.secure
    answer.set_cookie(
        COOKIE, cookie, max_age=SESSION_HOURS * 3600, httponly=True, samesite="strict", secure=secure, path="/"
    )
    return answer


@router.post("/logout")
def logout(request: Request, person: Viewer) -> Response:
    """End a session."""
    gate: Gate = request.app.state.gate
    close_session(request.app.state.store, request.cookies.get(COOKIE, ""))
    gate.forget()
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def wanted_of(request: Request) -> Wanted:
    """Return the wishes in the address of a page; of what is not an amount, what cannot be read is left out."""
    given = request.query_params
    return Wanted(
        status=given.get("status", OPEN) if given.get("status", OPEN) in STATUSES else OPEN,
        text=given.get("text", "")[:200],
        column=given.get("column", "")[:100],
        value=given.get("value", "")[:100],
        least=_number(given.get("least", "")),
        most=_number(given.get("most", "")),
        order=given.get("order", "live"),
        backwards=given.get("backwards") == "1",
        after=given.get("after", "")[:100],
    )


def _number(text: str) -> float | None:
    """Read an amount: as a program writes it, which addresses of pages do, or in either notation of a table."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        cell = pa.array([text.strip()])
        notation = decide_notation(cell).notation
        value = math.nan if notation is None else float(parse_numbers(cell, notation)[0].as_py())
    if not math.isfinite(value):
        raise DeskError(f"The amount {text[:40]!r} is no number; write it as 1234.50 or 1.234,50.")
    return value


def in_address(wanted: Wanted, **changes: str | bool) -> str:
    """Return wishes as the query of an address, without those that are usual."""
    usual = vars(Wanted())
    given = {name: value for name, value in (vars(wanted) | changes).items() if value != usual[name]}
    return urlencode({name: "1" if value is True else value for name, value in given.items()})


@router.get("/")
def queue_page(request: Request, person: Viewer) -> Response:
    """Return a page of the queue."""
    wanted = wanted_of(request)
    with request.app.state.store.read() as transaction:
        found = find_page(transaction, wanted)
        models = {m.version: m for m in transaction.scalars(select(Model))}
        cases = found.cases
        return page(
            request,
            "queue.html.jinja",
            wanted=wanted,
            statuses=STATUSES,
            address=lambda **changes: in_address(wanted, **changes),
            cases=cases,
            next=found.next,
            moved={case.id: _moved(transaction, case) for case in cases if case.badge and case.status == OPEN},
            locks=others_at_work(transaction, [case.id for case in cases], person.name),
            ages={case.id: _age(case, models[case.model]) for case in cases},
            columns=sorted({name for model in models.values() for name in model.columns}),
            left=budget_left(transaction),
            undoable=to_undo(transaction, person.name),
            linked=any(model.entities for model in models.values()),
        )


def _moved(transaction: Transaction, case: Case) -> int:
    """Return by how many places a case has risen through links among the open cases."""
    return position(transaction, case, "rank") - position(transaction, case, "live")


def _age(case: Case, model: Model) -> str:
    """Return how old a row is: at the newest row of its audit, and since that was imported."""
    if model.newest is None or not case.time:
        return ""
    days = (model.newest - case.moment) / 86_400 + (datetime.now(UTC) - model.imported).total_seconds() / 86_400
    return f"{days:.0f} d" if days >= 1 else f"{24 * days:.0f} h"
