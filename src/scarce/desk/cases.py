"""The page of a case, and the verdicts that are given on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Path, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Transaction

from .auth import require_role
from .errors import DeskError
from .evidence import (
    MOST_LINKED,
    MOST_OF_ALL,
    drawing_of_links,
    drawing_of_reasons,
    evidence_of,
    free,
    history,
    hold,
    links,
    rows_of_look_alikes,
)
from .pages import Viewer, in_address, wanted_of
from .queue import Wanted, find_page, place_of
from .schema import NEGATIVE, OPEN, POSITIVE, Case, CaseEntity, Kind, Lock, Reason, Verdict
from .site import budget_left, page, to_undo
from .store import Store
from .tokens import Person
from .verdicts import Conflict, Given, decide, undo

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[Person, Depends(require_role("reviewer"))]
CaseNumber = Annotated[int, Path(ge=1, le=2**62)]


@router.get("/cases/{case_id}")
def case_page(request: Request, person: Viewer, case_id: CaseNumber) -> Response:
    """Return the page of a case, and lock it for its reader."""
    return _case_page(request, person, case_id)


def _case_page(
    request: Request, person: Person, case_id: int, *, given: Given | None = None, problem: str | None = None
) -> Response:
    store: Store = request.app.state.store
    wanted = wanted_of(request)
    with store.read() as transaction:
        case = _found(transaction, case_id)
    lock = None
    if person.may("reviewer"):
        with store.write() as transaction:
            lock = hold(transaction, _found(transaction, case_id), person.name)
    with store.read() as transaction:
        case, own = _found(transaction, case_id), transaction.get(Lock, case_id)
        proposal = request.app.state.kinds.propose(transaction, case_id)
        most = MOST_OF_ALL if request.query_params.get("links") == "all" else MOST_LINKED
        data, shared = evidence_of(transaction, case_id), links(transaction, case_id, most)
        return page(
            request,
            "case.html.jinja",
            409 if problem else 200,
            case=case,
            data=data,
            shared=shared,
            alike_rows=rows_of_look_alikes(data),
            reasons=drawing_of_reasons(data),
            drawing=drawing_of_links(case, shared),
            history=history(transaction, case_id),
            lock=lock,
            until=own.until.isoformat() if own and own.who == person.name else "",
            given=given or Given(""),
            problem=problem,
            offered_reasons=list(transaction.scalars(select(Reason.text).order_by(Reason.text))),
            offered_kinds=_kinds(transaction, case),
            proposal=proposal,
            done=_done(transaction, request.query_params.get("done", "")),
            next=_beside(transaction, case, wanted, backwards=False),
            previous=_beside(transaction, case, wanted, backwards=True),
            query=in_address(wanted),
            left=budget_left(transaction),
            undoable=to_undo(transaction, person.name),
        )


@router.post("/cases/{case_id}/verdict")
def give_verdict(
    request: Request,
    person: Reviewer,
    case_id: CaseNumber,
    verdict: Annotated[str, Form(max_length=20)],
    seen: Annotated[int, Form(ge=0, le=2**62)],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    kind: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Store a verdict, and go on to the next case."""
    store: Store = request.app.state.store
    wanted = wanted_of(request)
    with store.read() as transaction:
        following = _beside(transaction, _found(transaction, case_id), wanted, backwards=False)
    given = Given(verdict, reason, note, kind, seen)
    try:
        entry = decide(store, case_id, person.name, given)
    except Conflict as conflict:
        return _case_page(request, person, case_id, given=given, problem=str(conflict))
    query = "&".join(filter(None, [in_address(wanted), f"done={entry.id}"]))
    return RedirectResponse(f"/?{query}" if following is None else f"/cases/{following}?{query}", 303)


@router.post("/cases/{case_id}/undo")
def take_back(
    request: Request, person: Reviewer, case_id: CaseNumber, seen: Annotated[int, Form(ge=0, le=2**62)]
) -> Response:
    """Take the last verdict about a case back, and show the case again."""
    try:
        undo(request.app.state.store, case_id, person.name, seen=seen)
    except DeskError as error:
        return _case_page(request, person, case_id, problem=str(error))
    query = in_address(wanted_of(request))
    return RedirectResponse(f"/cases/{case_id}?{query}" if query else f"/cases/{case_id}", 303)


@router.post("/cases/{case_id}/leave", status_code=204)
def leave(
    request: Request, person: Reviewer, case_id: CaseNumber, until: Annotated[datetime | None, Form()] = None
) -> None:
    """Give up the lock of a case, which the page sends when it is left."""
    with request.app.state.store.write() as transaction:
        free(transaction, case_id, person.name, until)


def _found(transaction: Transaction, case_id: int) -> Case:
    case = transaction.get(Case, case_id)
    if case is None:
        raise HTTPException(404, f"There is no case {case_id}.")
    return case


def _beside(transaction: Transaction, case: Case, wanted: Wanted, *, backwards: bool) -> int | None:
    """Return the number of the next case in the reader's queue, or of the one before."""
    if wanted.order == "decided" and case.decided is None:
        return None  # a case that is open has no place among those that are decided
    turned = replace(wanted, after=place_of(case, wanted.order), size=1, backwards=wanted.backwards ^ backwards)
    cases = find_page(transaction, turned).cases
    return cases[0].id if cases else None


def _kinds(transaction: Transaction, case: Case) -> list[str]:
    """Return the kinds of positives, those of linked cases first."""
    every = list(transaction.scalars(select(Kind.text).order_by(Kind.text)))
    own = select(CaseEntity.column, CaseEntity.value).where(CaseEntity.case_id == case.id).subquery()
    linked = (
        select(Case.kind, func.count())
        .join(CaseEntity, CaseEntity.case_id == Case.id)
        .join(own, (own.c.column == CaseEntity.column) & (own.c.value == CaseEntity.value))
        .where(Case.kind.is_not(None))
        .group_by(Case.kind)
        .order_by(func.count().desc())
    )
    first = [kind for kind, _ in transaction.execute(linked) if kind]
    return list(dict.fromkeys([*first, *every]))


def _done(transaction: Transaction, text: str) -> tuple[Verdict, Case, int] | None:
    """Return the verdict just given, its case, and how many open cases it moved."""
    entry = transaction.get(Verdict, int(text)) if text.isdecimal() and len(text) < 18 else None
    if entry is None:
        return None
    case = transaction.get_one(Case, entry.case_id)
    if entry.old == OPEN and entry.new not in (POSITIVE, NEGATIVE):
        return entry, case, 0
    own = select(CaseEntity.column, CaseEntity.value).where(CaseEntity.case_id == case.id).subquery()
    moved = (
        select(func.count(Case.id.distinct()))
        .join(CaseEntity, CaseEntity.case_id == Case.id)
        .join(own, (own.c.column == CaseEntity.column) & (own.c.value == CaseEntity.value))
        .where(Case.status == OPEN, Case.live != Case.log_odds)
    )
    return entry, case, transaction.scalar(moved) or 0
