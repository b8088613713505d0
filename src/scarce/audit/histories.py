"""The histories of entities, such as the customer and the terminal, as columns to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import AuditError
from scarce._moments import moments_of
from scarce._typing import IntArray
from scarce.tables import Column, EntityHistory

from .blocks import Blocks
from .folds import Folds
from .settings import DATED_WINDOWS, Settings

__all__ = ["Histories", "make_histories"]


@dataclass(frozen=True)
class Histories:
    """The history of the entities of each row before it.

    Attributes
    ----------
    columns : list of Column
        The columns that describe it.
    frame : DataFrame
        These columns for all rows of the table, each described at its own moment.
    fitted : EntityHistory
        The past up to the end of the table.
    sources : dict of str to list of str
        The columns of the table from which each column is made.
    """

    columns: list[Column]
    frame: pd.DataFrame = field(repr=False)
    fitted: EntityHistory = field(repr=False)
    sources: dict[str, list[str]] = field(default_factory=dict)

    def when_tested(self, table: pd.DataFrame, labelled: IntArray, folds: Folds, blocks: Blocks) -> pd.DataFrame:
        """Return the columns of the labelled rows as they are when these are tested.

        Rows that are ranked together do not know each other's outcomes. So a tested row sees the outcomes that were
        known when the queue that it belongs to began.

        Parameters
        ----------
        table : DataFrame
            All rows of the table.
        labelled : ndarray
            The rows of known outcome, in the order of the folds.
        folds, blocks : Folds, Blocks
            The tested rows, and their division into queues.
        """
        moment, dated = moments_of(table[self.fitted.time].iloc[labelled])
        tested = folds.tested
        queue = np.where(blocks.block >= 0, blocks.like_queue[blocks.block], -1 - folds.fold_of_tested)
        _, place = np.unique(queue, return_inverse=True)
        began = np.full(place.max() + 1, moment.max())
        np.minimum.at(began, place, moment[tested])
        rows = table.iloc[labelled[tested]]
        until = began[place].astype("datetime64[ns]") if dated else began[place]
        found = self.frame.iloc[labelled].copy()
        found.iloc[tested] = self.fitted.transform(rows, until)
        return found


def make_histories(frame: pd.DataFrame, y: NDArray[np.int64], settings: Settings) -> Histories:
    """Describe all rows of a table by the history of the entities that the settings name.

    Parameters
    ----------
    frame : DataFrame
        The table.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    settings : Settings
        Entities, windows, time, delay and amount.
    """
    time = str(settings.time)
    dated = moments_of(frame[time])[1]
    entity = list(dict.fromkeys(settings.entity))
    if time in entity:
        raise AuditError(f"`entity` names the time column {time!r}; name a column such as the customer.")
    amount = settings.amount if settings.amount not in entity else None
    windows = _windows(settings.windows, time, dated=dated)
    delay = _length(settings.delay or 0, dated=dated)
    made = EntityHistory(entity, time, amount, windows=windows, delay=delay)
    try:
        numbers = made.fit(frame, y).transform(frame)
    except ValueError as error:
        raise AuditError(f"The history of {', '.join(entity)} could not be made: {error}") from error
    names = [str(name) for name in made.get_feature_names_out()]
    taken = [name for name in names if name in frame.columns]
    if taken:
        raise AuditError(f"The table has a column {taken[0]!r}, and so has its history (`entity`); rename it.")
    described = pd.DataFrame(numbers, columns=names, index=frame.index)
    each = len(names) // len(entity)
    columns, sources = [], {}
    for place, name in enumerate(names):
        of = entity[place // each]
        values = described[name]
        remark = f"Of the earlier rows of the same {of}."
        columns.append(
            Column(name, "number", missing=float(values.isna().mean()), distinct=int(values.nunique()), remark=remark)
        )
        sources[name] = [of, str(amount)] if "mean of" in name and amount is not None else [of]
    return Histories(columns, described, made, sources)


def _windows(given: Sequence[str | float], time: str, *, dated: bool) -> tuple[str | float, ...]:
    if dated:
        return tuple(given) or DATED_WINDOWS
    if not given:
        raise AuditError(
            f"The time column {time!r} holds numbers, so say how far back histories look, in its unit (`windows`): "
            "where it counts seconds, 86400, 604800 and 2592000 are a day, a week and 30 days."
        )
    return tuple(_length(window, dated=False) for window in given)


def _length(given: str | float, *, dated: bool) -> str | float:
    """Return a length as the times need it: a number where they are numbers."""
    if dated:
        return given
    try:
        number = float(given)
        return int(number) if number.is_integer() else number
    except ValueError as error:
        raise AuditError(
            f"The time column holds numbers, so lengths of time must be numbers in their unit; one was {given!r}."
        ) from error
