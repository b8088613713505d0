"""Figures for all rows, where only some were ever checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline

from scarce._calibration import fit_calibrator
from scarce._errors import AuditError
from scarce._extras import require
from scarce._typing import BoolArray, FloatArray
from scarce.tables import Column, make_encoder

__all__ = ["Checks", "chances_of_checks"]

FOLDS = 3
FEWEST = 20
# A row that stands for more than so many others says more about itself than about them.
LEAST_CHANCE = 0.01


@dataclass(frozen=True)
class Checks:
    """The chance of each row to have been checked.

    Attributes
    ----------
    chance : ndarray of shape (n_rows,)
        The estimated chance of each row, by a model that had not seen it; at least 1 in 100.
    checked : int
        The number of rows that were checked.
    effective : float
        The number of rows with equal weights that would tell as much as the checked ones with theirs.
    sentence : str
        The same in words.
    """

    chance: FloatArray
    checked: int
    effective: float
    sentence: str


def chances_of_checks(X: pd.DataFrame, checked: BoolArray, columns: Sequence[Column], seed: int) -> Checks:
    """Estimate the chance of each row to have been checked, from the columns that are learned from.

    Weighted by one over that chance, the checked rows stand for all rows, as long as the columns know why a row was
    checked. What only the investigator knew cannot be corrected for.

    Parameters
    ----------
    X : DataFrame
        All rows that could have been checked, typed.
    checked : ndarray of shape (n_rows,)
        True for those that were.
    columns : sequence of Column
        The columns to learn from.
    seed : int
        Seed of the folds.
    """
    if min(int(checked.sum()), int((~checked).sum())) < FEWEST:
        raise AuditError(
            f"At least {FEWEST} rows must have been checked and {FEWEST} not, to estimate who is checked; there are "
            f"{int(checked.sum())} and {int((~checked).sum())} (`checked`)."
        )
    truth = checked.astype(np.intp)
    classifier = require("lightgbm", "The audit").LGBMClassifier(
        n_estimators=100, num_leaves=8, learning_rate=0.05, random_state=seed, n_jobs=1, deterministic=True, verbose=-1
    )
    model = Pipeline([("encode", make_encoder(columns, "trees", folds=FOLDS, seed=seed)), ("method", classifier)])
    cv = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    score = cross_val_predict(model, X, truth, cv=cv, method="predict_proba")[:, 1]
    chance = np.maximum(fit_calibrator(score, truth)(score), LEAST_CHANCE)
    weight = 1 / chance[checked]
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    return Checks(
        chance,
        int(checked.sum()),
        effective,
        f"{int(checked.sum()):,} of {len(checked):,} rows were ever checked. Figures for all rows weight each of them "
        f"by one over its estimated chance of being checked, which leaves as much to go by as {effective:,.0f} rows; "
        "they are right as far as the columns know why a row was checked.",
    )
