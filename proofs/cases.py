"""Cases of a proof, and its table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sklearn.utils import Bunch

from scarce.datasets import DatasetUnavailable, load


@dataclass(frozen=True)
class Case:
    """A row of the table: where the statement was tried, the figures, and whether it holds there."""

    place: tuple[str, ...]
    figures: tuple[float, ...]
    kept: bool


@dataclass
class Proof:
    """A statement and the cases on which it was tried."""

    title: str
    statement: str
    columns: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)

    @property
    def missed(self) -> int:
        return sum(not case.kept for case in self.cases)

    @property
    def counts(self) -> str:
        return f"{len(self.cases)} cases: {len(self.cases) - self.missed} kept, {self.missed} missed."

    def lines(self) -> Iterable[tuple[str, ...]]:
        for case in self.cases:
            yield *case.place, *(f"{figure:.4f}" for figure in case.figures), "kept" if case.kept else "MISSED"


def sets_at_hand(names: Iterable[str]) -> dict[str, Bunch]:
    """Return those of the sets that can be had here."""
    found = {}
    for name in names:
        try:
            found[name] = load(name)
        except DatasetUnavailable:
            continue
    return found
