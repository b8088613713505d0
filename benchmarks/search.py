"""Time of the neighbour search itself: exact in tiles, one row at a time, and by an inverted file."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, f1_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.rows import Bar, Row, Run, fastest, on_both
from scarce.datasets import load
from scarce.neighbors import ClassIndex, GammaKNN

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_QUERIES = 1_024
_K = 3
_TURNS = 5


def _rows(n: int, n_queries: int = _QUERIES) -> tuple[FloatArray, IntArray, FloatArray]:
    X, y = make_classification(n + n_queries, 20, n_informative=10, weights=[0.995], random_state=0)
    return X[:n], y[:n], X[n:]


def exact_time(run: Run) -> list[Row]:
    X, _, queries = _rows(20_000 if run.quick else 1_000_000)
    ours = ClassIndex(algorithm="brute").fit(X, np.zeros(len(X), dtype=np.intp))
    peer = NearestNeighbors(algorithm="brute").fit(X)
    ours.kneighbors(queries[:5], 0, _K)  # compiles, once
    what = f"the {_K} nearest of {_QUERIES:,} rows among {len(X):,} × 20; peer: scikit-learn's brute search"
    rows = []
    for one_core, label in on_both(f"{what}; ratio: times faster"):
        seconds, slower = fastest(
            run,
            3,
            one_core=one_core,
            ClassIndex=lambda: ours.kneighbors(queries, 0, _K),
            NearestNeighbors=lambda: peer.kneighbors(queries, _K),
        )
        rows.append(Row(label, seconds, slower, slower / seconds, "s", run.judged(Bar(">=", 2)) if one_core else None))
    distance, number = ours.kneighbors(queries[:64], 0, _K)
    squared = np.stack([((X - query) ** 2).sum(axis=1) for query in queries[:64]])
    nearest = np.sqrt(np.sort(np.partition(squared, _K, axis=1)[:, :_K], axis=1))
    error = float(np.abs(distance / nearest - 1).max())
    wrong = float((np.sqrt(np.take_along_axis(squared, number, axis=1)) > nearest * (1 + 1e-12)).sum())
    rows.append(
        Row(
            "of these, the largest relative error of 64 × 3 distances, × 1e12",
            error * 1e12,
            bar=Bar("<=", 1, on="ours"),
        )
    )
    rows.append(Row("of these, neighbours that are not the nearest", wrong, bar=Bar("<=", 0, on="ours")))
    return rows


def one_row_time(run: Run) -> list[Row]:
    X, _, queries = _rows(5_000 if run.quick else 100_000)
    ours = ClassIndex(algorithm="brute").fit(X, np.zeros(len(X), dtype=np.intp))
    peer = NearestNeighbors(algorithm="brute").fit(X)
    searches = (lambda row: ours.kneighbors(row, 0, _K)), (lambda row: peer.kneighbors(row, _K))
    rows = []
    for one_core, label in on_both(
        f"one row among {len(X):,} × 20, 99th percentile; peer: scikit-learn's brute search"
    ):
        clock = time.process_time if one_core else time.perf_counter
        with threadpool_limits(1 if one_core else None):
            mine, others = _percentiles(searches, queries[:500], clock)
        bar = run.judged(Bar("<=", 1 / 6)) if one_core else None
        rows.append(Row(label, mine, others, mine / others, "s", bar))
    return rows


def _percentiles(
    searches: tuple[Callable[[FloatArray], object], ...], queries: FloatArray, clock: Callable[[], float]
) -> list[float]:
    """Return the 99th percentile of the time of one row, the least of several turns as for all times."""
    least = [np.inf] * len(searches)
    taken = np.empty(len(queries))
    for _ in range(_TURNS):
        for j, search in enumerate(searches):
            for i in range(-1, len(queries)):  # the first, which compiles, is overwritten
                start = clock()
                search(queries[[i]])
                taken[i] = clock() - start
            least[j] = min(least[j], float(np.percentile(taken, 99)))
    return least


def inverted_file_time(run: Run) -> list[Row]:
    X, y, queries = _rows(20_000 if run.quick else 1_000_000)
    return _inverted_file(run, f"{len(X):,} × 20", X, y, queries)[0] + _on_payments(run)


def _inverted_file(
    run: Run, size: str, X: FloatArray, y: IntArray, queries: FloatArray
) -> tuple[list[Row], GammaKNN, FloatArray]:
    model = GammaKNN(algorithm="ivf", calibration=None).fit(X, y)
    peer = NearestNeighbors(algorithm="brute").fit(X)
    model.score_samples(queries[:5])  # compiles, once
    peers = "the 3 nearest by scikit-learn's brute search"
    what = f"γk-NN scores from {size}, ivf of recall {model.recall_:.3f}; peer: {peers}"
    few = queries[:_QUERIES]
    rows = []
    for one_core, label in on_both(f"{what}; ratio: times faster"):
        ours, exact = fastest(
            run,
            3,
            one_core=one_core,
            ivf=lambda: model.score_samples(few),
            NearestNeighbors=lambda: peer.kneighbors(few, _K),
        )
        rows.append(Row(label, ours, exact, exact / ours, "s", run.judged(Bar(">=", 15)) if one_core else None))
    return rows, model, model.score_samples(queries)


def _on_payments(run: Run) -> list[Row]:
    """Learn from the earlier payments and score later ones, by the inverted file and exactly, with the same γ."""
    try:
        data = load("handbook-payments")
    except (OSError, ValueError) as error:
        return [Row("the same on payments", note=str(error))]
    n = 20_000 if run.quick else 1_000_000
    order = np.argsort(data.times, kind="stable")[: n + 40_000]
    X, y = np.asarray(data.data, dtype=np.float64)[order], np.asarray(data.target)[order]
    X = StandardScaler().fit(X[:n]).transform(X)
    rows, model, score = _inverted_file(run, f"{n:,} payments × {X.shape[1]}", X[:n], y[:n], X[n:])
    exact = GammaKNN(gamma=model.gamma_, calibration=None).fit(X[:n], y[:n])
    expected = exact.score_samples(X[n:])
    for name, found, right in (
        ("average precision", average_precision_score(y[n:], score), average_precision_score(y[n:], expected)),
        ("F1", f1_score(y[n:], score > model.threshold_), f1_score(y[n:], expected > exact.threshold_)),
    ):
        what = (
            f"{name} of {len(y) - n:,} later payments, {y[n:].sum()} of them frauds; peer: exact; ratio: the difference"
        )
        rows.append(Row(what, found, right, abs(found - right), "", Bar("<", 0.005)))
    return rows
