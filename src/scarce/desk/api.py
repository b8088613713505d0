"""The cases and their reviews for programs: ``/v1/queue``, ``/v1/cases/{id}`` and its reviews."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy import select

from scarce._typing import Json

from .auth import require_role
from .hiding import hidden_columns
from .queue import PAGE, Wanted, find_page
from .schema import Case, CaseData, Verdict
from .shapes import REFUSALS
from .tokens import Person
from .verdicts import Conflict, Given, decide

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["desk"], responses=REFUSALS)

Viewer = Annotated[Person, Depends(require_role("viewer"))]
Reviewer = Annotated[Person, Depends(require_role("reviewer"))]
_UNKNOWN: dict[int | str, Json] = {404: {"description": "There is no such case."}}
# As large as the numbers that both stores hold.
CaseNumber = Annotated[int, Path(ge=1, le=2**62)]


class CaseSummary(BaseModel):
    """A case as the queue shows it."""

    id: int
    identity: dict[str, str]
    name: str
    rank: int
    score: float
    probability: float
    money: float
    amount: float
    time: str | None
    drawn: bool
    chance: float
    why: str
    badge: str | None
    status: str
    kind: str | None
    model: int
    entry: int


class QueuePage(BaseModel):
    """A page of the queue; `next` is the parameter `after` of the following one."""

    cases: list[CaseSummary]
    next: str | None


class Entry(BaseModel):
    """An entry in the history of a case."""

    id: int
    at: datetime
    who: str
    old: str
    new: str
    reason: str | None
    note: str | None
    kind: str | None
    model: int
    undoes: int | None


class FullCase(CaseSummary):
    """A case with its evidence and its history."""

    data: Json
    history: list[Entry]


class Review(BaseModel):
    """A verdict."""

    model_config = {"json_schema_extra": {"example": {"verdict": "positive", "kind": "card", "seen": 0}}}

    verdict: Literal["positive", "negative", "undecidable"]
    reason: str | None = Field(None, max_length=200)
    note: str | None = Field(None, max_length=10_000)
    kind: str | None = Field(None, max_length=200)
    seen: int | None = Field(None, ge=0, le=2**62, description="The last entry that you have seen (`entry`).")
    request: str | None = Field(None, min_length=8, max_length=64, description="Sent twice, a verdict is stored once.")


@router.get("/queue")
def queue(
    request: Request,
    person: Viewer,
    status: Literal["open", "positive", "negative", "undecidable"] = "open",
    text: Annotated[str, Query(max_length=200)] = "",
    order: Literal["live", "rank", "probability", "money", "amount", "time", "decided"] = "live",
    after: Annotated[str, Query(max_length=100)] = "",
    size: Annotated[int, Query(ge=1, le=500)] = PAGE,
) -> QueuePage:
    """Return a page of the queue."""
    with request.app.state.store.read() as transaction:
        page = find_page(transaction, Wanted(status=status, text=text, order=order, after=after, size=size))
        return QueuePage(cases=_summaries(page.cases, hidden_columns(transaction)), next=page.next)


@router.get("/cases/{case_id}", responses=_UNKNOWN)
def case(request: Request, person: Viewer, case_id: CaseNumber) -> FullCase:
    """Return a case with its evidence and its history."""
    with request.app.state.store.read() as transaction:
        found = transaction.get(Case, case_id)
        if found is None:
            raise HTTPException(404, f"There is no case {case_id}.")
        evidence = transaction.get(CaseData, case_id)
        entries = transaction.scalars(select(Verdict).where(Verdict.case_id == case_id).order_by(Verdict.id))
        return FullCase(
            **_summaries([found], hidden_columns(transaction))[0].model_dump(),
            data={} if evidence is None else evidence.data,
            history=[_entry(entry) for entry in entries],
        )


@router.post(
    "/cases/{case_id}/reviews",
    status_code=201,
    responses={**_UNKNOWN, 409: {"description": "Somebody else decided the case; nothing is stored."}},
)
def review(request: Request, person: Reviewer, case_id: CaseNumber, given: Review) -> Entry:
    """Store a verdict; when the answer comes, it is on the disk."""
    with request.app.state.store.read() as transaction:
        if transaction.get(Case, case_id) is None:
            raise HTTPException(404, f"There is no case {case_id}.")
    try:
        return _entry(decide(request.app.state.store, case_id, person.name, Given(**given.model_dump())))
    except Conflict as conflict:
        raise HTTPException(409, str(conflict)) from conflict


def _summaries(cases: Sequence[Case], hidden: Collection[str]) -> list[CaseSummary]:
    found = [CaseSummary.model_validate(case, from_attributes=True) for case in cases]
    for case in found:
        case.identity = {name: value for name, value in case.identity.items() if name not in hidden}
    return found


def _entry(verdict: Verdict) -> Entry:
    return Entry.model_validate(verdict, from_attributes=True)
