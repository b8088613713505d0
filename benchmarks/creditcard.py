"""How well does the nearest-fraud score rank card payments?"""

from __future__ import annotations

import importlib.util
import time
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Bar, Detail, Row, Run
from scarce.datasets import DatasetUnavailable, load
from scarce.neighbors import GammaKNN

_WHAT = "average precision, creditcard, 30 % held out, k = 1; peer: the best rival"


def creditcard_ap(run: Run) -> list[Row]:
    bar = Bar(">=", 0.80, on="ours")
    if run.quick:
        return [Row(_WHAT, bar=bar, note="left out by --quick: takes minutes")]
    try:
        data = load("creditcard")
    except DatasetUnavailable as error:
        return [Row(_WHAT, bar=bar, note=str(error))]
    X = data.data.copy()
    X[:, data.feature_names.index("Amount")] = np.log1p(data.amount)
    train, test = train_test_split(np.arange(len(X)), test_size=0.3, stratify=data.target, random_state=0)
    scaler = StandardScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    y_train, y_test = data.target[train], data.target[test]

    table: list[list[str | float]] = []

    def ap_of(label: str, model: Any, columns: Any = slice(None)) -> float:
        run.tell(label)
        start = time.perf_counter()
        model.fit(np.ascontiguousarray(X_train[:, columns]), y_train)
        queries = np.ascontiguousarray(X_test[:, columns])
        ours = isinstance(model, GammaKNN)
        score = model.score_samples(queries) if ours else model.predict_proba(queries)[:, 1]
        ap = float(average_precision_score(y_test, score))
        table.append([label, ap, time.perf_counter() - start])
        return ap

    # The score does not depend on γ, so that none need be chosen.
    with_time = ap_of("γk-NN, k = 1", GammaKNN(1, gamma=1.0))
    without = [j for j, name in enumerate(data.feature_names) if name != "Time"]
    without_time = ap_of("γk-NN, k = 1, without Time", GammaKNN(1, gamma=1.0), without)
    rivals = {"extra trees": ExtraTreesClassifier(100, n_jobs=-1, random_state=0)}
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        # The settings of `scarce audit`: the library's own run away on so few positives.
        rivals["LightGBM"] = LGBMClassifier(
            n_estimators=150,
            learning_rate=0.05,
            num_leaves=8,
            colsample_bytree=0.5,
            reg_lambda=5.0,
            random_state=0,
            verbose=-1,
        )
    found = {label: ap_of(label, model) for label, model in rivals.items()}
    run.details.append(Detail("creditcard: average precision, seconds to fit and score", ["model", "AP", "s"], table))
    best = max(found, key=found.get)
    beside = ", ".join(f"{label} {ap:.3f}" for label, ap in found.items())
    return [
        Row(_WHAT, with_time, found[best], with_time / found[best], "", bar, beside),
        Row("the same without the column Time", without_time, found[best], without_time / found[best]),
    ]
