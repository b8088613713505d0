"""Gains of the four outcomes of a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from scarce._messages import listed_rows
from scarce._sweep import check_gains, refuse_not_finite
from scarce._typing import FloatArray, MatrixLike, Number
from scarce.profit._expression import FUNCTIONS, evaluate, names_in

__all__ = ["Gains", "bayes_threshold", "check_learnable", "gain_of_flagging", "log_ratio", "stakes"]

_MOST_CERTAIN = 15.0  # log-odds


class Gains:
    """The gains of a row as a true positive, false positive, true negative and false negative.

    Each outcome is a number for all rows, an array with one number a row, or an expression over the columns of the
    table and over constants. Call the object with a table to get the (n_samples, 4) array, with columns tp, fp, tn,
    fn, that everything named `gains` takes. Losses are negative.

    Parameters
    ----------
    tp, fp, tn, fn : float, str or array-like of shape (n_samples,), default=0
        The four outcomes. Expressions know numbers, ``+ - * / **``, one comparison at a time, and the functions
        abs, exp, log, max, min, sqrt and ``where(condition, then, otherwise)``; they are never run as Python.
    columns : mapping of str to str or int, or sequence of str, optional
        Which column a name of the expressions stands for, by name or by position; or the names of all columns of an
        array. Without it, a name is that of a column of the frame, and ``x0``, ``x1``, … are the columns of an array.
    on_degenerate : {"raise", "drop"}, default="raise"
        What to do with rows where the right decision does not pay: those with ξ = tn - fp + tp - fn ≤ 0. "drop" sets
        their four gains to 0, so that they count nowhere while the table keeps its rows.
    **constants : float
        The other names of the expressions, such as ``zeta=5``.

    See Also
    --------
    bayes_threshold : The probability above which to call a row positive.
    scarce.objectives.Profit : The threshold of most profit.

    Notes
    -----
    An expression must see amounts in money. Behind a scaler in a pipeline it would see scaled ones, so evaluate it
    first and hand on the array, ``gains=costs(frame)``, which scikit-learn splits into folds like the rows. An
    estimator that is not behind anything can be handed the object itself.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.profit import Gains
    >>> costs = Gains(tp=0, fn="-0.8*amount", fp="margin*amount - zeta", tn="margin*amount", zeta=5,
    ...               margin=0.1, columns=["amount"])
    >>> costs(np.array([[100.0], [20.0]]))
    array([[  0.,   5.,  10., -80.],
           [  0.,  -3.,   2., -16.]])
    >>> costs.thresholds(np.array([[100.0], [20.0]])).round(3)
    array([0.059, 0.238])
    """

    def __init__(
        self,
        *,
        tp: str | float | ArrayLike = 0.0,
        fp: str | float | ArrayLike = 0.0,
        tn: str | float | ArrayLike = 0.0,
        fn: str | float | ArrayLike = 0.0,
        columns: Mapping[str, str | int] | Sequence[str] | None = None,
        on_degenerate: Literal["raise", "drop"] = "raise",
        **constants: Number,
    ) -> None:
        self.outcomes = {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        self.columns = columns
        self.on_degenerate = on_degenerate
        self.constants = constants
        if on_degenerate not in ("raise", "drop"):
            raise ValueError(f"on_degenerate must be 'raise' or 'drop'; got {on_degenerate!r}.")
        for name, value in constants.items():
            if not isinstance(value, Real) or not np.isfinite(float(value)):
                raise ValueError(f"The constant {name} must be a finite number; got {value!r}.")
            if name in FUNCTIONS:
                raise ValueError(f"{name} is a function of the expressions: give the constant another name.")
        used = set().union(*(names_in(value) for value in self.outcomes.values() if isinstance(value, str)))
        if unused := sorted(set(constants) - used):
            raise ValueError(f"No outcome uses the constant {unused[0]}; the outcomes are tp, fp, tn and fn.")
        self._names = sorted(used - set(constants))

    def __repr__(self) -> str:
        given = {**self.outcomes, **self.constants}
        if self.on_degenerate != "raise":
            given["on_degenerate"] = self.on_degenerate
        shown = (f"{k}={v!r}" if isinstance(v, str | Real) else f"{k}=<{np.size(v)} numbers>" for k, v in given.items())
        return f"Gains({', '.join(shown)})"

    def replace(self, **constants: float) -> Gains:
        """Return the same gains with other values of some constants."""
        if unknown := sorted(set(constants) - set(self.constants)):
            raise ValueError(f"{unknown[0]} is not a constant of {self!r}.")
        outcomes: dict[str, Any] = self.outcomes
        merged = {**self.constants, **constants}
        return Gains(**outcomes, columns=self.columns, on_degenerate=self.on_degenerate, **merged)

    def __call__(self, X: MatrixLike) -> FloatArray:
        """Return the gains of the rows of a table, with columns tp, fp, tn and fn.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n_samples, n_features)
            The rows, with amounts in money.
        """
        table = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(table, nw.DataFrame):
            if issparse(table):
                raise ValueError("Gains read no sparse tables: evaluate them elsewhere and pass the array.")
            table = np.asarray(table)
            if table.ndim != 2:
                raise ValueError(f"Gains are evaluated on a table of rows and columns; got shape {table.shape}.")
        n = len(table)
        if isinstance(table, nw.DataFrame) and (both := sorted(set(self.constants) & set(table.columns))):
            raise ValueError(f"{both[0]!r} is a constant of the gains and a column of the table: rename the constant.")
        values: dict[str, Number] = dict(self.constants)
        values.update((name, self._column(table, name)) for name in self._names)
        gains = np.empty((n, 4))
        for column, (outcome, given) in zip(gains.T, self.outcomes.items(), strict=True):
            column[:] = self._outcome(outcome, given, values, n)
        if not np.isfinite(gains).all():
            self._refuse_missing(gains, values)
        return check_learnable(gains, n, self.on_degenerate)

    def thresholds(self, X: MatrixLike) -> FloatArray:
        """Return for each row of a table the probability above which to call it positive."""
        return bayes_threshold(self(X))

    def _outcome(self, outcome: str, given: str | Number, values: Mapping[str, Number], n: int) -> Number:
        if isinstance(given, str):
            return evaluate(given, values)
        array = np.asarray(given, dtype=np.float64)
        if array.shape not in ((), (n,)):
            raise ValueError(
                f"{outcome} has shape {array.shape}, and the table {n} rows. Give one number, or one a row; where "
                "rows are split, evaluate the gains on all rows first and pass the array, gains=costs(X)."
            )
        return array

    def _column(self, table: MatrixLike, name: str) -> FloatArray:
        frame = isinstance(table, nw.DataFrame)
        where = self._where(table, name, frame)
        if frame:
            series = table[:, where] if isinstance(where, int) else table.get_column(where)
            if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
                raise ValueError(f"The column {where!r} of the gains must be numeric; its type is {series.dtype}.")
            column = series.cast(nw.Float64).to_numpy().astype(np.float64, copy=False)
        else:
            column = table[:, where].astype(np.float64, copy=False)
        _refuse_standardised(column, name)
        return column

    def _where(self, table: MatrixLike, name: str, frame: bool) -> str | int:
        """Return the name or the position of the column that a name of the expressions stands for."""
        where: str | int | None = None
        if isinstance(self.columns, Mapping):
            where = self.columns.get(name)
        elif self.columns is not None and not frame and name in self.columns:
            where = list(self.columns).index(name)
        if where is None and frame:
            where = name if name in table.columns else None
        elif where is None and self.columns is None and (match := re.fullmatch(r"x(\d+)", name)):
            where = int(match[1])
        known = table.columns if frame else range(table.shape[1])
        if where is None or (where not in known and not (isinstance(where, int) and where < len(known))):
            has = f"columns {', '.join(map(str, known[:8]))}" if frame else f"{len(known)} columns without names"
            raise ValueError(
                f"The gains need {name!r}, which is neither a constant nor a column: the table has {has}. Give the "
                "constant, set columns={'" + name + "': which}, or, where a pipeline has changed the table, evaluate "
                "the gains on the original one and pass the array, gains=costs(X)."
            )
        return where

    def _refuse_missing(self, gains: FloatArray, values: Mapping[str, Number]) -> None:
        for name in self._names:
            if (bad := np.flatnonzero(~np.isfinite(values[name]))).size:
                raise ValueError(
                    f"The column {name!r} of the gains is missing or infinite in {listed_rows(bad)}. Fill it, or leave "
                    "these rows out of X, y and the gains alike."
                )
        refuse_not_finite(gains, f"Change {self!r}.")


def gain_of_flagging(gains: FloatArray, positive: Number) -> FloatArray:
    """Return the gain of calling each row positive, where `positive` is its truth or its probability."""
    tp, fp, tn, fn = gains.T
    return positive * (tp - fn) + (1 - positive) * (fp - tn)


def stakes(gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gains for and against calling each row positive, over both classes, in money."""
    if_positive, if_negative = gain_of_flagging(gains, 1), gain_of_flagging(gains, 0)
    up = np.maximum(if_positive, 0) + np.maximum(if_negative, 0)
    down = np.maximum(-if_positive, 0) + np.maximum(-if_negative, 0)
    return up, down


