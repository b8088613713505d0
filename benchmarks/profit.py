"""How long do methods for profit learn, and how fast do they answer?"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.profit_models import NO_LIGHTGBM, TREES, lightgbm
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.boosting import ProfitBoosting
from scarce.profit import BayesProfitClassifier
from scarce.trees import ProfitForest


def profit_fit_time(run: Run) -> list[Row]:
    what = "ProfitBoosting.fit, 200,000 x 30, 100 trees of 31 leaves; peer: LightGBM's classifier, same trees"
    bar = None if run.quick else Bar("<=", 1.3)
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=NO_LIGHTGBM)]
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
            ours=lambda loss=loss: ProfitBoosting(loss, **{**TREES, **size}).fit(X, y, gains=gains),
            peer=lambda: lightgbm(**size).fit(X, y),
        )
        rows.append(
            Row(f"{what}, loss={loss!r}", ours, peer, ours / peer, "s", bar, f"{n:,} rows" if run.quick else "")
        )
    return rows


def profit_latency(run: Run) -> list[Row]:
    what = "one row, 99th percentile of 10,000 calls, ms of the processor; peer: the LightGBM booster itself"
    bar = None if run.quick else Bar("<", 10, on="ours")
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=NO_LIGHTGBM)]
    X, y = make_classification(20_000, 30, n_informative=10, weights=[0.98], random_state=0)
    gains = np.array([0, -5, 0, -80.0])
    model = ProfitBoosting(**TREES).fit(X, y, gains=gains)
    bayes = BayesProfitClassifier(lightgbm()).fit(X, y, gains=gains)
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
