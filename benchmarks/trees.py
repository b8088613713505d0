"""Time and memory of the tree engine beside scikit-learn's trees, and the first fit of a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.memory import memory_row, resident
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.datasets import handbook_split, load
from scarce.trees import APTree, MetaAP, MetaAPForest

BINS = 255


def _rows(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return training rows and half as many others, as the authors of MetaAP were timed on."""
    X, y = make_classification(
        int(1.5 * n), d, n_informative=d // 2, n_redundant=0, weights=[0.97], class_sep=1, flip_y=0.01, random_state=0
    )
    return X[:n], y[:n], X[n:]


def tree_fit_time(run: Run) -> list[Row]:
    n = 20_000 if run.quick else 100_000
    X, y, _ = _rows(n, 30)
    rows = []
    for depth in (5, 10):
        peer, exact, binned = fastest(
            run,
            3,
            one_core=True,
            peer=lambda depth=depth: DecisionTreeClassifier(max_depth=depth).fit(X, y),
            exact=lambda depth=depth: APTree(max_depth=depth).fit(X, y),
            binned=lambda depth=depth: APTree(max_depth=depth, max_bins=BINS).fit(X, y),
        )
        what = f"APTree fit of depth {depth}, {n:,} × 30, to DecisionTreeClassifier"
        rows.append(Row(f"{what}, exact splits", exact, peer, exact / peer, "s", run.judged(Bar("<=", 3))))
        rows.append(Row(f"{what}, histograms", binned, peer, binned / peer, "s", run.judged(Bar("<=", 1))))
    return rows


def meta_fit_time(run: Run) -> list[Row]:
    n = 20_000 if run.quick else 100_000
    X, y, new = _rows(n, 20)
    model = MetaAP(max_depth=5).fit(X, y)
    peer, exact, binned, predict = fastest(
        run,
        3,
        one_core=True,
        peer=lambda: DecisionTreeClassifier(max_depth=5).fit(X, y),
        exact=lambda: MetaAP(max_depth=5).fit(X, y),
        binned=lambda: MetaAP(max_depth=5, max_bins=BINS).fit(X, y),
        predict=lambda: model.score_samples(new),
    )
    what = f"of MetaAP of depth 5, {n:,} × 20, to a fit of DecisionTreeClassifier of depth 5"
    return [
        Row(f"fit {what}, exact splits", exact, peer, exact / peer, "s", run.judged(Bar("<=", 2.9))),
        Row(f"fit {what}, histograms", binned, peer, binned / peer, "s", run.judged(Bar("<=", 0.4))),
        Row(f"scores {what}, {len(new):,} rows", predict, peer, predict / peer, "s", run.judged(Bar("<=", 0.03))),
    ]


def _payments(run: Run) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """Return a week of card payments, later ones, and the number of trees."""
    if run.quick:
        return *_rows(2_000, 15), 20
    payments = load("handbook-payments")
    train, test = handbook_split(payments.frame, "2018-06-13")
    return payments.data[train], payments.target[train], payments.data[test], 200


def forest_fit_time(run: Run) -> list[Row]:
    try:
        X, y, _, trees = _payments(run)
    except (OSError, ValueError) as problem:
        return [Row("MetaAPForest fit of card payments", note=str(problem))]
    options = {"n_estimators": trees, "random_state": 0}
    peer, meta, one, bins, meta_bins = fastest(
        run,
        2,
        one_core=True,
        peer=lambda: RandomForestClassifier(min_samples_leaf=5, **options).fit(X, y),
        meta=lambda: MetaAPForest(**options).fit(X, y),
        one=lambda: MetaAPForest(merge=False, **options).fit(X, y),
        bins=lambda: MetaAPForest(merge=False, max_bins=BINS, **options).fit(X, y),
        meta_bins=lambda: MetaAPForest(max_bins=BINS, **options).fit(X, y),
    )
    what = f"MetaAPForest fit of {len(X):,} × {X.shape[1]} payments, {trees} trees, to RandomForestClassifier"
    return [
        Row(f"{what}, trees of trees", meta, peer, meta / peer, "s", run.judged(Bar("<=", 1.5))),
        Row(f"{what}, single trees", one, peer, one / peer, "s", run.judged(Bar("<=", 0.5))),
        Row(f"{what}, single trees on histograms", bins, peer, bins / peer, "s", run.judged(Bar("<=", 0.25))),
        Row(f"{what}, trees of trees on histograms", meta_bins, peer, meta_bins / peer, "s"),
    ]


