"""FRkNN: the vote of the k nearest rows within a fixed radius."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval
from scarce._typing import Calibration, FloatArray, IntArray, Label, Threshold
from scarce.neighbors._base import voters
from scarce.neighbors._fixed_radius import SAME, FixedRadius, Inside
from scarce.neighbors._search import RowTiles

__all__ = ["FRKNN"]


class FRKNN(FixedRadius):
    """The vote of the k nearest training rows, of those nearer than a fixed radius.

    A query is positive if more than half of the rows that vote are, which are `n_neighbors` or fewer. The score is the
    share of positives among them; equal shares are ordered by how near the nearest row of each class is.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many vote, at most.
    radius, fallback, threshold, calibration, pos_label
        As in :class:`FRNN`.

    Attributes
    ----------
    radius_, radius_error_ : float
        As in :class:`FRNN`.
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    FRNN : The vote of all rows inside.
    GFRNN : Forces in place of votes, with more mass for the rare class.

    Notes
    -----
    Half of the votes is not enough: the query is negative. Where rows of both classes are equally far and not all of
    them can vote, negative rows come first. With more than two classes it is the larger class, for both.

    Leave-one-out scores and `sample_weight` are as in :class:`FRNN`.

    References
    ----------
    Y. Zhu, Z. Wang, D. Gao, "Gravitational fixed radius nearest neighbor for imbalanced problem", Knowledge-Based
    Systems 90, 2015.

    Examples
    --------
    >>> from scarce.neighbors import FRKNN
    >>> model = FRKNN(3, radius=3).fit([[0], [1], [2], [5]], [0, 1, 1, 0])
    >>> model.predict([[0.2], [4.9]])
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FixedRadius._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    _deciders = "nearest training rows within"

    _largest_value = 1e150  # it takes squares

    def __init__(
        self,
        n_neighbors: int = 5,
        radius: str | float = "half_mean",
        *,
        fallback: str = "nearest",
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.fallback = fallback
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._k = voters(self.n_neighbors, len(X))
        super()._fit(X, y, sample_weight)

    def _keep(self, tiles: RowTiles) -> None:
        self.index_ = tiles.index

    def _inside(self, X: NDArray, skip: IntArray | None) -> Inside:
        k, codes = self._k, range(len(self.index_.class_sizes))
        distance = np.stack([self.index_.kneighbors(X, code, k, skip)[0] for code in codes], axis=1)
        nearest = distance[:, :, 0] ** 2
        distance[distance >= self._inner_radius] = np.inf
        last = np.sort(distance.reshape(len(X), -1), axis=1)[:, k - 1, None, None]
        votes = (distance < last * (1 - SAME)).sum(axis=2)
        places = k - votes.sum(axis=1)
        equal = (np.isfinite(distance) & (distance <= last * (1 + SAME))).sum(axis=2) - votes
        for code in self._precedence:
            taken = np.minimum(equal[:, code], places)
            votes[:, code] += taken
            places -= taken
        return Inside(votes.astype(np.float64), votes.astype(np.float64), nearest)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(4, "mean", fallback="negative")
        yield cls(3, np.inf)
