"""A case for its page: evidence, links to other cases, history and lock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Transaction

from scarce._typing import Json

from .drawings import Node, bars, network
from .schema import OPEN, POSITIVE, Case, CaseData, CaseEntity, KnownEntity, Lock, Verdict

__all__ = [
    "LOCK_MINUTES",
    "MOST_LINKED",
    "MOST_OF_ALL",
    "Linked",
    "Shared",
    "drawing_of_links",
    "drawing_of_reasons",
    "evidence_of",
    "free",
    "history",
    "hold",
    "links",
    "others_at_work",
    "rows_of_look_alikes",
]

LOCK_MINUTES = 15
# Of an entity that many cases share, these many are shown at first, decided ones first; and these where all are wanted.
MOST_LINKED, MOST_OF_ALL = 8, 1_000
_MOST_DRAWN = 5


@dataclass(frozen=True)
class Linked:
    """Another case that shares an entity."""

    case: Case
    who: str | None


@dataclass(frozen=True)
class Shared:
    """An entity of a case: the other cases that share it, and what the audited table knows of it."""

    column: str
    value: str
    cases: list[Linked]
    others: int
    positives: int
    negatives: int


def evidence_of(transaction: Transaction, case_id: int) -> Json:
    """Return the evidence of a case as the audit wrote it."""
    found = transaction.get(CaseData, case_id)
    return {} if found is None else found.data


def history(transaction: Transaction, case_id: int) -> list[Verdict]:
    """Return all entries about a case, the latest first."""
    return list(transaction.scalars(select(Verdict).where(Verdict.case_id == case_id).order_by(Verdict.id.desc())))


def links(transaction: Transaction, case_id: int, most: int) -> list[Shared]:
    """Return the entities of a case with the other cases that share them, of each at most so many."""
    found = []
    own = select(CaseEntity).where(CaseEntity.case_id == case_id).order_by(CaseEntity.column)
    for entity in transaction.scalars(own):
        same = (CaseEntity.column == entity.column, CaseEntity.value == entity.value, Case.id != case_id)
        joined = select(Case).join(CaseEntity, CaseEntity.case_id == Case.id).where(*same)
        decided = joined.where(Case.status != OPEN).order_by(Case.decided.desc()).limit(most)
        cases = list(transaction.scalars(decided))
        if len(cases) < most:
            is_open = joined.where(Case.status == OPEN).order_by(Case.live.desc()).limit(most - len(cases))
            cases += transaction.scalars(is_open)
        numbers = select(CaseEntity.case_id).join(Case, Case.id == CaseEntity.case_id).where(*same).limit(MOST_OF_ALL)
        others = len(transaction.scalars(numbers).all()) if len(cases) == most else len(cases)
        known = transaction.get(KnownEntity, (entity.column, entity.value))
        found.append(
            Shared(
                entity.column,
                entity.value,
                [Linked(case, _decided_by(transaction, case)) for case in cases],
                others,
                0 if known is None else known.positives,
                0 if known is None else known.negatives,
            )
        )
    return found


def _decided_by(transaction: Transaction, case: Case) -> str | None:
    entry = transaction.get(Verdict, case.entry) if case.entry else None
    return None if entry is None or case.status == OPEN else entry.who


def rows_of_look_alikes(data: Json) -> list[Json]:
    """Return a row for each column in which a look-alike differs, and one for those in which all agree with the case.

    Each row has the value of the case and those of the look-alikes, with marks where they differ.
    """
    alikes = data.get("look_alikes", [])
    own = {cell["title"]: cell["value"] for cell in data.get("cells", [])}
    titles = list(dict.fromkeys(d["title"] for alike in alikes for d in alike["differ"]))
    compared = {t for alike in alikes for t in alike["agree"]}
    agreed = [title for title in own if title in compared and title not in titles]
    return [
        {
            "title": title,
            "own": own.get(title, ""),
            "others": [
                {"differs": title not in alike["agree"], "value": alike["values"].get(title, "")} for alike in alikes
            ],
        }
        for title in [*titles, *agreed]
    ]


def drawing_of_reasons(data: Json) -> Markup | None:
    """Return a bar for each reason: by how much the column raises the probability."""
    rows = [(r["title"], max(data["probability"] - r["without"], 0.0)) for r in data.get("reasons", [])]
    if not rows:
        return None
    longest = max(added for _, added in rows) or 1.0
    texts = [(title, added / longest, f"+{100 * added:.1f} points") for title, added in rows]
    return bars(texts, "How much each column raises the probability, in percentage points")


def drawing_of_links(case: Case, shared: list[Shared]) -> Markup | None:
    """Return a drawing of the case, its entities, and the cases that share them."""
    entities = []
    for entity in shared:
        own = f"{entity.column} {entity.value}"
        nodes = [Node(_apart(link.case.name, own), link.case.status, f"/cases/{link.case.id}") for link in entity.cases]
        nodes = nodes[:_MOST_DRAWN]
        if entity.positives:
            nodes.append(Node(f"{entity.positives:,} known positive", POSITIVE))
        if nodes:
            entities.append((Node(own, "entity"), nodes))
    return network(Node(case.name, "own"), entities, "Cases that share an entity with this one") if entities else None


def _apart(name: str, shared: str) -> str:
    """Return what tells a case from the others at an entity: its name without that."""
    return ", ".join(part for part in name.split(", ") if part != shared) or name


def hold(transaction: Transaction, case: Case, who: str) -> Lock | None:
    """Lock an open case for a person, and return somebody else's lock if there is one."""
    now = datetime.now(UTC)
    lock = transaction.get(Lock, case.id)
    if lock is not None and lock.who != who and lock.until > now:
        return lock
    if case.status == OPEN:
        until = now + timedelta(minutes=LOCK_MINUTES)
        if lock is None:
            transaction.add(Lock(case_id=case.id, who=who, until=until))
        else:
            lock.who, lock.until = who, until
    return None


def others_at_work(transaction: Transaction, cases: list[int], who: str) -> dict[int, str]:
    """Return which of some cases somebody else has open, and who."""
    query = select(Lock).where(Lock.case_id.in_(cases), Lock.who != who, Lock.until > datetime.now(UTC))
    return {lock.case_id: lock.who for lock in transaction.scalars(query)}


def free(transaction: Transaction, case_id: int, who: str, until: datetime | None = None) -> None:
    """Give up a lock, or where its end is given that lock alone: a page that was opened again has taken a later one."""
    own = delete(Lock).where(Lock.case_id == case_id, Lock.who == who)
    transaction.execute(own if until is None else own.where(Lock.until <= until))
