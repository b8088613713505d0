"""How fast is CCNND beside plain neighbour searches, and how fast does it take in one more row?"""

from __future__ import annotations

import os
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from benchmarks.rows import Bar, Row, Run, fastest
from benchmarks.speed import rare_class
from scarce.neighbors import CCNND

FloatArray = NDArray[np.float64]

_QUERIES = 4_000
# How many rows come one by one.
_ARRIVALS = 100


def ccnnd_predict_time(run: Run) -> list[Row]:
    stored = 2_000 if run.quick else 20_000
    X, y = rare_class(stored + _QUERIES)
    X, y, queries = X[:stored], y[:stored], X[stored:]
    return [row for k in (1, 3) for row in _predict_time(run, X, y, queries, k)]


def _predict_time(run: Run, X: FloatArray, y: NDArray[np.int64], queries: FloatArray, k: int) -> list[Row]:
    searches = [NearestNeighbors(n_neighbors=k).fit(X[y == label]) for label in (0, 1)]
    rows = []
    for one_core in (True, False):
        model = CCNND(k, n_jobs=None if one_core else -1).fit(X, y)
        model.predict(queries[:5])  # compiles, once
        ours, peer = fastest(
            run,
            7,
            one_core=one_core,
            CCNND=partial(model.predict, queries),
            NearestNeighbors=lambda: [search.kneighbors(queries) for search in searches],
        )
        what = f"CCNND, k = {k}, predicts {len(queries):,} rows from {len(X):,} × 20; peer: a search in each class"
        label = what if one_core else f"the same on {os.cpu_count()} cores, by the clock"
        rows.append(Row(label, ours, peer, ours / peer, "s", Bar("<=", 2) if one_core and not run.quick else None))
    return rows


def ccnnd_stream_time(run: Run) -> list[Row]:
    stored = 5_000 if run.quick else 50_000
    X, y = rare_class(stored + _ARRIVALS)
    return [row for k in (1, 3) for row in _stream_time(run, X, y, stored, k)]


def _stream_time(run: Run, X: FloatArray, y: NDArray[np.int64], stored: int, k: int) -> list[Row]:
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
        bar = Bar(">=", 100) if what == "partial_fit" and not run.quick else None
        text = f"CCNND, k = {k}: {what} of one row with {stored:,} × 20 stored; peer: a refit; ratio: times faster"
        rows.append(Row(text, ours, refit, refit / ours, "s", bar))
    return rows
