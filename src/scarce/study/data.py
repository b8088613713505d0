"""The rows of a cell: a set, and the split that the protocol asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from scarce._files import sha256
from scarce.datasets import load, load_keel_folds
from scarce.datasets._catalogue import get_record
from scarce.datasets._sources import obtain, read

from .probabilities import draw_probabilities
from .simulated import draw_flow, draw_payments
from .spec import StudyError

__all__ = ["Rows", "describe_file", "rows_of"]

FloatArray = NDArray[np.float64]
_DRAWN: dict[str, Callable[..., tuple[Any, ...]]] = {
    "simulated-flow": draw_flow,
    "simulated-payments": draw_payments,
    "simulated-probabilities": draw_probabilities,
}


class Rows(NamedTuple):
    """Rows to learn from and rows to test on; `gains` are amounts of money where there are any.

    Models decide on test rows with `gains_test`; what they earn is counted with `gains_judged`, where that differs.
    """

    X_train: FloatArray
    y_train: NDArray[Any]
    X_test: FloatArray
    y_test: NDArray[Any]
    gains_train: FloatArray | None = None
    gains_test: FloatArray | None = None
    gains_judged: FloatArray | None = None
    note: str = ""


def rows_of(set_: Mapping[str, Any], protocol: Mapping[str, Any], split: int) -> Rows:
    """Return the rows of a split, which depend on nothing but the arguments; holes have the training rows' median."""
    rows = _split(set_, protocol, split)
    if not (np.isnan(rows.X_train).any() or np.isnan(rows.X_test).any()):
        return rows
    empty = np.isnan(rows.X_train).all(axis=0)
    usual = np.nanmedian(np.where(empty, 0.0, rows.X_train), axis=0)
    train, test = (np.where(np.isnan(X), usual, X) for X in (rows.X_train, rows.X_test))
    return rows._replace(X_train=train, X_test=test)


def _split(set_: Mapping[str, Any], protocol: Mapping[str, Any], split: int) -> Rows:
    name, kind = set_["name"], protocol["kind"]
    if name in _DRAWN:
        return _drawn(json.dumps(set_, sort_keys=True), split)
    if kind == "keel":
        folds = _keel(name)
        if folds is not None:
            return Rows(*folds[split % 5])
    X, y, gains = _table(json.dumps(set_, sort_keys=True))
    note = "folds of our own, since those of KEEL are not a partition" if kind == "keel" else ""
    if "train_rows" in set_:
        train, test = np.arange(set_["train_rows"]), np.arange(set_["train_rows"], len(y))
    elif kind in ("folds", "keel"):
        folds_of = StratifiedKFold(5, shuffle=True, random_state=split // 5)
        train, test = list(folds_of.split(X, y))[split % 5]
    else:
        [(train, test)] = StratifiedShuffleSplit(1, test_size=protocol["test_size"], random_state=split).split(X, y)
    if len(train) > protocol.get("rows", len(train)):
        train = _some(train, y, protocol["rows"], split)
        note = f"{len(train):,} training rows"
    if len(test) > protocol.get("test_rows", len(test)):
        test = _some(test, y, protocol["test_rows"], split)
        note = f"{note}, {len(test):,} test rows".removeprefix(", ")
    if "train_ir" in set_:
        train = _thin(train, y, set_["train_ir"], split)
    rows = Rows(X[train], y[train], X[test], y[test], note=note)
    return rows if gains is None else rows._replace(gains_train=gains[train], gains_test=gains[test])


def describe_file(path: Path, target: str, positive: str | None) -> dict[str, Any]:
    """Return the set that a file of the user's stands for; its contents are part of what it is."""
    y = _read(path, target, positive)[1]
    digest = sha256(path)
    if y.sum() < 4:
        raise StudyError(f"{path} has {y.sum()} positive rows, and a comparison needs at least 4.")
    return {"name": str(path.resolve()), "label": path.stem, "sha256": digest, "target": target, "positive": positive}


def _some(part: NDArray[np.intp], y: NDArray[Any], count: int, seed: int) -> NDArray[np.intp]:
    """Draw rows, with the same share of positives."""
    few = StratifiedShuffleSplit(1, train_size=count, random_state=seed)
    return part[next(few.split(part, y[part]))[0]]


def _thin(train: NDArray[np.intp], y: NDArray[Any], ratio: float, seed: int) -> NDArray[np.intp]:
    """Keep so few positives that there are `ratio` negatives for each."""
    positive, negative = train[y[train] == 1], train[y[train] == 0]
    keep = min(len(positive), max(2, round(len(negative) / ratio)))
    kept = np.random.default_rng(seed).permutation(positive)[:keep]
    return np.sort(np.concatenate([kept, negative]))


@lru_cache(maxsize=2)
def _drawn(described: str, split: int) -> Rows:
    set_ = json.loads(described)
    return Rows(*_DRAWN[set_.pop("name")](split, **set_))


@lru_cache(maxsize=4)
def _keel(name: str) -> Any:
    try:
        return load_keel_folds(name)
    except ValueError:
        return None


@lru_cache(maxsize=4)
def _table(described: str) -> tuple[FloatArray, NDArray[np.int64], FloatArray | None]:
    set_ = json.loads(described)
    if "sha256" in set_:
        return *_read(Path(set_["name"]), set_["target"], set_["positive"]), None
    if "positive" in set_:
        return *_relabelled(set_["name"], set_["positive"]), None
    bunch = load(set_["name"])
    gains = None
    if "gains" in set_:
        import pandas as pd

        from scarce.profit import Gains

        money = pd.DataFrame({key: bunch[key] for key in ("amount", "income", "debt_ratio") if key in bunch})
        gains = Gains(**set_["gains"])(money.fillna(money.median()))
    return bunch.data, bunch.target, gains


def _relabelled(name: str, positive: list[str]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return a set of the catalogue with other classes of its file as the positive ones."""
    data, _, labels = read(obtain(get_record(name)))
    return data, np.isin(labels, positive).astype(np.int64)


def _read(path: Path, target: str, positive: str | None) -> tuple[FloatArray, NDArray[np.int64]]:
    """Read a table; words become one column for each word."""
    import pandas as pd

    from scarce.tables import TableError, read_table, read_target

    frame = read_table(path)
    try:
        y = read_target(frame, target, positive).y
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    known = y >= 0
    return pd.get_dummies(frame.drop(columns=target)[known]).to_numpy(np.float64), y[known]
