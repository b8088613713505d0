"""Columns of a table as the numbers that methods learn from, fitted inside each fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler, StandardScaler, TargetEncoder

from scarce._typing import Estimator, FloatArray

from .types import Column

__all__ = ["DateParts", "make_encoder", "target_encoder"]

MAX_ONE_HOT = 20
MIN_FREQUENCY = 10
_EPOCH = pd.Timestamp(0)
_DAY = 86_400.0


class DateParts(TransformerMixin, BaseEstimator):
    """Turn dates into numbers: hour, weekday (Monday is 0) and day of the month, NaN where the date is missing.

    Parameters
    ----------
    calendar : bool, default=True
        Whether to add the month and the days since the earliest date of the training rows. A model that will
        be used on later rows than its training rows has seen neither the months nor the days to come.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.tables import DateParts
    >>> paid = pd.DataFrame({"paid": pd.to_datetime(["2024-03-01 12:30", "2024-03-02 00:00"])})
    >>> DateParts(calendar=False).fit_transform(paid).tolist()
    [[12.5, 4.0, 1.0], [0.0, 5.0, 2.0]]
    """

    def __init__(self, calendar: bool = True) -> None:
        self.calendar = calendar

    def fit(self, X: pd.DataFrame, y: object = None) -> DateParts:
        """Remember the earliest date of each column."""
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        self.origin_ = np.array([_days(X[name]).min() for name in X.columns])
        return self

    def transform(self, X: pd.DataFrame) -> FloatArray:
        """Return three numbers for each date, five with the calendar."""
        parts: list[Any] = []
        for name, origin in zip(self.feature_names_in_, self.origin_, strict=True):
            dates = X[name].dt
            parts += [dates.hour + dates.minute / 60, dates.day_of_week, dates.day]
            if self.calendar:
                parts += [dates.month, _days(X[name]) - origin]
        return np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])


def _days(dates: pd.Series) -> pd.Series:
    return (dates - _EPOCH).dt.total_seconds() / _DAY


def target_encoder(folds: int, seed: int) -> TargetEncoder:
    """Return an encoder of categories by the share of positives in the other folds, the same on every run."""
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        return TargetEncoder(target_type="binary", cv=folds, random_state=seed)
    return TargetEncoder(target_type="binary", cv=StratifiedKFold(folds, shuffle=True, random_state=seed))


def make_encoder(
    columns: Sequence[Column],
    suited_to: Literal["distances", "trees"],
    *,
    folds: int,
    seed: int,
    time: str | None = None,
) -> ColumnTransformer:
    """Return the transformer from typed columns to a matrix of numbers.

    Parameters
    ----------
    columns : sequence of Column
        The columns to learn from.
    suited_to : {"distances", "trees"}
        Distances and linear models need filled cells and comparable scales; heavy tails are bent by arcsinh, which
        is linear near the median and logarithmic far from it. Trees take numbers as they are, empty cells included.
    folds : int
        Folds in which high-cardinality categories are encoded; at most the number of positives.
    seed : int
        Seed of these folds.
    time : str, optional
        The date that orders the rows: only its hour, weekday and day are used.
    """
    numbers = [c.name for c in columns if c.kind == "number"]
    dates = [c.name for c in columns if c.kind == "date" and c.name != time]
    moment = [c.name for c in columns if c.kind == "date" and c.name == time]
    few = [c.name for c in columns if c.kind == "category" and c.distinct <= MAX_ONE_HOT]
    many = [c.name for c in columns if c.kind == "category" and c.distinct > MAX_ONE_HOT]
    one_hot = OneHotEncoder(
        min_frequency=MIN_FREQUENCY, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float64
    )
    steps = [
        ("numbers", _number_steps(suited_to), numbers),
        ("dates", _date_steps(suited_to, calendar=True), dates),
        ("moment", _date_steps(suited_to, calendar=False), moment),
        ("few", one_hot, few),
        ("many", _many_steps(suited_to, folds, seed), many),
    ]
    return ColumnTransformer([step for step in steps if step[2]])


def _number_steps(suited_to: str) -> Estimator:
    if suited_to == "trees":
        return "passthrough"
    return make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        RobustScaler(quantile_range=(10, 90)),
        FunctionTransformer(np.arcsinh),
        StandardScaler(),
    )


def _date_steps(suited_to: str, *, calendar: bool) -> Estimator:
    parts = DateParts(calendar=calendar)
    return parts if suited_to == "trees" else Pipeline([("parts", parts), ("scale", _number_steps(suited_to))])


def _many_steps(suited_to: str, folds: int, seed: int) -> Estimator:
    encoder = target_encoder(folds, seed)
    return encoder if suited_to == "trees" else make_pipeline(encoder, StandardScaler())
