"""The target of a table: the outcome to look for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import TableError
from scarce._messages import listed

from .faults import require_columns
from .types import cell_text

__all__ = ["Target", "read_target"]


@dataclass(frozen=True)
class Target:
    """The outcome to look for.

    Attributes
    ----------
    name : str
        The column of the table.
    positive : str
        The value that counts as positive, as it is written in the table.
    others : list of str
        The other values.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 where the outcome is unknown.
    reason : str
        A sentence that names the positive value and why it was chosen.
    """

    name: str
    positive: str
    others: list[str]
    y: NDArray[np.int64]
    reason: str


def read_target(frame: pd.DataFrame, name: str, positive: str | None = None) -> Target:
    """Find the positive value of the target: the rarer of two, or the one that was asked for."""
    require_columns(frame, [name], "target")
    column = frame[name]
    known = column.notna().to_numpy()
    text = column[known].map(cell_text)
    counts = text.value_counts()
    if not len(counts):
        raise TableError(f"The target column {name!r} is empty; fill in the outcomes that are known.")
    if positive is not None:
        wanted = positive if positive in counts.index else _as_number(positive, counts.index)
        if wanted is None:
            raise TableError(
                f"No row has {name} = {positive}, so there is no positive to learn from; "
                f"choose one of the values {listed(list(counts.index))} (`positive`)."
            )
        reason = f"{name} = {wanted} is positive, as asked."
    elif len(counts) > 2:
        raise TableError(
            f"The target column {name!r} has {len(counts)} different values ({listed(list(counts.index))}); "
            "name a column with two values, or the value to look for (`positive`)."
        )
    else:
        # Of two equally frequent values the larger is positive, as everywhere in the library.
        wanted = min(sorted(counts.index, reverse=True), key=lambda value: counts[value])
        reason = f"{name} = {wanted} is positive, because it is the rarer value."
    if len(counts) == 1:
        raise TableError(
            f"The target column {name!r} has only one value ({counts.index[0]}); "
            "a comparison needs rows with both outcomes."
        )
    y = np.full(len(frame), -1, dtype=np.int64)
    y[known] = (text == wanted).to_numpy()
    return Target(name, wanted, [v for v in counts.index if v != wanted], y, reason)


def _as_number(wanted: str, values: Iterable[str]) -> str | None:
    """Find ``1`` when the user writes ``1.0`` or ``true``."""
    return next((v for v in values if v.casefold() == wanted.casefold() or _number(v) == _number(wanted)), None)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
