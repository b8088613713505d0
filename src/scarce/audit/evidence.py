"""The evidence of a case: its probability, the reasons for it, known rows that it resembles, and links to others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from scarce._typing import Cell, FloatArray, IntArray
from scarce.occlusion import contributions
from scarce.tables import MISSING, Usual, show

from .look_alikes import LookAlike
from .notebook import evidence_html
from .words import percent

__all__ = ["NO_REASON", "Evidence", "Link", "Reason", "find_links", "find_reasons"]

# A column that moves the probability by less than this share of the largest move is no reason.
_LEAST_SHARE = 0.02
_MOST_LINKED_ROWS = 20
NO_REASON = "no single column raises the probability"


@dataclass(frozen=True)
class Reason:
    """A column that raises the probability of a case.

    Attributes
    ----------
    column : str
        Its name in the table.
    value, usual : cell
        The value of the case, and the usual one; None where there is no usual value.
    without, probability : float
        The probability with usual values of this column instead, and as it is.
    """

    column: str
    value: Cell
    usual: Cell
    without: float
    probability: float

    def sentence(self, title: str | None = None, written: Callable[[str, str], str] = lambda column, text: text) -> str:
        """Write the reason for people.

        Parameters
        ----------
        title : str, optional
            The name of the column for people.
        written : callable
            Takes the column and a value as text, and returns the text with its unit.
        """
        value = written(self.column, show(self.value))
        usual = f" (usual {written(self.column, show(self.usual))})" if _has_usual(self.value, self.usual) else ""
        return (
            f"{title or self.column} = {value}{usual} raises the probability "
            f"from {percent(self.without)} to {percent(self.probability)}"
        )


@dataclass(frozen=True)
class Link:
    """An entity that a case shares with known positive rows.

    Attributes
    ----------
    column : str
        The column of the entity, such as the card.
    value : cell
        The entity.
    positives : list of int
        The known positive rows of the same entity, the latest rows of the table first, at most 20.
    n_positives, n_rows : int
        How many known positive rows, and how many rows at all, share it.
    """

    column: str
    value: Cell
    positives: list[int]
    n_positives: int
    n_rows: int


@dataclass(frozen=True)
class Evidence:
    """All that speaks for or against a case.

    Attributes
    ----------
    row : int
        Its number in the table.
    probability : float
        The calibrated probability that it is positive.
    money : float or None
        The expected money: the probability times the amount at stake.
    reasons : list of Reason
        The columns that raise the probability most.
    look_alikes : list of LookAlike
        The nearest known positives and the nearest known negative.
    links : list of Link
        The entities that it shares with known positives.
    rule : str or None
        The rule of the readable model that it falls under.
    inside : list of int
        The known positive rows in whose ellipsoid it lies, where ME² was fitted.
    """

    row: int
    probability: float
    money: float | None = None
    reasons: list[Reason] = field(default_factory=list)
    look_alikes: list[LookAlike] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    rule: str | None = None
    inside: list[int] = field(default_factory=list)

    def _repr_html_(self) -> str:
        return evidence_html(self)


def find_reasons(
    probability_of: Callable[[pd.DataFrame], FloatArray],
    cases: pd.DataFrame,
    usual: Mapping[str, Usual],
    *,
    hidden: Collection[str] = (),
    most: int = 3,
) -> list[list[Reason]]:
    """Return for each case the columns that raise its probability most.

    A column whose value is the usual one is no reason: to an investigator it says nothing.

    Parameters
    ----------
    probability_of : callable
        Takes rows, returns the calibrated probability of each.
    cases : DataFrame
        The rows to explain, typed.
    usual : mapping of str to Usual
        The usual values of each column.
    hidden : collection of str
        Columns that are never a reason.
    most : int
        The largest number of reasons for a case.
    """
    names = list(usual)
    values = [usual[name].weighted(cases[name].dtype) for name in names]
    added = contributions(probability_of, cases[names], values)
    shown = [i for i, name in enumerate(names) if name not in hidden]
    own = probability_of(cases[names])
    found = []
    for place, (_, case) in enumerate(cases[names].iterrows()):
        least = _LEAST_SHARE * np.abs(added[place]).max(initial=0.0)
        most_first = [i for i in np.argsort(-added[place], kind="stable") if i in shown]
        reasons = [
            Reason(
                names[i],
                case[names[i]],
                usual[names[i]].typical,
                without=float(np.clip(own[place] - added[place, i], 0.0, 1.0)),
                probability=float(own[place]),
            )
            for i in most_first
            if added[place, i] > least and show(case[names[i]]) != show(usual[names[i]].typical)
        ]
        # Two probabilities that look the same on paper are no reason either.
        telling = [r for r in reasons if percent(r.without) != percent(r.probability)]
        found.append(telling[:most])
    return found


def find_links(table: pd.DataFrame, y: IntArray, cases: IntArray, entities: Sequence[str]) -> list[list[Link]]:
    """Return for each case the entities that it shares with known positive rows other than itself.

    Parameters
    ----------
    table : DataFrame
        All rows, numbered from 0.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    cases : ndarray
        The rows of the cases.
    entities : sequence of str
        The columns that name entities.
    """
    found: list[list[Link]] = [[] for _ in cases]
    for column in entities:
        values = table[column]
        asked = values.iloc[cases]
        # Only the rows that share an entity with a case are looked at, whatever the size of the table.
        sharing = np.flatnonzero(values.isin(asked.dropna().unique()) & (values.astype(str) != MISSING))
        rows_of = {value: sharing[places] for value, places in _groups(values.iloc[sharing])}
        for place, (case, value) in enumerate(zip(cases, asked, strict=True)):
            rows = rows_of.get(value)
            if rows is None:
                continue
            positives = rows[(y[rows] == 1) & (rows != case)][::-1]
            if len(positives):
                shown = [int(row) for row in positives[:_MOST_LINKED_ROWS]]
                found[place].append(Link(column, value, shown, len(positives), len(rows)))
    return found


def _groups(values: pd.Series) -> list[tuple[Cell, IntArray]]:
    codes, uniques = pd.factorize(values)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(uniques)))
    return list(zip(uniques, np.split(order, ends[:-1]), strict=True)) if len(uniques) else []


def _has_usual(value: Cell, usual: Cell) -> bool:
    """Return True where a usual value says something: the most frequent category or the middle of dates does not."""
    return usual is not None and not isinstance(value, str | pd.Timestamp) and value is not pd.NaT