def log_ratio(up: Number, down: Number) -> Number:
    """Return log(up / down), within ±15."""
    nearly_nothing = np.finfo(np.float64).tiny
    return np.clip(np.log(up + nearly_nothing) - np.log(down + nearly_nothing), -_MOST_CERTAIN, _MOST_CERTAIN)


def bayes_threshold(gains: ArrayLike) -> FloatArray:
    """Return the probability above which to call each row positive, s = (tn - fp) / (tn - fp + tp - fn).

    Below 0 it is always right to call the row positive, from 1 on it never is. Rows whose gains do not depend on
    the decision get 1.

    Parameters
    ----------
    gains : array-like of shape (n_samples, 4)
        What each outcome (tp, fp, tn, fn) of a row earns, with tn - fp + tp - fn > 0.

    See Also
    --------
    Gains : The gains of the rows of a table.
    BayesProfitClassifier : The rule that uses this threshold.

    Examples
    --------
    >>> from scarce.profit import bayes_threshold
    >>> bayes_threshold([[0, -5, 0, -95], [0, -5, 0, -15]])
    array([0.05, 0.25])
    """
    table = check_learnable(gains, len(np.atleast_2d(np.asarray(gains))))
    tp, fp, tn, fn = table.T
    xi = tn - fp + tp - fn
    return np.divide(tn - fp, xi, out=np.ones(len(xi)), where=xi > 0)


