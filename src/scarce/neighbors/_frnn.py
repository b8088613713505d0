"""FRNN: the vote of all rows within a fixed radius."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from numpy.typing import NDArray

from scarce._typing import IntArray
from scarce.neighbors._fixed_radius import AllInside, Inside

__all__ = ["FRNN"]


class FRNN(AllInside):
    """The vote of all training rows nearer than a fixed radius.

    A query is positive if more than half of the rows at a distance below the radius are. The score is the share of
    positives among them; equal shares are ordered by how near the nearest row of each class is.

    Parameters
    ----------
    radius : "half_mean", "mean", "rms" or float, default="half_mean"
        The radius, as in :class:`GFRNN`.
    fallback : {"nearest", "negative"}, default="nearest"
        The decision where no row is inside, as in :class:`GFRNN`.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score. "default" is the rule above, 1/2.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    radius_, radius_error_ : float
        As in :class:`GFRNN`.
    index_ : ClassIndex
        The training rows by class, copied when first asked for.

    See Also
    --------
    GFRNN : Forces in place of votes, with more mass for the rare class.
    FRKNN : The vote of the nearest rows inside.

    Notes
    -----
    The training rows are not copied: do not change `X` in place after `fit`.

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

    def _inside(self, X: NDArray, skip: IntArray | None) -> Inside:
        _, votes, nearest = self._measure(X, skip)
        return Inside(votes, votes, nearest)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls("half_mean", fallback="negative")
        yield cls(2.5)
