"""The honest F1 of `ResampledGammaKNN` is that of models which are resampled and fitted without each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import MinMaxScaler

from proofs.cases import Case, Proof, sets_of
from scarce.sampling import ResampledGammaKNN, resample

FloatArray = NDArray[np.float64]

SETS = ("hayes", "glass", "libras")
SAMPLERS = ("smote", "borderline-smote", "adasyn", "smote-enn", "smote-tomek")
GRID = np.linspace(0.3, 1, 15), np.linspace(0.4, 2, 17)
# One resampling differs from the next by a part of this.
MOST = 0.02
K = 3


def prove(names: Iterable[str] = SETS, samplers: Iterable[str] = SAMPLERS) -> Proof:
    """Compare F1 over the plane of both γ: honest scores of one model, a model without each row, and five folds."""
    return Proof(
        "Honest scores of two γ",
        f"The F1 of `ResampledGammaKNN` on honest scores of one model differs by at most {MOST} from that of models "
        "that are resampled and fitted without each row, on the mean over the plane of both γ, and by at most half of "
        "what five folds differ.",
        ("set", "sampler", "error of honest scores", "error of five folds", "verdict"),
        list(_cases(names, tuple(samplers))),
    )


def _cases(names: Iterable[str], samplers: Iterable[str]) -> Iterator[Case]:
    for name, data in sets_of(names).items():
        X, y = MinMaxScaler((-1, 1)).fit_transform(data.data), data.target
        for sampler in samplers:
            model = ResampledGammaKNN(sampler, random_state=0, pos_label=1).fit(X, y)
            splits = LeaveOneOut(), StratifiedKFold(5, shuffle=True, random_state=0)
            each, folds = (_plane(_near(X, y, sampler, cv), y) for cv in splits)
            errors = [float(np.abs(plane - each).mean()) for plane in (model.plane(X, y, *GRID), folds)]
            yield Case((name, sampler), tuple(errors), errors[0] <= min(MOST, errors[1] / 2))


def _near(X: FloatArray, y: NDArray[np.int64], sampler: str, cv: Any) -> FloatArray:
    """Return the distances of each row to the nearest real positives, synthetic ones and negatives without its fold."""
    near = np.full((len(X), 3, K), np.inf)
    for train, test in cv.split(X, y):
        rows = resample(X[train], y[train], sampler, random_state=0)
        kinds = (rows.y == 1) & ~rows.synthetic, (rows.y == 1) & rows.synthetic, rows.y != 1
        for i, kind in enumerate(kinds):
            if k := min(K, int(kind.sum())):
                near[test, i, :k] = NearestNeighbors(n_neighbors=k).fit(rows.X[kind]).kneighbors(X[test])[0]
    return near


def _plane(near: FloatArray, y: NDArray[np.int64]) -> FloatArray:
    """Return F1 at each pair of γ, by the vote of the nearest rows; positives win ties."""
    found = np.empty([len(axis) for axis in GRID])
    for i, real in enumerate(GRID[0]):
        for j, synthetic in enumerate(GRID[1]):
            distances = np.hstack((real * near[:, 0], synthetic * near[:, 1], near[:, 2]))
            votes = (np.argsort(distances, axis=1, kind="stable")[:, :K] < 2 * K).sum(axis=1)
            called = 2 * votes >= K
            found[i, j] = 2 * called[y == 1].sum() / (called.sum() + y.sum())
    return found
