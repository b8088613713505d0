"""The use of each row: learned from, ranked or left out; its amount and its moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import AuditError
from scarce._moments import moments_of
from scarce._typing import FloatArray, IntArray
from scarce.tables import Reading
from scarce.tables.types import cell_text

from .settings import Settings
from .words import NO, YES

__all__ = ["Roles", "amounts", "assign_roles", "check_readings", "checked_rows", "in_order", "moments"]


@dataclass(frozen=True)
class Roles:
    """The use of each row.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        1 for positive and 0 for negative rows that are learned from, else -1.
    to_rank : ndarray of shape (n_rows,)
        True for the rows to rank.
    checked : ndarray of shape (n_rows,), optional
        True for the rows that were ever checked.
    assumed : list of str
        Sentences about what was assumed of rows whose outcome is unknown.
    """

    y: NDArray[np.int64]
    to_rank: NDArray[np.bool_]
    checked: NDArray[np.bool_] | None = None
    assumed: list[str] = field(default_factory=list)


def assign_roles(frame: pd.DataFrame, y: NDArray[np.int64], settings: Settings) -> Roles:
    """Return which rows are learned from and which are ranked.

    Parameters
    ----------
    frame : DataFrame
        The table.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 where the outcome is unknown.
    settings : Settings
        Rows to rank, unlabelled rows, and the column of rows that were checked.
    """
    assumed = []
    checked = None
    if settings.checked is not None:
        checked = checked_rows(frame[settings.checked])
        never = (y >= 0) & ~checked
        y = np.where(checked, y, -1)
        if never.any():
            assumed.append(
                f"{int(never.sum()):,} rows have an outcome although nobody checked them; it counts as unknown."
            )
    to_rank = y < 0
    rule = settings.rank_rule
    if rule is not None:
        column, value = rule
        to_rank = (frame[column].map(cell_text, na_action="ignore") == value).to_numpy(dtype=bool)
        if not to_rank.any():
            values = ", ".join(map(str, frame[column].dropna().unique()[:5]))
            raise AuditError(f"No row has {column} = {value} (`rank`); the column holds values such as {values}.")
        hidden = to_rank & (y >= 0)
        if hidden.any():
            assumed.append(f"{int(hidden.sum()):,} rows to rank have an outcome already, which was not used.")
        others = ~to_rank & (y < 0)
        if others.any():
            negative = settings.unlabelled == "negative"
            what = "count as negative, as asked" if negative else "were left out of learning"
            assumed.append(f"{int(others.sum()):,} other rows of unknown outcome {what}.")
            y = np.where(others, 0, y) if negative else y
        y = np.where(to_rank, -1, y)
    if not (y >= 0).any():
        raise AuditError("No row of known outcome is left to learn from; check the rows to rank (`rank`).")
    return Roles(np.asarray(y, dtype=np.int64), to_rank, checked, assumed)


def checked_rows(values: pd.Series) -> NDArray[np.bool_]:
    """Return which rows were checked: those with true, yes or 1; empty, false, no and 0 are the others."""
    text = values.astype(object).where(values.notna(), "").map(lambda value: cell_text(value).strip().casefold())
    unknown = text[~text.isin({*YES, *NO, ""})]
    if len(unknown):
        raise AuditError(
            f"The column {str(values.name)!r} (`checked`) must hold yes or no, and data row {unknown.index[0] + 1} "
            f"holds {str(values[unknown.index[0]])!r}; write 1 and 0, yes and no, or true and false."
        )
    return text.isin(YES).to_numpy()


def in_order(typed: pd.DataFrame, y: NDArray[np.int64], times: pd.Series | None) -> IntArray:
    """Return all rows in the order of time, and otherwise of their contents.

    So the same table gives the same folds, blocks and queue in whatever order its rows come.
    """
    contents = pd.util.hash_pandas_object(typed.assign(**{"\0y": y}), index=False).to_numpy()
    if times is None:
        return np.argsort(contents, kind="stable")
    return np.lexsort((contents, moments_of(times)[0]))


def check_readings(readings: Sequence[Reading], settings: Settings) -> None:
    """Refuse columns whose cells an option cannot use: lists and bytes, and dates as amounts of money."""
    held = {reading.name: reading for reading in readings}
    for option, names in settings.needs.items():
        for name in names:
            if option != "drop" and held[name].type == "nested":
                raise AuditError(
                    f"The column {name!r} (`{option}`) holds lists, bytes or other cells of more than one value; write "
                    "one value into each cell, or name another column."
                )
    if settings.amount is not None and held[settings.amount].kind == "date":
        raise AuditError(f"The amount column {settings.amount!r} must hold numbers, and it holds dates (`amount`).")


def amounts(frame: pd.DataFrame, name: str | None) -> tuple[FloatArray | None, list[str]]:
    """Return the money at stake in each row, 0 or more, and sentences about rows that have none."""
    if name is None:
        return None, []
    values = pd.to_numeric(frame[name], errors="coerce").astype("float64")
    wrong = frame[name][values.isna() & frame[name].notna()]
    if len(wrong):
        raise AuditError(
            f"The amount column {name!r} must hold numbers, and data row {wrong.index[0] + 1} holds "
            f"{str(wrong.iloc[0])!r}; write plain numbers such as 1234.5."
        )
    known, negative = np.isfinite(values), values < 0
    sentences = [f"Rows without an amount, which counts as 0: {int((~known).sum()):,}."] if not known.all() else []
    if negative.any():
        sentences.append(
            f"Rows with a negative amount, such as refunds: {int(negative.sum()):,}. They are left out of every figure "
            "of money."
        )
    return values.where(known & ~negative, 0.0).to_numpy(), sentences


def moments(values: pd.Series, readings: Sequence[Reading]) -> pd.Series:
    """Return the column that orders the rows, or refuse one that cannot."""
    name, kind = values.name, next(r.kind for r in readings if r.name == values.name)
    if kind == "category":
        example = str(values.dropna().iloc[0]) if values.notna().any() else ""
        raise AuditError(
            f"The time column {name!r} holds cells that are neither dates nor numbers, such as {example!r}; "
            "write dates like 2024-01-31 or 2024-01-31 14:05."
        )
    if kind == "number":
        values = values.astype("float64").where(np.isfinite(values.astype("float64")))
    if values.isna().any():
        raise AuditError(
            f"The time column {name!r} is empty in {int(values.isna().sum()):,} rows, which cannot be put in "
            "order; fill these cells, or test on random folds (no `time`)."
        )
    return values