def forest_histogram_time(run: Run) -> list[Row]:
    n = 10_000 if run.quick else 200_000
    X, y, _ = _rows(n, 20)
    rows = []
    for merge in (False, True):
        exact, bins = fastest(
            run,
            2,
            one_core=True,
            exact=lambda merge=merge: MetaAPForest(10, merge=merge, random_state=0).fit(X, y),
            bins=lambda merge=merge: MetaAPForest(10, merge=merge, max_bins=BINS, random_state=0).fit(X, y),
        )
        what = f"MetaAPForest(10, merge={merge}) fit on histograms, {n:,} × 20, to exact splits"
        rows.append(Row(what, bins, exact, bins / exact, "s", run.judged(Bar("<=", 1 / 3))))
    return rows


def forest_predict_time(run: Run) -> list[Row]:
    try:
        X, y, test, trees = _payments(run)
    except (OSError, ValueError) as problem:
        return [Row("MetaAPForest scores of card payments", note=str(problem))]
    new = np.random.default_rng(0).choice(test, 10_000 if run.quick else 1_000_000)
    peer = RandomForestClassifier(trees, min_samples_leaf=5, random_state=0).fit(X, y)
    rows = []
    for merge, kind in ((True, "trees of trees"), (False, "single trees")):
        ours = MetaAPForest(trees, merge=merge, random_state=0).fit(X, y)
        many, theirs = fastest(
            run,
            2,
            one_core=True,
            many=lambda ours=ours: ours.score_samples(new),
            theirs=lambda: peer.predict_proba(new),
        )
        what = f"MetaAPForest scores of {len(new):,} payments, {kind}, to RandomForestClassifier"
        rows.append(Row(what, many, theirs, many / theirs, "s", run.judged(Bar("<=", 1))))
        one, their_one = (_slow_call(scores, test[:200]) for scores in (ours.score_samples, peer.predict_proba))
        what = f"MetaAPForest score of one payment, {kind}, 99th percentile, to RandomForestClassifier"
        rows.append(Row(what, one, their_one, one / their_one, "s", run.judged(Bar("<=", 1))))
    return rows


def _slow_call(scores: Callable[[NDArray[Any]], object], new: NDArray[Any]) -> float:
    """Return the time that 99 of 100 calls with one row keep."""
    taken = []
    for row in new:
        start = time.perf_counter()
        scores(row[None])
        taken.append(time.perf_counter() - start)
    return float(np.quantile(taken, 0.99))


def tree_predict_time(run: Run) -> list[Row]:
    n = 100_000 if run.quick else 1_000_000
    X, y, _ = _rows(50_000, 20)
    new = np.random.default_rng(0).choice(X, n)
    rows = []
    for depth in (5, 10):
        ours, plain = APTree(max_depth=depth).fit(X, y), APTree(max_depth=depth, tie_break=None).fit(X, y)
        peer = DecisionTreeClassifier(max_depth=depth).fit(X, y)
        tie, none, theirs = fastest(
            run,
            3,
            one_core=True,
            tie=lambda m=ours: m.predict(new),
            none=lambda m=plain: m.predict(new),
            theirs=lambda m=peer: m.predict(new),
        )
        what = f"APTree predict of depth {depth}, {n:,} rows, to DecisionTreeClassifier"
        rows.append(Row(what, tie, theirs, tie / theirs, "s", run.judged(Bar("<=", 2))))
        rows.append(Row(f"{what}, without ties broken", none, theirs, none / theirs, "s", run.judged(Bar("<=", 2))))
    return rows


def tree_memory(run: Run) -> list[Row]:
    n = 100_000 if run.quick else 1_000_000
    what = f"memory of a process that fits MetaAP on {n:,} × 30 with histograms, data and libraries included"
    return [memory_row(run, what, Bar("<", 2000, on="ours"), metaap_memory, n)]


def metaap_memory(n: int) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 30))
    y = X[:, 0] + X[:, 1] + rng.normal(size=n) > 3
    MetaAP(max_bins=BINS).fit(X, y)
    return resident("VmHWM")


def tree_first_fit(run: Run) -> list[Row]:
    code = (
        "import time, numpy as np; start = time.perf_counter(); from scarce.trees import MetaAP; "
        "rng = np.random.default_rng(0); X = rng.normal(size=(200, 5)); "
        "MetaAP().fit(X, X[:, 0] > 1); print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        taken = []
        for name in ("first", "second"):
            run.progress(f"the {name} process")
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            done = subprocess.run(
                [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True, env=environment
            )
            taken.append(float(done.stdout))
    return [
        Row(
            "import and first fit of MetaAP after installation, kernels compiled",
            taken[0],
            unit="s",
            bar=Bar("<", 15, "ours"),
        ),
        Row("the same in the next process, kernels from disk", taken[1], unit="s"),
    ]
