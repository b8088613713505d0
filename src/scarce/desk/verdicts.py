"""Verdicts: appended, never changed; and the order of the open cases that they move."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import or_, select, tuple_
from sqlalchemy.orm import Session as Transaction

from . import memory
from .errors import DeskError
from .ranking import Entity, OpenCase, Seen
from .schema import NEGATIVE, OPEN, POSITIVE, STATUSES, Case, CaseEntity, Kind, Lock, Meta, Reason, Verdict
from .store import Store
from .weights import estimate_weights, log_again, log_links, weights_of

__all__ = ["Conflict", "Given", "decide", "refresh", "undo"]

_CHUNK = 400
# The day on which the weights of links were estimated last.
ESTIMATED = "weights estimated"


class Conflict(DeskError):
    """Somebody else decided the case in the meantime.

    Attributes
    ----------
    entry : Verdict
        What that person entered.
    """

    def __init__(self, entry: Verdict) -> None:
        super().__init__(
            f"{entry.who} decided this case at {entry.at:%H:%M} UTC: {entry.new}. Your verdict was not stored; look at "
            "the case again, and decide it once more if you do not agree."
        )
        self.entry = entry


@dataclass(frozen=True)
class Given:
    """A verdict as a person gives it.

    Attributes
    ----------
    verdict : {"positive", "negative", "undecidable"}
    reason : str or None
        One of the office's reasons, or a new one.
    note : str or None
        Free text.
    kind : str or None
        Of a positive: its kind, which may be new.
    seen : int or None
        The last entry about the case that the person has seen; 0 for none. If there is a later one, the verdict is
        refused with a :class:`Conflict`. None stores it in any case.
    request : str or None
        A text that names this verdict. Sent again, it is not stored twice.
    """

    verdict: str
    reason: str | None = None
    note: str | None = None
    kind: str | None = None
    seen: int | None = None
    request: str | None = None


def decide(store: Store, case_id: int, who: str, given: Given) -> Verdict:
    """Append a verdict, and look again at the open cases that are linked with the case.

    When this returns, the verdict is on the disk.
    """
    if given.verdict not in STATUSES or given.verdict == OPEN:
        raise DeskError(f"A verdict is positive, negative or undecidable; it was {given.verdict!r}.")
    with store.write() as transaction:
        case = _held(transaction, case_id)
        again = _sent_before(transaction, given.request)
        if again is not None:
            return again
        _refuse_unseen(transaction, case, given.seen)
        reason, kind = _text(given.reason), _text(given.kind) if given.verdict == POSITIVE else None
        for table, text in ((Reason, reason), (Kind, kind)):
            if text and transaction.get(table, text) is None:
                transaction.add(table(text=text))
        entry = _append(transaction, case, who, given.verdict, kind)
        entry.reason, entry.note, entry.request = reason, _text(given.note), given.request
        transaction.flush()
        own = _entities_of(transaction, case)
        log_links(transaction, entry, case, own, seen_entities(transaction, of=own, without=case.id))
        _move_linked(transaction, case)
    return entry


def undo(store: Store, case_id: int, who: str, *, seen: int | None = None, request: str | None = None) -> Verdict:
    """Take the last verdict about a case back, by a new entry."""
    with store.write() as transaction:
        case = _held(transaction, case_id)
        again = _sent_before(transaction, request)
        if again is not None:
            return again
        _refuse_unseen(transaction, case, seen)
        last = transaction.get(Verdict, case.entry) if case.entry else None
        if last is None or last.undoes is not None:
            raise DeskError("There is no verdict about this case that could be taken back.")
        before = _given_before(transaction, last)
        entry = _append(transaction, case, who, last.old, before.kind if before else None)
        entry.undoes, entry.request = last.id, request
        # The earlier verdict holds again, with its moment, so that the order is that of before.
        case.decided = before.at if before else None
        if before:
            log_again(transaction, entry, before)
        transaction.flush()
        _move_linked(transaction, case)
    return entry


def refresh(store: Store, now: datetime | None = None, *, nightly: bool = False) -> int:
    """Look at all open cases again that verdicts have moved or could move, and return how many there are.

    Verdicts leave the memory after some days, so this is done every hour. The weights of links are estimated anew from
    all verdicts, if `nightly` once after each midnight (UTC) only, so that weights stay as they are through a day.
    """
    now = now or datetime.now(UTC)
    with store.write() as transaction:
        last = transaction.get(Meta, ESTIMATED)
        if not nightly or last is None or last.value < f"{now:%Y-%m-%d}":
            estimate_weights(transaction)
            transaction.merge(Meta(name=ESTIMATED, value=f"{now:%Y-%m-%d}"))
        seen = seen_entities(transaction, now)
        moved = set(transaction.scalars(select(Case.id).where(Case.status == OPEN, Case.live != Case.log_odds)))
        linked = _open_cases_of(transaction, seen)
        _place(transaction, moved | linked, seen, now)
        return len(moved | linked)


def seen_entities(
    transaction: Transaction,
    now: datetime | None = None,
    *,
    of: Collection[Entity] | None = None,
    without: int | None = None,
) -> dict[Entity, Seen]:
    """Return the verdicts of the last days by entity, `of` some entities, and `without` that about one case."""
    since = (now or datetime.now(UTC)) - timedelta(days=memory.DAYS)
    query = (
        select(CaseEntity.column, CaseEntity.value, Case.status, Case.name, Case.decided)
        .join(Case, Case.id == CaseEntity.case_id)
        .where(or_(Case.status == POSITIVE, Case.status == NEGATIVE), Case.decided >= since)
        .order_by(Case.decided, Case.id)
    )
    if of is not None:
        query = query.where(tuple_(CaseEntity.column, CaseEntity.value).in_(list(of)))
    if without is not None:
        query = query.where(Case.id != without)
    found: dict[Entity, Seen] = {}
    for column, value, status, name, decided in transaction.execute(query):
        seen = found.setdefault((column, value), Seen())
        if status == POSITIVE:
            seen.confirmed, seen.latest, seen.at = seen.confirmed + 1, name, decided
        else:
            seen.cleared, seen.latest_cleared, seen.cleared_at = seen.cleared + 1, name, decided
    return found


def _held(transaction: Transaction, case_id: int) -> Case:
    """Return a case that nobody else changes until the transaction ends."""
    case = transaction.scalars(select(Case).where(Case.id == case_id).with_for_update()).one_or_none()
    if case is None:
        raise DeskError(f"There is no case {case_id}.")
    return case


def _sent_before(transaction: Transaction, request: str | None) -> Verdict | None:
    if request is None:
        return None
    return transaction.scalar(select(Verdict).where(Verdict.request == request))


def _refuse_unseen(transaction: Transaction, case: Case, seen: int | None) -> None:
    if seen is not None and seen != case.entry:
        entry = transaction.get(Verdict, case.entry)
        if entry is None:
            raise DeskError(f"Nobody has decided this case yet, so {seen} is no entry about it (`seen`); 0 is right.")
        raise Conflict(entry)


def _append(transaction: Transaction, case: Case, who: str, new: str, kind: str | None) -> Verdict:
    now = datetime.now(UTC)
    entry = Verdict(case_id=case.id, at=now, who=who, old=case.status, new=new, kind=kind, model=case.model)
    transaction.add(entry)
    transaction.flush()
    case.status, case.kind, case.entry = new, kind, entry.id
    case.decided = None if new == OPEN else now
    lock = transaction.get(Lock, case.id)
    if lock is not None:
        transaction.delete(lock)
    return entry


def _text(given: str | None) -> str | None:
    return (given or "").strip() or None


def _move_linked(transaction: Transaction, case: Case) -> None:
    """Place the open cases that share an entity with a case, and the case itself where it is open again."""
    linked = _open_cases_of(transaction, _entities_of(transaction, case))
    linked |= {case.id} if case.status == OPEN else set()
    if linked:
        _place(transaction, linked, seen_entities(transaction), datetime.now(UTC))


def _entities_of(transaction: Transaction, case: Case) -> list[Entity]:
    query = select(CaseEntity.column, CaseEntity.value).where(CaseEntity.case_id == case.id)
    return [(column, value) for column, value in transaction.execute(query)]


def _given_before(transaction: Transaction, entry: Verdict) -> Verdict | None:
    """Return the verdict that held before an entry, or None where the case was open; an undo gave none itself."""
    query = select(Verdict).where(Verdict.case_id == entry.case_id, Verdict.id < entry.id).order_by(Verdict.id.desc())
    before = transaction.scalars(query).first()
    if before is None or before.undoes is None:
        return before
    undone = transaction.get(Verdict, before.undoes)
    assert undone is not None
    return _given_before(transaction, undone)


def _open_cases_of(transaction: Transaction, entities: Collection[Entity]) -> set[int]:
    found: set[int] = set()
    given = list(entities)
    for start in range(0, len(given), _CHUNK):
        query = (
            select(CaseEntity.case_id)
            .join(Case, Case.id == CaseEntity.case_id)
            .where(tuple_(CaseEntity.column, CaseEntity.value).in_(given[start : start + _CHUNK]), Case.status == OPEN)
        )
        found.update(transaction.scalars(query))
    return found


def _place(
    transaction: Transaction, cases: Collection[int], seen: dict[Entity, Seen], now: datetime | None = None
) -> None:
    numbers, weights = sorted(cases), weights_of(transaction)
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        entities: dict[int, list[Entity]] = {number: [] for number in chunk}
        pairs = select(CaseEntity.case_id, CaseEntity.column, CaseEntity.value).where(CaseEntity.case_id.in_(chunk))
        for number, column, value in transaction.execute(pairs):
            entities[number].append((column, value))
        found = list(transaction.scalars(select(Case).where(Case.id.in_(chunk))))
        open_cases = [OpenCase(case.id, case.log_odds, tuple(entities[case.id])) for case in found]
        for case, place in zip(found, memory.rerank(open_cases, seen, weights, now=now), strict=True):
            case.live, case.badge = place.live, place.badge
    transaction.flush()
