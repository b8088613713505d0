"""The parts of messages that all rooms share: names and rows in a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scarce._typing import IntArray

__all__ = ["fewest_of_a_class", "listed", "listed_rows"]

MOST = 5


def listed(names: Sequence[object], last: str = " and ") -> str:
    """Return a few names or labels, texts in quotes, and the number of those left out."""
    shown = [repr(name.item() if isinstance(name, np.generic) else name) for name in names[:MOST]]
    if len(names) > MOST:
        shown.append(f"{len(names) - MOST} more")
    return last.join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def listed_rows(rows: IntArray) -> str:
    """Return the numbers of the first rows, and the number of all of them if there are more than one."""
    shown = ", ".join(map(str, rows[:MOST].tolist()))
    return f"row {shown}" if len(rows) == 1 else f"{len(rows)} rows, the first of them {shown}"


def fewest_of_a_class(y: IntArray, use: str, way_out: str) -> int:
    """Return the number of rows of the smallest class, and refuse a single one, which cannot be on both sides."""
    fewest = int(np.bincount(y).min())
    if fewest < 2:
        raise ValueError(
            f"{use} needs at least two rows of each class, since a row is judged by a model that did not see it. "
            f"Give more rows, or {way_out}."
        )
    return fewest
