"""Checks of the columns, weights and labels that metrics take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_array

from scarce._messages import listed
from scarce._typing import BoolArray, FloatArray, IntArray, Label


def check_column(values: ArrayLike, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return one column without missing values, of its own type unless `dtype` says otherwise."""
    column = check_array(values, dtype=dtype, ensure_2d=False, input_name=name)
    if column.size != len(column):
        raise ValueError(
            f"{name} must be one column, got shape {column.shape}. Pass one column of predict_proba, that of the "
            "positive class."
        )
    return column.ravel()


def check_labels(pos_label: Label | None, *columns: NDArray[Any]) -> list[BoolArray]:
    """Return which rows of each column are positive, once it is clear which label is."""
    labels: set[Label] = set()
    for column in columns:
        # Objects may be of types that have no order, which np.unique needs.
        labels.update((column if column.dtype.kind == "O" else np.unique(column)).tolist())
    shown = listed(sorted(labels, key=repr))
    if len(labels) > 2:
        raise ValueError(
            f"Expected two labels, found {len(labels)} ({shown}). Make the problem binary first, "
            "and pass predicted labels, not scores, as y_pred."
        )
    if pos_label is None:
        if not (labels <= {0, 1} or labels <= {-1, 1}):
            raise ValueError(
                f"Set pos_label to the positive one of the labels {shown}; it is only known for "
                "0 and 1, -1 and 1, and booleans."
            )
        pos_label = 1
    elif len(labels) == 2 and pos_label not in labels:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {shown}. Set it to one.")
    return [column == pos_label for column in columns]


def mass_of(rows: BoolArray, weight: FloatArray, kind: str) -> float:
    """Return the weight of the rows, which a rate is to be divided by."""
    mass = float(weight[rows].sum())
    if not mass > 0:
        raise ValueError(
            f"The share of the {kind} rows is undefined, since y_true holds none of positive weight. Evaluate "
            "on rows of both classes."
        )
    return mass


def rows_by_code(code: IntArray) -> list[IntArray]:
    """Return the rows of each code, codes in ascending order."""
    order = np.argsort(code, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
