"""The figures of the desk: verdicts, precision, money found, and positives that nobody looked at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import Response
from scipy.stats import beta
from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction

from scarce._typing import Json
from scarce.audit.explore import Missed, estimate_missed

from .drawings import Dot, plot
from .firsts import ANY, First, firsts_by_day
from .pages import Viewer
from .schema import DECIDED, NEGATIVE, POSITIVE, Case, Model, Verdict
from .site import page, to_undo
from .watch import latest_report

__all__ = ["Checked", "Overlooked", "checked_by_day", "interval", "overlooked", "router", "verdicts_by_day"]

router = APIRouter(include_in_schema=False)
DAYS = 60
_LEVEL = 0.9
_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Checked:
    """The cases that were decided on a day, or until then, as they stand now."""

    day: date
    positive: int
    negative: int
    undecidable: int
    money: float

    @property
    def precision(self) -> float:
        """The share of positives among the cases decided either way."""
        return self.positive / max(self.positive + self.negative, 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of that share."""
        return interval(self.positive, self.positive + self.negative)


@dataclass(frozen=True)
class Overlooked:
    """The positives that nobody looked at, estimated from the random share of an audit's queue."""

    model: Model
    drawn: int
    checked: int
    positive: int
    missed: Missed | None


def interval(hits: int, n: int, level: float = _LEVEL) -> tuple[float, float]:
    """Return Clopper and Pearson's confidence interval of a share.

    Examples
    --------
    >>> from scarce.desk.figures import interval
    >>> low, high = interval(8, 10)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.49 to 0.96
    """
    rest = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(rest, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - rest, hits + 1, n - hits))
    return low, high


def verdicts_by_day(transaction: Transaction, since: datetime) -> dict[date, Counter[str]]:
    """Return how many verdicts each person gave on each day; an undo takes one away."""
    found: dict[date, Counter[str]] = defaultdict(Counter)
    rows = transaction.execute(select(Verdict.at, Verdict.who, Verdict.undoes).where(Verdict.at >= since))
    for at, who, undoes in rows:
        found[at.date()][who] += 1 if undoes is None else -1
    return dict(sorted(found.items()))


def checked_by_day(transaction: Transaction, since: datetime) -> list[Checked]:
    """Return the cases decided on each day, by what they are now."""
    found: dict[date, Counter[str]] = defaultdict(Counter)
    money: dict[date, float] = defaultdict(float)
    rows = select(Case.decided, Case.status, Case.amount).where(Case.status.in_(DECIDED), Case.decided >= since)
    for decided, status, amount in transaction.execute(rows):
        assert decided is not None  # by the condition
        found[decided.date()][status] += 1
        money[decided.date()] += amount if status == POSITIVE else 0.0
    return [
        Checked(day, n[POSITIVE], n[NEGATIVE], n.total() - n[POSITIVE] - n[NEGATIVE], money[day])
        for day, n in sorted(found.items())
    ]


def overlooked(transaction: Transaction) -> list[Overlooked]:
    """Return for each audit with a random share the estimate of the positives that its score alone would miss.

    Where some of the drawn cases are not decided yet, the others are taken as a random part of them: their chances
    are multiplied by their share.
    """
    found = []
    for model in transaction.scalars(select(Model).order_by(Model.version.desc())):
        rows = list(
            transaction.execute(
                select(Case.status, Case.chance).where(Case.drawn.is_(True), Case.model == model.version)
            )
        )
        checked = [(status, chance) for status, chance in rows if status in (POSITIVE, NEGATIVE)]
        if not rows:
            continue
        hits, share = [status == POSITIVE for status, _ in checked], len(checked) / len(rows)
        chances = [chance * share for _, chance in checked]
        missed = estimate_missed(hits, chances, confidence=_LEVEL) if checked else None
        found.append(Overlooked(model, len(rows), len(checked), sum(hits), missed))
    return found


@router.get("/figures")
def figures_page(request: Request, person: Viewer) -> Response:
    """Return the figures of the last days."""
    since = datetime.now(UTC) - timedelta(days=DAYS)
    with request.app.state.store.read() as transaction:
        verdicts, checked = verdicts_by_day(transaction, since), checked_by_day(transaction, since)
        total, missed = _together(checked), overlooked(transaction)
        firsts = firsts_by_day(transaction, since)
        watched = latest_report(transaction, request.app.state.folder)
        people = sorted({who for counts in verdicts.values() for who in counts})
        return page(
            request,
            "figures.html.jinja",
            days=DAYS,
            verdicts=verdicts,
            people=people,
            checked=checked,
            total=total,
            found=[sum(day.money for day in checked[: place + 1]) for place in range(len(checked))],
            overlooked=missed,
            firsts=firsts,
            watched=watched,
            record=request.app.state.record,
            columns=[] if watched is None else watched["report"]["drift"]["columns"][:_MOST_COLUMNS],
            entities=[name for name in dict.fromkeys(name for day in firsts for name in day.alone) if name != ANY],
            drawings={**_drawings(verdicts, checked, missed, firsts), **_of_days(watched)},
            undoable=to_undo(transaction, person.name),
        )


def _together(checked: Sequence[Checked]) -> Checked | None:
    if not checked:
        return None
    sums = (sum(getattr(day, name) for day in checked) for name in ("positive", "negative", "undecidable", "money"))
    return Checked(checked[-1].day, *sums)


def _drawings(
    verdicts: dict[date, Counter[str]],
    checked: Sequence[Checked],
    missed: Sequence[Overlooked],
    firsts: Sequence[First],
) -> dict[str, str]:
    precision = [
        Dot(f"{day.day:%d %b}", day.precision, *day.interval) for day in checked if day.positive + day.negative
    ]
    money, so_far = [], 0.0
    for day in checked:
        so_far += day.money
        money.append(Dot(f"{day.day:%d %b}", so_far))
    estimates = [Dot(f"version {m.model.version}", *m.missed) for m in reversed(missed) if m.missed]
    counts = [Dot(f"{day:%d %b}", float(counts.total())) for day, counts in verdicts.items()]
    alone = [Dot(f"{first.day:%d %b}", float(first.alone[ANY])) for first in firsts]
    return {
        "firsts": plot(alone, "Positives none of whose entities had a confirmed case") if alone else "",
        "verdicts": plot(counts, "Verdicts a day") if counts else "",
        "precision": plot(precision, "Precision among checked cases by day", top=1.0, percent=True)
        if precision
        else "",
        "money": plot(money, "Money found so far") if money else "",
        "overlooked": plot(estimates, "Positives that nobody looked at, by model version") if estimates else "",
    }


def _of_days(watched: Json | None) -> dict[str, str]:
    """Draw what the monitor found, day by day."""
    titles = {
        "auc": "New rows against tested ones: AUC of a classifier, 0.5 is guessing",
        "expected_ratio": "Expected positives, in times of those among tested rows",
    }
    days = [] if watched is None else watched["days"]
    found = {}
    for name, title in titles.items():
        dots = [
            Dot(f"{date.fromisoformat(day['day']):%d %b}", day[name]["estimate"], day[name]["low"], day[name]["high"])
            for day in days
        ]
        found[name] = plot(dots, title) if len(dots) > 1 else ""
    return found
