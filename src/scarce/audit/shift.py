"""The difference of the rows to rank from those that were learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, false_discovery_control, ks_2samp, rankdata
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline

from scarce._extras import require
from scarce._typing import FloatArray, IntArray
from scarce._values import plain
from scarce.metrics import ConfidenceInterval, bootstrap_interval
from scarce.tables import Column, make_encoder

__all__ = ["ColumnShift", "Shift", "column_apart", "measure_shift", "rows_apart", "telling_columns"]

MOST_ROWS = 4_000
FEWEST_ROWS = 20
RESAMPLES = 200
FOLDS = 3
CERTAIN = 0.01
# An AUC below this tells rows apart that nobody would call different.
SMALL = 0.55
MOST_CATEGORIES = 30


@dataclass(frozen=True)
class ColumnShift:
    """A column, or the score, whose values in the rows to rank differ from those learned from.

    Attributes
    ----------
    name : str
        The column.
    distance : float
        The largest difference of the two distributions; for categories half the sum of all differences.
    p_value : float
        The chance of such a difference among rows of one kind, corrected for the number of columns.
    before, now : str or float
        The median or the most frequent value of both.
    """

    name: str
    distance: float
    p_value: float
    before: str | float | None
    now: str | float | None


@dataclass(frozen=True)
class Shift:
    """The difference of the rows to rank from the rows that were learned from.

    Attributes
    ----------
    auc : ConfidenceInterval
        How well a classifier tells the two apart on rows that it had not seen: 0.5 if not at all, 1 always.
    usual : list of float
        The same for each test part and the rows before it: what the figures of the comparison have lived through.
    columns : list of ColumnShift
        The columns that differ, the most different first.
    score : ColumnShift or None
        The score, if it differs.
    differs : bool
        Whether the rows to rank differ by more than chance and by enough to matter.
    sentence : str
        The result in words.
    """

    auc: ConfidenceInterval
    usual: list[float] = field(default_factory=list)
    columns: list[ColumnShift] = field(default_factory=list)
    score: ColumnShift | None = None
    differs: bool = False
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence


def measure_shift(
    old: pd.DataFrame,
    new: pd.DataFrame,
    columns: Sequence[Column],
    old_score: FloatArray,
    new_score: FloatArray,
    parts: Sequence[tuple[IntArray, IntArray]] = (),
    *,
    seed: int = 0,
) -> Shift | None:
    """Compare the rows to rank with the rows that were learned from, column by column and as a whole.

    Parameters
    ----------
    old, new : DataFrame
        The rows of known outcome and the rows to rank, typed.
    columns : sequence of Column
        The columns to learn from.
    old_score, new_score : ndarray
        Scores of tested rows, by models that had not seen them, and of the rows to rank.
    parts : sequence of (ndarray, ndarray)
        For tests by time, the training rows and the tested rows of each fold.
    seed : int
        Seed of samples, folds and resamples.

    Returns
    -------
    Shift or None
        None where there are too few rows to tell.
    """
    if min(len(old), len(new)) < FEWEST_ROWS:
        return None
    truth, score = rows_apart(old, new, columns, seed)
    auc = bootstrap_interval(_auc, truth, score, n_resamples=RESAMPLES, random_state=seed)
    usual = [
        float(_auc(*rows_apart(old.iloc[before], old.iloc[tested], columns, seed)))
        for before, tested in parts
        if min(len(before), len(tested)) >= FEWEST_ROWS
    ]
    found = _columns_apart(old, new, columns)
    of_score = column_apart(pd.Series(old_score, name="score"), pd.Series(new_score), "number")
    differs = auc.low > 0.5 and auc.estimate > SMALL
    shift = Shift(auc, usual, found, of_score if of_score.p_value < CERTAIN else None, differs)
    return Shift(auc, usual, found, shift.score, differs, _sentence(shift))


def rows_apart(
    old: pd.DataFrame, new: pd.DataFrame, columns: Sequence[Column], seed: int
) -> tuple[IntArray, FloatArray]:
    """Return for some of both kinds of rows which are new, and an honest score of how new they look.

    Dates count by their hour only: that a later row has a later date, or that one day to rank is a Monday, is no
    difference.
    """
    X, truth, model, folds = _labelled_by_origin(old, new, columns, seed)
    cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return truth, cross_val_predict(model, X, truth, cv=cv, method="predict_proba")[:, 1]


def telling_columns(
    old: pd.DataFrame, new: pd.DataFrame, columns: Sequence[Column], seed: int
) -> list[tuple[str, float]]:
    """Return the columns by which a classifier tells new rows from old ones, each with its share of the gain."""
    X, truth, model, _ = _labelled_by_origin(old, new, columns, seed)
    model.fit(X, truth)
    encoder = model[0]
    names = encoder.get_feature_names_out()
    gain = model[-1].booster_.feature_importance("gain")
    of_column = dict.fromkeys(X.columns, 0.0)
    for step, _, held in encoder.transformers_:
        inside = [
            (name.removeprefix(f"{step}__"), g)
            for name, g in zip(names, gain, strict=True)
            if name.startswith(f"{step}__")
        ]
        for name, g in inside:
            # A category has a name of its own behind that of its column; the longest name that fits is meant.
            of_column[max((c for c in held if name == c or name.startswith(f"{c}_")), key=len)] += float(g)
    total = sum(of_column.values()) or 1.0
    return sorted(((name, g / total) for name, g in of_column.items() if g), key=lambda pair: -pair[1])


def _labelled_by_origin(
    old: pd.DataFrame, new: pd.DataFrame, columns: Sequence[Column], seed: int
) -> tuple[pd.DataFrame, IntArray, Pipeline, int]:
    """Return some of both kinds of rows, which of them are new, a classifier of the two, and a number of folds."""
    rng = np.random.default_rng(seed)
    both = [rows.iloc[np.sort(rng.choice(len(rows), min(len(rows), MOST_ROWS), replace=False))] for rows in (old, new)]
    truth = np.repeat([0, 1], [len(both[0]), len(both[1])])
    dates = [c for c in columns if c.kind == "date"]
    others = [c for c in columns if c.kind != "date"]
    X = pd.concat(both, ignore_index=True)
    for column in dates:
        moment = X.pop(column.name).dt
        X[f"hour of {column.name}"] = (moment.hour + moment.minute / 60).astype("float64")
        others.append(Column(f"hour of {column.name}", "number"))
    folds = min(FOLDS, int(np.bincount(truth).min()))
    classifier = require("lightgbm", "The audit").LGBMClassifier(
        n_estimators=60, num_leaves=15, learning_rate=0.1, random_state=seed, n_jobs=1, deterministic=True, verbose=-1
    )
    model = Pipeline([("encode", make_encoder(others, "trees", folds=folds, seed=seed)), ("method", classifier)])
    return X, truth, model, folds


def _columns_apart(old: pd.DataFrame, new: pd.DataFrame, columns: Sequence[Column]) -> list[ColumnShift]:
    """Return the columns that differ, tested one by one and corrected for their number."""
    tested = [column_apart(old[c.name], new[c.name], c.kind) for c in columns if c.kind != "date"]
    if not tested:
        return []
    corrected = false_discovery_control([column.p_value for column in tested])
    found = [
        ColumnShift(column.name, column.distance, float(p), column.before, column.now)
        for column, p in zip(tested, corrected, strict=True)
        if p < CERTAIN
    ]
    return sorted(found, key=lambda column: -column.distance)


def column_apart(old: pd.Series, new: pd.Series, kind: str) -> ColumnShift:
    """Test whether two columns come from one distribution; an empty cell is a value like others."""
    name = str(old.name)
    if kind == "number":
        # Below all numbers, so that a change in the share of empty cells counts too.
        least = np.nanmin(np.r_[old.to_numpy(), new.to_numpy(), 0.0]) - 1.0
        found = ks_2samp(old.fillna(least), new.fillna(least), method="asymp")
        return ColumnShift(name, float(found.statistic), float(found.pvalue), _middle(old), _middle(new))
    frequent = old.value_counts().index.union(new.value_counts().index)
    shares = [rows.value_counts().reindex(frequent, fill_value=0) for rows in (old, new)]
    table = pd.concat(shares, axis=1).to_numpy()
    order = np.argsort(-table.sum(axis=1), kind="stable")
    table, rest = table[order[:MOST_CATEGORIES]], table[order[MOST_CATEGORIES:]].sum(axis=0)
    table = np.vstack([table, rest]) if rest.sum() else table
    distance = float(np.abs(np.diff(table / table.sum(axis=0), axis=1)).sum() / 2)
    p_value = float(chi2_contingency(table, correction=False).pvalue) if len(table) > 1 else 1.0
    return ColumnShift(name, distance, p_value, *(str(s.idxmax()) for s in shares))


def _auc(truth: IntArray, score: FloatArray) -> float:
    """Return the area under the ROC curve, by the ranks of the positives; scikit-learn's checks take far longer."""
    positive = truth == 1
    n = int(positive.sum())
    return float((rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * (len(truth) - n)))


