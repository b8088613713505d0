"""Neighbours within a fixed radius: their vote (FRNN, FRkNN) and their gravitation (GFRNN)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval
from scarce.neighbors._radius import ROUNDING, Evidence, FixedRadius
from scarce.neighbors._tiles import RowTiles
from scarce.objectives import Objective

__all__ = ["FRKNN", "FRNN", "GFRNN"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class _AllInside(FixedRadius):
    """A rule that asks every row inside the radius."""

    def __init__(
        self,
        radius: str | float = "eq7",
        *,
        fallback: str = "nearest",
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.radius = radius
        self.fallback = fallback
        self.threshold = threshold
        self.pos_label = pos_label

    def _asked(self, X: NDArray, skip: IntArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._tiles.forces(X, self._inner_radius**2, self._zero2, skip)


class GFRNN(_AllInside):
    """Gravitational fixed-radius nearest neighbours: all rows inside a radius pull, each with mass / distance².

    Positive rows have the mass n⁻ / n⁺ and negative rows 1, so that both classes weigh the same. A query is positive
    if the forces F⁺ of the positive rows inside exceed those of the negative, F⁻. The score is F⁺ / (F⁺ + F⁻); where
    one class has no row inside, how near its nearest row is still orders the queries.

    Parameters
    ----------
    radius : "eq7", "mean", "rms" or float, default="eq7"
        The radius. "mean" is the mean Euclidean distance between two training rows, "eq7" half of it, "rms" the root
        of the mean squared distance; ``inf`` lets every row pull. "eq7" is the formula of the paper as printed, which
        its text calls a mean squared distance. With it a fifth of the queries of common data sets have no positive
        row inside, which the paper says never happens; "mean" is less brittle.
    fallback : {"nearest", "negative"}, default="nearest"
        Who decides where no row is inside or the forces are equal, which the paper leaves open: the nearest row, or
        nobody, so that the query is negative (with more than two classes: of the largest class).
    threshold : "default", str, Objective or float, default="default"
        Where to cut the score. "default" is the rule above, a cut at 1/2.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    radius_ : float
        The radius in use. A row at this distance, up to rounding, is outside.
    radius_error_ : float
        Its standard error: 0 up to 20,000 training rows; beyond, "eq7" and "mean" are taken from two million pairs.
        The pairs are the same ones at every fit, in whatever order the rows come.
    index_ : ClassIndex
        The training rows by class.

    Notes
    -----
    Where training rows are at the query itself, they alone pull, with their masses.

    With more than two classes the masses are n / n_c, and the largest force wins. ``GFRNN(radius=inf)`` decides as the
    imbalanced gravitation classification of Peng et al. (2014) does with one row in each particle and equal weights
    of the features, since only the ratio of the masses matters.

    Leave-one-out scores, on which an objective is optimised, are by the radius and the masses of all rows.
    `sample_weight` counts in the objective; it is not a mass.

    References
    ----------
    Y. Zhu, Z. Wang, D. Gao, "Gravitational fixed radius nearest neighbor for imbalanced problem", Knowledge-Based
    Systems 90, 2015.

    Examples
    --------
    >>> from scarce.neighbors import GFRNN
    >>> model = GFRNN(radius="mean").fit([[0.0], [1.0], [2.0], [6.0]], [0, 0, 0, 1])
    >>> round(model.radius_, 3)
    3.167
    >>> model.predict([[1.5], [4.0]])
    array([0, 1])
    """

    _deciders = "forces"
    _fallback_on_ties = True

    def _evidence(self, X: NDArray, skip: IntArray | None) -> Evidence:
        force, votes, nearest = self._asked(X, skip)
        return Evidence(force * self._masses, votes, nearest)

    @property
    def _masses(self) -> FloatArray:
        # Of two classes only the ratio n⁻ / n⁺ matters.
        sizes = self.index_.class_sizes
        return sizes.sum() / sizes

    def _weights(self, distance: FloatArray, code: int) -> FloatArray:
        return self._masses[code] / np.maximum(distance**2, self._zero2)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls("mean", fallback="negative")
        yield cls("rms")
        yield cls(np.inf)


class FRNN(_AllInside):
    """The vote of all training rows nearer than a fixed radius.

    A query is positive if more than half of the rows at a distance below the radius are. The score is the share of
    positives among them; equal shares are ordered by how near the nearest row of each class is.

    Parameters
    ----------
    radius : "eq7", "mean", "rms" or float, default="eq7"
        The radius, as in :class:`GFRNN`.
    fallback : {"nearest", "negative"}, default="nearest"
        Who decides where no row is inside, as in :class:`GFRNN`.
    threshold : "default", str, Objective or float, default="default"
        Where to cut the score. "default" is the rule above, a cut at 1/2.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    radius_, radius_error_ : float
        As in :class:`GFRNN`.
    index_ : ClassIndex
        The training rows by class.

    Notes
    -----
    Half of the votes is not enough: the query is negative. With more than two classes most votes win, and of
    equals the larger class. Leave-one-out scores are by the radius of all rows. `sample_weight` counts in the
    objective, not in the vote.

    References
    ----------
    Y. Zhu, Z. Wang, D. Gao, "Gravitational fixed radius nearest neighbor for imbalanced problem", Knowledge-Based
    Systems 90, 2015.

    Examples
    --------
    >>> from scarce.neighbors import FRNN
    >>> model = FRNN(1.5).fit([[0], [1], [2], [5]], [0, 1, 1, 0])
    >>> model.predict([[1.2], [4.9], [9.0]])
    array([1, 0, 0])
    """

    def _evidence(self, X: NDArray, skip: IntArray | None) -> Evidence:
        _, votes, nearest = self._asked(X, skip)
        return Evidence(votes, votes, nearest)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls("eq7", fallback="negative")
        yield cls(2.5)


class FRKNN(FixedRadius):
    """The vote of the k nearest training rows, of those nearer than a fixed radius.

    A query is positive if more than half of the rows that vote are, which are `n_neighbors` or fewer. The score is the
    share of positives among them; equal shares are ordered by how near the nearest row of each class is.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many vote at most.
    radius, fallback, threshold, pos_label
        As in :class:`FRNN`.

    Attributes
    ----------
    radius_, radius_error_ : float
        As in :class:`FRNN`.
    index_ : ClassIndex
        The training rows by class.

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

    def __init__(
        self,
        n_neighbors: int = 5,
        radius: str | float = "eq7",
        *,
        fallback: str = "nearest",
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.fallback = fallback
        self.threshold = threshold
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._k = min(self.n_neighbors, len(X))
        if self._k < self.n_neighbors:
            warnings.warn(f"n_neighbors={self.n_neighbors} is more than the {len(X)} training rows.", stacklevel=3)
        super()._fit(X, y, sample_weight)

    def _keep(self, tiles: RowTiles) -> None:
        """Keep nothing: the index finds the nearest rows."""

    def _evidence(self, X: NDArray, skip: IntArray | None) -> Evidence:
        k, codes = self._k, range(len(self.index_.class_sizes))
        distance = np.stack([self.index_.kneighbors(X, code, k, skip)[0] for code in codes], axis=1)
        nearest = distance[:, :, 0] ** 2
        distance[distance >= self._inner_radius] = np.inf
        last = np.sort(distance.reshape(len(X), -1), axis=1)[:, k - 1, None, None]
        votes = (distance < last * (1 - ROUNDING)).sum(axis=2)
        places = k - votes.sum(axis=1)
        equal = (np.isfinite(distance) & (distance <= last * (1 + ROUNDING))).sum(axis=2) - votes
        for code in self._precedence:
            taken = np.minimum(equal[:, code], places)
            votes[:, code] += taken
            places -= taken
        return Evidence(votes.astype(np.float64), votes.astype(np.float64), nearest)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(4, "mean", fallback="negative")
        yield cls(3, np.inf)
