"""The values of a table as users gave them: as an array, the usual ones, as plain data and in a text."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from scarce._typing import Cell, FloatArray, MatrixLike

__all__ = [
    "as_values",
    "cell",
    "checked_floats",
    "checked_values",
    "described",
    "plain",
    "text_of_row",
    "usual_values",
    "with_names",
]

SHOWN_EFFECTS = 10
_SHOWN_NEIGHBOURS = 5
_WIDTH = 80


def as_values(X: MatrixLike) -> NDArray[Any]:
    """Return rows as an array, of objects where some features are numbers and some are not."""
    if nw.dependencies.is_into_dataframe(X):
        return np.asarray(nw.from_native(X, eager_only=True).to_numpy())
    if isinstance(X, np.ndarray):
        return X
    array = np.asarray(X.toarray() if issparse(X) else X)
    return np.asarray(X, dtype=object) if array.dtype.kind == "U" else array


def checked_values(name: str, given: MatrixLike, *shape: int) -> NDArray[Any]:
    """Return an array of this shape, or say what shape it has instead."""
    array = as_values(given)
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}; got {array.shape}.")
    return array


def checked_floats(name: str, given: ArrayLike, *shape: int) -> FloatArray:
    """Return an array of floats of this shape; a single number is repeated."""
    array = np.asarray(given, dtype=np.float64)
    return checked_values(name, np.full(shape, array) if array.ndim == 0 else array, *shape)


def with_names(
    values: NDArray[Any] | None, features: Sequence[str], categories: Mapping[str, Sequence[Cell]] | None
) -> NDArray[Any] | None:
    """Return values, a feature for each in the last dimension, with the names of categories in place of their codes."""
    if not categories or values is None:
        return values
    if unknown := sorted(set(categories) - set(features)):
        raise ValueError(f"categories names {unknown[0]!r}, which is not a feature. The features are {features[:20]}.")
    named = values.astype(object)
    for feature, names in categories.items():
        place = features.index(feature)
        # An unknown category, with the code -1, and a median between two codes have no name.
        of_code = {float(code): name for code, name in enumerate(names)}
        codes = np.atleast_1d(values[..., place]).tolist()
        named[..., place] = np.array([of_code.get(code, code) for code in codes], dtype=object).reshape(
            values.shape[:-1]
        )
    return named


def usual_values(X: MatrixLike) -> NDArray[Any]:
    """Return the median of each numeric feature and the most frequent value of others; missing values do not count.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Rows. Features of a data frame have types of their own.

    Returns
    -------
    ndarray of shape (n_features,)
        Of float, or of objects if some features are not numeric. A feature without known values has NaN.

    Examples
    --------
    >>> from scarce.explanation import usual_values
    >>> usual_values([[1.0, 5.0], [2.0, 5.0], [9.0, float("nan")]])
    array([2., 5.])
    >>> usual_values([[1.0, "FR"], [2.0, "BE"], [9.0, "FR"]])
    array([2.0, 'FR'], dtype=object)
    """
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        columns = [np.asarray(frame[:, place].to_numpy()) for place in range(frame.shape[1])]  # names may be numbers
    else:
        values = as_values(X)
        if values.dtype.kind in "fiu":
            return _medians(values)
        columns = list(values.T)
    usual = [_usual(column) for column in columns]
    return np.array(usual, dtype=np.float64 if all(isinstance(value, float) for value in usual) else object)


def _usual(column: NDArray[Any]) -> Cell:
    if column.dtype.kind in "fiu":
        return float(_medians(column[:, None])[0])
    known = [value for value in column.tolist() if not _is_missing(value)]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return float(np.median(known)) if known else math.nan
    return Counter(known).most_common(1)[0][0]


def _medians(values: NDArray[Any]) -> FloatArray:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All-NaN slice", category=RuntimeWarning)
        return np.nanmedian(values.astype(np.float64), axis=0)


def _is_missing(value: Cell) -> bool:
    if isinstance(value, str):
        return False
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("<NA>", "NaT")


def plain(value: Cell) -> Cell:
    """Return a value as JSON can hold it: a number, a truth value, a text or None."""
    value = value.item() if isinstance(value, np.generic) else value
    if _is_missing(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def cell(value: Cell, digits: int = 6) -> str:
    """Return a plain value as text, nothing for None."""
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def described(feature: str, value: Cell, usual: Cell) -> str:
    """Return a feature with its plain values, short enough for the label of a bar."""
    text = "missing" if value is None else shortened(cell(value, 4), 16)
    beside = "" if usual is None else f" (usual {shortened(cell(usual, 4), 14)})"
    return f"{shortened(feature, 24)} = {text}{beside}"


def shortened(text: str, width: int) -> str:
    """Return the text in one line, its end replaced by a sign if it is longer than `width`."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def text_of_row(
    head: str, effects: Sequence[tuple[Any, ...]], neighbours: Sequence[tuple[Any, ...]], rule: str | None
) -> str:
    """Return the explanation of one row as a text of at most 80 columns.

    Parameters
    ----------
    head : str
        The first sentence.
    effects : sequence of (feature, value, usual value, effect)
        The first ten are shown.
    neighbours : sequence of (row, class, distance, effect)
        The first five are shown.
    rule : str or None
        Shown as it is.
    """
    parts = textwrap.wrap(head, _WIDTH)
    shown = [(*map(cell, line[:3]), f"{line[3]:+.4g}") for line in effects[:SHOWN_EFFECTS]]
    parts += _table([("feature", "value", "usual", "effect"), *shown], (30, 16, 16, 12))
    parts += _more(len(effects) - SHOWN_EFFECTS, "feature")
    shown = [tuple(cell(plain(part)) for part in line) for line in neighbours[:_SHOWN_NEIGHBOURS]]
    parts += _table([("training row", "class", "distance", "effect"), *shown], (16, 30, 14, 14))
    parts += _more(len(neighbours) - _SHOWN_NEIGHBOURS, "neighbour")
    return "\n".join(parts if rule is None else parts + textwrap.wrap(f"Rule: {rule}", _WIDTH))


def _more(n: int, noun: str) -> list[str]:
    return [f"… and {n} more {noun}{'s' * (n > 1)}"] if n > 0 else []


def _table(lines: list[tuple[str, ...]], widest: tuple[int, ...]) -> list[str]:
    """Return lines whose cells stand below each other, the first line as a head, without columns that are empty."""
    columns = [
        [shortened(text, w) for text in column] for column, w in zip(zip(*lines, strict=True), widest, strict=True)
    ]
    columns = [[text.ljust(max(map(len, column))) for text in column] for column in columns if any(column[1:])]
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
