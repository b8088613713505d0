"""A sample of files for learning: all positive rows and some of the negative ones, drawn in one pass."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scarce._errors import TableError
from scarce._typing import FloatArray, IntArray
from scarce.tables.cells import as_text

from .fragments import Fragment, batches_of

__all__ = ["Drawn", "draw_sample"]

# A target has two values; where it has more than these, the rest is one.
_MOST_VALUES = 50


@dataclass(frozen=True)
class Drawn:
    """Rows of files, and how many rows each stands for.

    Attributes
    ----------
    table : pyarrow.Table
        The rows, in the order of the files.
    weight : ndarray of shape (n_rows,)
        1 for a positive row; for a negative one the negatives of the files over those that were drawn.
    rows, positives, unknown : int
        How many rows of known outcome the files have, how many of them are positive, and how many have no outcome.
    """

    table: pa.Table
    weight: FloatArray
    rows: int
    positives: int
    unknown: int

    @property
    def sentence(self) -> str:
        """A sentence for the report."""
        drawn = len(self.weight) - self.positives
        unknown = (
            f" {self.unknown:,} rows of unknown outcome were left out; rank them with scarce score and the saved model."
        )
        return (
            f"The files have {self.rows:,} rows of known outcome, {self.positives:,} of them positive. Every method "
            f"learned from all positives and {drawn:,} of the negatives, drawn at random; figures and thresholds are "
            f"weighted back to the whole.{unknown if self.unknown else ''}"
        )


@dataclass
class _Lowest:
    """The rows of the lowest numbers, at most `size` of them."""

    size: float
    parts: list[tuple[pa.RecordBatch, FloatArray, IntArray]] = field(default_factory=list)
    held: int = 0
    limit: float = np.inf

    def add(self, rows: pa.RecordBatch, number: FloatArray, place: IntArray) -> None:
        below = number < self.limit
        if not below.all():
            rows, number, place = rows.filter(pa.array(below)), number[below], place[below]
        self.parts.append((rows, number, place))
        self.held += len(number)
        if self.held > 2 * self.size:
            self._drop()

    def _drop(self) -> None:
        table, number, place = self.rows()
        self.held = len(number)
        self.limit = float(number.max(initial=0.0))
        self.parts = [(table.combine_chunks().to_batches()[0], number, place)] if self.held else []

    def rows(self, size: float | None = None) -> tuple[pa.Table, FloatArray, IntArray]:
        """Return the rows of the lowest numbers, these, and their places."""
        size = self.size if size is None else size
        table = pa.Table.from_batches([rows for rows, _, _ in self.parts])
        number, place = (np.concatenate([part[at] for part in self.parts]) for at in (1, 2))
        if len(number) > size:
            kept = np.sort(np.argsort(number, kind="stable")[: int(size)])
            table, number, place = table.take(pa.array(kept)), number[kept], place[kept]
        return table, number, place


def draw_sample(
    fragments: Sequence[Fragment],
    target: str,
    size: int,
    *,
    positive: str | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda rows: None,
) -> Drawn:
    """Draw all positive rows of files and so many negative ones that there are `size` rows, in one pass over the files.

    There are at least as many negative rows as positive ones, up to `size` of them. Which rows are drawn depends on the
    seed, on the names of the files and on the places of the rows in them, and on nothing else.

    Parameters
    ----------
    fragments : sequence of Fragment
        The files.
    target : str
        The column of outcomes.
    size : int
        How many rows are drawn.
    positive : str, optional
        The value of the target to look for; the rarer one if left out.
    seed : int
        The same seed draws the same rows.
    progress : callable
        Called with the rows of each batch.
    """
    kept: dict[str, _Lowest] = {}
    counts: Counter[str] = Counter()
    unknown, before = 0, 0
    for fragment in fragments:
        draws = np.random.default_rng([seed, zlib.crc32(fragment.name.encode())])
        for batch in batches_of(fragment):
            number = draws.random(batch.num_rows)
            place: IntArray = before + np.arange(batch.num_rows)
            before += batch.num_rows
            outcome = as_text(_column(batch, target))
            unknown += outcome.null_count
            for value in pc.unique(outcome.drop_null()).to_pylist():
                group = value if value in kept or len(kept) < _MOST_VALUES else ""
                of_value: NDArray[np.bool_] = np.asarray(
                    pc.fill_null(pc.equal(outcome, value), False).to_numpy(zero_copy_only=False), dtype=bool
                )
                counts[group] += int(of_value.sum())
                lowest = kept.setdefault(group, _Lowest(np.inf if _is(value, positive) else size))
                lowest.add(batch.filter(pa.array(of_value)), number[of_value], place[of_value])
            progress(batch.num_rows)
    if not counts:
        raise TableError(f"The target column {target!r} is empty; fill in the outcomes that are known.")
    # Of two equally frequent values the larger is positive, as everywhere in the library.
    rarer = min(sorted(counts, reverse=True), key=lambda value: counts[value])
    wanted = next((value for value in counts if _is(value, positive)), rarer)
    if counts[wanted] > kept[wanted].size:
        raise TableError(
            f"{target} = {wanted} has {counts[wanted]:,} rows, more than are learned from; raise their number "
            "(`sample`), or name the value to look for (`positive`)."
        )
    positives, negatives = counts[wanted], counts.total() - counts[wanted]
    to_draw = max(size - positives, positives)
    parts, weights, places = [], [], []
    for value, lowest in kept.items():
        share = to_draw if negatives == 0 else round(to_draw * counts[value] / negatives)
        table, _, at = lowest.rows(None if value == wanted else min(max(share, 1), size))
        parts.append(table)
        places.append(at)
        weights.append(np.full(len(at), counts[value] / max(len(at), 1)))
    order = np.argsort(np.concatenate(places), kind="stable")
    together = pa.concat_tables(parts).take(pa.array(order))
    return Drawn(together, np.concatenate(weights)[order], counts.total(), positives, unknown)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise TableError(f"The table has no column {name!r} (`target`); it has {', '.join(batch.schema.names)}.")
    cells = batch.column(name)
    # A missing number may be NaN, which is no value.
    return pc.if_else(pc.is_nan(cells), None, cells) if pa.types.is_floating(cells.type) else cells


def _is(value: str, positive: str | None) -> bool:
    if positive is None or value == positive:
        return positive is not None
    try:
        return float(value) == float(positive)
    except ValueError:
        return value.casefold() == positive.casefold()
