"""What the rules with a fixed radius have in common: the radius, the fallback, a score from what was found inside."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, StrOptions
from scarce.base import RareEventClassifier
from scarce.neighbors._index import ClassIndex
from scarce.neighbors._tiles import RowTiles

__all__ = ["ROUNDING", "Evidence", "FixedRadius"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Up to so many rows the mean distance is that of all pairs.
_EXACT_ROWS = 20_000
# Numbers this close, relative to their size, are taken for equal: a radius or a tie must not hang on the last bits.
ROUNDING = 1e-12
# What the nearest rows add to the rule's own share: it orders equal shares and is too little to be seen otherwise.
_FAINT = 1e-9
# Rows of each class that an explanation names.
_NAMED = 10


class Evidence(NamedTuple):
    """What speaks for each class, in arrays of shape (n_queries, n_classes)."""

    support: FloatArray
    votes: FloatArray
    nearest: FloatArray  # squared distances


class FixedRadius(RareEventClassifier):
    """What the rules have in common: the radius, and what happens where nobody is inside it."""

    radius: str | float
    fallback: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "radius": [StrOptions({"eq7", "mean", "rms"}), Interval(Real, 0, None, closed="right")],
        "fallback": [StrOptions({"nearest", "negative"})],
    }
    _multi_class = True
    # What decides, for explanations, and whether the fallback decides between equals too.
    _deciders: ClassVar[str] = "votes"
    _fallback_on_ties: ClassVar[bool] = False

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.index_ = ClassIndex("euclidean").fit(X, y)
        tiles = RowTiles(X, y)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = tiles.root_mean_square_distance()
        if not np.isfinite(spread):
            raise ValueError("The squared distances between rows are too large for a number. Scale the columns of X.")
        # Rows this close are taken for the same. The floor keeps the reciprocal of the square a number.
        self._zero2 = max((ROUNDING * spread) ** 2, 1e-280)
        self.radius_, self.radius_error_ = self._find_radius(tiles, spread)
        self._keep(tiles)

    def _find_radius(self, tiles: RowTiles, spread: float) -> tuple[float, float]:
        if self.radius == "rms":
            return spread, 0.0
        if not isinstance(self.radius, str):
            return float(self.radius), 0.0
        mean, error = (tiles.mean_distance(), 0.0) if tiles.n_rows <= _EXACT_ROWS else tiles.sampled_mean_distance()
        return (mean / 2, error / 2) if self.radius == "eq7" else (mean, error)

    def _keep(self, tiles: RowTiles) -> None:
        self._tiles = tiles

    @property
    def _inner_radius(self) -> float:
        """The radius less rounding, since a row on the circle is outside."""
        return self.radius_ * (1 - ROUNDING)

    @property
    def _precedence(self) -> IntArray:
        """The classes in the order in which they win ties: the negative of two, the largest of more."""
        sizes = self.index_.class_sizes
        return np.arange(2) if len(sizes) == 2 else np.argsort(-sizes, kind="stable")

    @abstractmethod
    def _evidence(self, X: NDArray, skip: IntArray | None) -> Evidence: ...

    def _weights(self, distance: FloatArray, code: int) -> FloatArray:
        """Return what rows of a class that are asked add to its support."""
        return np.ones(len(distance))

    def _score(self, X: NDArray) -> FloatArray:
        return self._judge(self._evidence(X, None))

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        return self._judge(self._evidence(X, np.arange(len(X))))

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.5

    def _judge(self, evidence: Evidence) -> FloatArray:
        """Return the share of each class in the support, or of the positive of two, with the rule's own winner."""
        n_classes = len(self.index_.class_sizes)
        closeness = _shares(1 / np.maximum(evidence.nearest, self._zero2))
        share = _shares(evidence.support)
        silent = ~evidence.support.any(axis=1)

        tied = share >= share.max(axis=1, keepdims=True) - ROUNDING
        order = self._precedence
        if self.fallback == "nearest":
            falls: NDArray[np.bool_] = silent | (self._fallback_on_ties & (tied.sum(axis=1) > 1))
            among = np.where(tied, closeness, -1.0)
            nearest = among >= among.max(axis=1, keepdims=True) * (1 - ROUNDING)
            tied &= nearest | ~falls[:, None]
        winner = order[tied[:, order].argmax(axis=1)]

        score = (share + _FAINT * closeness) / (1 + _FAINT)
        score[silent] = closeness[silent]
        if self.fallback == "negative":
            score[silent] /= 2
            score[silent, order[0]] += 0.5
        rows = np.arange(len(score))
        if n_classes > 2:
            score[rows, winner] = np.maximum(score[rows, winner], np.nextafter(score.max(axis=1), 2))
            return score
        return np.where(winner == 1, np.maximum(score[:, 1], np.nextafter(0.5, 1)), np.minimum(score[:, 1], 0.5))

    def _positive_share(self, score: FloatArray) -> FloatArray:
        if not 0 < self.threshold_ < 1:
            return super()._positive_share(score)
        # The share itself, with the odds divided by those of the threshold.
        positive, negative = score * (1 - self.threshold_), self.threshold_ * (1 - score)
        return positive / (positive + negative)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """Return for each row who spoke for and against it.

        Returns
        -------
        list of dict, one for each row, with the keys

            score : float
            decided_by : {"votes", "forces", "nearest", "negative"}
                Either of the last two where the rule was silent and `fallback` decided.
            positive_votes, negative_votes : int
                The number of training rows of both classes that were asked.
            positives, negatives : list of {"row", "distance", "share"}
                The nearest of them by their number in `X` of `fit`, up to ten of each class, with their shares of all
                votes or forces. Where nobody was asked, the nearest row of each class, with a share of 0.
        """
        X = self._check_X(X, reset=False)
        if len(self.classes_) > 2:
            raise ValueError("explain is defined for two classes.")
        evidence = self._evidence(X, None)
        score = self._judge(evidence)
        share, total = _shares(evidence.support), evidence.support.sum(axis=1)
        found = [self.index_.kneighbors(X, code, min(_NAMED, self.index_.class_sizes[code])) for code in (0, 1)]
        out = []
        for i in range(len(X)):
            draw = self._fallback_on_ties and abs(share[i, 1] - share[i, 0]) <= ROUNDING
            told: dict[str, Any] = {
                "score": float(score[i]),
                "decided_by": self.fallback if draw or total[i] == 0 else self._deciders,
            }
            for code, side in ((1, "positive"), (0, "negative")):
                votes = int(evidence.votes[i, code])
                shown = slice(votes if total[i] > 0 else 1)
                distance, number = found[code][0][i, shown], found[code][1][i, shown]
                shares = self._weights(distance, code) / total[i] if total[i] > 0 else np.zeros(len(distance))
                told[f"{side}_votes"] = votes
                told[f"{side}s"] = [
                    {"row": int(n), "distance": float(d), "share": float(s)}
                    for n, d, s in zip(number, distance, shares, strict=True)
                ]
            out.append(told)
        return out


def _shares(amount: FloatArray) -> FloatArray:
    """Return what part of its row's total each amount is; equal parts where the total is 0."""
    total = amount.sum(axis=1, keepdims=True)
    return np.divide(amount, total, out=np.full(amount.shape, 1 / amount.shape[1]), where=total > 0)
