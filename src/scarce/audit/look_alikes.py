"""The known rows that a case resembles, by the distance of γk-NN, and where they agree and differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from scarce._typing import Cell, IntArray
from scarce.tables import MISSING, Column, make_encoder

__all__ = ["Difference", "LookAlike", "LookAlikes"]

# Two values agree if they are closer than this share of the spread of their column.
_CLOSE = 0.1
_OUTER = (0.1, 0.9)


@dataclass(frozen=True)
class Difference:
    """A column in which a case and a known row differ: both values, and how many spreads they are apart."""

    column: str
    own: Cell
    other: Cell
    size: float


@dataclass(frozen=True)
class LookAlike:
    """A known row near a case.

    Attributes
    ----------
    row : int
        Its number in the table.
    positive : bool
        Its outcome.
    distance : float
        Its distance from the case in the audit's encoding.
    agree : list of str
        The columns in which both are alike.
    differ : list of Difference
        The columns in which they are not, the largest difference first.
    """

    row: int
    positive: bool
    distance: float
    agree: list[str]
    differ: list[Difference]


class LookAlikes:
    """An index of the rows of known outcome, in the encoding that neighbour methods learn from.

    Parameters
    ----------
    columns : sequence of Column
        The columns to compare.
    X : DataFrame
        The typed columns of the known rows; its index has the number of each row in the table.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    folds, seed : int
        For the encoding of categories; see :func:`~scarce.tables.make_encoder`.
    time : str, optional
        The column that orders the rows, which is not compared.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        X: pd.DataFrame,
        y: IntArray,
        *,
        folds: int,
        seed: int,
        time: str | None = None,
    ) -> None:
        self.columns = [column for column in columns if column.name != time] or list(columns)
        self.X = X
        self.encoder = make_encoder(self.columns, "distances", folds=folds, seed=seed).fit(X, y)
        self.spreads = {c.name: _spread(X[c.name]) for c in self.columns if c.kind != "category"}
        # Brute force: cases are few, and it is exact in any number of columns.
        self.classes = {}
        for label in (1, 0):
            known = X[y == label]
            if len(known):
                index = NearestNeighbors(algorithm="brute").fit(self.encoder.transform(known))
                self.classes[label] = (known.index.to_numpy(), index)

    def of(self, cases: pd.DataFrame, *, positives: int = 3, negatives: int = 1) -> list[list[LookAlike]]:
        """Return for each case its nearest known positives, and after them its nearest known negatives.

        A case that is itself a known row is not its own look-alike.
        """
        found: list[list[LookAlike]] = [[] for _ in range(len(cases))]
        encoded = self.encoder.transform(cases) if len(cases) else None
        for label, most in ((1, positives), (0, negatives)):
            if label not in self.classes or encoded is None or most == 0:
                continue
            rows, index = self.classes[label]
            distances, places = index.kneighbors(encoded, min(most + 1, len(rows)))
            for case, (apart, near) in enumerate(zip(distances, rows[places], strict=True)):
                others = [(row, d) for row, d in zip(near, apart, strict=True) if row != cases.index[case]]
                found[case] += [self._look_alike(cases.iloc[case], row, label, d) for row, d in others[:most]]
        return found

    def _look_alike(self, case: pd.Series, row: int, label: int, distance: float) -> LookAlike:
        other = self.X.loc[row]
        agree, differ = [], []
        for column in self.columns:
            name = column.name
            size = _difference(case[name], other[name], self.spreads.get(name))
            if size < _CLOSE:
                agree.append(name)
            else:
                differ.append(Difference(name, case[name], other[name], size))
        differ.sort(key=lambda difference: -difference.size)
        return LookAlike(int(row), bool(label), float(distance), agree, differ)


def _spread(values: pd.Series) -> float:
    """Return how far apart usual values are: the range of the inner four fifths, or of all where that is nothing."""
    numbers = _numbers(values.dropna())
    if not len(numbers):
        return 1.0
    low, high = np.quantile(numbers, _OUTER)
    return float(high - low) or float(np.ptp(numbers)) or 1.0


def _numbers(values: pd.Series) -> pd.Series:
    """Return dates as days, and numbers as they are."""
    return values.astype("int64") / 86_400e6 if pd.api.types.is_datetime64_any_dtype(values.dtype) else values


def _difference(own: Cell, other: Cell, spread: float | None) -> float:
    """Return how many spreads two values are apart; categories, and a value and none, are one spread apart."""
    missing = [pd.isna(value) or value == MISSING for value in (own, other)]
    if spread is None or any(missing):
        return float(own != other) if not all(missing) else 0.0
    apart = own - other
    days = apart / pd.Timedelta(days=1) if isinstance(apart, pd.Timedelta) else apart
    return abs(float(days)) / spread
