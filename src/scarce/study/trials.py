"""Rules that were tried for γk-NN and are not kept: a γ that varies from place to place. See the study gamma/local."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans

from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.neighbors._search.index import ClassIndex

__all__ = ["DensityGamma", "RegionGamma"]

_DEEPEST = 10  # neighbours of each class that a rule may look at
_K = 3
# A row that is nearer to positives is positive at any γ up to 1; its score is beyond that of all others.
_CERTAIN = 1e3


class _Trial(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A rule on the logarithm of the γ at which a row turns positive, fitted to training rows among the others."""

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        self.classes_ = np.array([0, 1])
        self.index_ = ClassIndex().fit(X, y)
        self._choose(X, y, *self._near(X, np.arange(len(X))))
        return self

    def predict(self, X: FloatArray) -> IntArray:
        return self._called(X, *self._near(X, None)).astype(np.intp)

    def _near(self, X: FloatArray, skip: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of the critical γ, and that of the ratio of the distances to the tenth neighbours."""
        near = []
        for code in (0, 1):
            distance = self.index_.kneighbors(X, code, _DEEPEST, skip)[0]
            last = np.where(np.isfinite(distance), distance, 0).max(axis=1, keepdims=True)
            near.append(np.log(np.maximum(np.where(np.isfinite(distance), distance, last), 1e-9)))
        j = (_K + 1) // 2
        return near[0][:, _K - j] - near[1][:, j - 1], near[0][:, -1] - near[1][:, -1]

    @abstractmethod
    def _choose(self, X: FloatArray, y: IntArray, critical: FloatArray, density: FloatArray) -> None: ...

    @abstractmethod
    def _called(self, X: FloatArray, critical: FloatArray, density: FloatArray) -> BoolArray: ...


def _best(score: FloatArray, y: IntArray, right: int = 0, called: int = 0, positives: int = 0) -> tuple[float, float]:
    """Return the highest F1, and the threshold of at most 0 that gives it.

    Beside these rows there are others with so many `positives`, of which `called` were called and `right` rightly.
    """
    order = np.argsort(-score, kind="stable")
    score = score[order]
    below = np.append(score[1:], min(score[-1], 0) - 1)
    f = 2 * (np.cumsum(y[order]) + right) / (np.arange(1, len(y) + 1) + called + y.sum() + positives)
    f = np.where((score > below) & (below <= 0), f, -1.0)
    best = int(np.argmax(f))
    return float(f[best]), min(0.0, float(score[best] + below[best]) / 2)


class RegionGamma(_Trial):
    """A γ for each of some k-means cells, drawn towards the γ of all rows.

    With ``alone`` the γ of a cell is best for the F1 of its rows, and counts by its rows against 50; without, it is
    best for the F1 of all rows while the other cells keep the common γ, and counts by its positives against 10.
    """

    def __init__(self, n_cells: int = 4, alone: bool = False) -> None:
        self.n_cells = n_cells
        self.alone = alone

    def _choose(self, X: FloatArray, y: IntArray, critical: FloatArray, density: FloatArray) -> None:
        common = _best(critical, y)[1]
        self.cells_ = KMeans(self.n_cells, n_init=3, random_state=0).fit(X)
        self.thresholds_ = np.full(self.n_cells, common)
        for cell in range(self.n_cells):
            mine = self.cells_.labels_ == cell
            if not y[mine].any():
                continue
            called = ~mine & (critical > common)
            others = (0, 0, 0) if self.alone else (int(y[called].sum()), int(called.sum()), int(y[~mine].sum()))
            own = _best(critical[mine], y[mine], *others)[1]
            mass, pull = (mine.sum(), 50) if self.alone else (y[mine].sum(), 10)
            self.thresholds_[cell] = np.log((mass * np.exp(own) + pull * np.exp(common)) / (mass + pull))

    def _called(self, X: FloatArray, critical: FloatArray, density: FloatArray) -> BoolArray:
        return critical > self.thresholds_[self.cells_.predict(X)]


class DensityGamma(_Trial):
    """γ(x) = min(1, exp(a + b log ρ(x))), where ρ is the distance to the 10th negative over that to the 10th positive.

    For each b of a grid the best a is exact; the pair of highest leave-one-out F1 is taken.
    """

    def _choose(self, X: FloatArray, y: IntArray, critical: FloatArray, density: FloatArray) -> None:
        found = [(*_best(_margin(critical, density, b), y), b) for b in np.linspace(-1, 1, 21)]
        _, self.threshold_, self.slope_ = max(found, key=lambda one: (round(one[0], 12), -abs(one[2])))

    def _called(self, X: FloatArray, critical: FloatArray, density: FloatArray) -> BoolArray:
        return _margin(critical, density, self.slope_) > self.threshold_


def _margin(critical: FloatArray, density: FloatArray, slope: float) -> FloatArray:
    return np.where(critical > 0, _CERTAIN + critical, critical - slope * density - _CERTAIN)
