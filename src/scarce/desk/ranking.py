"""The order of open cases, with and without what links to decided cases add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

__all__ = ["Entity", "OpenCase", "Place", "Seen"]

# A column and its value as text, such as ("terminal", "3156").
Entity: TypeAlias = tuple[str, str]


class OpenCase(NamedTuple):
    """An open case as the ranking sees it: its number, the log-odds of the audit's probability, and its entities."""

    id: int
    log_odds: float
    entities: tuple[Entity, ...]


@dataclass
class Seen:
    """The verdicts of the last days about the cases of one entity.

    Attributes
    ----------
    confirmed, cleared : int
        How many cases of the entity have the verdict positive, and how many negative.
    latest : str or None
        The name of the case that was confirmed last.
    at : datetime or None
        When it was.
    latest_cleared, cleared_at : str or None, datetime or None
        The same of the case that was cleared last.
    """

    confirmed: int = 0
    cleared: int = 0
    latest: str | None = None
    at: datetime | None = None
    latest_cleared: str | None = None
    cleared_at: datetime | None = None


class Place(NamedTuple):
    """A case's place: the log-odds by which it is ranked, and the badge that tells why these changed."""

    live: float
    badge: str | None = None


Counts: TypeAlias = Mapping[Entity, Seen]
