"""Objectives, and the exact threshold that is best for each on a list of scores.

Every objective answers the same question: given scores and true labels, which threshold is best if a row is
called positive when its score is *greater* than it? All thresholds are tried, from the strictest (nothing is
positive) to the laxest (everything is), in one sort and one cumulative sum. Rows with equal scores always
fall on the same side.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._sweep import Sweep, check_gains
from scarce._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "MCC",
    "BalancedAccuracy",
    "Budget",
    "ClassWeightedAccuracy",
    "Curve",
    "FBeta",
    "GMean",
    "Jaccard",
    "Objective",
    "OperatingPoint",
    "PrecisionAtLeast",
    "Profit",
    "RecallAtLeast",
    "Sweep",
    "get_objective",
]


class OperatingPoint(NamedTuple):
    """A threshold, its value under an objective, and its (weighted) confusion counts."""

    threshold: float
    value: float
    tp: float
    fp: float
    tn: float
    fn: float


class Curve(NamedTuple):
    """Every threshold from the strictest to the laxest; the value of one that is not allowed is NaN."""

    threshold: FloatArray
    value: FloatArray
    tp: FloatArray
    fp: FloatArray
    tn: FloatArray
    fn: FloatArray


class Objective(ABC):
    """The base class of objectives: a value for each threshold, of which the highest is best.

    A subclass gives the value of each threshold of a :class:`Sweep` (higher is better, NaN where the threshold is
    not allowed); the search is here, once.
    """

    # Of equally good thresholds the strictest wins, since a check costs somebody's time; a budget is to be used.
    _laxest_of_equals: ClassVar[bool] = False

    @abstractmethod
    def _values(self, sweep: Sweep) -> FloatArray:
        """Return the value of every threshold."""

    def _refuse(self, sweep: Sweep) -> str:
        """Return the reason why no threshold is allowed."""
        return "no threshold of the given interval separates any rows"

    def curve(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        between: tuple[float, float] = (-np.inf, np.inf),
    ) -> Curve:
        """Return every threshold, its value and its confusion counts.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Higher means more likely positive; finite.
        y : array-like of shape (n_samples,)
            The truth: booleans, 0 and 1, or -1 and 1.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        gains : array-like of shape (n_samples, 4) or (4,), optional
            What each outcome (tp, fp, tn, fn) of a row earns. Only :class:`Profit` takes it.
        period : array-like of shape (n_samples,), optional
            The day, week or month of each row. Only :class:`Budget` takes it.
        groups : array-like of shape (n_samples,), optional
            The card, customer or company of each row. Only ``Budget(..., distinct=True)`` takes it.
        between : pair of floats
            Only thresholds greater than the first and at most the second are considered.
        """
        sweep, threshold, value = self._evaluate(scores, y, sample_weight, gains, period, groups, between)
        return Curve(threshold, value, sweep.tp, sweep.fp, sweep.tn, sweep.fn)

    def best_threshold(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        between: tuple[float, float] = (-np.inf, np.inf),
    ) -> OperatingPoint:
        """Return the best threshold, with its value and counts; parameters as for :meth:`curve`.

        Examples
        --------
        >>> from scarce.objectives import FBeta
        >>> best = FBeta(1).best_threshold([0.9, 0.8, 0.4, 0.1], [1, 0, 1, 0])
        >>> round(best.threshold, 3), best.value, best.tp, best.fp
        (0.25, 0.8, 2.0, 1.0)
        """
        sweep, threshold, value = self._evaluate(scores, y, sample_weight, gains, period, groups, between)
        allowed = np.flatnonzero(~np.isnan(value))
        if not len(allowed):
            raise ValueError(f"{self!r} cannot be met: {self._refuse(sweep)}.")
        found = value[allowed]
        best = allowed[found == found.max()][-1 if self._laxest_of_equals else 0]
        return OperatingPoint(*(float(a[best]) for a in (threshold, value, sweep.tp, sweep.fp, sweep.tn, sweep.fn)))

    def _evaluate(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        gains: ArrayLike | None,
        period: ArrayLike | None,
        groups: ArrayLike | None,
        between: tuple[float, float],
    ) -> tuple[Sweep, FloatArray, FloatArray]:
        for name, given, user in (("gains", gains, Profit), ("period", period, Budget)):
            if given is not None and not isinstance(self, user):
                raise ValueError(f"{self!r} does not use {name}; only {user.__name__} does. Leave {name} out.")
        if groups is not None and not (isinstance(self, Budget) and self.distinct):
            raise ValueError(f"{self!r} does not count groups; only Budget(..., distinct=True) does. Leave groups out.")
        sweep = Sweep(scores, y, sample_weight, gains, period, groups)
        threshold = sweep.thresholds(*between)
        return sweep, threshold, np.where(np.isnan(threshold), np.nan, self._values(sweep))


@dataclass(frozen=True)
class FBeta(Objective):
    """The F-measure: recall counts `beta` times as much as precision."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        _check_number("beta", self.beta)

    def _values(self, sweep: Sweep) -> FloatArray:
        b2 = self.beta**2
        hits = (1 + b2) * sweep.tp
        return hits / (hits + b2 * sweep.fn + sweep.fp)


