"""The profile of a table: what each column holds, and which columns must not be learned from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from scarce._errors import TableError
from scarce._messages import listed

from .encoding import target_encoder
from .readings import NAMED_AS_CODE, Kind, Reading
from .table import Table
from .types import Column, Role, conform

__all__ = ["Profile", "profile_table"]

# Trees compare numbers in single precision.
LARGEST = float(np.finfo(np.float32).max)
LEAK_AUC = 0.99
LEAK_SAMPLE = 50_000
MIN_ROWS_FOR_IDENTIFIER = 20
# An account number comes back a few times, a shop's number hundreds of times.
MAX_ROWS_PER_IDENTIFIER = 50
MAX_DISTINCT_TEXT = 0.5
MOST_NAMED = 6


@dataclass
class Profile:
    """The table in figures: its columns, its rows, and warnings."""

    columns: list[Column]
    rows: int
    labelled: int
    positives: int
    duplicates: int
    warnings: list[str] = field(default_factory=list)

    @property
    def features(self) -> list[Column]:
        """The columns that are learned from."""
        return [c for c in self.columns if c.role == "feature"]

    @property
    def identifiers(self) -> list[str]:
        """The names of the columns that identify rows."""
        return [c.name for c in self.columns if c.role == "identifier"]


def profile_table(
    table: Table,
    target: str,
    y: NDArray[np.int64],
    *,
    time: str | None = None,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
) -> tuple[Profile, pd.DataFrame]:
    """Profile a table and return it typed, without its target.

    Parameters
    ----------
    table : Table
        The table as it was read.
    target : str
        Name of the target column.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    time : str, optional
        A column that orders the rows.
    keep, drop : collections of str
        Columns to learn from, or not to learn from, whatever the profile finds.

    Returns
    -------
    profile : Profile
    typed : DataFrame
        Numbers as float64, categories as text, dates as dates; all columns but the target.
    """
    frame = table.frame
    columns = [_column(reading, table, drop) for reading in table.readings if reading.name != target]
    typed = conform(frame, columns)
    _refuse_beyond_single(typed, columns)
    labelled = y >= 0
    infinite = [c.name for c in columns if c.kind == "number" and _has_infinite(frame[c.name])]
    for column in columns:
        values = typed[column.name]
        column.missing = float(frame[column.name].isna().mean())
        column.distinct = int(values.nunique())
        if column.role != "feature" or column.name in keep:
            continue
        column.role, column.remark = _judge(column, values[labelled], time) or (column.role, column.remark)
    for column in columns:
        if column.role == "feature" and column.name not in keep:
            auc = _alone(typed.loc[labelled, column.name], column.kind, y[labelled])
            if auc > LEAK_AUC:
                column.role = "leak"
                column.remark = (
                    f"By itself it separates the target almost perfectly (AUC {auc:.3f}): it may have been filled in "
                    "after the outcome was known."
                )
    profile = Profile(
        columns,
        rows=len(frame),
        labelled=int(labelled.sum()),
        positives=int((y == 1).sum()),
        duplicates=int(typed.duplicated().sum()),
    )
    profile.warnings = _warnings(profile, infinite, time)
    if not profile.features:
        raise TableError(
            "No column is left to learn from, because every one is constant, an identifier or a leak; "
            "add a column, or bring one back (`keep`)."
        )
    return profile, typed


def _column(reading: Reading, table: Table, drop: Collection[str]) -> Column:
    if reading.name in drop:
        return Column(reading.name, reading.kind, "dropped", remark="Left out on request.")
    role: Role = "dropped" if reading.type == "nested" else "feature"
    return Column(reading.name, reading.kind, role, remark=table.remarks.get(reading.name, ""))


def _refuse_beyond_single(typed: pd.DataFrame, columns: Sequence[Column]) -> None:
    """Refuse numbers that no tree can hold, which would end as an error within a library."""
    large = [
        c.name
        for c in columns
        if c.kind == "number" and c.role == "feature" and bool((typed[c.name].abs() > LARGEST).any())
    ]
    if large:
        raise TableError(
            f"Numbers beyond {LARGEST:.1e} in {listed(large)} cannot be learned from; take a larger unit, "
            "or leave it out (`drop`)."
        )


def _has_infinite(values: pd.Series) -> bool:
    return pd.api.types.is_float_dtype(values.dtype) and bool(np.isinf(values.to_numpy("float64", na_value=0.0)).any())


def _judge(column: Column, values: pd.Series, time: str | None) -> tuple[Role, str] | None:
    """Return the role and the remark of a column that should not be learned from, judged by the column alone."""
    distinct, rows = values.nunique(dropna=False), len(values)
    if distinct <= 1:
        return "constant", "Every row has the same value."
    if column.name == time and column.kind == "number":
        return "order", "It puts the rows in order of time, and is not learned from."
    if column.kind == "date" or rows < MIN_ROWS_FOR_IDENTIFIER:
        return None
    whole = column.kind == "category" or bool((values == values.round()).all())
    if whole and distinct == rows:
        return "identifier", "Every value is unique."
    if NAMED_AS_CODE.search(column.name) and rows / distinct < MAX_ROWS_PER_IDENTIFIER:
        return "identifier", "Its name and its many values suggest that it identifies someone or something."
    if column.kind == "category" and distinct > MAX_DISTINCT_TEXT * rows:
        return "text", "Almost every value is unique."
    return None


def _alone(values: pd.Series, kind: Kind, y: NDArray[np.int64]) -> float:
    """Return the honest AUC of a column as the only feature, empty cells included."""
    rows = np.arange(len(y))
    if len(y) > LEAK_SAMPLE:
        some = np.random.default_rng(0).choice(rows[y == 0], LEAK_SAMPLE, replace=False)
        rows = np.sort(np.concatenate([rows[y == 1], some]))
    truth, cell = y[rows], values.iloc[rows].to_frame()
    folds = int(min(3, truth.sum()))
    if kind == "category":
        scores = target_encoder(folds, seed=0).fit_transform(cell, truth)[:, 0]
    else:
        if kind == "date":
            cell = cell.apply(lambda dates: (dates - dates.min()).dt.total_seconds())
        tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
        cv = StratifiedKFold(folds, shuffle=True, random_state=0)
        scores = cross_val_predict(tree, cell.to_numpy("float64"), truth, cv=cv, method="predict_proba")[:, 1]
    return float(roc_auc_score(truth, scores))


def _warnings(profile: Profile, infinite: Sequence[str], time: str | None) -> list[str]:
    warnings = _about_leaks([c for c in profile.columns if c.role == "leak"])
    if profile.duplicates:
        warnings.append(
            f"Rows that repeat an earlier row: {profile.duplicates:,}. A copy among the training rows flatters "
            "every figure, those of neighbour methods most; remove copies unless they are separate cases."
        )
    if infinite:
        warnings.append(f"Infinite numbers in {listed(infinite)} count as missing.")
    empty = [c for c in profile.features if c.missing > 0.5]
    if len(empty) == 1:
        warnings.append(f"Column {empty[0].name!r} is empty in {empty[0].missing:.0%} of the rows.")
    elif empty:
        shown = ", ".join(f"{c.name!r} ({c.missing:.0%})" for c in empty[:MOST_NAMED])
        more = f" and {len(empty) - MOST_NAMED:,} others" if len(empty) > MOST_NAMED else ""
        warnings.append(f"{len(empty):,} columns are empty in more than half of the rows: {shown}{more}.")
    dates = [c.name for c in profile.columns if c.kind == "date" and c.role in ("feature", "dropped")]
    if dates and time is None:
        warnings.append(
            f"The table has dates ({listed(dates)}) but the folds are drawn at random: name the column that orders "
            "the rows (`time`) to test on later rows than the training rows, as happens in use."
        )
    return warnings


def _about_leaks(leaks: Sequence[Column]) -> list[str]:
    if not leaks:
        return []
    names = listed([c.name for c in leaks])
    if len(leaks) == 1:
        return [
            f"LEAK: column {names} was left out. {leaks[0].remark} Bring it back (`keep`) if it is known before the "
            "outcome."
        ]
    return [
        f"LEAK: columns {names} were left out. Each by itself separates the target almost perfectly: they may have "
        "been filled in after the outcome was known. Bring one back (`keep`) if it is known before the outcome."
    ]
