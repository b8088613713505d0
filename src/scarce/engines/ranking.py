"""The first rows of a ranking, of any number of rows, in a memory of a few."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scarce._typing import FloatArray, IntArray

__all__ = ["FILE", "ROW", "SCORE", "TopRows"]

# Columns that stand beside those of the table, by names that no table has.
SCORE, FILE, ROW = "\0score", "\0file", "\0row"
# So many times the rows that are wanted are held before the others are dropped.
_ROOM = 4


class TopRows:
    """The `k` rows of highest score, with their cells.

    Of equal scores the row of the lower id comes first, and without ids, or of equal ones, that of the earlier file by
    name and the earlier row in it. So the order is total, and the same whatever the order and the size of the parts.

    Parameters
    ----------
    k : int
        How many rows.
    id : str, optional
        The column of ids.
    """

    def __init__(self, k: int, id: str | None = None) -> None:
        self._k, self._id = k, id
        self._parts: list[pa.Table] = []
        self._held = 0
        self._least = -np.inf  # no row below it can be among the first any more

    def add(self, batch: pa.RecordBatch, score: FloatArray, file: str, rows: IntArray) -> None:
        """Take the rows of a batch, with their numbers in a file."""
        places = np.flatnonzero(score >= self._least)
        if not self._k or not len(places):
            return
        if len(places) > self._k:
            # Rows that tie with the last one stay, since their ids decide.
            self._least = max(self._least, float(np.partition(score[places], len(places) - self._k)[-self._k]))
            places = places[score[places] >= self._least]
        held = pa.Table.from_batches([batch.take(pa.array(places))])
        held = held.append_column(SCORE, pa.array(score[places]))
        held = held.append_column(FILE, pa.array([file] * len(places), pa.string()))
        self._keep(held.append_column(ROW, pa.array(rows[places], pa.int64())))

    def merge(self, others: Iterable[pa.Table]) -> None:
        """Take the first rows of other parts."""
        for table in others:
            self._keep(table)

    def _keep(self, table: pa.Table) -> None:
        self._parts.append(table)
        self._held += table.num_rows
        if self._held > _ROOM * self._k:
            self._parts = [self.table()]
            self._held = self._parts[0].num_rows
            if self._held == self._k:
                self._least = max(self._least, pc.min(self._parts[0].column(SCORE)).as_py())

    def table(self) -> pa.Table | None:
        """Return the rows in their order; None before the first row."""
        if not self._parts:
            return None
        held = pa.concat_tables([_plain(part) for part in self._parts], promote_options="permissive")
        ids = [] if self._id is None else [(self._id, "ascending")]
        order = pc.sort_indices(held, sort_keys=[(SCORE, "descending"), *ids, (FILE, "ascending"), (ROW, "ascending")])
        return held.take(order[: self._k])


def _plain(table: pa.Table) -> pa.Table:
    """Return a table whose categories are texts: the dictionaries of two parts may differ."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table
