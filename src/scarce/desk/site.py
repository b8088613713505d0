"""The parts that all pages share: templates, words for figures, the person, and the last verdict to undo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Transaction

from scarce.audit.words import percent

from .schema import DECIDED, Case, Model, Verdict
from .tokens import Person

__all__ = ["budget_left", "page", "to_undo"]

_UNDO_HOURS = 12


def _when(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _together(text: str) -> str:
    """Return a text whose percentages are not divided at the end of a line."""
    return text.replace(" %", "\u00a0%")


def _unbroken(name: str) -> Markup:
    """Return a name whose lines end between its parts, such as an identifier and a time, where there is room."""
    return Markup(", ").join(Markup('<span class="part">{}</span>').format(part) for part in name.split(", "))


def _code(text: str) -> Markup:
    """Return a text with what stands in backticks as code."""
    parts = text.split("`")
    return Markup().join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if abs(amount) < 1_000 else f"{amount:,.0f}"


_templates = Environment(
    loader=PackageLoader("scarce.desk"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {"percent": percent, "when": _when, "money": _money, "together": _together}
_templates.filters |= {"unbroken": _unbroken, "code": _code}


def page(request: Request, template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """Return a page made from a template."""
    person: Person | None = getattr(request.state, "person", None)
    text = _templates.get_template(template).render(path=request.url.path, person=person, **{"undoable": None, **data})
    return HTMLResponse(text, status)


def to_undo(transaction: Transaction, who: str) -> tuple[Verdict, Case] | None:
    """Return the last verdict of a person and its case, if it is recent and no other came after it."""
    entry = transaction.scalars(select(Verdict).where(Verdict.who == who).order_by(Verdict.id.desc()).limit(1)).first()
    if entry is None or entry.undoes is not None or entry.at < datetime.now(UTC) - timedelta(hours=_UNDO_HOURS):
        return None
    case = transaction.get_one(Case, entry.case_id)
    return (entry, case) if case.entry == entry.id else None


def budget_left(transaction: Transaction, now: datetime | None = None) -> tuple[int, int, str] | None:
    """Return how many checks are left, how many there are, and the period that they are for; None without a model."""
    model = transaction.scalars(select(Model).order_by(Model.version.desc()).limit(1)).first()
    if model is None:
        return None
    now = now or datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since, period = {
        "day": (today, "today"),
        "week": (today - timedelta(days=today.weekday()), "this week"),
        "month": (today.replace(day=1), "this month"),
    }.get(model.period or "", (model.imported, "since the last import"))
    done = transaction.scalar(select(func.count()).where(Case.status.in_(DECIDED), Case.decided >= since)) or 0
    return max(model.checks - done, 0), model.checks, period
