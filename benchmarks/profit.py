"""Time of the fits and of single predictions of the methods for profit beside LightGBM and random forests."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.rows import Bar, Row, Run, fastest
from scarce.boosting import ProfitBoosting
from scarce.profit import BayesProfitClassifier
from scarce.trees import ProfitForest

_NO_LIGHTGBM = 'LightGBM is not installed: pip install "scarce[boost]"'
# The settings of `scarce audit`, and the defaults of ProfitBoosting.
_TREES: dict[str, Any] = {
    "n_estimators": 150,
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 20,
    "reg_lambda": 5.0,
    "colsample_bytree": 0.5,
    "random_state": 0,
    "n_jobs": 1,
}


def _lightgbm(**changed: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**{**_TREES, **changed}, verbose=-1)


def profit_fit_time(run: Run) -> list[Row]:
    what = "ProfitBoosting.fit, 200,000 x 30, 100 trees of 31 leaves; peer: LightGBM's classifier, same trees"
    bar = run.judged(Bar("<=", 1.3))
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=_NO_LIGHTGBM)]
    n = 20_000 if run.quick else 200_000
    X, y = make_classification(n, 30, n_informative=10, weights=[0.98], random_state=0)
    amount = np.random.default_rng(0).lognormal(4, 1, n)
    gains = np.column_stack((0 * amount, 0.1 * amount - 5, 0.1 * amount, -0.8 * amount))
    size = {"n_estimators": 100, "num_leaves": 31, "colsample_bytree": 1.0}
    rows = []
    for loss in ("log_loss", "exponential", "logistic"):
        ours, peer = fastest(
            run,
            3,
            one_core=True,
            ours=lambda loss=loss: ProfitBoosting(loss, **{**_TREES, **size}).fit(X, y, gains=gains),
            peer=lambda: _lightgbm(**size).fit(X, y),
        )
        rows.append(
            Row(f"{what}, loss={loss!r}", ours, peer, ours / peer, "s", bar, f"{n:,} rows" if run.quick else "")
        )
    return rows


def profit_latency(run: Run) -> list[Row]:
    what = "one row, 99th percentile of 10,000 calls, ms of the processor; peer: the LightGBM booster itself"
    bar = run.judged(Bar("<", 10, on="ours"))
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=_NO_LIGHTGBM)]
    X, y = make_classification(20_000, 30, n_informative=10, weights=[0.98], random_state=0)
    gains = np.array([0, -5, 0, -80.0])
    model = ProfitBoosting(**_TREES).fit(X, y, gains=gains)
    bayes = BayesProfitClassifier(_lightgbm()).fit(X, y, gains=gains)
    calls: dict[str, Callable[[Any], Any]] = {
        "booster": partial(model.booster_.predict, num_threads=1),
        "ProfitBoosting.predict": model.predict,
        "ProfitBoosting.score_samples": model.score_samples,
        "BayesProfitClassifier.predict with gains": partial(bayes.predict, gains=gains),
        "ProfitForest.predict": ProfitForest(random_state=0).fit(X, y, gains=gains).predict,
    }
    # The processor's time hardly depends on what else the machine does, the clock's does; calls take turns in both.
    times = 1_000 if run.quick else 10_000
    taken: dict[str, Any] = {name: np.empty((times, 2)) for name in calls}
    for i in range(-times // 100, times):
        row = X[i][None]
        for name, call in calls.items():
            clock, processor = time.perf_counter(), time.process_time()
            call(row)
            if i >= 0:  # the first calls load and compile
                taken[name][i] = time.process_time() - processor, time.perf_counter() - clock
    peer, peer_clock = np.percentile(taken["booster"], 99, axis=0) * 1000
    rows = []
    for name in list(calls)[1:]:
        median = np.median(taken[name][:, 0]) * 1000
        p99, p99_clock = np.percentile(taken[name], 99, axis=0) * 1000
        note = f"median {median:.2f}; by the clock, p99 {p99_clock:.2f}, the booster's {peer_clock:.2f}"
        rows.append(Row(f"{name}, {what}", float(p99), float(peer), float(p99 / peer), "", bar, note))
    return rows


def profit_forest_time(run: Run) -> list[Row]:
    n = 10_000 if run.quick else 50_000
    X, y = make_classification(n, 20, n_informative=8, weights=[0.97], random_state=0)
    amount = np.random.default_rng(0).lognormal(3, 1, n)
    gains = np.column_stack((0 * amount, 0.1 * amount - 5, 0.1 * amount, -0.8 * amount))
    for bins in (None, 255):  # compile
        ProfitForest(1, max_depth=3, max_bins=bins).fit(X[:500], y[:500], gains=gains[:500])
    rows = []
    for depth in (10, None):
        size: dict[str, Any] = {"n_estimators": 24, "max_depth": depth, "min_samples_leaf": 1, "random_state": 0}
        size["max_features"] = "sqrt"
        exact, binned, peer = fastest(
            run,
            3,
            one_core=True,
            exact=lambda size=size: ProfitForest(**size).fit(X, y, gains=gains),
            binned=lambda size=size: ProfitForest(max_bins=255, **size).fit(X, y, gains=gains),
            peer=lambda size=size: RandomForestClassifier(**size).fit(X, y),
        )
        for name, ours in (("", exact), (", max_bins=255", binned)):
            what = f"ProfitForest.fit{name}, {n:,} x 20, 24 trees of depth {depth}; peer: RandomForestClassifier"
            rows.append(Row(what, ours, peer, ours / peer, "s", run.judged(Bar("<=", 3))))
        model, rival = ProfitForest(**size).fit(X, y, gains=gains), RandomForestClassifier(**size).fit(X, y)
        ours, peer = fastest(
            run,
            3,
            one_core=True,
            ours=lambda model=model: model.predict(X),
            peer=lambda rival=rival: rival.predict(X),
        )
        rows.append(Row(f"ProfitForest.predict of these rows, depth {depth}", ours, peer, ours / peer, "s"))
    return rows
