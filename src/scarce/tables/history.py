"""The history of an entity before each row: a card, a terminal, a company."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from scarce._moments import Duration, length_of, moments_of
from scarce._typing import FloatArray, Frame

from .types import MISSING, Column, conform

__all__ = ["EntityHistory"]

# Sums of 61 bits leave room for the rounding of their parts.
_BITS = 61


class _Past(NamedTuple):
    """The rows of one entity column in order of entity and time, and sums up to each of them.

    Sums are of whole numbers, so that they are exact and the order of equal rows does not matter.
    """

    times: NDArray[Any]  # the different ones, ascending
    key: NDArray[np.int64]  # entity and place of the time in one ascending number
    priced: NDArray[np.int64]
    amounts: NDArray[np.int64]
    known: NDArray[np.int64]
    positives: NDArray[np.int64]

    def rows_before(self, code: NDArray[np.intp], moment: NDArray[Any]) -> NDArray[np.intp]:
        """Return how many rows are of an entity with a lower code, or of this one and earlier than the moment."""
        place = np.searchsorted(self.times, moment, side="left")
        return np.searchsorted(self.key, code.astype(np.int64) * (len(self.times) + 1) + place, side="left")


class EntityHistory(TransformerMixin, BaseEstimator):
    """Describe each row by what its card, terminal or company did before it.

    For each entity column and window there are four numbers: the rows of that entity in the window before the row,
    their mean amount, the positives that were known by then, and their share of the rows of known outcome.

    No row looks ahead: a window ends just before the row's own moment, so that rows of the same moment do not see each
    other. Outcomes become known late: the window of the positives ends `delay` before the row. The rows given to `fit`
    and `partial_fit` are the only past, so the answer for a row does not depend on the other rows to transform. Give it
    all rows up to now, those of unknown outcome included, or else recent rows would seem to have no past. Fitted on a
    whole table, it describes test rows honestly too, since only the past of each row counts.

    Parameters
    ----------
    entity : str or list of str
        Columns of entities. An empty cell is no entity, and its numbers are missing.
    time : str
        The column of times, dates or numbers.
    amount : str, optional
        A column of amounts; without it there is no mean.
    windows : tuple of durations, default=("1d", "7d", "30d")
        Lengths of the windows; numbers in the unit of the times where these are numbers.
    delay : duration, default=0
        How long after its row an outcome is known.

    See Also
    --------
    scarce.model_selection.DelayedTimeSplit : Test on later rows, with the same delay.

    References
    ----------
    Y.-A. Le Borgne, W. Siblini, B. Lebichot and G. Bontempi, "Reproducible Machine Learning for Credit Card Fraud
    Detection - Practical Handbook", Université Libre de Bruxelles, 2022, chapter 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.tables import EntityHistory
    >>> paid = pd.DataFrame({"card": ["a", "a", "b", "a"], "day": [1, 2, 2, 3], "sum": [10.0, 30.0, 5.0, 7.0]})
    >>> history = EntityHistory("card", "day", "sum", windows=(7,), delay=1).fit(paid, [1, 0, 0, 0])
    >>> history.get_feature_names_out().tolist()
    ['card: rows in 7', 'card: mean of sum in 7', 'card: positives in 7', 'card: positive rate in 7']
    >>> history.transform(paid).tolist()[3]
    [2.0, 20.0, 1.0, 1.0]
    """

    def __init__(
        self,
        entity: str | Sequence[str],
        time: str,
        amount: str | None = None,
        *,
        windows: tuple[Duration, ...] = ("1d", "7d", "30d"),
        delay: Duration = 0,
    ) -> None:
        self.entity = entity
        self.time = time
        self.amount = amount
        self.windows = windows
        self.delay = delay

    def fit(self, X: Frame, y: ArrayLike | None = None) -> EntityHistory:
        """Remember the past.

        Parameters
        ----------
        X : data frame of pandas, polars or pyarrow
            The rows, in any order.
        y : array-like of shape (n_rows,), optional
            1 for positive and 0 for negative; anything else, such as -1 or NaN, for an unknown outcome.
        """
        for name in ("past_", "moments_", "amounts_", "outcomes_", "codes_", "entities_"):
            if hasattr(self, name):
                delattr(self, name)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Frame, y: ArrayLike | None = None) -> EntityHistory:
        """Add rows to the past, such as those of today before they are ranked; the result is that of one `fit`."""
        frame = self._frame(X)
        moment, dated = moments_of(frame[self.time])
        outcome = np.full(len(frame), -1.0) if y is None else np.asarray(y, dtype=np.float64)
        check_consistent_length(frame, outcome)
        amount = np.full(len(frame), np.nan)
        if self.amount is not None:
            amount = frame[self.amount].to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [_text(frame, name) for name in self._names()]
        if not hasattr(self, "past_"):
            self.dated_ = dated
            self.moments_, self.amounts_, self.outcomes_ = moment[:0], amount[:0], outcome[:0]
            self.entities_ = [np.array([], dtype=str) for _ in texts]
            self.codes_ = [np.array([], dtype=np.intp) for _ in texts]
        self._check_times(dated)
        self.moments_ = np.concatenate([self.moments_, moment])
        self.amounts_ = np.concatenate([self.amounts_, amount])
        self.outcomes_ = np.concatenate([self.outcomes_, outcome])
        for place, text in enumerate(texts):
            present = pd.unique(text[text != MISSING])
            new = present[~np.isin(present, self.entities_[place])]
            self.entities_[place] = np.concatenate([self.entities_[place], np.asarray(new, dtype=str)])
            code = pd.Index(self.entities_[place]).get_indexer(text)
            self.codes_[place] = np.concatenate([self.codes_[place], code])
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        return self._sum_up()

    def _sum_up(self) -> EntityHistory:
        """Put the rows of the past in order, and add them up."""
        self.unit_ = _unit(self.amounts_)
        self.past_ = [
            list(_remember(code, self.moments_, self.amounts_, self.unit_, self.outcomes_)) for code in self.codes_
        ]
        return self

    def transform(self, X: Frame, until: ArrayLike | None = None) -> FloatArray:
        """Return for each row the numbers of its entities, column after column and window after window.

        Parameters
        ----------
        X : data frame of pandas, polars or pyarrow
            The rows to describe.
        until : array-like of shape (n_rows,), optional
            A moment for each row, written as the times are. Outcomes of rows of that moment or later count as unknown,
            as those of all rows that are ranked together are.
        """
        check_is_fitted(self)
        frame = self._frame(X)
        moment, dated = moments_of(frame[self.time])
        self._check_times(dated)
        end = moment if until is None else np.minimum(moment, moments_of(until)[0])
        delay = length_of("delay", self.delay, dated=dated)
        windows = [length_of("windows", window, dated=dated) for window in self.windows]
        found: list[FloatArray] = []
        for name, entities, remembered in zip(self._names(), self.entities_, self.past_, strict=True):
            past = _Past(*remembered)
            text = _text(frame, name)
            code = pd.Index(entities).get_indexer(text)
            # In this order a search goes forward through the past, which is several times faster.
            order = np.lexsort((moment, code))
            numbers = np.empty((len(frame), len(windows) * (3 if self.amount is None else 4)))
            numbers[order] = np.column_stack(
                self._numbers(past, code[order], moment[order], end[order], windows, delay)
            )
            numbers[text == MISSING] = np.nan
            found.append(numbers)
        return np.hstack(found)

    def _numbers(
        self,
        past: _Past,
        code: NDArray[np.intp],
        moment: NDArray[Any],
        until: NDArray[Any],
        windows: Sequence[float],
        delay: float,
    ) -> list[FloatArray]:
        known_until = np.minimum(moment - delay, until)
        end, by = past.rows_before(code, moment), past.rows_before(code, known_until)
        numbers: list[FloatArray] = []
        for window in windows:
            start = past.rows_before(code, moment - window)
            then = past.rows_before(code, np.minimum(moment - delay - window, known_until))
            numbers.append((end - start).astype(np.float64))
            if self.amount is not None:
                total, priced = (sums[end] - sums[start] for sums in (past.amounts, past.priced))
                numbers.append(_ratio(total, priced) * self.unit_)
            known, positives = (sums[by] - sums[then] for sums in (past.known, past.positives))
            numbers += [positives.astype(np.float64), _ratio(positives, known)]
        return numbers

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the numbers, such as ``card: rows in 7d``."""
        parts = ["rows", "positives", "positive rate"]
        if self.amount is not None:
            parts.insert(1, f"mean of {self.amount}")
        names = [f"{name}: {part} in {window}" for name in self._names() for window in self.windows for part in parts]
        return np.asarray(names, dtype=object)

    def _check_times(self, dated: bool) -> None:
        if dated != self.dated_:
            held = ("dates", "numbers") if self.dated_ else ("numbers", "dates")
            raise ValueError(f"The column {self.time!r} held {held[0]} in fit and holds {held[1]} now; convert it.")

    def _names(self) -> list[str]:
        return [self.entity] if isinstance(self.entity, str) else list(self.entity)

    def _frame(self, X: Frame) -> pd.DataFrame:
        frame = nw.from_native(X, eager_only=True)
        needed = [*self._names(), self.time, *([] if self.amount is None else [self.amount])]
        missing = [name for name in needed if name not in frame.columns]
        if missing:
            raise ValueError(f"The rows lack the column(s) {', '.join(missing)} of the history; add them.")
        return frame.select(list(dict.fromkeys(needed))).to_pandas()


