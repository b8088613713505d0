"""Time and memory of the neighbour methods beside scikit-learn's own neighbours and a grid search for γ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors, RadiusNeighborsClassifier

import scarce
from benchmarks.memory import memory_of, memory_row
from benchmarks.peers import ArrayGammaKNN, PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest, on_both
from scarce.neighbors import CCNND, GFRNN, KENN, KRNN, PNN, GammaKNN

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Rows that are predicted, and rows that come one by one.
_QUERIES = 4_000
_ARRIVALS = 100


def rare_class(n_rows: int, n_features: int = 20) -> tuple[FloatArray, IntArray]:
    return make_classification(n_rows, n_features, n_informative=n_features // 2, weights=[0.97], random_state=0)


def _stored_and_queries(
    n_rows: int, n_queries: int = _QUERIES, n_features: int = 20
) -> tuple[FloatArray, IntArray, FloatArray]:
    X, y = rare_class(n_rows + n_queries, n_features)
    return X[:n_rows], y[:n_rows], X[n_rows:]


# γk-NN --------------------------------------------------------------------------------------------------------


def _data(run: Run) -> tuple[FloatArray, IntArray, str]:
    X, y = rare_class(2_000 if run.quick else 20_000)
    GammaKNN().fit(X[:500], y[:500]).predict(X[:5])  # compiles, once
    return X, y, f"{len(X):,} × {X.shape[1]}"


def _compare(run: Run, repeats: int, what: str, bar: Bar, **calls: Callable[[], object]) -> list[Row]:
    """Judge the ratio of ours to the peer on one core, which is steady, and on all, where threads may wait in vain."""
    rows = []
    for one_core, label in on_both(what):
        ours, peer = fastest(run, repeats, one_core=one_core, **calls)
        rows.append(Row(label, ours, peer, ours / peer, "s", run.judged(bar)))
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
    for peer_class, peer_text, bar in (
        (ArrayGammaKNN, "of γk-NN on arrays", run.judged(Bar(">=", 30))),
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
        what = f"the same fit, {size}; peer: grid search {peer_text}, 10 γ, 10 folds; ratio: times faster"
        rows.append(Row(what, ours, peer, peer / ours, "s", bar))
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


def fit_memory(run: Run) -> list[Row]:
    n_rows = 50_000 if run.quick else 200_000
    what = f"peak memory of a fit beyond the data, {n_rows:,} × 30"
    return [memory_row(run, what, Bar("<", 300, on="ours"), gamma_memory, n_rows)]


def gamma_memory(n_rows: int) -> float:
    X, y = in_place(n_rows, 30, np.float64)
    GammaKNN().fit(X[:500], y[:500])
    return memory_of(lambda: GammaKNN().fit(X, y))


def in_place(n_rows: int, n_features: int, dtype: type) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    # Drawn without copies, since what is freed before would hide a part of the peak.
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_rows, n_features), dtype=dtype), np.arange(n_rows) % 33 == 0


# GFRNN --------------------------------------------------------------------------------------------------------


def gravity_time(run: Run) -> list[Row]:
    X, y, queries = _stored_and_queries(2_000 if run.quick else 20_000)
    X, queries = X.astype(np.float32), queries.astype(np.float32)
    model = GFRNN(radius="mean").fit(X, y)
    model.score_samples(queries[:300])  # compiles, once
    radius = RadiusNeighborsClassifier(model.radius_, weights="distance").fit(X, y)
    nearest = KNeighborsClassifier(3, algorithm="brute").fit(X, y)
    rows = []
    for one_core, label in on_both(f"GFRNN scores {_QUERIES:,} rows from {len(X):,} × 20, single precision"):
        ours, by_nearest = fastest(
            run,
            15,
            one_core=one_core,
            GFRNN=lambda: model.score_samples(queries),
            KNeighborsClassifier=lambda: nearest.predict(queries),
        )
        # One turn is enough where the ratio is far from the bar, and this peer takes long.
        [by_radius] = fastest(run, 1, one_core=one_core, RadiusNeighbors=lambda: radius.predict_proba(queries))
        for peer, seconds, ratio, bar in (
            ("distance-weighted radius neighbours; ratio: times faster", by_radius, by_radius / ours, Bar(">=", 6)),
            ("3-NN, brute force", by_nearest, ours / by_nearest, Bar("<=", 2)),
        ):
            judged = run.judged(bar) if one_core else None
            rows.append(Row(f"{label}; peer: {peer}", ours, seconds, ratio, "s", judged))
    return rows


def gravity_memory(run: Run) -> list[Row]:
    n_rows = 50_000 if run.quick else 200_000
    what = f"peak memory of GFRNN's fit and {_QUERIES:,} scores beyond the data, {n_rows:,} × 20"
    return [memory_row(run, what, Bar("<", 300, on="ours"), gfrnn_memory, n_rows)]


def gfrnn_memory(n_rows: int) -> float:
    X, y = in_place(n_rows, 20, np.float32)
    queries = np.random.default_rng(1).standard_normal((_QUERIES, 20), dtype=np.float32)
    GFRNN(radius="mean").fit(X[:500], y[:500]).score_samples(queries[:300])
    return memory_of(lambda: GFRNN(radius="mean").fit(X, y).score_samples(queries))


# CCNND --------------------------------------------------------------------------------------------------------


def ccnnd_predict_time(run: Run) -> list[Row]:
    X, y, queries = _stored_and_queries(2_000 if run.quick else 20_000)
    rows = []
    for k in (1, 3):
        searches = [NearestNeighbors(n_neighbors=k).fit(X[y == label]) for label in (0, 1)]
        what = f"CCNND, k = {k}, predicts {len(queries):,} rows from {len(X):,} × 20; peer: a search in each class"
        for one_core, label in on_both(what):
            model = CCNND(k, n_jobs=None if one_core else -1).fit(X, y)
            model.predict(queries[:5])  # compiles, once
            ours, peer = fastest(
                run,
                7,
                one_core=one_core,
                CCNND=partial(model.predict, queries),
                NearestNeighbors=lambda searches=searches: [search.kneighbors(queries) for search in searches],
            )
            rows.append(Row(label, ours, peer, ours / peer, "s", run.judged(Bar("<=", 2)) if one_core else None))
    return rows


def ccnnd_stream_time(run: Run) -> list[Row]:
    stored = 5_000 if run.quick else 50_000
    X, y = rare_class(stored + _ARRIVALS)
    return [row for k in (1, 3) for row in _stream_time(run, X, y, stored, k)]


def _stream_time(run: Run, X: FloatArray, y: IntArray, stored: int, k: int) -> list[Row]:
    model = CCNND(k).fit(X[:stored], y[:stored])
    arrivals = range(stored, len(X))

    def learn() -> None:
        for i in arrivals:
            model.partial_fit(X[[i]], y[[i]])

    def judge_and_learn() -> None:
        for i in arrivals:
            model.predict(X[[i]])
            model.partial_fit(X[[i]], y[[i]])

    def forget() -> None:
        for i in arrivals:
            model.forget(i - stored)

    refit, *seconds = fastest(
        run,
        1,
        one_core=True,
        refit=lambda: CCNND(k).fit(X[:stored], y[:stored]),
        partial_fit=learn,
        predict=judge_and_learn,
        forget=forget,
    )
    rows = []
    for what, taken in zip(("partial_fit", "predict and partial_fit", "forget"), seconds, strict=True):
        ours = taken / len(arrivals)
        bar = run.judged(Bar(">=", 100)) if what == "partial_fit" else None
        text = f"CCNND, k = {k}: {what} of one row with {stored:,} × 20 stored; peer: a refit; ratio: times faster"
        rows.append(Row(text, ours, refit, refit / ours, "s", bar))
    return rows


# The others ---------------------------------------------------------------------------------------------------


def rare_predict_time(run: Run) -> list[Row]:
    """Compare with sorting all rows by distance, which is what it takes to walk outwards without an index."""
    X, y, queries = _stored_and_queries(2_000 if run.quick else 20_000, 500, 10)
    everything = NearestNeighbors(n_neighbors=len(X), algorithm="brute").fit(X)
    models = {rule.__name__: rule().fit(X, y) for rule in (KRNN, PNN, KENN)}
    calls = {name: lambda model=model: model.predict(queries) for name, model in models.items()}
    for call in calls.values():
        call()  # builds the search engines, once
    *ours, peer = fastest(run, 3, one_core=True, **calls, all=lambda: everything.kneighbors(queries))
    what = f"predicts {len(queries)} rows from {len(X):,} × 10; peer: the {len(X):,} nearest; ratio: times faster"
    return [
        Row(f"{name} {what}", seconds, peer, peer / seconds, "s", run.judged(Bar(">=", 20)))
        for name, seconds in zip(models, ours, strict=True)
    ]


def neighbors_time(run: Run) -> list[Row]:
    """Fit and predict with every neighbour method of the registry as it comes."""
    found = dict(scarce.all_estimators())
    rules = {name: rule() for name, rule in found.items() if rule.__module__.startswith("scarce.neighbors")}
    return beside_neighbours(run, 2, rules)


def beside_neighbours(run: Run, repeats: int, models: dict[str, object]) -> list[Row]:
    """Compare the fit and the predictions of each model with those of 3-NN."""
    X, y = rare_class(2_000 if run.quick else 20_000)
    n = len(X) * 4 // 5
    rows = []
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a small table that has few positives
            model.fit(X[:500], y[:500]).predict(X[:5])  # compiles, once
        ours, peer = fastest(
            run,
            repeats,
            one_core=True,
            ours=lambda model=model: model.fit(X[:n], y[:n]).predict(X[n:]),
            KNeighborsClassifier=lambda: KNeighborsClassifier(3).fit(X[:n], y[:n]).predict(X[n:]),
        )
        what = f"{name}: fit {n:,} × {X.shape[1]}, predict {len(X) - n:,}; peer: 3-NN"
        rows.append(Row(what, ours, peer, ours / peer, "s"))
    return rows
