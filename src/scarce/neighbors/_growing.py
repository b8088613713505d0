"""The base of the methods whose neighbourhood grows until it holds some rare rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval
from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import contrast, explain_near, one_fewer
from scarce.neighbors._search import ClassIndex, RowBoxes, merge_by_class

__all__ = ["Growing", "Walk"]


# Rows of each class that an explanation names.
_NAMED = 10


class Walk(NamedTuple):
    """The rows that a walk from each query outwards met, by class, up to the radius of the last one needed.

    `beyond`, in [0, 1], is how far the radius is from the last negative row that it includes towards the next.
    """

    positives: IntArray
    negatives: IntArray
    radius: FloatArray
    beyond: FloatArray


class Growing(RareEventClassifier):
    """A rule whose neighbourhood of a query grows until it holds some positive rows."""

    n_neighbors: int
    confidence: float
    n_jobs: int | None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "confidence": [Interval(Real, 0, 0.5, closed="right")],
        "n_jobs": [Integral, None],
    }
    _whole_runs: ClassVar[bool] = False
    _leaves_one_out = True
    _largest_value = 1e150  # it takes squares

    @property
    @abstractmethod
    def _needed(self) -> int:
        """The number of positive rows that a neighbourhood must hold."""

    @abstractmethod
    def _posterior(self, walk: Walk, sizes: IntArray) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Return P(positive), whether it was adjusted, and the score."""

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex(n_jobs=self.n_jobs).fit(X, y)
        self._boxes = [RowBoxes(X[y == code], self.n_jobs) for code in (0, 1)]
        if self.index_.class_sizes[1] < self._needed:
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a neighbourhood needs {self._needed} positive rows, and there "
                f"are {self.index_.class_sizes[1]}: it will hold all of them.",
                stacklevel=3,
            )

    def _walk(
        self,
        X: NDArray,
        sizes: IntArray,
        code: int | None = None,
        rows: IntArray | None = None,
        place: IntArray | None = None,
    ) -> Walk:
        """Walk from each query. Of class `code`, each leaves out itself: its number, and its place in the class."""
        own = [place if code == mine else None for mine in (0, 1)]
        needed = min(self._needed, int(sizes[1]))
        radius = self.index_.kth_distance(X, 1, needed, rows) if needed else np.full(len(X), np.inf)
        negatives, below, above = self._boxes[0].around(X, radius, own[0])
        positives = np.full(len(X), needed)
        if self._whole_runs:
            # Positive rows follow each other until the next negative row; of equally far ones they come first.
            positives = self._boxes[1].around(X, np.nextafter(above, np.inf), own[1]).closer
        beyond = np.zeros(len(X))
        np.divide(radius - below, above - below, out=beyond, where=np.isfinite(above) & (above > below))
        return Walk(positives, negatives, radius, beyond)

    def _score(self, X: NDArray) -> FloatArray:
        sizes = self.index_.class_sizes
        return self._posterior(self._walk(X, sizes), sizes)[2]

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        out = np.empty(len(rows))
        for code in (0, 1):
            mine = y[rows] == code
            sizes = one_fewer(self.index_.class_sizes, code)
            place = (np.cumsum(y == code) - 1)[rows[mine]]
            out[mine] = self._posterior(self._walk(X[rows[mine]], sizes, code, rows[mine], place), sizes)[2]
        return out

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        walk = self._walk(X, self.index_.class_sizes)
        found = []
        for c, inside in ((1, walk.positives), (0, walk.negatives)):
            distance, number = self.index_.kneighbors(X, c, min(_NAMED, int(self.index_.class_sizes[c])))
            found.append((np.where(np.arange(distance.shape[1]) < inside[:, None], distance, np.inf), number))
        near = merge_by_class(found, [1, 0], 2 * _NAMED)
        known["rule"] = [
            f"{p} of the {p + n} training rows within {r:.4g} are of class {known['label']}"
            for p, n, r in zip(walk.positives, walk.negatives, walk.radius, strict=True)
        ]
        return explain_near(self, X, code, near, effects=contrast(self, X, code), **known)
