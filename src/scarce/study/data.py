"""The rows of a cell: a set, and the split that the protocol asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from scarce._errors import StudyError
from scarce._files import sha256
from scarce._sklearn import safe_indexing
from scarce._typing import BoolArray, FloatArray, Frame, IntArray, Json, Record
from scarce.datasets import handbook_split, load, load_keel_folds

from .companies import draw_companies
from .months import draw_handbook_weeks, draw_months
from .probabilities import draw_probabilities
from .simulated import draw_flow, draw_payments

if TYPE_CHECKING:
    from scarce.tables import Column, Table

__all__ = ["DRAWN", "Rows", "describe_file", "rows_of"]

DRAWN: dict[str, Callable[..., tuple[Any, ...]]] = {
    "simulated-companies": draw_companies,
    "simulated-flow": draw_flow,
    "simulated-payments": draw_payments,
    "simulated-probabilities": draw_probabilities,
    "payments-of-months": draw_months,
    "handbook-weeks": draw_handbook_weeks,
}


class Rows(NamedTuple):
    """Training rows and test rows; `gains` are amounts of money where there are any.

    Models decide on test rows with `gains_test`; what they earn is counted with `gains_judged`, where that differs.
    `groups_test` and `days_test` are the customers, numbered from 0 to `n_groups` - 1, and the days of test rows that
    are payments. `held_out` is True for the training rows that methods with validation rows choose by.
    """

    X_train: FloatArray
    y_train: NDArray[Any]
    X_test: FloatArray
    y_test: NDArray[Any]
    gains_train: FloatArray | None = None
    gains_test: FloatArray | None = None
    gains_judged: FloatArray | None = None
    note: str = ""
    groups_test: IntArray | None = None
    days_test: IntArray | None = None
    n_groups: int = 0
    held_out: BoolArray | None = None


def rows_of(set_: Record, protocol: Record, split: int) -> Rows:
    """Return the rows of a split, which depend on the arguments alone; missing values become the training median."""
    rows = _split(set_, protocol, split)
    if rows.held_out is None and "validation" in protocol:
        # Shuffled splits have their rows in random order, other sets theirs in time.
        n = len(rows.y_train)
        rows = rows._replace(held_out=np.arange(n) >= n - round(protocol["validation"] * n))
    if not (np.isnan(rows.X_train).any() or np.isnan(rows.X_test).any()):
        return rows
    empty = np.isnan(rows.X_train).all(axis=0)
    usual = np.nanmedian(np.where(empty, 0.0, rows.X_train), axis=0)
    train, test = (np.where(np.isnan(X), usual, X) for X in (rows.X_train, rows.X_test))
    return rows._replace(X_train=train, X_test=test)


def _split(set_: Record, protocol: Record, split: int) -> Rows:
    if "sha256" in set_:
        return _encoded(json.dumps(set_, sort_keys=True), json.dumps(protocol, sort_keys=True), split)
    return _unencoded(set_, protocol, split)


def _unencoded(set_: Record, protocol: Record, split: int) -> Rows:
    name, kind = set_["name"], protocol["kind"]
    if name in DRAWN:
        return _drawn(json.dumps(set_, sort_keys=True), split)
    if kind == "keel":
        folds = _keel(name)
        if folds is not None:
            return Rows(*folds[split % 5])
    if "start" in set_:
        return _payments_from(set_, split)
    X, y, gains = _table(json.dumps(set_, sort_keys=True))
    note = "folds of our own, since those of KEEL are not a partition" if kind == "keel" else ""
    if "train_rows" in set_:
        train, test = np.arange(set_["train_rows"]), np.arange(set_["train_rows"], len(y))
    elif kind in ("folds", "keel"):
        folds_of = StratifiedKFold(5, shuffle=True, random_state=split // 5)
        train, test = list(folds_of.split(X, y))[split % 5]
    else:
        [(train, test)] = StratifiedShuffleSplit(1, test_size=protocol["test_size"], random_state=split).split(X, y)
    limits = {**protocol, **set_}
    if len(train) > limits.get("rows", len(train)):
        train = _some(train, y, limits["rows"], split)
        note = f"{len(train):,} training rows"
    if limits.get("test_rows") == "others":
        test = np.setdiff1d(np.arange(len(y)), train)
    elif len(test) > limits.get("test_rows", len(test)):
        test = _some(test, y, limits["test_rows"], split)
        note = f"{note}, {len(test):,} test rows".removeprefix(", ")
    if "negatives" in set_:
        train = _fewer_negatives(train, y, set_["negatives"], split)
    if "train_ir" in set_:
        train = _thin(train, y, set_["train_ir"], split)
    rows = Rows(safe_indexing(X, train), y[train], safe_indexing(X, test), y[test], note=note)
    return rows if gains is None else rows._replace(gains_train=gains[train], gains_test=gains[test])


def describe_file(path: Path, target: str, positive: str | None) -> tuple[Json, list[str]]:
    """Return the set that a file of the user's stands for, and the columns that are not learned from, with reasons.

    The contents of the file are part of what the set is, and so are the types of its columns.
    """
    from scarce.tables import TableError, profile_table

    table, y = _read(path, target, positive)
    if (y == 1).sum() < 4:
        raise StudyError(f"{path} has {(y == 1).sum()} positive rows, and a comparison needs at least 4.")
    try:
        profile, _ = profile_table(table, target, y)
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    columns = [{"name": c.name, "kind": c.kind, "distinct": c.distinct} for c in profile.features]
    used = {target, *(c.name for c in profile.features)}
    readings = [reading.as_dict() for reading in table.readings if reading.name in used]
    described = {"name": str(path.resolve()), "label": path.stem, "sha256": sha256(path), "columns": columns}
    described["readings"] = readings
    left_out = [
        f"{path.name}: column {c.name!r} is not learned from. {c.remark}"
        for c in profile.columns
        if c.role != "feature"
    ]
    notes = [f"{path.name}: {note}" for note in table.notes]
    return {**described, "target": target, "positive": positive}, notes + left_out


def _some(part: IntArray, y: NDArray[Any], count: int, seed: int) -> IntArray:
    """Draw rows, with the same share of positives."""
    few = StratifiedShuffleSplit(1, train_size=count, random_state=seed)
    return part[next(few.split(part, y[part]))[0]]


def _thin(train: IntArray, y: NDArray[Any], ratio: float, seed: int) -> IntArray:
    """Keep so few positives that there are `ratio` negatives for each."""
    positive, negative = train[y[train] == 1], train[y[train] == 0]
    keep = min(len(positive), max(2, round(len(negative) / ratio)))
    kept = np.random.default_rng(seed).permutation(positive)[:keep]
    return np.sort(np.concatenate([kept, negative]))


def _fewer_negatives(train: IntArray, y: NDArray[Any], most: int, seed: int) -> IntArray:
    """Keep all positives, and draw as many negatives as are allowed, where there are more."""
    positive, negative = train[y[train] == 1], train[y[train] == 0]
    kept = np.random.default_rng(seed).permutation(negative)[:most]
    return np.sort(np.concatenate([positive, kept]))


def _payments_from(set_: Record, split: int) -> Rows:
    """Return the Handbook's split from a start day; the number of the split is a seed alone."""
    bunch, customers, days = _payments()
    train, test = handbook_split(bunch.frame, set_["start"])
    if "negatives" in set_:
        train = _fewer_negatives(train, bunch.target, set_["negatives"], split)
    X, y = bunch.data, bunch.target
    rows = Rows(X[train], y[train], X[test], y[test])
    return rows._replace(groups_test=customers[test], days_test=days[test], n_groups=int(customers.max()) + 1)


