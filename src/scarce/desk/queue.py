"""The queue of the desk: filters, orders and pages of 50, each found through an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select, true
from sqlalchemy.orm import Session as Transaction

from .errors import DeskError
from .schema import OPEN, STATUSES, Case, CaseWord
from .words import prefixes

__all__ = ["ORDERS", "PAGE", "Page", "Wanted", "find_page", "place_of", "position"]

PAGE: Final = 50
# Filters that match fewer cases than this are answered case by case, others by walking through the order.
_FEW = 2_000
_LARGEST = 1e300
# The columns that the queue can be sorted by, and whether the largest comes first.
ORDERS: Final[dict[str, tuple[Any, bool]]] = {
    "live": (Case.live, True),
    "rank": (Case.log_odds, True),
    "probability": (Case.probability, True),
    "money": (Case.money, True),
    "amount": (Case.amount, True),
    "time": (Case.moment, True),
    "decided": (Case.decided, True),
}


@dataclass(frozen=True)
class Wanted:
    """The wishes of a reader for a page of the queue.

    Attributes
    ----------
    status : str
        One of the statuses, such as "open".
    text : str
        Words, each of which a case must hold, or the beginning of it.
    column, value : str
        A column, and what its cell must begin with.
    least, most : float or None
        The range of the amount.
    order : str
        One of `ORDERS`.
    backwards : bool
        Whether the order is turned round.
    after : str
        Where the page begins: `next` of the page before it.
    size : int
    """

    status: str = OPEN
    text: str = ""
    column: str = ""
    value: str = ""
    least: float | None = None
    most: float | None = None
    order: str = "live"
    backwards: bool = False
    after: str = ""
    size: int = PAGE


@dataclass(frozen=True)
class Page:
    """A page of cases, and where the next one begins; None after the last."""

    cases: list[Case]
    next: str | None


def find_page(transaction: Transaction, wanted: Wanted) -> Page:
    """Return a page of the queue."""
    if wanted.status not in STATUSES or wanted.order not in ORDERS:
        raise DeskError(f"A status is one of {', '.join(STATUSES)}, and an order one of {', '.join(ORDERS)}.")
    cases: list[Case] = list(transaction.scalars(page_query(transaction, wanted)))
    more = len(cases) > wanted.size
    cases = cases[: wanted.size]
    return Page(cases, place_of(cases[-1], wanted.order) if more else None)


def page_query(transaction: Transaction, wanted: Wanted) -> Select[Any]:
    """Return the query of a page, with one case more than it shows."""
    column, falls = ORDERS[wanted.order]
    falls ^= wanted.backwards
    query = select(Case).where(Case.status == wanted.status, _after(wanted, column, falls))
    few: set[int] | None = None
    for ids, matches in _filters(wanted):
        found = list(transaction.scalars(ids.limit(_FEW)))
        if len(found) < _FEW:
            few = set(found) if few is None else few & set(found)
        else:
            query = query.where(matches)
    if few is not None:
        query = query.where(Case.id.in_(sorted(few)))
    order = (column.desc(), Case.id.desc()) if falls else (column.asc(), Case.id.asc())
    return query.order_by(*order).limit(wanted.size + 1)


def _filters(wanted: Wanted) -> Iterator[tuple[Select[Any], ColumnElement[bool]]]:
    """Yield for each filter the query of the cases that match, and the condition for a case at hand."""
    for word in prefixes(wanted.text, wanted.column, wanted.value):
        begins = _begins(word)
        yield select(CaseWord.case_id).where(begins), exists().where(CaseWord.case_id == Case.id, begins)
    if wanted.least is None and wanted.most is None:
        return
    least = -_LARGEST if wanted.least is None else wanted.least
    most = _LARGEST if wanted.most is None else wanted.most
    # As an expression the amount has no index, which would be chosen in place of that of the order.
    yield (
        select(Case.id).where(Case.status == wanted.status, Case.amount.between(least, most)),
        (Case.amount + 0).between(least, most),
    )


def _begins(word: str) -> ColumnElement[bool]:
    # The last character of Unicode comes after all that a word can go on with.
    return and_(CaseWord.word >= word, CaseWord.word < word + "\U0010ffff")


def _after(wanted: Wanted, column: Any, falls: bool) -> ColumnElement[bool]:
    if not wanted.after:
        return true()
    text, _, number = wanted.after.rpartition("~")
    try:
        value, last = _read(text, wanted.order), int(number)
    except ValueError as error:
        raise DeskError("The place where the page begins cannot be read; start at the first page.") from error
    beyond = column < value if falls else column > value
    at_it = Case.id < last if falls else Case.id > last
    # The first condition is what an index can use, the second sorts out those of equal value.
    bound = column <= value if falls else column >= value
    return and_(bound, or_(beyond, at_it))


def place_of(case: Case, order: str) -> str:
    """Return the place of a case in an order, where a page can begin."""
    value = getattr(case, ORDERS[order][0].key)
    return f"{value.isoformat() if hasattr(value, 'isoformat') else repr(value)}~{case.id}"


def _read(text: str, order: str) -> Any:
    return datetime.fromisoformat(text) if order == "decided" else float(text)


def position(transaction: Transaction, case: Case, order: str) -> int:
    """Return the place of an open case among all open cases, from 1; its cost grows with that place only."""
    column, falls = ORDERS[order]
    own = getattr(case, column.key)
    before = column > own if falls else column < own
    return 1 + (transaction.scalar(select(func.count()).where(Case.status == OPEN, before)) or 0)
