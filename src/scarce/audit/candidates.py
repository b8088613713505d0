"""The methods that an audit compares, strong rivals included, all with a threshold chosen on honest scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import joblib
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from scarce._extras import require
from scarce._typing import Estimator
from scarce.neighbors import GammaKNN
from scarce.objectives import Objective
from scarce.tables import Column, make_encoder
from scarce.tuned import TunedThreshold

__all__ = ["MAX_ROWS_FOR_NEIGHBOURS", "Candidate", "make_candidates"]

# Every query row is compared with every training row, so twice the rows take four times as long.
MAX_ROWS_FOR_NEIGHBOURS = 100_000
TREES = 150
_lightgbm = require("lightgbm", "The audit")


@dataclass(frozen=True)
class Candidate:
    """A method in the comparison.

    Attributes
    ----------
    name : str
        Its name in tables.
    description : str
        A few words on what it is.
    model : Pipeline
        The encoder and the method, not fitted.
    effort : int
        How long it takes compared with the others, for the progress bar.
    """

    name: str
    description: str
    model: Pipeline
    effort: int


def make_candidates(
    columns: Sequence[Column],
    threshold: str | Objective,
    *,
    rows: int,
    folds: int,
    seed: int,
    time: str | None = None,
) -> list[Candidate]:
    """Return the methods to compare.

    Parameters
    ----------
    columns : sequence of Column
        The columns to learn from.
    threshold : str or Objective
        What the threshold is chosen for.
    rows : int
        Number of training rows; neighbour methods are left out above ``MAX_ROWS_FOR_NEIGHBOURS``.
    folds : int
        Folds within the training rows, for honest scores and encodings.
    seed : int
        Seed of everything random.
    time : str, optional
        The column that orders the rows.
    """

    def candidate(
        name: str, description: str, suited_to: Literal["distances", "trees"], effort: int, method: Estimator
    ) -> Candidate:
        if not isinstance(method, GammaKNN):
            method = TunedThreshold(method, cv=folds)
        encoder = make_encoder(columns, suited_to, folds=folds, seed=seed, time=time)
        model = Pipeline([("encode", encoder), ("method", method.set_params(threshold=threshold, pos_label=1))])
        return Candidate(name, description, model, effort)

    # Threads that wait for each other on a busy machine made small boostings a hundred times slower.
    boosting_threads = 1 if rows <= MAX_ROWS_FOR_NEIGHBOURS else joblib.cpu_count()
    forest = {"oob_score": True, "random_state": seed}
    neighbours = [
        candidate("γk-NN", "3 neighbours, positives drawn closer by a tuned γ", "distances", 4, GammaKNN(3)),
        candidate(
            "k-NN",
            "share of positives among 15 neighbours, nearer ones count more",
            "distances",
            3,
            KNeighborsClassifier(15, weights="distance"),
        ),
    ]
    others = [
        candidate(
            "Logistic regression",
            "on scaled columns",
            "distances",
            3,
            LogisticRegression(solver="newton-cholesky"),
        ),
        candidate(
            "Random forest",
            f"{TREES} trees, threshold from out-of-bag scores",
            "trees",
            8,
            RandomForestClassifier(TREES, min_samples_leaf=2, **forest),
        ),
        candidate(
            "Extra trees",
            f"{TREES} bootstrapped trees, threshold from out-of-bag scores",
            "trees",
            4,
            ExtraTreesClassifier(TREES, bootstrap=True, **forest),
        ),
        candidate(
            "LightGBM",
            "150 small, strongly regularised trees",
            "trees",
            3,
            _lightgbm.LGBMClassifier(
                n_estimators=150,
                learning_rate=0.05,
                # A handful of positives cannot feed large leaves, and unregularised leaves run away on them.
                num_leaves=8,
                colsample_bytree=0.5,
                reg_lambda=5.0,
                random_state=seed,
                n_jobs=boosting_threads,
                deterministic=True,
                force_row_wise=True,
                verbose=-1,
            ),
        ),
    ]
    return others if rows > MAX_ROWS_FOR_NEIGHBOURS else neighbours + others
