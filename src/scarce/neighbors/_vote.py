"""The base of the methods in which the k nearest rows vote, each with a weight."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray, MatrixLike
from scarce.base import RareEventClassifier
from scarce.neighbors._base import ROUNDING, labels_by_code, one_fewer, voters
from scarce.neighbors._search import ClassIndex, Neighbors, merge_by_class, precedence

__all__ = ["Vote", "margin"]


class Vote(RareEventClassifier):
    """A vote of the k nearest rows: the index, leave-one-out by class, explanations."""

    n_neighbors: int
    # The search, for the methods without such parameters.
    metric: Any = "minkowski"
    p: float = 2
    algorithm: str = "auto"
    n_jobs: int | None
    index_: ClassIndex

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    @abstractmethod
    def _rate(self, X: NDArray, skip: IntArray | None, sizes: IntArray) -> FloatArray:
        """Score rows, each without its training row `skip`; `sizes` are the class sizes."""

    @abstractmethod
    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        """Return how much each neighbour's vote counts; 0 where there is none."""

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex(self.metric, self.p, self.algorithm, self.n_jobs).fit(X, y)
        voters(self.n_neighbors, len(X))

    def _score(self, X: NDArray) -> FloatArray:
        return self._rate(X, None, self.index_.class_sizes)

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        out = np.empty(len(X))
        for code in (0, 1):
            rows = np.flatnonzero(y == code)
            out[rows] = self._rate(X[rows], rows, one_fewer(self.index_.class_sizes, code))
        return out

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    def _nearest(self, X: NDArray, skip: IntArray | None = None) -> Neighbors:
        sizes = self.index_.class_sizes
        k = min(self.n_neighbors, int(sizes.sum()))
        order = [1, 0] if len(sizes) == 2 else precedence(sizes, "positive").tolist()
        return merge_by_class([self.index_.kneighbors(X, code, k, skip) for code in order], order, k)

    def _class_sums(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        votes = self._votes(found, sizes)
        return np.stack([np.where(found.code == code, votes, 0.0).sum(axis=1) for code in range(len(sizes))], axis=1)

    def explain(self, X: MatrixLike) -> list[dict[str, Any]]:
        """Return for each row the neighbours that voted.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
                With more than two classes a list, one for each class.
            neighbors : list of {"row", "distance", "label", "vote"}
                The training rows that voted, by their number in `X` of `fit`, the nearest first, and how much the
                vote counted.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        score, found = self._score(X), self._nearest(X)
        votes = self._votes(found, self.index_.class_sizes)
        labels = labels_by_code(self).tolist()
        return [
            {
                "score": score[i].tolist(),
                "neighbors": [
                    {"row": int(number), "distance": float(distance), "label": labels[code], "vote": float(vote)}
                    for distance, number, code, vote in zip(*(part[i] for part in found), votes[i], strict=True)
                    if vote > 0
                ],
            }
            for i in range(len(X))
        ]


def margin(sums: FloatArray) -> FloatArray:
    """Return the positive less the negative sum, 0 where they differ by rounding only."""
    difference = sums[:, 1] - sums[:, 0]
    return np.where(np.abs(difference) <= ROUNDING * sums.sum(axis=1), 0.0, difference)
