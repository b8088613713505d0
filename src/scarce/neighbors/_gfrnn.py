"""GFRNN: rows within a fixed radius pull, those of the rare class with more mass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray

from scarce._typing import Calibration, FloatArray, IntArray, Label, Threshold
from scarce.neighbors._fixed_radius import AllInside, Inside

__all__ = ["GFRNN"]


class GFRNN(AllInside):
    """Gravitational fixed-radius nearest neighbours: all rows inside a radius pull, each with mass / distance².

    Positive rows have the mass n⁻ / n⁺ and negative rows 1, so that both classes weigh the same. A query is positive
    if the forces F⁺ of the positive rows inside exceed those of the negative, F⁻. The score is F⁺ / (F⁺ + F⁻); where
    one class has no row inside, how near its nearest row is still orders the queries.

    Parameters
    ----------
    radius : "half_mean", "mean", "rms" or float, default="mean"
        The radius. "mean" is the mean Euclidean distance between two training rows, "half_mean" half of it, "rms" the
        root of the mean squared distance; ``inf`` lets every row pull. "half_mean" is equation 7 of the paper, whose
        text calls it a mean squared distance. With it a fifth of the queries of common data sets have no positive row
        inside, which does not happen according to the paper.
    fallback : {"nearest", "negative"}, default="nearest"
        The decision where no row is inside or the forces are equal, which the paper leaves open: that of the nearest
        row, or negative (with more than two classes: the largest class).
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score. "default" is the rule above, 1/2.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    radius_ : float
        The radius in use. A row at this distance, up to rounding, is outside.
    radius_error_ : float
        Its standard error: 0 up to 20,000 training rows; beyond, "half_mean" and "mean" are taken from two million
        pairs. The pairs are the same ones at every fit, in whatever order the rows come.
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    FRNN : The vote of the rows inside, without masses and distances.
    FRKNN : The vote of the nearest rows inside.

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

    _fallback_on_ties = True

    def __init__(
        self,
        radius: str | float = "mean",
        *,
        fallback: str = "nearest",
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        super().__init__(radius, fallback=fallback, threshold=threshold, calibration=calibration, pos_label=pos_label)

    def _inside(self, X: NDArray, skip: IntArray | None) -> Inside:
        force, votes, nearest = self._measure(X, skip)
        return Inside(force * self._masses, votes, nearest)

    @property
    def _masses(self) -> FloatArray:
        # Of two classes only the ratio n⁻ / n⁺ matters.
        return self._sizes.sum() / self._sizes

    def _weights(self, distance: FloatArray, code: int) -> FloatArray:
        return self._masses[code] / np.maximum(distance**2, self._zero2)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls("half_mean", fallback="negative")
        yield cls("rms")
        yield cls(np.inf)
