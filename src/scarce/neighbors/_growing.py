"""The base of the methods whose neighbourhood grows until it holds some rare rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval
from scarce._typing import BoolArray, FloatArray, IntArray, MatrixLike
from scarce.base import RareEventClassifier
from scarce.neighbors._base import one_fewer
from scarce.neighbors._search import ClassIndex, RowBoxes

__all__ = ["Growing", "Walk"]


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

    def explain(self, X: MatrixLike) -> list[dict[str, Any]]:
        """Return for each row the neighbourhood that it was judged by.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
                That of `score_samples`.
            probability : float
                The estimated probability of the positive class.
            adjusted : bool
                Whether positive rows are so frequent in the neighbourhood that the estimate was raised.
            radius : float
                The distance to the last positive row that was needed.
            n_positives, n_negatives : int
                The rows of both classes in the neighbourhood.
            positives, negatives : list of {"row", "distance"}
                The nearest training rows of both classes by their number in `X` of `fit`, up to `n_neighbors`.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        sizes = self.index_.class_sizes
        walk = self._walk(X, sizes)
        probability, adjusted, score = self._posterior(walk, sizes)
        nearest = {
            "positives": self.index_.kneighbors(X, 1, min(self.n_neighbors, sizes[1])),
            "negatives": self.index_.kneighbors(X, 0, min(self.n_neighbors, sizes[0])),
        }
        return [
            {
                "score": float(score[i]),
                "probability": float(probability[i]),
                "adjusted": bool(adjusted[i]),
                "radius": float(walk.radius[i]),
                "n_positives": int(walk.positives[i]),
                "n_negatives": int(walk.negatives[i]),
                **{
                    side: [{"row": int(r), "distance": float(d)} for d, r in zip(distance[i], row[i], strict=True)]
                    for side, (distance, row) in nearest.items()
                },
            }
            for i in range(len(X))
        ]
