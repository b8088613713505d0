"""KENN: positive rows with a reach of their own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce._sklearn import Interval
from scarce._typing import Calibration, FloatArray, IntArray, Label, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import contrast, explain_near, one_fewer, upper_limit, voters
from scarce.neighbors._search import ClassIndex, Neighbors, RowBoxes, merge_by_class, nearest_shifted

__all__ = ["KENN"]


class KENN(RareEventClassifier):
    """k exemplar-based nearest neighbours: some positive rows are balls, and distances to them end at the surface.

    The ball of a positive row reaches to the nearest other positive row. The row becomes an exemplar if negative rows
    are no more frequent in its ball than among all training rows, both taken at their upper limit. The distance to an
    exemplar is reduced by its radius, and below 0 inside of its ball; then the majority of the k nearest wins.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote.
    confidence : float, default=0.1
        The upper limits are those that are too low so often.
    n_jobs : int, default=None
        Threads of a tree search for negative rows.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is that of the majority.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    radii_ : ndarray of shape (n_positive,)
        The radius of each positive row's ball in their order, 0 if it is no exemplar.
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    PNN : A neighbourhood that grows in place of balls.
    scarce.ellipsoids.ME2 : Ellipsoids in place of balls.

    Notes
    -----
    Built after the description in Zhu et al. (Knowledge-Based Systems, 2015) and the abstract. Open there, and decided
    here: a ball counts its centre and the positive row on its surface, and negative rows strictly inside; the upper
    limits are one-sided.

    The score is the share of positive votes, and orders equal shares by how much nearer the nearest positive row is
    than the nearest negative one. A ball holds the negative rows inside, its centre and the positive row on its
    surface; a negative row on the surface is outside. Of rows at the same reduced distance the positive one is taken
    first, and half of the votes is not a majority. Distances are Euclidean, and `sample_weight` counts in the objective
    only. Honest scores are exact: they are those of a fit without the row, balls and all.

    Where positives are rare nearly all of them become exemplars, and the rule leans towards the positive class:
    expect many false positives at the default threshold.

    References
    ----------
    Y. Li, X. Zhang, "Improving k Nearest Neighbor with Exemplar Generalization for Imbalanced Classification",
    PAKDD 2011.

    Examples
    --------
    >>> from scarce.neighbors import KENN
    >>> X, y = [[0], [2], [4.5], [6], [7], [8], [9], [10]], [1, 1, 0, 0, 0, 0, 0, 0]
    >>> model = KENN(1).fit(X, y)
    >>> model.radii_
    array([2., 2.])
    >>> model.predict([[3.9], [5.0]])
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "confidence": [Interval(Real, 0, 0.5, closed="right")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        confidence: float = 0.1,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex(n_jobs=self.n_jobs).fit(X, y)
        sizes = self.index_.class_sizes
        self._positives, self._numbers = X[y == 1], np.flatnonzero(y == 1)
        self._reach = self.index_.kth_distance(self._positives, 1, 1, self._numbers)
        self._inside = RowBoxes(X[y == 0], self.n_jobs).around(self._positives, self._reach).closer
        self.radii_ = self._radii(self._inside, self._reach, sizes)
        if sizes[1] <= voters(self.n_neighbors, len(X)) // 2:
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a row needs more positive neighbours to be called positive than "
                f"the {sizes[1]} there are, so no row will be predicted positive. Use a smaller n_neighbors.",
                stacklevel=3,
            )

    def _radii(self, inside: IntArray, reach: FloatArray, sizes: IntArray) -> FloatArray:
        """Return the radius of each ball, 0 where it holds too many negative rows or there is none."""
        n, z = sizes.sum(), norm.isf(self.confidence)
        held = inside + 2
        fit = upper_limit(inside / held, held, z) <= upper_limit(sizes[0] / n, n, z)
        return np.where(fit & np.isfinite(reach), reach, 0.0)

    _leaves_one_out = True
    _largest_value = 1e150  # it takes squares

    def _score(self, X: NDArray) -> FloatArray:
        return self._vote(X, self.index_.class_sizes, self.radii_)[0]

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        out = np.empty(len(rows))
        # A negative row is missed by the balls that it is in.
        mine, sizes = y[rows] == 0, one_fewer(self.index_.class_sizes, 0)
        radii = self._radii(self._inside, self._reach, sizes)
        without = self._radii(np.maximum(self._inside - 1, 0), self._reach, sizes)
        out[mine] = self._vote(X[rows[mine]], sizes, radii, without, skip=rows[mine], inside=self._reach)[0]
        # A positive row is missed by those that it is the nearest of: their balls reach to the second nearest.
        mine, sizes = y[rows] == 1, one_fewer(self.index_.class_sizes, 1)
        distance, partner = self.index_.kneighbors(self._positives, 1, 2, self._numbers)
        inside = RowBoxes(X[y == 0], self.n_jobs).around(self._positives, distance[:, 1]).closer
        radii = self._radii(self._inside, self._reach, sizes)
        without = self._radii(inside, distance[:, 1], sizes)
        out[mine] = self._vote(X[rows[mine]], sizes, radii, without, skip=rows[mine], partner=partner[:, 0])[0]
        return out

    def _vote(
        self,
        X: NDArray,
        sizes: IntArray,
        radii: FloatArray,
        other_radii: FloatArray | None = None,
        *,
        skip: IntArray | None = None,
        inside: FloatArray | None = None,
        partner: IntArray | None = None,
    ) -> tuple[FloatArray, Neighbors]:
        """Return the score, and the k nearest rows with their reduced distances.

        The radii of the positive rows are `other_radii` for queries closer than `inside`, and for the query that is
        the row's `partner`.
        """
        k = min(self.n_neighbors, int(sizes.sum()))
        positive = nearest_shifted(
            X,
            self._positives,
            self._numbers,
            np.full(len(X), -2, dtype=np.intp) if skip is None else skip,
            k,
            radii,
            radii if other_radii is None else other_radii,
            np.zeros(len(radii)) if inside is None else inside,
            np.full(len(radii), -1, dtype=np.intp) if partner is None else np.ascontiguousarray(partner),
        )
        negative = self.index_.kneighbors(X, 0, k, skip)
        found = merge_by_class([positive, negative], [1, 0], k)
        # In [-1/2, 1/2], an infinite distance included.
        nearer = np.arctan(negative[0][:, 0] - positive[0][:, 0]) / np.pi
        return (found.code.sum(axis=1) + 0.98 * nearer) / k, found

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        k = min(self.n_neighbors, len(X))
        return (k // 2 + 0.5) / k

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        found = self._vote(X, self.index_.class_sizes, self.radii_)[1]
        radius = np.zeros(self.index_.class_sizes.sum())
        radius[self._numbers] = self.radii_
        near = found._replace(distance=found.distance + radius[found.number])  # to the rows, not to their surfaces
        votes = found.code / found.code.shape[1]
        return explain_near(self, X, code, near, votes, effects=contrast(self, X, code), **known)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(1, confidence=0.25)
