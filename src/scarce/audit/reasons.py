"""Why a row has its score, in terms of the user's own columns and for any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from scarce.neighbors import GammaKNN

from .encoding import MISSING
from .profile import Column

__all__ = ["Usual", "contributions", "nearest_positives", "sentences", "usual_values"]

FloatArray = NDArray[np.float64]

SIZE = 12
MAX_ROWS = 50_000


@dataclass(frozen=True)
class Usual:
    """The usual values of a column: a few that stand for all, how often each occurs, and the middle one."""

    values: list[Any]
    weights: list[float]
    typical: Any


def usual_values(X: pd.DataFrame, columns: Sequence[Column], size: int = SIZE) -> dict[str, Usual]:
    """Summarise each column by at most `size` values.

    Numbers and dates are summarised by evenly spaced quantiles, categories by their most frequent values; empty
    cells count as a value. No row of the table can be put together again from them.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.audit.profile import Column
    >>> from scarce.audit.reasons import usual_values
    >>> paid = pd.DataFrame({"paid": [1.0, 2.0, 3.0, 4.0]})
    >>> usual_values(paid, [Column("paid", "number")], size=2)["paid"]
    Usual(values=[2.0, 4.0], weights=[0.5, 0.5], typical=2.0)
    """
    return {c.name: _usual(X[c.name], c.kind, size) for c in columns}


def _usual(values: pd.Series, kind: str, size: int) -> Usual:
    if kind == "category":
        shares = values.value_counts(normalize=True).head(size)
        return Usual(shares.index.tolist(), (shares / shares.sum()).tolist(), str(shares.index[0]))
    known = values.dropna().sort_values(ignore_index=True)
    if known.empty:
        return Usual([values.iloc[0]], [1.0], None)
    # Values of the column itself, never a mean of two: nobody has two and a half children.
    places = ((np.arange(size) + 0.5) / size * len(known)).astype(np.intp)
    shares = known.iloc[places].value_counts(normalize=True).sort_index() * values.notna().mean()
    found, weights = shares.index.tolist(), shares.tolist()
    if values.isna().any():
        found.append(float("nan") if kind == "number" else pd.NaT)
        weights.append(float(values.isna().mean()))
    typical = known.iloc[[(len(known) - 1) // 2]].tolist()[0]
    return Usual(found, weights, typical)


def contributions(
    score: Callable[[pd.DataFrame], FloatArray], X: pd.DataFrame, usual: Mapping[str, Usual]
) -> FloatArray:
    """Return what each column adds to each row's score.

    A column's contribution is the row's score less its mean score when the cell takes the column's usual values
    instead. It is one column at a time: columns that only matter together share no credit.

    Parameters
    ----------
    score : callable
        Takes rows, returns a score for each.
    X : DataFrame of shape (n_rows, n_columns)
        The rows to explain, typed.
    usual : mapping of str to Usual
        The columns to explain, in the order of the result.

    Returns
    -------
    ndarray of shape (n_rows, len(usual))
    """
    own = score(X)
    added = np.empty((len(X), len(usual)))
    for place, (name, column) in enumerate(usual.items()):
        values = pd.Series(column.values).astype(X[name].dtype)
        step = max(1, MAX_ROWS // len(values))
        for start in range(0, len(X), step):
            rows = X.iloc[start : start + step]
            copies = rows.loc[rows.index.repeat(len(values))].reset_index(drop=True)
            copies[name] = pd.concat([values] * len(rows), ignore_index=True)
            replaced = score(copies).reshape(len(rows), len(values))
            added[start : start + step, place] = own[start : start + step] - replaced @ np.asarray(column.weights)
    return added


def sentences(added: FloatArray, X: pd.DataFrame, usual: Mapping[str, Usual], most: int = 3) -> list[str]:
    """Say for each row which columns raise its score the most: ``amount = 912.30 (usual 43.10): +0.21``."""
    names = list(usual)
    told = []
    for (_, row), parts in zip(X[names].iterrows(), added, strict=True):
        reasons = []
        for place in np.argsort(-parts, kind="stable")[:most]:
            if parts[place] > 0.005 * np.abs(parts).max():
                name = names[place]
                reasons.append(f"{name} = {_cell(row[name], usual[name].typical)}: {parts[place]:+.2g}")
        told.append("; ".join(reasons) or "no single column raises the score")
    return told


def _cell(value: Any, typical: Any) -> str:
    if isinstance(value, str) or typical is None:
        return show(value)
    return f"{show(value)} (usual {show(typical)})" if not isinstance(value, pd.Timestamp) else show(value)


def show(value: Any) -> str:
    """Write a cell for people."""
    if isinstance(value, pd.Timestamp):
        return value.isoformat(sep=" ", timespec="minutes").removesuffix(" 00:00")
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return MISSING
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return str(value)


def nearest_positives(model: Pipeline, X: pd.DataFrame, trained_on: NDArray[np.intp], most: int = 3) -> list[str]:
    """Name the nearest known positive rows of each row, where the model is a neighbour method.

    Parameters
    ----------
    model : Pipeline
        An encoder and a method, fitted.
    X : DataFrame
        The rows to explain.
    trained_on : ndarray
        The number in the table of each row that the model learned from.
    most : int
        How many to name.
    """
    if not isinstance(model[-1], GammaKNN):
        return [""] * len(X)
    told = model[-1].explain(model[:-1].transform(X))
    return [", ".join(str(trained_on[near["row"]]) for near in row["positives"][:most]) for row in told]
