"""A γ that varies from place to place: is it better than one for all rows? Trials, none of which won."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline

from benchmarks.paper import SCALERS
from benchmarks.paper import _sets as paper_sets
from benchmarks.rows import Detail, Row, Run
from scarce.neighbors import ClassIndex, GammaKNN

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# The orders of neighbours that a ratio of distances may be asked for.
_DEEPEST = 10
# Sets the score of rows that are nearer to positives, and so positive at any γ up to 1, apart from that of the others.
_CERTAIN = 1e3


class _Trial(ClassifierMixin, BaseEstimator):
    """A rule on the logarithms of critical γ, which is fitted to those of each training row among the others."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.array([0, 1])
        self.index_ = ClassIndex().fit(X, y)
        self._choose(X, y, self._near(X, np.arange(len(X))))
        return self

    def predict(self, X: Any) -> IntArray:
        return self._called(X, self._near(X, None)).astype(np.intp)

    def _near(self, X: Any, skip: IntArray | None) -> list[FloatArray]:
        """Return the logarithms of the nearest distances to each class; those missing are as the last there is."""
        near = []
        for code in (0, 1):
            distance = self.index_.kneighbors(X, code, _DEEPEST, skip)[0]
            last = np.where(np.isfinite(distance), distance, 0).max(axis=1, keepdims=True)
            near.append(np.log(np.maximum(np.where(np.isfinite(distance), distance, last), 1e-9)))
        return near

    def _choose(self, X: Any, y: IntArray, near: list[FloatArray]) -> None:
        raise NotImplementedError

    def _called(self, X: Any, near: list[FloatArray]) -> NDArray[np.bool_]:
        raise NotImplementedError


def _critical(near: list[FloatArray], k: int = 3) -> FloatArray:
    j = (k + 1) // 2
    return near[0][:, k - j] - near[1][:, j - 1]


def _best_cut(score: FloatArray, y: IntArray, others: FloatArray, y_others: IntArray) -> tuple[float, float]:
    """Return the highest F1 over all rows, and the cut of `score` that gives it, at most 0, with the others called."""
    order = np.argsort(-score, kind="stable")
    score, right = score[order], np.cumsum(y[order]) + np.sum(others * y_others)
    called = np.arange(1, len(y) + 1) + np.sum(others)
    below = np.append(score[1:], score[-1] - 1)
    value = np.where((score > below) & (below < 0), 2 * right / (called + y.sum() + y_others.sum()), -1.0)
    best = int(np.argmax(value))
    return float(value[best]), min(0.0, float(score[best] + below[best]) / 2)


_NOBODY = np.empty(0)


class ChosenNeighbours(_Trial):
    """γk-NN with one γ, and with k chosen by leave-one-out F1 too."""

    def _choose(self, X: Any, y: IntArray, near: list[FloatArray]) -> None:
        found = [(*_best_cut(_critical(near, k), y, _NOBODY, _NOBODY), k) for k in (1, 3, 5, 7, 9, 15)]
        _, self.cut_, self.k_ = max(found, key=lambda f: (round(f[0], 12), -f[2]))

    def _called(self, X: Any, near: list[FloatArray]) -> NDArray[np.bool_]:
        return _critical(near, self.k_) > self.cut_


class RegionGamma(_Trial):
    """A γ for each of some k-means cells, drawn towards the γ of all rows.

    With ``alone`` the γ of a cell is best for the F1 of its rows, and counts by its rows against 50; without, it is
    best for the F1 of all rows while the other cells keep the common γ, and counts by its positives against 10.
    """

    def __init__(self, n_cells: int = 4, alone: bool = False) -> None:
        self.n_cells = n_cells
        self.alone = alone

    def _choose(self, X: Any, y: IntArray, near: list[FloatArray]) -> None:
        score = _critical(near)
        common = _best_cut(score, y, _NOBODY, _NOBODY)[1]
        self.cells_ = KMeans(self.n_cells, n_init=3, random_state=0).fit(X)
        self.cuts_ = np.full(self.n_cells, common)
        for cell in range(self.n_cells):
            mine = self.cells_.labels_ == cell
            if not y[mine].any():
                continue
            rest = (_NOBODY, _NOBODY) if self.alone else (score[~mine] > common, y[~mine])
            own = _best_cut(score[mine], y[mine], *rest)[1]
            mass, pull = (mine.sum(), 50) if self.alone else (y[mine].sum(), 10)
            self.cuts_[cell] = np.log((mass * np.exp(own) + pull * np.exp(common)) / (mass + pull))

    def _called(self, X: Any, near: list[FloatArray]) -> NDArray[np.bool_]:
        return _critical(near) > self.cuts_[self.cells_.predict(X)]


