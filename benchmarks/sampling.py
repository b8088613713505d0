"""What do two γ on resampled rows cost, and what do they bring?"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import MinMaxScaler

from benchmarks.paper import _sets as paper_sets
from benchmarks.rows import Bar, Detail, Row, Run, fastest
from benchmarks.speed import rare_class
from scarce.neighbors import GammaKNN
from scarce.objectives import FBeta
from scarce.sampling import SDC, ResampledClassifier, ResampledGammaKNN, resample
from scarce.sampling._plane import Near, plane

SAMPLERS = ("smote", "borderline-smote", "adasyn", "smote-enn", "smote-tomek")


class PlainTwoGammas(ClassifierMixin, BaseEstimator):
    """What one would write with scikit-learn: SMOTE in `fit`, three searches, the k smallest distances vote."""

    def __init__(self, real: float = 1.0, synthetic: float = 1.0) -> None:
        self.real = real
        self.synthetic = synthetic

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        rows = resample(X, y, "smote", random_state=0)
        kinds = (rows.y == 1) & ~rows.synthetic, rows.synthetic, rows.y != 1
        self.searches_ = [NearestNeighbors(n_neighbors=3).fit(rows.X[kind]) for kind in kinds]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        factors = (self.real, self.synthetic, 1.0)
        near = np.hstack([f * s.kneighbors(X)[0] for f, s in zip(factors, self.searches_, strict=True)])
        return ((np.argsort(near, axis=1, kind="stable")[:, :3] < 6).sum(axis=1) >= 2).astype(int)


def two_gamma_time(run: Run) -> list[Row]:
    X, y = rare_class(500 if run.quick else 2_000)
    ResampledGammaKNN(random_state=0).fit(X, y)  # compiles, once
    grid = GridSearchCV(
        PlainTwoGammas(),
        {"real": np.linspace(0.1, 1, 10), "synthetic": np.linspace(0.1, 2, 20)},
        scoring="f1",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    ours, peer = fastest(
        run,
        1,
        one_core=True,
        ResampledGammaKNN=lambda: ResampledGammaKNN(random_state=0).fit(X, y),
        GridSearchCV=lambda: grid.fit(X, y),
    )
    what = f"both γ chosen exactly, {len(X):,} × 20; peer: grid search, 10 × 20 γ, 5 folds; ratio: times faster"
    return [Row(what, ours, peer, peer / ours, "s", None if run.quick else Bar(">=", 30))]


def two_gamma_honest(run: Run) -> list[Row]:
    """Compare the F1 of honest predictions with that of models resampled and fitted without each row, one at a time."""
    sets, missing = paper_sets(run)
    small = [sets[name] for name in ("hayes", "glass", "libras") if name in sets][: 1 if run.quick else None]
    if not small:
        return [Row("error of the honest F1 over the plane", note=missing)]
    grid = np.linspace(0.3, 1, 15), np.linspace(0.4, 2, 17)
    rows = []
    for name in SAMPLERS:
        errors, best = [], []
        for data in small:
            run.tell(f"{name}, {len(data.target)} rows")
            X, y = MinMaxScaler((-1, 1)).fit_transform(data.data), data.target
            model = ResampledGammaKNN(name, random_state=0, pos_label=1).fit(X, y)
            splits = StratifiedKFold(5, shuffle=True, random_state=0), LeaveOneOut()
            folds, each = (plane(_measured(model, X, y, cv), y, None, FBeta(1), *grid) for cv in splits)
            ours = model.plane(X, y, *grid)
            errors.append([np.abs(ours - each).mean(), np.abs(folds - each).mean()])
            best.append([ours.max(), folds.max(), each.max()])
        far, farther = map(float, np.mean(errors, axis=0))
        what = f"{name}: error of the honest F1 over the plane, mean of {len(small)} sets; peer: 5 folds"
        note = "best F1 {:.3f}, 5 folds {:.3f}, a resampling without each row {:.3f}".format(*np.mean(best, axis=0))
        rows.append(Row(what, far, farther, far / farther, note="; ".join(filter(None, (note, missing)))))
    return rows


def _measured(model: ResampledGammaKNN, X: NDArray[Any], y: NDArray[Any], cv: Any) -> Near:
    """Return the distances that decide about each row, among rows resampled without its fold."""
    parts, order = [], []
    for train, test in cv.split(X, y):
        parts.append(model._measure(model._index(model._resample(X[train], y[train])[-1][1]), X[test]))
        order.append(test)
    place = np.argsort(np.concatenate(order))
    return Near(*(np.concatenate(part)[place] for part in zip(*parts, strict=True)))


def sampling_time(run: Run) -> list[Row]:
    """Fit and predict with every method on resampled rows as it comes."""
    X, y = rare_class(2_000 if run.quick else 20_000)
    cut = len(X) * 4 // 5
    models = {
        "ResampledGammaKNN": ResampledGammaKNN(random_state=0),
        "ResampledClassifier of logistic regression": ResampledClassifier(LogisticRegression(), random_state=0),
        "SDC": SDC(random_state=0),
    }
    rows = []
    for name, model in models.items():
        ours, peer = fastest(
            run,
            1,
            one_core=True,
            **{name: lambda model=model: model.fit(X[:cut], y[:cut]).predict(X[cut:])},
            KNeighborsClassifier=lambda: KNeighborsClassifier(3).fit(X[:cut], y[:cut]).predict(X[cut:]),
        )
        what = f"{name}: fit {cut:,} × {X.shape[1]}, predict {len(X) - cut:,}; peer: 3-NN"
        rows.append(Row(what, ours, peer, ours / peer, "s"))
    return rows


def sampling_f1(run: Run) -> list[Row]:
    """Compare over-sampling, γk-NN and both together, as the paper's figure 4 does, on its public sets."""
    sets, note = paper_sets(run)
    columns = ["3-NN", "γk-NN", *SAMPLERS, *(f"{name} + γ" for name in SAMPLERS)]
    table: dict[str, NDArray[np.float64]] = {}
    for name, data in sets.items():
        X, y = MinMaxScaler((-1, 1)).fit_transform(data.data), data.target
        found = []
        for train, test in StratifiedShuffleSplit(2 if run.quick else 5, test_size=0.2, random_state=0).split(X, y):
            run.tell(f"{name}, split {len(found) + 1}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of few positives
                models = _fitted(X[train], y[train])
            found.append([f1_score(y[test], model.predict(X[test]), zero_division=0.0) for model in models])
        table[name] = np.mean(found, axis=0)
    mean = np.mean(list(table.values()), axis=0)
    lines: list[list[str | float]] = [[name, *map(float, line)] for name, line in table.items()]
    run.details.append(
        Detail("Test F1, min-max, 80/20 splits", ["set", *columns], [*lines, ["mean", *map(float, mean)]])
    )
    of = {column: np.array([line[i] for line in table.values()]) for i, column in enumerate(columns)}
    pairs = [("γk-NN", "3-NN"), *((f"{name} + γ", peer) for name in SAMPLERS for peer in (name, "γk-NN"))]
    return [
        Row(
            f"mean test F1 of {ours} on {len(sets)} sets; peer: {peer}",
            float(of[ours].mean()),
            float(of[peer].mean()),
            float(of[ours].mean() / of[peer].mean()),
            note="; ".join(filter(None, (f"better on {int((of[ours] > of[peer]).sum())} sets", note))),
        )
        for ours, peer in pairs
    ]


def _fitted(X: NDArray[np.float64], y: NDArray[np.int64]) -> list[Any]:
    resampled = [resample(X, y, name, random_state=0) for name in SAMPLERS]
    return [
        KNeighborsClassifier(3).fit(X, y),
        GammaKNN(pos_label=1).fit(X, y),
        *(KNeighborsClassifier(3).fit(rows.X, rows.y) for rows in resampled),
        *(ResampledGammaKNN(name, random_state=0, pos_label=1).fit(X, y) for name in SAMPLERS),
    ]
