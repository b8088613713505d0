"""Outcomes from a file or a desk, matched with the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import MonitorError
from scarce._messages import listed
from scarce._typing import FloatArray, IntArray
from scarce.audit.reviews import VERDICT
from scarce.tables.types import cell_text

from .batches import outcomes_of

__all__ = ["GivenOutcomes"]

CHANCE, ROW = "chance_drawn", "row"
_UNDECIDED = {"undecidable", "open"}


class GivenOutcomes:
    """Outcomes of some rows, named by identifier columns or by the number of the row.

    Parameters
    ----------
    frame : DataFrame
        A column ``verdict``, or the target, and the identifiers of the audited table, or ``row``; with ``chance_drawn``
        also the chance of each row to have been checked. Of several about one row the last one counts.
    target : dict
        The target of the audit.
    identifiers : sequence of str
        The identifier columns of the audited table.
    queue : DataFrame, optional
        The queue of the audit, whose ``chance_drawn`` is taken where the outcomes have none.
    time : str, optional
        The column of time, where rows of the audited table have the same identifiers and only both name a row.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        target: Any,
        identifiers: Sequence[str],
        queue: pd.DataFrame | None = None,
        *,
        time: str | None = None,
    ) -> None:
        verdict = next((name for name in (VERDICT, target["column"]) if name in frame), None)
        if verdict is None:
            raise MonitorError(
                f"The outcomes need a column {VERDICT!r} or {target['column']!r} beside the identifiers; they have "
                f"{listed([str(name) for name in frame.columns])}."
            )
        named = [name for name in identifiers if name in frame]
        self.time = time if named else None
        if self.time is not None and self.time in frame:
            named.append(self.time)
        elif self.time is not None:
            named = []
        self.keys = named or [name for name in (ROW,) if name in frame]
        if not self.keys and self.time is not None:
            raise MonitorError(
                f"Several rows have the same {listed(list(identifiers))}, so that the outcomes need the column of time "
                f"too: add {self.time!r} to them, or the number of the row as {ROW!r}."
            )
        if not self.keys:
            raise MonitorError(
                "The outcomes do not tell which row is meant: add an identifier column of the table "
                f"({listed([*identifiers, ROW], ' or ')})."
            )
        cells = frame[verdict].map(lambda cell: None if str(cell).strip().casefold() in _UNDECIDED else cell)
        given = pd.DataFrame({"outcome": outcomes_of(cells, target, "`outcomes`")})
        given["chance"] = _chances(frame, queue, self.keys, self.time)
        given.index = _index(frame, self.keys, self.time)
        given = given[given["outcome"] >= 0]
        self.given = given[~given.index.duplicated(keep="last")]
        self._used = np.zeros(len(self.given), dtype=bool)

    def match(self, frame: pd.DataFrame, first: int) -> tuple[IntArray, FloatArray, NDArray[np.bool_]]:
        """Return outcome and chance of the rows of a part, -1 and NaN where none is given, and which have one.

        Parameters
        ----------
        frame : DataFrame
            A part of the table.
        first : int
            The number of its first row.
        """
        if self.keys == [ROW] and ROW not in frame:
            frame = pd.DataFrame({ROW: first + np.arange(len(frame))})
        absent = [name for name in self.keys if name not in frame]
        if absent:
            raise MonitorError(
                f"The outcomes name rows by {listed(absent)}, which is not a column of the new table; add it there."
            )
        place = self.given.index.get_indexer(_index(frame, self.keys, self.time))
        found = place >= 0
        self._used[place[found]] = True
        outcome, chance = np.full(len(frame), -1), np.full(len(frame), np.nan)
        outcome[found] = self.given["outcome"].to_numpy()[place[found]]
        chance[found] = self.given["chance"].to_numpy()[place[found]]
        return outcome, chance, found

    def check(self) -> None:
        """Refuse outcomes of rows that no part held."""
        if self._used.all():
            return
        example = self.given.index[~self._used][0]
        values = example if isinstance(example, tuple) else (example,)
        named = ", ".join(f"{key} {value}" for key, value in zip(self.keys, values, strict=True))
        raise MonitorError(
            f"{int((~self._used).sum()):,} of the {len(self._used):,} outcomes are of rows that are not in the new "
            f"table, such as {named}; give the table that holds them, or leave them out."
        )


def _chances(frame: pd.DataFrame, queue: pd.DataFrame | None, keys: list[str], time: str | None) -> FloatArray:
    if CHANCE in frame:
        chance = pd.to_numeric(frame[CHANCE], errors="coerce").to_numpy(dtype=np.float64)
        if ((chance <= 0) | (chance > 1)).any():
            raise MonitorError(f"The chance of a row to be checked ({CHANCE}) is greater than 0 and at most 1.")
        return chance
    if queue is None or CHANCE not in queue or not set(keys) <= set(queue.columns):
        return np.full(len(frame), np.nan)
    of_queue = pd.Series(queue[CHANCE].to_numpy(), index=_index(queue, keys, time))
    of_queue = of_queue[~of_queue.index.duplicated()]
    return of_queue.reindex(_index(frame, keys, time)).to_numpy(dtype=np.float64)


def _index(frame: pd.DataFrame, keys: list[str], time: str | None) -> pd.Index:
    texts = {key: frame[key].map(cell_text, na_action="ignore").astype(object).fillna("") for key in keys}
    if time in texts:
        # Programs and files write the same moment in several ways.
        moments = pd.to_datetime(texts[time], errors="coerce", format="ISO8601", utc=True)
        texts[time] = texts[time].where(moments.isna(), moments.astype(str))
    return pd.Index(texts[keys[0]]) if len(keys) == 1 else pd.MultiIndex.from_frame(pd.DataFrame(texts))
