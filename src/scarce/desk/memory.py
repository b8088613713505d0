"""The live memory: the verdicts about linked cases move an open case up or down, and a badge tells why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from .links import LinkWeights
from .ranking import Counts, Entity, OpenCase, Place, Seen

__all__ = ["DAYS", "START", "rerank"]

# Verdicts older than this are not counted.
DAYS: Final = 14
WINDOW: Final = timedelta(days=DAYS)
# The weights of a desk without a history; `docs/desk-memory.md` has the days that they were chosen on.
START: Final = LinkWeights(confirmed=(0.5, 0.5, 0.5), cleared=(-0.2, -0.2, -0.2))
_NO_WEIGHTS: Final[Mapping[str, LinkWeights]] = {}


def rerank(
    cases: Sequence[OpenCase],
    seen: Counts,
    weights: Mapping[str, LinkWeights] = _NO_WEIGHTS,
    *,
    now: datetime | None = None,
) -> list[Place]:
    """Return the place of each open case, given the verdicts of the last days about its entities.

    The place of a case depends on its own entities alone, so that after a verdict only those cases are asked about that
    share an entity with the case just decided. It depends on what the verdicts are and not on the order in which they
    came: a verdict that is taken back leaves the same bits as before.

    Parameters
    ----------
    cases : sequence of OpenCase
    seen : mapping of entity to Seen
        The verdicts of the last days.
    weights : mapping of str to LinkWeights
        For each entity column; :data:`START` for the others.
    now : datetime, optional
        A confirmation of another day has its day in the badge.

    Examples
    --------
    >>> from scarce.desk.memory import rerank
    >>> from scarce.desk.ranking import OpenCase, Seen
    >>> shared = ("terminal", "3156")
    >>> cases = [OpenCase(1, 0.2, (("terminal", "7"),)), OpenCase(2, 0.0, (shared,))]
    >>> first, second = rerank(cases, {shared: Seen(confirmed=1, latest="case 4711")})
    >>> first.live, second.live > first.live, second.badge
    (0.2, True, 'shares terminal 3156 with case 4711, confirmed')
    """
    return [_place(case, seen, weights, now) for case in cases]


def _place(case: OpenCase, seen: Counts, weights: Mapping[str, LinkWeights], now: datetime | None) -> Place:
    # In the order of the columns, so that the sum has the same bits however the entities came.
    about = [(entity, seen[entity]) for entity in sorted(set(case.entities)) if entity in seen]
    added = [weights.get(entity[0], START).add(s.confirmed, s.cleared) for entity, s in about]
    change = sum(added)
    badge = None
    if change < 0:
        # The entity that lowers the case most; of several the one cleared last.
        cleared = [(-own, _moment(s.cleared_at), entity, s) for own, (entity, s) in zip(added, about, strict=True)]
        badge = _badge("cleared", *_foremost([one for one in cleared if one[3].cleared]), now)
    else:
        # The entity that raises the case most; of several the one confirmed last.
        confirmed = [(own, _moment(s.at), entity, s) for own, (entity, s) in zip(added, about, strict=True)]
        confirmed = [one for one in confirmed if one[3].confirmed]
        badge = _badge("confirmed", *_foremost(confirmed), now) if confirmed else None
    return Place(case.log_odds + change, badge)


def _foremost(moving: Sequence[tuple[float, float, Entity, Seen]]) -> tuple[Entity, Seen]:
    return max(moving, key=lambda one: one[:2])[2:]


def _moment(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp()


def _badge(verdict: str, entity: Entity, seen: Seen, now: datetime | None) -> str:
    latest, at, number = (
        (seen.latest, seen.at, seen.confirmed)
        if verdict == "confirmed"
        else (seen.latest_cleared, seen.cleared_at, seen.cleared)
    )
    shared = f"{entity[0]} {entity[1]}".strip()
    others = f" and {number - 1} other{'s' * (number > 2)}" if number > 1 else ""
    text = f"shares {shared} with {latest}{others}, {verdict}"
    if at is None:
        return text
    day = "" if now is None or now.date() == at.date() else f" on {at.day} {at:%B}"
    return f"{text}{day} at {at:%H:%M}"