@dataclass(frozen=True)
class GMean(Objective):
    """The geometric mean of sensitivity and specificity."""

    def _values(self, sweep: Sweep) -> FloatArray:
        return np.sqrt(sweep.tpr * sweep.tnr)


@dataclass(frozen=True)
class ClassWeightedAccuracy(Objective):
    """`alpha` times sensitivity plus ``1 - alpha`` times specificity."""

    alpha: float = 0.7

    def __post_init__(self) -> None:
        _check_number("alpha", self.alpha, most=1)

    def _values(self, sweep: Sweep) -> FloatArray:
        return self.alpha * sweep.tpr + (1 - self.alpha) * sweep.tnr


@dataclass(frozen=True)
class BalancedAccuracy(Objective):
    """The mean of sensitivity and specificity."""

    def _values(self, sweep: Sweep) -> FloatArray:
        return (sweep.tpr + sweep.tnr) / 2


@dataclass(frozen=True)
class Jaccard(Objective):
    """True positives over all rows that are positive or called so."""

    def _values(self, sweep: Sweep) -> FloatArray:
        return sweep.tp / (sweep.tp + sweep.fn + sweep.fp)


@dataclass(frozen=True)
class MCC(Objective):
    """Matthews' correlation of truth and prediction; 0 where every row is called the same."""

    def _values(self, sweep: Sweep) -> FloatArray:
        tp, fp, tn, fn = sweep.tp, sweep.fp, sweep.tn, sweep.fn
        # Square roots first: the product of four large weights would overflow.
        scale = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
        return np.divide(tp * tn - fp * fn, scale, out=np.zeros_like(tp), where=scale > 0)


@dataclass(frozen=True)
class PrecisionAtLeast(Objective):
    """The highest recall among the thresholds whose precision is at least `precision`."""

    precision: float

    def __post_init__(self) -> None:
        _check_number("precision", self.precision, most=1)

    def _values(self, sweep: Sweep) -> FloatArray:
        return np.where(_reaches(sweep.precision, self.precision), sweep.tpr, np.nan)

    def _refuse(self, sweep: Sweep) -> str:
        best = np.nanmax(sweep.precision)
        return f"the highest precision that any threshold of these scores reaches is {best:.4g}"


@dataclass(frozen=True)
class RecallAtLeast(Objective):
    """The highest precision among the thresholds whose recall is at least `recall`."""

    recall: float

    def __post_init__(self) -> None:
        _check_number("recall", self.recall, most=1)

    def _values(self, sweep: Sweep) -> FloatArray:
        return np.where(_reaches(sweep.tpr, self.recall), sweep.precision, np.nan)

    def _refuse(self, sweep: Sweep) -> str:
        return "no threshold of the given interval reaches that recall"


@dataclass(frozen=True, kw_only=True)
class Budget(Objective):
    """The laxest threshold that calls no more rows positive than can be checked; its value is the recall.

    Parameters
    ----------
    rows : int, optional
        A number of rows, among the rows on which the threshold is chosen. Weights are counted as rows.
    share : float, optional
        A share of the rows, greater than 0 and at most 1, which carries over to tables of other sizes. Either `rows`
        or `share` is given.
    distinct : bool, default=False
        Whether the limit is on distinct groups, such as cards, instead of rows: a card is checked once, however many of
        its rows are called positive. Needs `groups`; weights do not count.

    Notes
    -----
    Where `period` is given, the limit holds within *every* period: no day has more rows to check. Tied rows
    stay together, so fewer rows than the limit may be called positive.

    Examples
    --------
    >>> from scarce.objectives import Budget
    >>> scores, y, cards = [0.9, 0.8, 0.7, 0.6], [1, 1, 0, 0], ["a", "a", "b", "c"]
    >>> Budget(rows=2).best_threshold(scores, y).threshold, Budget(share=0.5).best_threshold(scores, y).threshold
    (0.75, 0.75)
    >>> round(Budget(rows=2, distinct=True).best_threshold(scores, y, groups=cards).threshold, 2)
    0.65
    """

    rows: int | None = None
    share: float | None = None
    distinct: bool = False
    _laxest_of_equals: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.share is None):
            raise ValueError("Budget needs either a number of rows or a share: Budget(rows=200) or Budget(share=0.01).")
        if self.share is not None:
            _check_number("share", self.share, most=1)
        elif not isinstance(self.rows, int | np.integer) or isinstance(self.rows, bool) or self.rows < 1:
            raise ValueError(
                f"rows must be a whole number of at least 1; got {self.rows!r}. A part is Budget(share=…)."
            )

    def __repr__(self) -> str:
        limit = f"share={self.share}" if self.rows is None else f"rows={self.rows}"
        return f"Budget({limit}{', distinct=True' if self.distinct else ''})"

    def _values(self, sweep: Sweep) -> FloatArray:
        n = len(sweep.order)
        period = np.zeros(n, dtype=np.intp)
        if sweep.period is not None:
            period = _check_period(sweep.period, n)
        spends = self._first_of_groups(sweep, period) if self.distinct else sweep.weight
        total = np.bincount(period, weights=spends)
        allowed = np.full(len(total), float(self.rows or 0)) if self.share is None else self.share * total
        by_period = np.argsort(period[sweep.order], kind="stable")
        rows = sweep.order[by_period]
        spent = np.cumsum(spends[rows]) - (np.cumsum(total) - total)[period[rows]]
        # A share of a whole number of rows must not lose a row to rounding.
        over = spent > allowed[period[rows]] * (1 + 1e-9)
        return np.where(sweep.ends <= by_period[over].min(initial=n), sweep.tpr, np.nan)

    def _first_of_groups(self, sweep: Sweep, period: IntArray) -> FloatArray:
        """Return 1 for the row of highest score of each group in each period, and 0 for the others."""
        if sweep.groups is None:
            raise ValueError(f"{self!r} needs groups: pass the card or customer of each row as groups=.")
        names = column_or_1d(sweep.groups)
        check_consistent_length(names, sweep.order)
        group = np.unique(names, return_inverse=True)[1]
        code = (period * (group.max() + 1) + group)[sweep.order]
        first = np.zeros(len(code))
        first[sweep.order[np.unique(code, return_index=True)[1]]] = 1.0
        return first