def _text(frame: pd.DataFrame, name: str) -> NDArray[Any]:
    return conform(frame, [Column(name, "category")])[name].to_numpy(dtype=object)


def _unit(amount: FloatArray) -> float:
    """Return the power of two that is the unit of whole amounts, so small that their sum just fits."""
    size = np.abs(amount[np.isfinite(amount)])
    largest = size.max(initial=0.0)
    if largest == 0:
        return 1.0
    sum_over_largest = (size / largest).sum()
    exponent = np.frexp(largest)[1] + int(np.ceil(np.log2(sum_over_largest))) + 1
    return float(2.0 ** max(int(exponent) - _BITS, -1_000))


def _remember(
    code: NDArray[np.intp], moment: NDArray[Any], amount: FloatArray, unit: float, outcome: FloatArray
) -> _Past:
    present = code >= 0
    code, moment, amount, outcome = code[present], moment[present], amount[present], outcome[present]
    times, place = np.unique(moment, return_inverse=True)
    key = code.astype(np.int64) * (len(times) + 1) + place
    order = np.argsort(key, kind="stable")
    priced = np.isfinite(amount)
    whole = np.rint(np.where(priced, amount, 0.0) / unit).astype(np.int64)
    sums = (_sums(part[order]) for part in (priced, whole, (outcome == 0) | (outcome == 1), outcome == 1))
    return _Past(times, key[order], *sums)


def _sums(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> FloatArray:
    """Return a quotient, NaN where there is nothing to divide by."""
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
