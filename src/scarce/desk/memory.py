"""The live memory: the verdicts about linked cases move an open case up or down, and a badge tells why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from .links import LinkWeights
from .ranking import Counts, Entity, OpenCase, Place, Seen

__all__ = ["DAYS", "START", "moves", "rerank"]

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


def moves(cases: Sequence[OpenCase], places: Sequence[Place]) -> list[int]:
    """Return by how many ranks links move each case up, among these cases; of equal log-odds the lower number is first.

    Examples
    --------
    >>> from scarce.desk.memory import moves
    >>> from scarce.desk.ranking import OpenCase, Place
    >>> moves([OpenCase(1, 0.2, ()), OpenCase(2, 0.1, ()), OpenCase(3, 0.0, ())], [Place(0.2), Place(0.1), Place(1.0)])
    [-1, -1, 2]
    """
    without = _ranks([(-case.log_odds, case.id) for case in cases])
    with_links = _ranks([(-place.live, case.id) for case, place in zip(cases, places, strict=True)])
    return [a - b for a, b in zip(without, with_links, strict=True)]


def _ranks(keys: Sequence[tuple[float, int]]) -> list[int]:
    ranks = [0] * len(keys)
    for rank, i in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        ranks[i] = rank
    return ranks


def _place(case: OpenCase, seen: Counts, weights: Mapping[str, LinkWeights], now: datetime | None) -> Place:
    # In the order of the columns, so that the sum has the same bits however the entities came.
    about = [(entity, seen[entity]) for entity in sorted(set(case.entities)) if entity in seen]
    added = [weights.get(entity[0], START).add(s.confirmed, s.cleared) for entity, s in about]
    confirmed = [(own, pair) for own, pair in zip(added, about, strict=True) if pair[1].confirmed]
    badge = None
    if confirmed:
        # The entity that raises the case most; of several the one confirmed last.
        badge = _badge(*max(confirmed, key=lambda one: (one[0], _moment(one[1][1])))[1], now)
    return Place(case.log_odds + sum(added), badge)


def _moment(seen: Seen) -> float:
    return 0.0 if seen.at is None else seen.at.timestamp()


def _badge(entity: Entity, seen: Seen, now: datetime | None) -> str:
    text = f"shares {entity[0]} {entity[1]} with {seen.latest}, confirmed"
    if seen.confirmed > 1:
        others = seen.confirmed - 1
        text = f"shares {entity[0]} {entity[1]} with {seen.latest} and {others} other{'s' * (others > 1)}, confirmed"
    if seen.at is None:
        return text
    day = "" if now is None or now.date() == seen.at.date() else f" on {seen.at.day} {seen.at:%B}"
    return f"{text}{day} at {seen.at:%H:%M}"
