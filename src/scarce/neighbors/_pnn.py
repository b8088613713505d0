"""PNN: a neighbourhood that grows until it holds half of k rare rows, and a bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce._typing import BoolArray, Calibration, FloatArray, IntArray, Label, Threshold
from scarce.neighbors._base import upper_limit
from scarce.neighbors._growing import Growing, Walk

__all__ = ["PNN"]


class PNN(Growing):
    """Positive-biased nearest neighbours: as wide a neighbourhood as half of k positive rows need, and a bias.

    Let m be half of k, rounded up, and r the number of rows up to the m-th nearest positive one. If r is at most k,
    then the k nearest neighbours call the query positive already. If it is more, the query is still positive where
    negative rows are less frequent among the r than among all training rows, both taken at their upper limit.

    Parameters
    ----------
    n_neighbors : int, default=3
        The k above. It should be odd: the bias gives the positive class m of k votes, and half is not a majority.
    confidence : float, default=0.2
        The upper limits are those that are too low so often.
    n_jobs : int, default=None
        Threads of the search for negative rows, and of a tree search for positive ones.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is 1.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    index_ : ClassIndex
        The training rows by class.

    See Also
    --------
    KRNN : A neighbourhood of k positive rows, and a raised posterior.
    KENN : Positive rows with a reach of their own.

    Notes
    -----
    Built after the description in Zhu et al. (Knowledge-Based Systems, 2015) and the abstract. Open there, and decided
    here: the neighbourhood grows to half of k positive rows, rounded up, where other texts have k of them; with fewer
    positive rows than that it grows to all of them.

    The score is the share m / r of positive rows in the neighbourhood, plus 1 if the rule calls the query positive.
    Between two counts of rows it is interpolated by how far the m-th positive row is from one negative row to the
    next. Distances are Euclidean. Of rows at the same distance the positive ones come first, so nothing depends on
    the order of the rows. `sample_weight` counts in the objective only. Honest scores are exact: they are
    those of a fit without the row.

    References
    ----------
    X. Zhang, Y. Li, "A Positive-biased Nearest Neighbour Algorithm for Imbalanced Classification", PAKDD 2013.

    Examples
    --------
    >>> from scarce.neighbors import PNN
    >>> X, y = [[0], [1], [2], [7], [8], [9], [10], [11], [12]], [1, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> PNN().fit(X, y).predict([[3.0], [9.5]])
    array([1, 0])
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        confidence: float = 0.2,
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

    @property
    def _needed(self) -> int:
        return (self.n_neighbors + 1) // 2

    def _posterior(self, walk: Walk, sizes: IntArray) -> tuple[FloatArray, BoolArray, FloatArray]:
        k, n, z = self.n_neighbors, sizes.sum(), norm.isf(self.confidence)
        inside = walk.positives + walk.negatives
        share = walk.positives / inside
        less = upper_limit(walk.negatives / inside, inside, z) < upper_limit(sizes[0] / n, n, z)
        biased = (inside > k) & less
        probability = np.where(biased, walk.positives / k, share)
        positive = (walk.positives > 0) & ((probability > 0.5) | (inside <= k))
        return probability, biased, positive + walk.positives / (inside + walk.beyond)

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 1.0

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(1, confidence=0.05)