class DensityGamma(_Trial):
    """γ(x) = min(1, exp(a + b log ρ(x))), where ρ is the distance to the 10th negative over that to the 10th positive.

    For each b of a grid the best a is exact; the pair of highest leave-one-out F1 is taken.
    """

    def _choose(self, X: Any, y: IntArray, near: list[FloatArray]) -> None:
        found = [
            (*_best_cut(self._margin(near, slope), y, _NOBODY, _NOBODY), slope) for slope in np.linspace(-1, 1, 21)
        ]
        _, self.cut_, self.slope_ = max(found, key=lambda f: (round(f[0], 12), -abs(f[2])))

    def _margin(self, near: list[FloatArray], slope: float) -> FloatArray:
        score, density = _critical(near), near[0][:, -1] - near[1][:, -1]
        return np.where(score > 0, _CERTAIN + score, score - slope * density - _CERTAIN)

    def _called(self, X: Any, near: list[FloatArray]) -> NDArray[np.bool_]:
        return self._margin(near, self.slope_) > self.cut_


TRIALS: dict[str, ClassifierMixin] = {
    "one γ": GammaKNN(pos_label=1),
    "one γ, k chosen": ChosenNeighbours(),
    "γ of 4 regions": RegionGamma(4),
    "γ of 8 regions": RegionGamma(8),
    "γ of 4 regions, each alone": RegionGamma(4, alone=True),
    "γ of 8 regions, each alone": RegionGamma(8, alone=True),
    "γ by density": DensityGamma(),
}


def local_gamma(run: Run) -> list[Row]:
    """Compare by four times five 80/20 splits, every choice made on the training rows."""
    sets, note = paper_sets(run)
    rows = []
    for scaling, scaler in SCALERS.items():
        table = {}
        for name, data in sets.items():
            run.tell(f"{name}, {scaling}")
            table[name] = [mean_f1(make_pipeline(scaler(), model), data.data, data.target) for model in TRIALS.values()]
        values = np.array(list(table.values()))
        add_table(run, f"Test F1, {scaling}, mean of four times five 80/20 splits", list(TRIALS), table)
        rows += [
            Row(
                f"mean test F1 of {trial}, {len(sets)} sets, {scaling}; peer: {peer}",
                float(values[:, i].mean()),
                float(values[:, list(TRIALS).index(peer)].mean()),
                float(values[:, i].mean() / values[:, list(TRIALS).index(peer)].mean()),
                note="; ".join(filter(None, (paired(values[:, i], values[:, list(TRIALS).index(peer)]), note))),
            )
            for i, trial in enumerate(TRIALS)
            for peer in ("one γ", "one γ, k chosen")
            if trial != peer and trial != "one γ"
        ]
    return rows


def mean_f1(model: Any, X: FloatArray, y: IntArray, draws: int = 4) -> float:
    """Return the mean F1 on the test rows of five 80/20 splits, drawn several times."""
    return float(
        np.mean(
            [
                f1_score(y[test], clone(model).fit(X[train], y[train]).predict(X[test]), zero_division=0.0)
                for draw in range(draws)
                for train, test in StratifiedShuffleSplit(5, test_size=0.2, random_state=draw).split(X, y)
            ]
        )
    )


def add_table(run: Run, title: str, columns: list[str], table: dict[str, list[float]]) -> None:
    lines: list[list[str | float]] = [[name, *line] for name, line in table.items()]
    mean = np.mean(list(table.values()), axis=0).tolist()
    run.details.append(Detail(title, ["set", *columns], [*lines, ["mean", *mean]]))


def paired(ours: FloatArray, peer: FloatArray) -> str:
    """Say on how many sets ours is better and worse, and how surprising that is."""
    difference = (ours - peer).round(10)
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    p = wilcoxon(difference).pvalue if difference.any() else 1.0
    return f"better on {better} sets, worse on {worse}, Wilcoxon p {p:.2g}"
