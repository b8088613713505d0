"""How fast and how lean is GFRNN beside scikit-learn's own neighbours?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

from benchmarks.memory import STATUS, status
from benchmarks.rows import Bar, Row, Run, fastest
from benchmarks.speed import rare_class
from scarce.neighbors import GFRNN

_QUERIES = 4_000


def _data(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    X, y = rare_class(n_rows + _QUERIES)
    X = X.astype(np.float32)
    return X[:n_rows], y[:n_rows], X[n_rows:]


def gravity_time(run: Run) -> list[Row]:
    X, y, queries = _data(2_000 if run.quick else 20_000)
    model = GFRNN(radius="mean").fit(X, y)
    model.score_samples(queries[:300])  # compiles, once
    radius = RadiusNeighborsClassifier(model.radius_, weights="distance").fit(X, y)
    nearest = KNeighborsClassifier(3, algorithm="brute").fit(X, y)
    what = f"GFRNN scores {_QUERIES:,} rows from {len(X):,} × 20, single precision"
    rows = []
    for one_core in (True, False):
        ours, by_nearest = fastest(
            run,
            15,
            one_core=one_core,
            GFRNN=lambda: model.score_samples(queries),
            KNeighborsClassifier=lambda: nearest.predict(queries),
        )
        # One turn is enough where the ratio is far from the bar, and this peer takes long.
        [by_radius] = fastest(run, 1, one_core=one_core, RadiusNeighbors=lambda: radius.predict_proba(queries))
        label = what if one_core else f"the same on {os.cpu_count()} cores, by the clock"
        judged = one_core and not run.quick
        rows += [
            Row(
                f"{label}; peer: distance-weighted radius neighbours; ratio: times faster",
                ours,
                by_radius,
                by_radius / ours,
                "s",
                Bar(">=", 6) if judged else None,
            ),
            Row(
                f"{label}; peer: 3-NN, brute force",
                ours,
                by_nearest,
                ours / by_nearest,
                "s",
                Bar("<=", 2) if judged else None,
            ),
        ]
    return rows


def gravity_memory(run: Run) -> list[Row]:
    n_rows = 50_000 if run.quick else 200_000
    what = f"peak memory of GFRNN's fit and {_QUERIES:,} scores beyond the data, {n_rows:,} × 20"
    bar = Bar("<", 300, on="ours")
    if not STATUS.exists():
        return [Row(what, bar=bar, note=f"this system has no {STATUS}")]
    run.tell("in a fresh process")
    command = [sys.executable, "-m", "benchmarks.gravity", str(n_rows)]
    root = Path(__file__).parent.parent
    ours = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root).stdout)
    return [Row(what, ours, unit="MB", bar=bar, note="the bar is for 200,000 rows" if run.quick else "")]


def _measure_here(n_rows: int) -> float:
    # Made in place, since what is freed before would hide a part of the peak.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 20), dtype=np.float32)
    y = np.arange(n_rows) % 33 == 0
    queries = rng.standard_normal((_QUERIES, 20), dtype=np.float32)
    GFRNN(radius="mean").fit(X[:500], y[:500]).score_samples(queries[:300])
    held = status("VmRSS")
    GFRNN(radius="mean").fit(X, y).score_samples(queries)
    return status("VmHWM") - held


if __name__ == "__main__":
    print(_measure_here(int(sys.argv[1])))
