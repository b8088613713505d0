"""How fast is γk-NN beside scikit-learn's own neighbours, and beside a grid search for γ?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.peers import PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.neighbors import GammaKNN


def rare_class(n_rows: int, n_features: int = 20) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return make_classification(n_rows, n_features, n_informative=n_features // 2, weights=[0.97], random_state=0)


def _bar(run: Run, sign: str, value: float) -> Bar | None:
    # On little data the fixed costs of a call weigh more than the search.
    return None if run.quick else Bar(sign, value)


def _data(run: Run) -> tuple[NDArray[np.float64], NDArray[np.int64], str]:
    X, y = rare_class(5_000 if run.quick else 20_000)
    GammaKNN().fit(X[:500], y[:500]).predict(X[:5])  # compiles, once
    return X, y, f"{len(X):,} × {X.shape[1]}"


def fit_time(run: Run) -> list[Row]:
    X, y, size = _data(run)
    ours, peer = fastest(
        run,
        9,
        GammaKNN=lambda: GammaKNN().fit(X, y),
        NearestNeighbors=lambda: NearestNeighbors(n_neighbors=3).fit(X).kneighbors(),
    )
    what = f"fit, γ chosen exactly, {size}; peer: one 3-neighbour self-query"
    return [Row(what, ours, peer, ours / peer, "s", _bar(run, "<=", 1.5))]


def grid_search_time(run: Run) -> list[Row]:
    X, y, size = _data(run)
    grid = GridSearchCV(
        PlainGammaKNN(),
        {"gamma": np.linspace(0.1, 1, 10)},
        scoring="f1",
        cv=StratifiedKFold(10, shuffle=True, random_state=0),
    )
    [ours] = fastest(run, 5, GammaKNN=lambda: GammaKNN().fit(X, y))
    again, peer = fastest(run, 2, GammaKNN=lambda: GammaKNN().fit(X, y), GridSearchCV=lambda: grid.fit(X, y))
    ours = min(ours, again)
    what = f"the same fit, {size}; peer: grid search, 10 γ, 10 folds; ratio: times faster"
    return [Row(what, ours, peer, peer / ours, "s", _bar(run, ">=", 30))]


def predict_time(run: Run) -> list[Row]:
    X, y, _ = _data(run)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    model = GammaKNN(gamma=0.5).fit(X_train, y_train)
    plain = KNeighborsClassifier(3).fit(X_train, y_train)
    model.predict(X_test[:5])  # builds the search engines, once
    ours, peer = fastest(
        run, 40, GammaKNN=lambda: model.predict(X_test), KNeighborsClassifier=lambda: plain.predict(X_test)
    )
    what = f"predict {len(X_test):,} rows from {len(X_train):,}; peer: 3-NN"
    return [Row(what, ours, peer, ours / peer, "s", _bar(run, "<=", 1.2))]
