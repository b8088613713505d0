"""Neighbourhoods that grow until they hold some rare rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval
from scarce.base import RareEventClassifier
from scarce.neighbors._index import ClassIndex
from scarce.neighbors._surroundings import RowBoxes
from scarce.neighbors._votes import one_fewer
from scarce.objectives import Objective

__all__ = ["KRNN", "PNN"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

CONSTRAINTS: dict[str, list[Any]] = {
    **RareEventClassifier._parameter_constraints,
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "confidence": [Interval(Real, 0, 0.5, closed="right")],
    "n_jobs": [Integral, None],
}


def upper_limit(rate: Any, n: Any, z: float) -> Any:
    """Return the upper limit of Wilson's interval for a rate that was observed in n cases."""
    spread = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return (rate + z**2 / (2 * n) + spread) / (1 + z**2 / n)


class _Walk(NamedTuple):
    """What a walk from each query outwards met: so many rows of both classes, up to the radius of the last needed.

    `beyond`, in [0, 1], says how far the radius is from the last negative row that it includes towards the next.
    """

    positives: IntArray
    negatives: IntArray
    radius: FloatArray
    beyond: FloatArray


class _Grown(RareEventClassifier):
    """The neighbourhood of a query grows until it holds some positive rows."""

    n_neighbors: int
    confidence: float
    n_jobs: int | None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS
    _whole_runs: ClassVar[bool] = False

    @property
    @abstractmethod
    def _needed(self) -> int:
        """How many positive rows a neighbourhood must hold."""

    @abstractmethod
    def _posterior(self, walk: _Walk, sizes: IntArray) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
        """Return P(positive), whether it was adjusted, and the score."""

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex(n_jobs=self.n_jobs).fit(X, y)
        self._boxes = [RowBoxes(X[y == code], self.n_jobs) for code in (0, 1)]
        if self.index_.class_sizes[1] < self._needed:
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a neighbourhood needs {self._needed} positive rows, and there "
                f"are {self.index_.class_sizes[1]}: it will hold all of them.",
                stacklevel=3,
            )

    def _walk(self, X: NDArray, sizes: IntArray, code: int | None = None, rows: IntArray | None = None) -> _Walk:
        """Walk from each query. If these are all the rows of class `code`, numbered `rows`, each leaves itself out."""
        own = [np.arange(len(X)) if code == mine else None for mine in (0, 1)]
        needed = min(self._needed, int(sizes[1]))
        radius = self.index_.kth_distance(X, 1, needed, rows) if needed else np.full(len(X), np.inf)
        negatives, below, above = self._boxes[0].around(X, radius, own[0])
        positives = np.full(len(X), needed)
        if self._whole_runs:
            # Positive rows follow each other until the next negative row; of equally far ones they come first.
            positives = self._boxes[1].around(X, np.nextafter(above, np.inf), own[1]).closer
        beyond = np.zeros(len(X))
        np.divide(radius - below, above - below, out=beyond, where=np.isfinite(above) & (above > below))
        return _Walk(positives, negatives, radius, beyond)

    def _score(self, X: NDArray) -> FloatArray:
        sizes = self.index_.class_sizes
        return self._posterior(self._walk(X, sizes), sizes)[2]

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        out = np.empty(len(X))
        for code in (0, 1):
            rows = np.flatnonzero(y == code)
            sizes = one_fewer(self.index_.class_sizes, code)
            out[rows] = self._posterior(self._walk(X[rows], sizes, code, rows), sizes)[2]
        return out

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """Return for each row what its neighbourhood held.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
                That of `score_samples`.
            probability : float
                The estimated probability of the positive class.
            adjusted : bool
                Whether positive rows are so frequent in the neighbourhood that the estimate was raised.
            radius : float
                The distance to the last positive row that was needed.
            n_positives, n_negatives : int
                The rows of both classes in the neighbourhood.
            positives, negatives : list of {"row", "distance"}
                The nearest training rows of both classes by their number in `X` of `fit`, up to `n_neighbors`.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        sizes = self.index_.class_sizes
        walk = self._walk(X, sizes)
        probability, adjusted, score = self._posterior(walk, sizes)
        nearest = {
            "positives": self.index_.kneighbors(X, 1, min(self.n_neighbors, sizes[1])),
            "negatives": self.index_.kneighbors(X, 0, min(self.n_neighbors, sizes[0])),
        }
        return [
            {
                "score": float(score[i]),
                "probability": float(probability[i]),
                "adjusted": bool(adjusted[i]),
                "radius": float(walk.radius[i]),
                "n_positives": int(walk.positives[i]),
                "n_negatives": int(walk.negatives[i]),
                **{
                    side: [{"row": int(r), "distance": float(d)} for d, r in zip(distance[i], row[i], strict=True)]
                    for side, (distance, row) in nearest.items()
                },
            }
            for i in range(len(X))
        ]


class KRNN(_Grown):
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
        Where to cut the score; "default" is 1/2.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    index_ : ClassIndex
        The training rows by class.

    Notes
    -----
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
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label

    @property
    def _needed(self) -> int:
        return self.n_neighbors

    def _posterior(self, walk: _Walk, sizes: IntArray) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
        n, share, odds = sizes.sum(), sizes[1] / sizes.sum(), sizes[1] / max(1, sizes[0])
        z = norm.isf(self.confidence / 2)
        inside = walk.positives + walk.negatives
        lower = 1 - upper_limit(walk.negatives / inside, inside, z)
        raised = lower > share + z * np.sqrt(share * (1 - share) / n)

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


class PNN(_Grown):
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
        Where to cut the score; "default" is 1.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    index_ : ClassIndex
        The training rows by class.

    Notes
    -----
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
        threshold: str | float | Objective = "default",
        pos_label: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label

    @property
    def _needed(self) -> int:
        return (self.n_neighbors + 1) // 2

    def _posterior(self, walk: _Walk, sizes: IntArray) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
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
