"""Training rows and tested rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from scarce._errors import AuditError
from scarce._typing import IntArray

__all__ = ["Folds", "inner_folds", "make_folds"]


MIN_POSITIVES = 8
MIN_POSITIVES_PER_FOLD = 4
MAX_FOLDS = 5
TIME_PARTS = 6
FIRST_TRAINING_PARTS = 2


@dataclass(frozen=True)
class Folds:
    """Pairs of training rows and tested rows, and a phrase that describes how they were drawn."""

    splits: list[tuple[IntArray, IntArray]]
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


def make_folds(y: NDArray[np.int64], times: pd.Series | None, seed: int) -> Folds:
    """Split labelled rows for honest testing: by time if there is one, at random otherwise.

    By time, the rows are split into six consecutive parts. Each part from the third on is tested by a model that
    learned from all rows before it. Rows of the same moment stay together.
    """
    positives = int(y.sum())
    if positives < MIN_POSITIVES:
        raise AuditError(
            f"The table has {positives} positive rows, and an honest comparison needs at least {MIN_POSITIVES}; "
            "add rows whose outcome is known."
        )
    if times is not None:
        return _time_folds(y, times)
    n = min(MAX_FOLDS, positives // MIN_POSITIVES_PER_FOLD)
    splits = list(StratifiedKFold(n, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    return Folds(splits, False, f"{n} random folds with the same share of positives")


def _time_folds(y: NDArray[np.int64], times: pd.Series) -> Folds:
    moment = times.rank(method="min").to_numpy()
    in_order = np.sort(moment)
    starts = [in_order[len(y) * part // TIME_PARTS] for part in range(FIRST_TRAINING_PARTS, TIME_PARTS)]
    splits = []
    for start, end in zip(starts, [*starts[1:], np.inf], strict=True):
        train, test = np.flatnonzero(moment < start), np.flatnonzero((start <= moment) & (moment < end))
        # A part before which there is too little to learn, or that is empty, is passed over.
        if len(test) and y[train].sum() >= MIN_POSITIVES_PER_FOLD:
            splits.append((train, test))
    if sum(y[test].sum() for _, test in splits) < MIN_POSITIVES_PER_FOLD:
        raise AuditError(
            "Too few positive rows lie in the later two thirds of the table to test by time; "
            "test on random folds (no `time`), or add rows."
        )
    description = f"{len(splits)} consecutive parts, each tested by a model that learned from all earlier rows"
    return Folds(splits, True, description)


def inner_folds(y: NDArray[np.int64], folds: Folds) -> int:
    """Return how many folds to draw within the training rows: three, or two if positives are very few."""
    return int(min(3, min(y[train].sum() for train, _ in folds.splits) // 2))
