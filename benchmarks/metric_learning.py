"""Time of LMNN beside scikit-learn's neighbourhood components analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Bar, Row, Run, fastest
from scarce.datasets import DatasetUnavailable, load
from scarce.metric_learning import LMNN


def _sets(run: Run) -> dict[str, tuple[Any, Any]]:
    wine = {"wine, 3 classes": load_wine(return_X_y=True)}
    if run.quick:
        return wine
    sets = {
        **wine,
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits, 10 classes": load_digits(return_X_y=True),
    }
    for name in ("ionosphere", "vehicle", "segmentation"):
        try:
            sets[name] = load(name).data, load(name).target
        except DatasetUnavailable:
            continue
    return sets


def lmnn_time(run: Run) -> list[Row]:
    LMNN().fit(np.arange(12.0).reshape(6, 2), [0, 1] * 3)  # compiles, once
    seconds = {}
    for name, (X, y) in _sets(run).items():
        scaled = StandardScaler().fit_transform(X)
        seconds[name] = fastest(
            run,
            3,
            one_core=True,
            LMNN=lambda X=scaled, y=y: LMNN().fit(X, y),
            NCA=lambda X=scaled, y=y: NeighborhoodComponentsAnalysis(random_state=0).fit(X, y),
        )
    rows = [Row(f"LMNN fits {name}; peer: NCA", ours, peer, ours / peer, "s") for name, (ours, peer) in seconds.items()]
    ours, peer = (sum(taken[i] for taken in seconds.values()) for i in (0, 1))
    return [*rows, Row(f"all {len(seconds)} fits; peer: NCA", ours, peer, ours / peer, "s", run.judged(Bar("<", 1)))]
