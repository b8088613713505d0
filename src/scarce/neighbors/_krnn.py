"""KRNN: a neighbourhood that grows until it holds k rare rows, and a raised posterior."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce._typing import BoolArray, Calibration, FloatArray, IntArray, Label, Threshold
from scarce.neighbors._base import upper_limit
from scarce.neighbors._growing import Growing, Walk

__all__ = ["KRNN"]


class KRNN(Growing):
    """k rare-class nearest neighbours: as wide a neighbourhood as k positive rows need, and a raised posterior.

    The neighbourhood of a query grows until it holds k positive rows and the next row is negative. The share of
    positive rows in it, smoothed, is the probability of the positive class. If even the lower limit of that
    share is above the upper limit of the share of positives among all training rows, then the negative rows of
    the neighbourhood are divided by how much the odds are higher there. A row is positive above 1/2.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many positive rows a neighbourhood holds at least.
    confidence : float, default=0.1
        The limits are those of two-sided intervals that fail so often.
    n_jobs : int, default=None
        Threads of the search for negative rows, and of a tree search for positive ones.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is 1/2.
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
    PNN : A neighbourhood of half as many positive rows, and a bias in place of a raised posterior.
    KENN : Positive rows with a reach of their own.

    Notes
    -----
    Built after the descriptions in Viola et al. (ICTAI, 2019) and in the abstract. Open there, and decided here: the
    neighbourhood goes on over a run of positive rows; the local interval is Wilson's; the share is raised by the local
    odds over those of all training rows, only where the two intervals do not meet.

    Distances are Euclidean. Of rows at the same distance the positive ones come first, so nothing depends on
    the order of the rows. The probability is a matter of counts; between two counts the score is interpolated by
    how far the k-th positive row is from one negative row to the next, without ever crossing 1/2. `sample_weight`
    counts in the objective only. Honest scores are exact: they are those of a fit without the row.

    Public programs differ: they put the size of the neighbourhood where the number of its negative rows is
    meant, or raise always. On the figures published for the method the reading here fits as well as any.

    References
    ----------
    X. Zhang, Y. Li, R. Kotagiri, L. Wu, Z. Tari, M. Cheriet, "KRNN: k Rare-class Nearest Neighbour classification",
    Pattern Recognition 62, 2017.

    Examples
    --------
    >>> from scarce.neighbors import KRNN
    >>> model = KRNN().fit([[0], [1], [2], [7], [8], [9], [10], [11]], [1, 1, 0, 0, 0, 0, 0, 0])
    >>> model.predict([[0.8], [9.5]])
    array([1, 0])
    """

    _whole_runs = True

    def __init__(
        self,
        n_neighbors: int = 1,
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

    @property
    def _needed(self) -> int:
        return self.n_neighbors

    def _posterior(self, walk: Walk, sizes: IntArray) -> tuple[FloatArray, BoolArray, FloatArray]:
        n, share, odds = sizes.sum(), sizes[1] / sizes.sum(), sizes[1] / max(1, sizes[0])
        z = norm.isf(self.confidence / 2)
        inside = walk.positives + walk.negatives
        lower = 1 - upper_limit(walk.negatives / inside, inside, z)
        # Without positive rows both limits are 0 but for rounding.
        raised = (walk.positives > 0) & (lower > share + z * np.sqrt(share * (1 - share) / n))

        def posterior(negatives: IntArray) -> FloatArray:
            local_odds = walk.positives / np.maximum(1, negatives)
            against = np.divide(negatives * odds, local_odds, out=negatives.astype(np.float64), where=raised)
            return (walk.positives + 1 / n) / (walk.positives + against + 2 / n)

        probability = posterior(walk.negatives)
        positive = probability > 0.5
        fewer = posterior(walk.negatives + 1)
        score = probability - walk.beyond * (probability - np.where(positive, np.maximum(fewer, 0.5), fewer))
        return probability, raised, np.where(positive, np.maximum(score, np.nextafter(0.5, 1)), score)

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.5

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(3, confidence=0.3)
