"""Positives at entities without a confirmed case: what the desk finds where links lead nobody."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction

from .memory import WINDOW
from .schema import POSITIVE, Case, CaseEntity

__all__ = ["ANY", "First", "firsts_by_day"]

# Stands for all entity columns together; no column has this name.
ANY: Final = ""


@dataclass(frozen=True)
class First:
    """The positives of a day.

    `alone` counts for each entity column those whose entity had no other confirmed case in the days before, and under
    `ANY` those of which this holds in all columns.
    """

    day: date
    positive: int
    alone: Counter[str]


def firsts_by_day(transaction: Transaction, since: datetime) -> list[First]:
    """Return the positives of each day since a moment, as the verdicts stand now."""
    query = (
        select(Case.id, Case.decided, CaseEntity.column, CaseEntity.value)
        .join(CaseEntity, CaseEntity.case_id == Case.id)
        .where(Case.status == POSITIVE, Case.decided >= since - WINDOW)
        .order_by(Case.decided, Case.id, CaseEntity.column)
    )
    entities: dict[tuple[datetime, int], list[tuple[str, str]]] = {}
    for number, decided, column, value in transaction.execute(query):
        assert decided is not None  # by the condition
        entities.setdefault((decided, number), []).append((column, value))
    last: dict[tuple[str, str], datetime] = {}
    positive: Counter[date] = Counter()
    alone: dict[date, Counter[str]] = defaultdict(Counter)
    for (decided, _), own in entities.items():
        new = [column for column, value in own if not _is_recent(last.get((column, value)), decided)]
        last.update(dict.fromkeys(own, decided))
        if decided >= since:
            positive[decided.date()] += 1
            alone[decided.date()].update({column: int(column in new) for column, _ in own})
            alone[decided.date()][ANY] += len(new) == len(own)
    return [First(day, count, alone[day]) for day, count in sorted(positive.items())]


def _is_recent(before: datetime | None, now: datetime) -> bool:
    return before is not None and before > now - WINDOW
