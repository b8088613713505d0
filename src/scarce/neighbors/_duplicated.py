"""dupk-NN: k nearest neighbours, with copies of the positive rows that even the classes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._typing import Calibration, FloatArray, IntArray, Label, Metric, Threshold
from scarce.explanation import Explanation
from scarce.neighbors._base import (
    ROUNDING,
    SEARCH,
    additive_power,
    bounded_ratio,
    differences,
    explain_near,
    ratio_effects,
)
from scarce.neighbors._search import Neighbors
from scarce.neighbors._vote import Vote

__all__ = ["DuplicatedKNN"]


class DuplicatedKNN(Vote):
    """dupk-NN: k nearest neighbours, with positive rows repeated until the classes are balanced.

    Each positive row stands for r rows, r being n_negative / n_positive rounded, and the majority of the k nearest
    wins. No copy is made: the j-th of the positive votes that a majority needs is cast by the (j / r, rounded up)-th
    nearest positive row, so the row is positive if that one is at least as near as the (k-j+1)-th nearest negative.
    The score is d⁻ / (d⁻ + d⁺) of those two distances, in [0, 1].

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote, copies counted. With 1, copies change nothing.
    metric, p, algorithm, recall, n_jobs
        As in :class:`GammaKNN`.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is 1/2, on which a row is positive.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    copies_ : int
        How often each positive row counts.
    index_ : ClassIndex
        The training rows by class.
    recall_ : float
        The share of right distances to the largest class; 1 for exact searches.

    See Also
    --------
    ClassWeightedKNN : Shrunken distances in place of copies.
    scarce.sampling.ResampledGammaKNN : Synthetic rows in place of copies.

    Notes
    -----
    Of rows at the same distance the positive one is taken first; half of the votes is not a majority.
    `sample_weight` counts in the objective only. Honest scores leave out a row with all its copies.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, S. Riou, M. Sebban, "An Adjusted Nearest Neighbor Algorithm
    Maximizing the F-Measure from Imbalanced Data", ICTAI 2019, Section II.

    Examples
    --------
    >>> from scarce.neighbors import DuplicatedKNN
    >>> model = DuplicatedKNN(3).fit([[0], [2], [3], [9]], [1, 0, 0, 0])
    >>> model.copies_
    3
    >>> model.predict([[1.0], [1.6]])
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Vote._parameter_constraints,
        **SEARCH,
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        metric: Metric = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        recall: float = 0.99,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.recall = recall
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @property
    def copies_(self) -> int:
        """The number of copies of each positive row."""
        return _copies(self.index_.class_sizes)

    def _orders(self, sizes: IntArray) -> tuple[int, int]:
        """Return which negative and which positive row, from the nearest, decide."""
        copies = _copies(sizes)
        k = min(self.n_neighbors, int(copies * sizes[1] + sizes[0]))
        needed = k // 2 + 1
        return k - needed + 1, -(-needed // copies)

    def _rate(self, X: NDArray, skip: IntArray | None, sizes: IntArray) -> FloatArray:
        distances = [self.index_.kth_distance(X, code, k, skip) for code, k in enumerate(self._orders(sizes))]
        return bounded_ratio(*distances)

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        found = self._nearest(X)
        near = found._replace(
            distance=np.where(self._votes(found, self.index_.class_sizes) > 0, found.distance, np.inf)
        )
        power = additive_power(self.metric, self.p)
        if power is None:
            return explain_near(self, X, code, near, **known)
        orders = enumerate(self._orders(self.index_.class_sizes))
        numbers = [self.index_.kneighbors(X, c, order)[1][:, -1] for c, order in orders]
        negative, positive = (np.abs(differences(self.index_, X, number)) ** power for number in numbers)
        return explain_near(self, X, code, near, **ratio_effects(known["score"], positive, negative, power), **known)

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.5 * (1 - ROUNDING)

    def _votes(self, found: Neighbors, sizes: IntArray) -> FloatArray:
        votes = np.where(found.code == 1, _copies(sizes), 1) * (found.number >= 0)
        before = np.cumsum(votes, axis=1) - votes
        return np.clip(self.n_neighbors - before, 0, votes).astype(np.float64)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(6, metric="manhattan", algorithm="ball_tree")


def _copies(sizes: IntArray) -> int:
    return max(1, round(sizes[0] / sizes[1])) if sizes[1] else 1
