"""Training rows and tested rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from scarce._errors import AuditError
from scarce._moments import length_of, moments_of
from scarce._typing import IntArray

__all__ = ["Folds", "check_outcomes", "inner_folds", "make_folds"]


MIN_POSITIVES = 8
MIN_POSITIVES_PER_FOLD = 4
MAX_FOLDS = 5
TIME_PARTS = 6
FIRST_TRAINING_PARTS = 2


@dataclass(frozen=True)
class Folds:
    """Pairs of training rows and tested rows, and a phrase that describes how they were drawn."""

    splits: list[tuple[IntArray, IntArray]] = field(repr=False)
    by_time: bool
    description: str

    @property
    def tested(self) -> IntArray:
        """The rows that are tested, fold after fold."""
        return np.concatenate([test for _, test in self.splits])

    @property
    def fold_of_tested(self) -> IntArray:
        """The fold of each entry of `tested`."""
        return np.repeat(np.arange(len(self.splits)), [len(test) for _, test in self.splits])

    def first(self, n: int) -> Folds:
        """Return the first folds alone."""
        return Folds(self.splits[:n], self.by_time, self.description)


def make_folds(
    y: NDArray[np.int64],
    times: pd.Series | None,
    seed: int,
    *,
    delay: str | float | None = None,
    period: str | None = None,
) -> Folds:
    """Split labelled rows for honest testing: by time if there is one, at random otherwise.

    By time, the rows are split into six consecutive parts. Each part from the third on is tested by a model that
    learned from all rows before it. Rows of the same moment stay together.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    times : Series, optional
        When each row happened: dates or numbers.
    seed : int
        Seed of random folds.
    delay : str or float, optional
        The time after which an outcome is known: a model learns only from rows whose outcome was known when the first
        row of its test part happened.
    period : {"day", "week", "month"}, optional
        Rows of one period stay together too.
    """
    check_outcomes(y)
    positives = int(y.sum())
    if times is not None:
        return _time_folds(y, times, delay, period)
    n = min(MAX_FOLDS, positives // MIN_POSITIVES_PER_FOLD)
    splits = list(StratifiedKFold(n, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    return Folds(splits, False, f"{n} random folds with the same share of positives")


def check_outcomes(y: NDArray[np.int64]) -> None:
    """Refuse a table with too few rows of one outcome; rows below 0 have none."""
    for name, label in (("positive", 1), ("negative", 0)):
        found = int((y == label).sum())
        if found < MIN_POSITIVES:
            rows = "1 row that is" if found == 1 else f"{found} rows that are"
            raise AuditError(
                f"The table has {rows} {name}, and an honest comparison needs at least {MIN_POSITIVES}; add rows whose "
                "outcome is known."
            )


def _time_folds(y: NDArray[np.int64], times: pd.Series, delay: str | float | None, period: str | None) -> Folds:
    moment, dated = moments_of(times)
    kept = moment if period is None else periods_of(times, period)
    in_order = np.sort(kept)
    starts = [in_order[len(y) * part // TIME_PARTS] for part in range(FIRST_TRAINING_PARTS, TIME_PARTS)]
    late = _delay(delay, dated=dated)
    splits = []
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        inside = kept >= start if end is None else (kept >= start) & (kept < end)
        if not inside.any():
            continue
        known = kept < start if not late else moment + late <= moment[inside].min()
        train, test = np.flatnonzero(known & (kept < start)), np.flatnonzero(inside)
        # A part before which there is too little to learn is passed over.
        if y[train].sum() >= MIN_POSITIVES_PER_FOLD and (y[train] == 0).any():
            splits.append((train, test))
    if sum(y[test].sum() for _, test in splits) < MIN_POSITIVES_PER_FOLD:
        raise AuditError(
            "Too few positive rows lie in the later two thirds of the table, or are known before them, to test by "
            "time; test on random folds (no `time`), or add rows."
        )
    known_before = "all earlier rows" if not late else f"the rows whose outcome was known, {delay} after the row"
    description = f"{len(splits)} consecutive parts, each tested by a model that learned from {known_before}"
    return Folds(splits, True, description)


def periods_of(times: pd.Series, period: str) -> IntArray:
    """Return the number of the day, week or month of each row."""
    moment, dated = moments_of(times)
    if not dated:
        raise AuditError(
            f"A budget for each {period} needs dates, and the time column {str(times.name)!r} holds numbers; write "
            "dates like 2024-01-31."
        )
    days = moment.astype("datetime64[ns]").astype("datetime64[D]")
    if period == "month":
        return days.astype("datetime64[M]").astype(np.intp)
    number = days.astype(np.intp)
    # Weeks begin on Monday; day 0 was a Thursday.
    return (number + 3) // 7 if period == "week" else number


def _delay(delay: str | float | None, *, dated: bool) -> Any:
    if delay is None:
        return 0
    if not dated:
        try:
            delay = float(delay)
        except ValueError as error:
            raise AuditError(
                f"The time column holds numbers, so `delay` must be a number in their unit; it was {delay!r}."
            ) from error
    try:
        return length_of("delay", delay, dated=dated)
    except ValueError as error:
        raise AuditError(
            f"`delay` is the time after which an outcome is known, such as 7d, 12h, 30min or 2w; it was {delay!r}."
        ) from error


def inner_folds(y: NDArray[np.int64], folds: Folds) -> int:
    """Return how many folds to draw within the training rows: three, or two if positives are very few."""
    return int(min(3, min(y[train].sum() for train, _ in folds.splits) // 2))
