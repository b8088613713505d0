"""γk-NN over shards of rows: distances where the rows live, and the exact threshold from what shards return.

Nothing here knows where the shards are: every function takes plain objects, and an engine calls it on a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._sweep import Sweep
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._base import bounded_ratio
from scarce.neighbors._search import ClassIndex
from scarce.objectives import FBeta

__all__ = ["Candidates", "Gaps", "NegativeShard", "Orders", "best_threshold", "gaps_of", "next_level", "nth_of_all"]

# As in the search on one machine: a ratio of distances is below another for sure if they differ by this share, for
# scores that are not as good as 1.
_SURE, _NEARLY_ONE = 1e-9, 0.999


class Orders(NamedTuple):
    """The positive and the negative neighbour that decide."""

    positive: int
    negative: int


class Candidates(NamedTuple):
    """Negative rows of a shard whose scores may matter.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    positive : ndarray of shape (n_rows,)
        Their distances to the deciding positive row.
    near : ndarray of shape (n_rows, k)
        Their distances to the nearest other negative rows of the shard.
    """

    X: NDArray
    positive: FloatArray
    near: FloatArray


class Gaps(NamedTuple):
    """Scores of negative rows beside ascending limits, of which there is one fewer than gaps.

    Attributes
    ----------
    ties : ndarray of shape (n_limits,)
        How many scores are equal to a limit.
    inside, least, most : ndarray of shape (n_limits + 1,)
        How many are between two limits, the least of them and the greatest.
    """

    ties: IntArray
    inside: IntArray
    least: FloatArray
    most: FloatArray


@dataclass
class NegativeShard:
    """The negative rows of a shard, and how far each is from the deciding positive row.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The negative rows of the shard.
    positives : ndarray of shape (n_positives, n_features)
        All positive rows.
    orders : Orders
        Which neighbours decide.
    algorithm : str
        The search, as for :class:`~scarce.neighbors.GammaKNN`.
    """

    X: NDArray
    positives: NDArray
    orders: Orders
    algorithm: str = "auto"

    def __post_init__(self) -> None:
        self._index = self._of(self.X)
        to_positives = self._of(self.positives)
        self.positive = np.full(len(self.X), np.inf)
        if to_positives is not None and len(self.X):
            self.positive = to_positives.kth_distance(self.X, 0, self.orders.positive)

    def _of(self, rows: NDArray) -> ClassIndex | None:
        if not len(rows):
            return None
        return ClassIndex(algorithm=self.algorithm, n_jobs=1).fit(rows, np.zeros(len(rows), dtype=np.intp))

    def nearest(self, X: NDArray, skip: IntArray | None = None) -> FloatArray:
        """Return the distances of rows to the nearest of the shard, as many as decide; infinite where there are fewer.

        `skip` has the row of the shard to leave out for each.
        """
        if self._index is None or not len(X):
            return np.full((len(X), self.orders.negative), np.inf)
        return self._index.kneighbors(X, 0, self.orders.negative, skip)[0]

    def candidates(self, low: float) -> Candidates:
        """Return the rows whose score among all rows may be as high as `low`."""
        rows = np.arange(len(self.X))
        if low > -np.inf and self._index is not None:
            enough = None if low <= 0 or low > _NEARLY_ONE else low / (1 - low) * self.positive * (1 - _SURE)
            near = self._index.kth_distance(self.X, 0, self.orders.negative, rows, enough)
            # Rows of other shards can only be nearer, and the score lower.
            rows = rows[bounded_ratio(near, self.positive) >= low]
        return self._some(rows)

    def sample(self, step: int) -> Candidates:
        """Return every `step`-th row."""
        return self._some(np.arange(0, len(self.X), step))

    def _some(self, rows: IntArray) -> Candidates:
        return Candidates(self.X[rows], self.positive[rows], self.nearest(self.X[rows], rows))


def nth_of_all(lists: Sequence[FloatArray], n: int) -> FloatArray:
    """Return the n-th smallest of the distances that shards have found for each row."""
    return np.sort(np.hstack(lists), axis=1)[:, n - 1]


def scores_of(found: Candidates, elsewhere: Sequence[FloatArray], orders: Orders) -> FloatArray:
    """Return the exact scores of candidates, given their distances to the nearest rows of other shards."""
    return bounded_ratio(nth_of_all([found.near, *elsewhere], orders.negative), found.positive)


def gaps_of(score: FloatArray, limits: FloatArray, low: float) -> Gaps:
    """Count the scores that are at least `low` beside ascending limits."""
    score = np.sort(score[score >= low])
    at = np.searchsorted(limits, score, side="left")
    tied = np.zeros(len(score), dtype=bool)
    inside = at < len(limits)
    tied[inside] = limits[at[inside]] == score[inside]
    ties = np.bincount(at[tied], minlength=len(limits))
    at, score = at[~tied], score[~tied]
    count = np.bincount(at, minlength=len(limits) + 1)
    least, most = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(least, at, score)
    np.maximum.at(most, at, score)
    return Gaps(ties, count, least, most)


def merged(parts: Sequence[Gaps]) -> Gaps:
    """Return the gaps of all shards together."""
    ties, count, least, most = (np.stack(part) for part in zip(*parts, strict=True))
    return Gaps(ties.sum(axis=0), count.sum(axis=0), least.min(axis=0), most.max(axis=0))


def best_threshold(
    positive: FloatArray, limits: FloatArray, gaps: Gaps, low: float, between: tuple[float, float], beta: float
) -> tuple[float | None, float]:
    """Return the threshold of highest F, or None where lower scores may matter, and the value that was reached.

    A negative row that is called positive besides never raises F. So the best threshold is just below a positive row,
    or the highest that is allowed, and of the negative rows between two of these only the number, the least and the
    greatest matter. The sweep has these, and its other thresholds are worse than one of them.

    Parameters
    ----------
    positive : ndarray of shape (n_positives,)
        The scores of the positive rows.
    limits : ndarray of shape (n_limits,)
        These in order, each once, and the highest threshold that is allowed.
    gaps : Gaps
        The scores of negative rows that are at least `low`.
    low : float
        Of all negative rows below, it is only known that they are.
    between : pair of floats
        Only thresholds greater than the first and at most the second are considered.
    beta : float
        How much recall counts beside precision.
    """
    above = int(gaps.inside.sum() + gaps.ties.sum())
    if not above:
        return None, 0.0
    some, several = gaps.inside > 0, gaps.inside > 1
    negative = np.concatenate((limits[gaps.ties > 0], gaps.most[some], gaps.least[several]))
    weight = np.concatenate(
        (gaps.ties[gaps.ties > 0], np.where(several, gaps.inside - 1, gaps.inside)[some], np.ones(several.sum()))
    )
    score = np.concatenate((positive, negative))
    y = np.concatenate((np.ones(len(positive)), np.zeros(len(negative))))
    sweep = Sweep(score, y, np.concatenate((np.ones(len(positive)), weight)))
    threshold = sweep.thresholds(*between)
    certain = ~np.isnan(threshold) & ((sweep.lower >= low) | np.isneginf(low))
    value = np.where(certain, FBeta(beta)._values(sweep), -1.0)
    best = int(np.argmax(value))
    most = (1 + beta**2) * len(positive)
    if np.isneginf(low) or value[best] > most / (most + above) * (1 + 1e-12):
        return float(threshold[best]), float(value[best])
    return None, max(float(value[best]), 0.0)


def next_level(scores: FloatArray, step: int, n_positives: int, beta: float, value: float, margin: float) -> float:
    """Return the score from which on there are as many negative rows as can matter, by a sample of their scores.

    No F below can exceed `value`. Each row of the sample stands for `step`, and `margin` times as many are taken.
    """
    if value <= 0:
        return -np.inf
    most = (1 + beta**2) * n_positives
    needed = margin * (most / value - most)
    place = int(needed // step)
    return float(np.sort(scores)[::-1][place]) if place < len(scores) else -np.inf
