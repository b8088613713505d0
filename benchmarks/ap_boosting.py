"""Does boosting for the average precision rank better than boosting for the likelihood, with the same trees?"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.rows import Detail, Row, Run
from scarce.boosting import APBoosting
from scarce.datasets import load

_SETS = ["glass", "pima", "vehicle", "yeast3", "yeast6", "wine4", "abalone8", "abalone17", "libras", "segmentation"]
_TREES: dict[str, Any] = {
    "n_estimators": 100,
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 10,
    "reg_lambda": 1.0,
    "colsample_bytree": 0.5,
    "random_state": 0,
    "n_jobs": 1,
}


def ap_boosting(run: Run) -> list[Row]:
    what = "mean test AP, ten of the papers' sets, five 70/30 splits"
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, note='LightGBM is not installed: pip install "scarce[boost]"')]
    from lightgbm import LGBMClassifier

    models: dict[str, Any] = {
        "-log A": APBoosting("log", **_TREES, threshold=0.0),
        "1 - A": APBoosting("linear", **_TREES, threshold=0.0),
        "-log A, α = 3": APBoosting("log", alpha=3.0, **_TREES, threshold=0.0),
        "mean_of_trees": APBoosting(
            variant="mean_of_trees", n_estimators=100, max_depth=4, learning_rate=0.1, random_state=0, threshold=0.5
        ),
        "LightGBM": LGBMClassifier(**_TREES, verbose=-1),
    }
    names = _SETS[:2] if run.quick else _SETS
    found = np.empty((len(names), len(models)))
    for i, name in enumerate(names):
        data = load(name)
        splits = StratifiedShuffleSplit(1 if run.quick else 5, test_size=0.3, random_state=0)
        parts = list(splits.split(data.data, data.target))
        for j, (label, model) in enumerate(models.items()):
            run.tell(f"{name}, {label}")
            found[i, j] = np.mean([_ap(model, data, train, test) for train, test in parts])
    table: list[list[str | float]] = [[name, *map(float, row)] for name, row in zip(names, found, strict=True)]
    table.append(["mean", *map(float, found.mean(axis=0))])
    run.details.append(Detail("average precision on test rows", ["set", *models], table))
    means = dict(zip(models, found.mean(axis=0), strict=True))
    peer = float(means.pop("LightGBM"))
    return [
        Row(f"{what}, {label}; peer: LightGBM, same trees", float(mean), peer, float(mean) / peer)
        for label, mean in means.items()
    ]


def _ap(model: Any, data: Any, train: Any, test: Any) -> float:
    model.fit(data.data[train], data.target[train])
    ours = isinstance(model, APBoosting)
    score = model.score_samples(data.data[test]) if ours else model.predict_proba(data.data[test])[:, 1]
    return float(average_precision_score(data.target[test], score))