@dataclass(frozen=True, eq=False)
class Profit(Objective):
    """The money that a threshold earns: the sum over the rows of what their outcome is worth.

    Parameters
    ----------
    gains : array-like of shape (4,) or (n_samples, 4), optional
        What a true positive, false positive, true negative and false negative earn, for all rows or for each.
        `gains` handed to the method go before it.
    """

    gains: ArrayLike | None = None

    def _values(self, sweep: Sweep) -> FloatArray:
        given = self.gains if sweep.gains is None else sweep.gains
        if given is None:
            raise ValueError("Profit needs gains: give them to Profit(gains) or pass gains= along with y.")
        table = check_gains(given, len(sweep.order))
        called, left = np.where(sweep.positive, table[:, [0, 3]].T, table[:, [1, 2]].T)
        return float(sweep.weight @ left) + sweep.at_thresholds(sweep.weight * (called - left))


# Below this, periods with one row each may be meant.
_MANY_ROWS = 20
_NAMED: dict[str, Objective] = {
    "gmean": GMean(),
    "balanced_accuracy": BalancedAccuracy(),
    "jaccard": Jaccard(),
    "mcc": MCC(),
}


def get_objective(objective: str | Objective) -> Objective:
    """Return the objective of a name ("f1", "f2", "f0.5", "gmean", …), or the object itself.

    Examples
    --------
    >>> from scarce.objectives import get_objective
    >>> get_objective("f2")
    FBeta(beta=2.0)
    """
    if isinstance(objective, Objective):
        return objective
    if match := re.fullmatch(r"f(\d+(?:\.\d+)?)", objective):
        return FBeta(float(match[1]))
    if objective in _NAMED:
        return _NAMED[objective]
    names = ", ".join(["f1", "f2", "f0.5", *_NAMED])
    raise ValueError(
        f"{objective!r} is not an objective. Use one of the names {names}, or an object such as Budget(rows=200)."
    )


def _check_period(period: ArrayLike, n: int) -> IntArray:
    """Return the periods as codes, unless nearly every row has one of its own."""
    labels = column_or_1d(period)
    check_consistent_length(labels, np.empty(n))
    found, code = np.unique(labels, return_inverse=True)
    if n >= _MANY_ROWS and len(found) > n / 2:
        raise ValueError(
            f"period has {len(found):,} values for {n:,} rows, so nearly every row would have a budget of its own. "
            'Convert timestamps to days: times.dt.date of a Series, or times.astype("datetime64[D]") of an array.'
        )
    return code


def _reaches(quantity: FloatArray, floor: float) -> BoolArray:
    # 7/10 must reach a floor of 0.7 although the two are different floats.
    with np.errstate(invalid="ignore"):
        return quantity >= floor - 1e-12


def _check_number(name: str, value: Any, above: float = 0, most: float = np.inf) -> None:
    if not (isinstance(value, Real) and above < float(value) <= most and np.isfinite(float(value))):
        wanted = f"greater than {above:g}" + ("" if np.isinf(most) else f" and at most {most:g}")
        raise ValueError(f"{name} must be a number {wanted}; got {value!r}.")
