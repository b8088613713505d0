"""The encoder of an audit's model as arithmetic on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler, StandardScaler, TargetEncoder

from scarce._typing import Estimator, FloatArray, IntArray
from scarce.tables import Column, DateParts

from .cells import NO_DATE, codes_of

__all__ = ["CompiledEncoder", "NotCompiled", "compile_encoder"]

_EPOCH = date(1970, 1, 1)
_EPOCH_WEEKDAY = 3  # 1970-01-01 was a Thursday, and Monday is 0
_HOUR, _DAY = 3_600_000_000, 86_400_000_000
_SECONDS_OF_DAY = 86_400.0

OnMatrix = Callable[[FloatArray], FloatArray]


class NotCompiled(Exception):
    """A model has a part that is not compiled; the message names it."""


class _Numbers(NamedTuple):
    """Number columns, and what is done with them."""

    places: list[int]
    steps: list[OnMatrix]

    def of_row(self, cells: Sequence[Any]) -> list[float]:
        numbers = [cells[place] for place in self.places]
        return _after(np.array([numbers]), self.steps)[0].tolist() if self.steps else numbers

    def __call__(self, typed: Sequence[Any]) -> FloatArray:
        return _after(np.array([typed[place] for place in self.places], dtype=np.float64).T, self.steps)


class _Dates(NamedTuple):
    """Date columns, their parts, and what is done with these."""

    places: list[int]
    parts: DateParts
    steps: list[OnMatrix]

    def of_row(self, cells: Sequence[Any]) -> list[float]:
        parts: list[float] = []
        for place, origin in zip(self.places, self.parts.origin_.tolist(), strict=True):
            parts += _date_parts_of_one(cells[place], origin, self.parts.calendar)
        return _after(np.array([parts]), self.steps)[0].tolist() if self.steps else parts

    def __call__(self, typed: Sequence[Any]) -> FloatArray:
        columns: list[FloatArray] = []
        for place, origin in zip(self.places, self.parts.origin_, strict=True):
            columns += _date_parts(np.asarray(typed[place], dtype=np.int64), float(origin), self.parts.calendar)
        return _after(np.column_stack(columns), self.steps)


class _Categories(NamedTuple):
    """A category column: the number of each category, and the encoded values by that number, of unknown ones last."""

    place: int
    known: dict[str, int]
    values: FloatArray
    lists: list[list[float]]

    def of_row(self, cells: Sequence[Any]) -> list[float]:
        return self.lists[self.known.get(cells[self.place], -1)]

    def __call__(self, typed: Sequence[Any]) -> FloatArray:
        return self.values[codes_of(typed[self.place], self.known, len(self.values) - 1)]


def _after(X: FloatArray, steps: Sequence[OnMatrix]) -> FloatArray:
    for step in steps:
        X = step(X)
    return X


class CompiledEncoder(NamedTuple):
    """The parts of an encoder, in the order of their output."""

    parts: Sequence[_Numbers | _Dates | _Categories]

    @property
    def computes(self) -> bool:
        """Return whether numbers change on their way, so that finite ones may become infinite."""
        return any(part.steps for part in self.parts if isinstance(part, _Numbers))

    def of_row(self, cells: Sequence[Any]) -> FloatArray:
        """Return the same for one row of typed cells, as a matrix of one row."""
        encoded: list[float] = []
        for part in self.parts:
            encoded += part.of_row(cells)
        return np.array([encoded])

    def __call__(self, typed: Sequence[Any]) -> FloatArray:
        """Return the matrix of typed columns that the encoder itself would return."""
        return np.concatenate([part(typed) for part in self.parts], axis=1)


def compile_encoder(encoder: ColumnTransformer, columns: Sequence[Column]) -> CompiledEncoder:
    """Compile a fitted encoder over columns, or raise `NotCompiled` with the part that is of another kind."""
    if not isinstance(encoder, ColumnTransformer):
        raise NotCompiled(f"its columns are encoded by {type(encoder).__name__}")
    place = {c.name: number for number, c in enumerate(columns)}
    parts: list[Any] = []
    for _, step, names in encoder.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        places = [place[name] for name in names]
        first, rest = _first_and_rest(step)
        if isinstance(first, DateParts):
            parts.append(_Dates(places, first, [_on_matrix(part) for part in rest]))
        elif isinstance(first, (OneHotEncoder, TargetEncoder)):
            parts += _categories(step, first, list(names), places)
        else:
            parts.append(_Numbers(places, [_on_matrix(part) for part in (first, *rest)]))
    return CompiledEncoder(parts)


def _first_and_rest(step: Estimator) -> tuple[Estimator, list[Estimator]]:
    """Return the steps of pipelines within pipelines, one after the other."""
    if not isinstance(step, Pipeline):
        return step, []
    flat: list[Estimator] = []
    for _, inner in step.steps:
        first, rest = _first_and_rest(inner)
        flat += [first, *rest]
    return flat[0], flat[1:]


def _on_matrix(step: Estimator) -> OnMatrix:
    """Return what a fitted transformer does with each number; it must be no other than those of `make_encoder`."""
    if isinstance(step, SimpleImputer):
        return _imputing(step)
    if isinstance(step, RobustScaler) and step.with_centering and step.with_scaling:
        center, scale = step.center_, step.scale_
        return lambda X: (X - center) / scale
    if isinstance(step, StandardScaler) and step.with_mean and step.with_std:
        mean, deviation = step.mean_, step.scale_
        return lambda X: (X - mean) / deviation
    if isinstance(step, FunctionTransformer) and step.func in (None, np.arcsinh):
        return np.arcsinh if step.func is np.arcsinh else lambda X: X
    if isinstance(step, str) and step == "passthrough":
        return lambda X: X
    raise NotCompiled(f"its columns are encoded by {type(step).__name__}")


def _imputing(step: SimpleImputer) -> OnMatrix:
    fill = np.asarray(step.statistics_, dtype=np.float64)
    marked: Any = step.indicator_.features_ if step.add_indicator else np.empty(0, dtype=np.intp)
    if np.isnan(fill).any():
        raise NotCompiled("it leaves out columns without values")

    def impute(X: FloatArray) -> FloatArray:
        missing = np.isnan(X)
        filled = np.where(missing, fill, X)
        return np.concatenate((filled, missing[:, marked]), axis=1) if len(marked) else filled

    return impute


def _date_parts(moment: IntArray, origin: float, calendar: bool) -> list[FloatArray]:
    """Return the hour, the weekday and the day of the month, and with the calendar the month and days since a day."""
    missing = moment == NO_DATE
    if missing.any():
        moment = np.where(missing, 0, moment)
    day, within = np.divmod(moment, _DAY)
    hour, within = np.divmod(within, _HOUR)
    dates = day.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    parts: list[Any] = [
        hour + within // 60_000_000 / 60,
        (day + _EPOCH_WEEKDAY) % 7,
        (dates - months.astype("datetime64[D]")).astype(np.int64) + 1,
    ]
    if calendar:
        parts += [months.astype(np.int64) % 12 + 1, moment / 1_000_000 / _SECONDS_OF_DAY - origin]
    return [np.where(missing, np.nan, part) for part in parts]


def _date_parts_of_one(moment: int, origin: float, calendar: bool) -> list[float]:
    """Return the same for one date, without arrays."""
    if moment == NO_DATE:
        return [math.nan] * (5 if calendar else 3)
    day, within = divmod(moment, _DAY)
    hour, within = divmod(within, _HOUR)
    on = _EPOCH + timedelta(days=day)
    parts = [hour + within // 60_000_000 / 60, float((day + _EPOCH_WEEKDAY) % 7), float(on.day)]
    if calendar:
        parts += [float(on.month), float(moment) / 1_000_000 / _SECONDS_OF_DAY - origin]
    return parts


def _categories(
    step: Estimator, encoder: OneHotEncoder | TargetEncoder, names: list[str], places: list[int]
) -> list[_Categories]:
    """Look up what the encoder makes of every category of each column, and of one that it does not know."""
    categories = [[str(category) for category in column] for column in encoder.categories_]
    unknown = "?"
    while any(unknown in column for column in categories):
        unknown += "?"
    rows = 1 + max(len(column) for column in categories)
    frame = pd.DataFrame(
        {
            name: pd.Series([*column, *[unknown] * (rows - len(column))], dtype="str")
            for name, column in zip(names, categories, strict=True)
        }
    )
    encoded = np.ascontiguousarray(step.transform(frame), dtype=np.float64)
    ends = np.cumsum(_widths(encoder, categories))
    if ends[-1] != encoded.shape[1]:
        raise NotCompiled("its categories are encoded together")
    found = []
    for place, column, start, end in zip(places, categories, [0, *ends[:-1]], ends, strict=True):
        values = encoded[: len(column) + 1, start:end]
        known = {category: number for number, category in enumerate(column)}
        found.append(_Categories(place, known, np.ascontiguousarray(values), values.tolist()))
    return found


def _widths(encoder: OneHotEncoder | TargetEncoder, categories: list[list[str]]) -> list[int]:
    if isinstance(encoder, TargetEncoder):
        return [1] * len(categories)
    rare = getattr(encoder, "infrequent_categories_", [None] * len(categories))
    return [
        len(column) if few is None or not len(few) else len(column) - len(few) + 1
        for column, few in zip(categories, rare, strict=True)
    ]
