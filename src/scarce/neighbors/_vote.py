"""The base of the methods in which the k nearest rows vote, each with a weight."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray, Metric
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import ROUNDING, contrast, explain_near, one_fewer, voters
from scarce.neighbors._search import ClassIndex, Neighbors, merge_by_class, precedence

__all__ = ["Vote", "margin"]


class Vote(RareEventClassifier):
    """A vote of the k nearest rows: the index, leave-one-out by class, explanations."""

    n_neighbors: int
    # The search, for the methods without such parameters.
    metric: Metric = "minkowski"
    p: float = 2
    algorithm: str = "auto"
    recall: float = 0.99
    n_jobs: int | None
    index_: ClassIndex
    _leaves_one_out = True

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
        k = voters(self.n_neighbors, len(X))
        self.index_ = ClassIndex(self.metric, self.p, self.algorithm, self.n_jobs, self.recall, k).fit(X, y)
        self.recall_ = self.index_.recall_

    def _score(self, X: NDArray) -> FloatArray:
        return self._rate(X, None, self.index_.class_sizes)

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        sizes = self.index_.class_sizes
        out = np.empty(len(rows) if len(sizes) == 2 else (len(rows), len(sizes)))
        for code in range(len(sizes)):
            mine = y[rows] == code
            out[mine] = self._rate(X[rows[mine]], rows[mine], one_fewer(sizes, code))
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

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        found = self._nearest(X)
        votes = self._votes(found, self.index_.class_sizes)
        near = found._replace(distance=np.where(votes > 0, found.distance, np.inf))  # the others had no part
        # Votes against the positive class count below 0; with several classes, votes for others do not count.
        signed = np.where(found.code == 1, votes, -votes) if code is None else votes * (found.code == code[:, None])
        total = signed.sum(axis=1)
        size = np.divide(known["score"], total, out=np.ones(len(total)), where=total != 0)
        effects = self._contrast(X, code)
        return explain_near(self, X, code, near, signed * size[:, None], effects=effects, **known)

    def _contrast(self, X: NDArray, code: IntArray | None) -> FloatArray | None:
        """Return how much each feature speaks for the class by its part in distances."""
        return contrast(self, X, code)


def margin(sums: FloatArray) -> FloatArray:
    """Return the positive less the negative sum, 0 where they differ by rounding only."""
    difference = sums[:, 1] - sums[:, 0]
    return np.where(np.abs(difference) <= ROUNDING * sums.sum(axis=1), 0.0, difference)
