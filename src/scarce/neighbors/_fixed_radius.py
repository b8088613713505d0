"""The base of the rules with a fixed radius: the radius, the fallback, and a score from the rows inside."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, StrOptions
from scarce._typing import BoolArray, FloatArray, IntArray, Label, MatrixLike, Threshold
from scarce.base import RareEventClassifier
from scarce.neighbors._search import ClassIndex, RowTiles

__all__ = ["SAME", "AllInside", "FixedRadius", "Inside"]


# Up to this number of rows the mean distance is that of all pairs.
_EXACT_ROWS = 20_000
# Numbers this close, relative to their size, are taken for equal: a radius or a tie must not hang on the last bits.
SAME = 1e-12
# The weight of the nearest rows beside the rule's own share: it orders equal shares and is too small to change others.
_FAINT = 1e-9
# Rows of each class that an explanation names.
_NAMED = 10


class Inside(NamedTuple):
    """The rows inside the radius, summed up by class in arrays of shape (n_queries, n_classes)."""

    support: FloatArray
    votes: FloatArray
    nearest: FloatArray  # squared distances


class FixedRadius(RareEventClassifier):
    """A rule with a fixed radius, and a fallback for queries with no row inside it."""

    radius: str | float
    fallback: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "radius": [StrOptions({"half_mean", "mean", "rms"}), Interval(Real, 0, None, closed="right")],
        "fallback": [StrOptions({"nearest", "negative"})],
    }
    _multi_class = True
    _score_is_ratio = True
    # What decides, by name, for explanations; and whether the fallback decides between equals too.
    _deciders: ClassVar[str] = "votes"
    _fallback_on_ties: ClassVar[bool] = False

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex("euclidean").fit(X, y)
        tiles = RowTiles(X, y)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = tiles.root_mean_square_distance()
        if not np.isfinite(spread):
            raise ValueError("The squared distances between rows are too large for a number. Scale the features of X.")
        # Rows this close are taken for the same. The floor keeps the reciprocal of the square a number.
        self._zero2 = max((SAME * spread) ** 2, 1e-280)
        self.radius_, self.radius_error_ = self._find_radius(tiles, spread)
        self._keep(tiles)

    def _find_radius(self, tiles: RowTiles, spread: float) -> tuple[float, float]:
        if self.radius == "rms":
            return spread, 0.0
        if not isinstance(self.radius, str):
            return float(self.radius), 0.0
        mean, error = (tiles.mean_distance(), 0.0) if tiles.n_rows <= _EXACT_ROWS else tiles.sampled_mean_distance()
        return (mean / 2, error / 2) if self.radius == "half_mean" else (mean, error)

    def _keep(self, tiles: RowTiles) -> None:
        self._tiles = tiles

    @property
    def _inner_radius(self) -> float:
        """The radius less rounding, since a row on the circle is outside."""
        return self.radius_ * (1 - SAME)

    @property
    def _precedence(self) -> IntArray:
        """The classes in the order in which they win ties: the negative of two, the largest of more."""
        sizes = self.index_.class_sizes
        return np.arange(2) if len(sizes) == 2 else np.argsort(-sizes, kind="stable")

    @abstractmethod
    def _inside(self, X: NDArray, skip: IntArray | None) -> Inside:
        """Return the support of each class, without the row `skip` of each query."""

    def _weights(self, distance: FloatArray, code: int) -> FloatArray:
        """Return the weights of rows of a class in its support."""
        return np.ones(len(distance))

    def _score(self, X: NDArray) -> FloatArray:
        return self._judge(self._inside(X, None))

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        return self._judge(self._inside(X, np.arange(len(X))))

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.5

    def _judge(self, inside: Inside) -> FloatArray:
        """Return the share of each class in the support, or of the positive of two, with the rule's own winner."""
        n_classes = len(self.index_.class_sizes)
        closeness = _shares(1 / np.maximum(inside.nearest, self._zero2))
        share = _shares(inside.support)
        empty = ~inside.support.any(axis=1)

        tied = share >= share.max(axis=1, keepdims=True) - SAME
        order = self._precedence
        if self.fallback == "nearest":
            falls: BoolArray = empty | (self._fallback_on_ties & (tied.sum(axis=1) > 1))
            among = np.where(tied, closeness, -1.0)
            nearest = among >= among.max(axis=1, keepdims=True) * (1 - SAME)
            tied &= nearest | ~falls[:, None]
        winner = order[tied[:, order].argmax(axis=1)]

        score = (share + _FAINT * closeness) / (1 + _FAINT)
        score[empty] = closeness[empty]
        if self.fallback == "negative":
            score[empty] /= 2
            score[empty, order[0]] += 0.5
        rows = np.arange(len(score))
        if n_classes > 2:
            score[rows, winner] = np.maximum(score[rows, winner], np.nextafter(score.max(axis=1), 2))
            return score
        return np.where(winner == 1, np.maximum(score[:, 1], np.nextafter(0.5, 1)), np.minimum(score[:, 1], 0.5))

    def explain(self, X: MatrixLike) -> list[dict[str, Any]]:
        """Return for each row the rows inside the radius that decided about it.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
            decided_by : {"votes", "forces", "nearest", "negative"}
                Either of the last two where the rule did not decide and `fallback` did.
            positive_votes, negative_votes : int
                The number of training rows of both classes inside the radius, or that vote.
            positives, negatives : list of {"row", "distance", "share"}
                The nearest of them by their number in `X` of `fit`, up to ten of each class, with their shares of all
                votes or forces. Where there was none, the nearest row of each class, with a share of 0.
        """
        X = self._check_X(X, reset=False)
        if len(self.classes_) > 2:
            raise ValueError("explain is defined for two classes.")
        inside = self._inside(X, None)
        score = self._judge(inside)
        share, total = _shares(inside.support), inside.support.sum(axis=1)
        found = [self.index_.kneighbors(X, code, min(_NAMED, self.index_.class_sizes[code])) for code in (0, 1)]
        out = []
        for i in range(len(X)):
            draw = self._fallback_on_ties and abs(share[i, 1] - share[i, 0]) <= SAME
            explanation: dict[str, Any] = {
                "score": float(score[i]),
                "decided_by": self.fallback if draw or total[i] == 0 else self._deciders,
            }
            for code, side in ((1, "positive"), (0, "negative")):
                votes = int(inside.votes[i, code])
                shown = slice(votes if total[i] > 0 else 1)
                distance, number = found[code][0][i, shown], found[code][1][i, shown]
                shares = self._weights(distance, code) / total[i] if total[i] > 0 else np.zeros(len(distance))
                explanation[f"{side}_votes"] = votes
                explanation[f"{side}s"] = [
                    {"row": int(n), "distance": float(d), "share": float(s)}
                    for n, d, s in zip(number, distance, shares, strict=True)
                ]
            out.append(explanation)
        return out


class AllInside(FixedRadius):
    """A rule by all rows inside the radius."""

    def __init__(
        self,
        radius: str | float = "half_mean",
        *,
        fallback: str = "nearest",
        threshold: Threshold = "default",
        pos_label: Label = None,
    ) -> None:
        self.radius = radius
        self.fallback = fallback
        self.threshold = threshold
        self.pos_label = pos_label

    def _measure(self, X: NDArray, skip: IntArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._tiles.forces(X, self._inner_radius**2, self._zero2, skip)


def _shares(amount: FloatArray) -> FloatArray:
    """Return each amount as a share of its row's total; equal shares where the total is 0."""
    total = amount.sum(axis=1, keepdims=True)
    return np.divide(amount, total, out=np.full(amount.shape, 1 / amount.shape[1]), where=total > 0)
