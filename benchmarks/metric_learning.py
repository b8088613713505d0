"""Do learned metrics help: k-NN after LMNN, and few positives under MLFP and IML?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import scarce
from benchmarks.local_gamma import ChosenNeighbours, DensityGamma, RegionGamma, add_table, mean_f1, paired
from benchmarks.paper import PRINTED
from benchmarks.paper import _sets as paper_sets
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.datasets import DatasetUnavailable, load
from scarce.metric_learning import IMLKNN, LMNN, MLFPKNN
from scarce.neighbors import GammaKNN
from scarce.tuned import TunedThreshold


def _lmnn_sets() -> dict[str, tuple[Any, Any]]:
    sets = {
        "wine, 3 classes": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits, 10 classes": load_digits(return_X_y=True),
    }
    for name in ("ionosphere", "vehicle", "segmentation"):
        try:
            sets[name] = load(name).data, load(name).target
        except DatasetUnavailable:
            continue
    return sets


def lmnn(run: Run) -> list[Row]:
    """3-NN on standardised columns: as they are, after LMNN, and after scikit-learn's NCA."""
    table, seconds = {}, {}
    LMNN().fit(np.arange(12.0).reshape(6, 2), [0, 1] * 3)  # compiles, once
    for name, (X, y) in _lmnn_sets().items():
        maps = {"as they are": "passthrough", "LMNN": LMNN(), "NCA": NeighborhoodComponentsAnalysis(random_state=0)}
        splits = StratifiedShuffleSplit(2 if run.quick else 10, test_size=0.3, random_state=0)
        found = []
        for train, test in splits.split(X, y):
            run.tell(f"{name}, split {len(found) + 1}")
            models = [make_pipeline(StandardScaler(), learned, KNeighborsClassifier(3)) for learned in maps.values()]
            found.append([model.fit(X[train], y[train]).score(X[test], y[test]) for model in models])
        scaled = StandardScaler().fit_transform(X)
        taken = fastest(
            run,
            3,
            one_core=True,
            LMNN=lambda scaled=scaled, y=y: LMNN().fit(scaled, y),
            NCA=lambda scaled=scaled, y=y: NeighborhoodComponentsAnalysis(random_state=0).fit(scaled, y),
        )
        seconds[name] = taken
        table[name] = [*np.mean(found, axis=0).tolist(), *taken, taken[0] / taken[1]]
    columns = ["3-NN", "3-NN after LMNN", "3-NN after NCA", "LMNN, s", "NCA, s", "ratio of times"]
    add_table(run, "Test accuracy, 70/30 splits, and the time of a fit on all rows", columns, table)
    _, ours, peer, *_ = np.array(list(table.values())).T
    ours_time, peer_time = np.sum(list(seconds.values()), axis=0)
    faster = sum(a < b for a, b in seconds.values())
    quick = "10 splits" if not run.quick else "2 splits"
    return [
        Row(
            f"mean accuracy of 3-NN after LMNN, {len(table)} sets, {quick}; peer: after NCA",
            float(ours.mean()),
            float(peer.mean()),
            float(ours.mean() / peer.mean()),
            # Level: half a percent of the peer.
            bar=None if run.quick else Bar(">=", 0.995),
            note=paired(ours, peer),
        ),
        Row(
            f"LMNN fits the {len(table)} sets; peer: NCA",
            float(ours_time),
            float(peer_time),
            float(ours_time / peer_time),
            "s",
            None if run.quick else Bar("<", 1),
            f"faster on {faster} of {len(table)} sets",
        ),
    ]


def _contestants() -> dict[str, ClassifierMixin]:
    def minmax(model: ClassifierMixin) -> ClassifierMixin:
        return make_pipeline(MinMaxScaler((-1, 1)), model)

    def standard(*steps: Any) -> ClassifierMixin:
        return make_pipeline(StandardScaler(), *steps)

    models = {
        "γk-NN": minmax(GammaKNN(pos_label=1)),
        "γk-NN, k chosen": minmax(ChosenNeighbours()),
        "γ of 4 regions": minmax(RegionGamma(4)),
        "γ by density": minmax(DensityGamma()),
        "γk-NN, standardised": standard(GammaKNN(pos_label=1)),
        "LMNN, 3-NN": standard(LMNN(), KNeighborsClassifier(3)),
        "MLFPKNN": standard(MLFPKNN(pos_label=1)),
        "MLFPKNN, its vote": standard(MLFPKNN(threshold=0.5, pos_label=1)),
        "IMLKNN": standard(IMLKNN(pos_label=1)),
        "IMLKNN, its vote": standard(IMLKNN(threshold=0.5, pos_label=1)),
    }
    registered = dict(scarce.all_estimators())
    if "ME2" in registered:
        models["ME2"] = minmax(registered["ME2"](pos_label=1))
    forest = RandomForestClassifier(200, oob_score=True, random_state=0)
    models["random forest"] = TunedThreshold(forest, pos_label=1)
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return models
    boosting = LGBMClassifier(
        n_estimators=150, learning_rate=0.05, num_leaves=8, random_state=0, n_jobs=1, deterministic=True, verbose=-1
    )
    models["LightGBM"] = TunedThreshold(boosting, pos_label=1)
    return models


def metric_f1(run: Run) -> list[Row]:
    """Mean test F1 by five 80/20 splits, with every cut and parameter chosen on the training rows."""
    sets, note = paper_sets(run)
    models = _contestants()
    table: dict[str, list[float]] = {name: [] for name in sets}
    for label, model in models.items():
        for name, data in sets.items():
            run.tell(f"{label}, {name}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of few positives, and of names that LightGBM misses
                table[name].append(mean_f1(model, data.data, data.target, draws=1))
    printed = [PRINTED[name][1] for name in sets]
    for name, line in table.items():
        line.append(PRINTED[name][1])
    add_table(run, "Test F1, mean of five 80/20 splits", [*models, "γk-NN as printed"], table)
    values = np.array(list(table.values()))
    plain = values[:, 0]
    beside = f"γk-NN as printed {np.mean(printed):.3f}"
    return [
        Row(
            f"mean test F1 of {label}, {len(sets)} sets; peer: γk-NN",
            float(values[:, i].mean()),
            float(plain.mean()),
            float(values[:, i].mean() / plain.mean()),
            note="; ".join(filter(None, (paired(values[:, i], plain), beside if i == 1 else "", note))),
        )
        for i, label in enumerate(models)
        if i
    ]
