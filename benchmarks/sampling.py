"""Time of the methods on resampled rows beside a grid search for two γ, and beside plain neighbours."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import NearestNeighbors

from benchmarks.neighbors import beside_neighbours, rare_class
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.sampling import SDC, ResampledClassifier, ResampledGammaKNN, resample


class PlainTwoGammas(ClassifierMixin, BaseEstimator):
    """The rule as one would write it with scikit-learn: SMOTE, three searches, the k smallest distances vote."""

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
    return [Row(what, ours, peer, peer / ours, "s", run.judged(Bar(">=", 30)))]


def sampling_time(run: Run) -> list[Row]:
    """Fit and predict with every method on resampled rows as it comes."""
    models = {
        "ResampledGammaKNN": ResampledGammaKNN(random_state=0),
        "ResampledClassifier of logistic regression": ResampledClassifier(LogisticRegression(), random_state=0),
        "SDC": SDC(random_state=0),
    }
    return beside_neighbours(run, 1, models)
