"""Time and memory of neighbour methods at a million rows, and how they grow."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.memory import memory_of, memory_row
from benchmarks.neighbors import in_place
from benchmarks.rows import Bar, Row, Run, fastest, on_both
from scarce.datasets import DatasetUnavailable, load
from scarce.neighbors import CCNND, GFRNN, GammaKNN

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_QUERIES = 2_000


def _rare(n_rows: int, n_features: int = 20, share: float = 0.005) -> tuple[FloatArray, IntArray]:
    informative = n_features // 2
    return make_classification(
        n_rows, n_features, n_informative=informative, weights=[1 - share], flip_y=0, random_state=0
    )


def _payments() -> tuple[FloatArray, IntArray]:
    found = load("handbook-payments")
    order = np.random.default_rng(0).permutation(len(found.target))
    return StandardScaler().fit_transform(np.asarray(found.data))[order], np.asarray(found.target)[order]


def decide_time(run: Run) -> list[Row]:
    """Predict at the γ that was fitted, and at 0.5."""
    size = 5_000 if run.quick else 1_000_000
    rows = []
    for name, read in ((f"{size:,} × 20", lambda: _rare(size + _QUERIES)), ("payments", _payments)):
        try:
            X, y = read()
        except DatasetUnavailable as error:
            rows.append(Row(f"GammaKNN predicts from {name}", bar=run.judged(Bar(">=", 20)), note=str(error)))
            continue
        n = min(size, len(X) - _QUERIES)
        rows += _decide_rows(run, name, X[:n], y[:n], X[n : n + _QUERIES])
    return rows


def _decide_rows(run: Run, name: str, X: FloatArray, y: IntArray, queries: FloatArray) -> list[Row]:
    run.progress(f"fits of {name}")
    tuned = GammaKNN(calibration=None).fit(X, y)
    half = GammaKNN(gamma=0.5, calibration=None).fit(X, y)
    peer = KNeighborsClassifier(3, algorithm="brute").fit(X, y)
    score = tuned.score_samples(queries)
    rows = []
    for model, bar in ((tuned, run.judged(Bar(">=", 20))), (half, None)):
        same = np.mean(model.predict(queries) == (score > model.threshold_))
        what = f"GammaKNN, γ = {model.gamma_:.2f}, predicts {len(queries):,} rows from {name}; peer: 3-NN, brute force"
        for one_core, label in on_both(f"{what}; ratio: times faster"):
            ours, theirs = fastest(
                run, 2, one_core=one_core, GammaKNN=partial(model.predict, queries), peer=partial(peer.predict, queries)
            )
            note = f"{same:.2%} of the labels are those of the full scores"
            rows.append(Row(label, ours, theirs, theirs / ours, "s", bar if one_core else None, note))
    return rows


def tuned_growth(run: Run) -> list[Row]:
    """Choose γ on many rows, and on more."""
    few, many = (2_000, 5_000) if run.quick else (300_000, 1_000_000)
    X, y = _rare(many)
    GammaKNN().fit(X[:5_000], y[:5_000])  # compiles, once
    fits: dict[str, Any] = {
        "few": lambda: GammaKNN().fit(X[:few], y[:few]),
        "many": lambda: GammaKNN().fit(X, y),
        "f1": lambda: GammaKNN(threshold="f1").fit(X, y),
    }
    rows = []
    for one_core, label in on_both(f"GammaKNN fit, γ chosen exactly, {many:,} × 20"):
        small, large, by_name = fastest(run, 1, one_core=one_core, **fits)
        judged = run.judged if one_core else lambda _: None
        growth, same = judged(Bar("<", 1.6)), judged(Bar("<=", 1.1))
        rows.append(_growth(f"{label}; peer: {few:,} rows; ratio: exponent", small, large, few, many, growth))
        rows.append(Row(f'{label}, threshold="f1"; peer: the default', by_name, large, by_name / large, "s", same))
    return rows


def ccnnd_growth(run: Run) -> list[Row]:
    """Fit CCNND in two threads on many rows, and on more."""
    few, many = (2_000, 5_000) if run.quick else (30_000, 300_000)
    X, y = _rare(many, 10, 0.03)
    CCNND().fit(X[:5_000], y[:5_000])  # compiles, once
    rows = []
    for one_core, label in ((True, "processor time"), (False, "by the clock")):
        small, large = fastest(
            run,
            1,
            one_core=one_core,
            few=lambda: CCNND(n_jobs=2).fit(X[:few], y[:few]),
            many=lambda: CCNND(n_jobs=2).fit(X, y),
        )
        what = f"CCNND fit in two threads, {label}, {many:,} × 10; peer: {few:,} rows; ratio: exponent"
        rows.append(_growth(what, small, large, few, many, run.judged(Bar("<", 1.5)) if one_core else None))
    return rows


def _growth(what: str, small: float, large: float, few: int, many: int, bar: Bar | None) -> Row:
    return Row(what, large, small, math.log(large / small) / math.log(many / few), "s", bar)


def gravity_fit_memory(run: Run) -> list[Row]:
    """Compare with the size of the data."""
    n_rows = 50_000 if run.quick else 1_000_000
    what = f"peak memory of GFRNN's fit beyond the data, {n_rows:,} × 20, double precision; bar: the data's own size"
    return [memory_row(run, what, Bar("<", n_rows * 20 * 8 / 1e6, on="ours"), fit_memory, n_rows)]


def fit_memory(n_rows: int) -> float:
    X, y = in_place(n_rows, 20, np.float64)
    GFRNN().fit(X[:500], y[:500])
    return memory_of(lambda: GFRNN().fit(X, y))