def check_learnable(gains: ArrayLike, n_samples: int, on_degenerate: Literal["raise", "drop"] = "raise") -> FloatArray:
    """Return the (n_samples, 4) table of gains in which right decisions pay; other rows are refused or set to 0."""
    table = check_gains(gains, n_samples)
    tp, fp, tn, fn = table.T
    xi = tn - fp + tp - fn
    # Where neither decision makes a difference, nothing can be learned and nothing goes wrong.
    wrong = np.flatnonzero((xi <= 0) & ((tp != fn) | (tn != fp)))
    if not len(wrong):
        return table
    if on_degenerate == "drop":
        return np.where((xi > 0)[:, None], table, 0.0)
    raise ValueError(
        f"No correct decision earns more than a wrong one (tn - fp + tp - fn ≤ 0) in {listed_rows(wrong)}. Change the "
        "gains, leave these rows out, or let Gains(..., on_degenerate='drop') set them to 0."
    )


def _refuse_standardised(column: FloatArray, name: str) -> None:
    # Nothing but a scaler makes the mean 0 and the deviation 1 to so many digits, and gains in deviations are no money.
    if len(column) >= 10 and abs(column.mean()) < 1e-6 and abs(column.std() - 1) < 1e-6:
        raise ValueError(
            f"The column {name!r} of the gains has mean 0 and standard deviation 1: a scaler has changed it. Evaluate "
            "the gains on the original table and pass the array, gains=costs(X)."
        )