def _middle(values: pd.Series) -> float | None:
    return plain(float(values.median())) if values.notna().any() else None


def _sentence(shift: Shift) -> str:
    auc = shift.auc
    if not shift.differs:
        return (
            f"The rows to rank look like the rows that were learned from: a classifier tells them apart with an AUC of "
            f"{auc.estimate:.2f} ({auc.low:.2f} to {auc.high:.2f}), where 0.5 is guessing."
        )
    size = "slightly" if auc.estimate < 0.65 else "clearly" if auc.estimate < 0.8 else "strongly"
    names = ", ".join(column.name for column in shift.columns[:3])
    most = f", most in {names}" if names else ""
    text = (
        f"The rows to rank differ {size} from the rows that were learned from{most}: a classifier tells them apart "
        f"with an AUC of {auc.estimate:.2f} ({auc.low:.2f} to {auc.high:.2f}), where 0.5 is guessing."
    )
    if shift.usual:
        most_usual = max(shift.usual)
        if auc.low > most_usual:
            text += f" Tested parts differed less from the rows before them (up to {most_usual:.2f}), so that the "
            text += "promise may be further off than its interval allows."
        else:
            text += f" Tested parts differed as much from the rows before them (up to {most_usual:.2f})."
    else:
        text += " The tests were on rows like those learned from, so that the promise may be further off than its "
        text += "interval allows."
    return text
