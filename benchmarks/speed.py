"""How fast is γk-NN beside scikit-learn's own neighbours, and beside a grid search for γ?"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.peers import ArrayGammaKNN, PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.neighbors import GammaKNN


def rare_class(n_rows: int, n_features: int = 20) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return make_classification(n_rows, n_features, n_informative=n_features // 2, weights=[0.97], random_state=0)


def _data(run: Run) -> tuple[NDArray[np.float64], NDArray[np.int64], str]:
    X, y = rare_class(2_000 if run.quick else 20_000)
    GammaKNN().fit(X[:500], y[:500]).predict(X[:5])  # compiles, once
    return X, y, f"{len(X):,} × {X.shape[1]}"


def _compare(run: Run, repeats: int, what: str, bar: Bar, **calls: Callable[[], object]) -> list[Row]:
    """Judge the ratio of ours to the peer on one core, which is steady, and on all, where threads may wait in vain."""
    rows = []
    for one_core in (True, False):
        ours, peer = fastest(run, repeats, one_core=one_core, **calls)
        # On little data the fixed costs of a call weigh more than the search, so --quick judges nothing.
        judged = None if run.quick else bar
        label = what if one_core else f"the same on {os.cpu_count()} cores, by the clock"
        rows.append(Row(label, ours, peer, ours / peer, "s", judged))
    return rows


def fit_time(run: Run) -> list[Row]:
    X, y, size = _data(run)
    return _compare(
        run,
        7,
        f"fit, γ chosen exactly, {size}; peer: one 3-neighbour self-query",
        Bar("<=", 1.5),
        GammaKNN=lambda: GammaKNN().fit(X, y),
        NearestNeighbors=lambda: NearestNeighbors(n_neighbors=3).fit(X).kneighbors(),
    )


def grid_search_time(run: Run) -> list[Row]:
    X, y, size = _data(run)
    rows = []
    for peer_class, said, bar in (
        (ArrayGammaKNN, "of γk-NN on arrays", Bar(">=", 30)),
        # Ten folds of one γ are one self-query, so ten γ are ten: there is no more to be had than their number
        # times the gain on a self-query.
        (PlainGammaKNN, "of γk-NN on two NearestNeighbors", None),
    ):
        grid = GridSearchCV(
            peer_class(),
            {"gamma": np.linspace(0.1, 1, 10)},
            scoring="f1",
            cv=StratifiedKFold(10, shuffle=True, random_state=0),
        )
        ours, peer = fastest(
            run, 1, one_core=True, GammaKNN=lambda: GammaKNN().fit(X, y), GridSearchCV=lambda grid=grid: grid.fit(X, y)
        )
        what = f"the same fit, {size}; peer: grid search {said}, 10 γ, 10 folds; ratio: times faster"
        rows.append(Row(what, ours, peer, peer / ours, "s", None if run.quick else bar))
    return rows


def predict_time(run: Run) -> list[Row]:
    X, y, _ = _data(run)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    model = GammaKNN(gamma=0.5).fit(X_train, y_train)
    plain = KNeighborsClassifier(3).fit(X_train, y_train)
    model.predict(X_test[:5])  # builds the search engines, once
    return _compare(
        run,
        25,
        f"predict {len(X_test):,} rows from {len(X_train):,}; peer: 3-NN",
        Bar("<=", 1.2),
        GammaKNN=lambda: model.predict(X_test),
        KNeighborsClassifier=lambda: plain.predict(X_test),
    )