@lru_cache(maxsize=1)
def _payments() -> tuple[Any, IntArray, IntArray]:
    bunch = load("handbook-payments")
    customers = np.unique(bunch.groups, return_inverse=True)[1]
    return bunch, customers, bunch.times.astype("datetime64[D]").astype(np.int64)


@lru_cache(maxsize=2)
def _drawn(described: str, split: int) -> Rows:
    set_ = json.loads(described)
    return Rows(*DRAWN[set_.pop("name")](split, **set_))


@lru_cache(maxsize=4)
def _keel(name: str) -> Any:
    try:
        return load_keel_folds(name)
    except ValueError:
        return None


@lru_cache(maxsize=4)
def _table(described: str) -> tuple[Frame, NDArray[np.int64], FloatArray | None]:
    set_ = json.loads(described)
    if "sha256" in set_:
        from scarce.tables import conform

        table, y = _read(Path(set_["name"]), set_["target"], set_["positive"], set_["readings"])
        known = np.flatnonzero(y >= 0)
        return conform(table.frame, _columns(set_)).iloc[known], y[known], None
    bunch = load(set_["name"], positive=set_.get("positive"))
    first = slice(set_.get("first_rows"))
    gains = None
    if "gains" in set_:
        import pandas as pd

        from scarce.profit import Gains

        money = pd.DataFrame({key: bunch[key] for key in ("amount", "income", "debt_ratio") if key in bunch})
        gains = Gains(**set_["gains"])(money.fillna(money.median()))
    kept = [j for j, name in enumerate(bunch.feature_names) if name not in set_.get("without", ())]
    return bunch.data[first][:, kept], bunch.target[first], None if gains is None else gains[first]


def _read(
    path: Path, target: str, positive: str | None, readings: Sequence[Record] | None = None
) -> tuple[Table, NDArray[np.int64]]:
    """Return a table as it was read, and its outcomes: 1, 0, and -1 where one is unknown."""
    from scarce.tables import Reading, TableError, read_table, read_target

    try:
        table = read_table(path, readings=None if readings is None else [Reading(**reading) for reading in readings])
        return table, read_target(table.frame, target, positive).y
    except TableError as error:
        raise TableError(f"{path}: {error}") from error


def _columns(set_: Record) -> list[Column]:
    from scarce.tables import Column

    return [Column(c["name"], c["kind"], distinct=c["distinct"]) for c in set_["columns"]]


@lru_cache(maxsize=2)
def _encoded(described: str, protocol: str, split: int) -> Rows:
    """Return the rows of a file as numbers, encoded as the audit does, by the training rows alone."""
    from scarce.tables import make_encoder

    set_ = json.loads(described)
    rows = _unencoded(set_, json.loads(protocol), split)
    folds = int(min(3, rows.y_train.sum()))
    encoder = make_encoder(_columns(set_), "distances", folds=folds, seed=split)
    train = np.asarray(encoder.fit_transform(rows.X_train, rows.y_train), dtype=np.float64)
    return rows._replace(X_train=train, X_test=np.asarray(encoder.transform(rows.X_test), dtype=np.float64))
