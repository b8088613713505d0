"""Cases of a proof, and the sets that it needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isnan

from sklearn.utils import Bunch

from proofs.page import VERDICTS, tally
from scarce.datasets import DatasetUnavailable, load


@dataclass(frozen=True)
class Case:
    """A row of the table: where the statement was tried, the figures, and whether it holds there; None has no bar."""

    place: tuple[str, ...]
    figures: tuple[float, ...]
    kept: bool | None


@dataclass
class Proof:
    """A statement and the cases on which it was tried."""

    title: str
    statement: str
    columns: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)

    @property
    def missed(self) -> int:
        return tally(case.kept for case in self.cases)[1]

    @property
    def counts(self) -> str:
        kept, missed, _ = tally(case.kept for case in self.cases)
        return f"{kept + missed} cases: {kept} kept, {missed} missed."

    def lines(self) -> Iterable[tuple[str, ...]]:
        for case in self.cases:
            yield (
                *case.place,
                *("" if isnan(figure) else f"{figure:.4f}" for figure in case.figures),
                VERDICTS[case.kept],
            )


class MissingSets(Exception):
    """Sets of a proof are not on this machine, so that it would show less than it says."""


def sets_of(names: Iterable[str]) -> dict[str, Bunch]:
    """Load all the sets, or name those that are missing before anything is computed."""
    found, missing = {}, []
    for name in names:
        try:
            found[name] = load(name)
        except DatasetUnavailable:
            missing.append(name)
    if missing or not found:
        raise MissingSets(
            f"The proof needs {', '.join(missing) or 'at least one data set'}, not on this machine; "
            "scarce data info NAME shows where to get a set."
        )
    return found
