"""The base of the rules with a fixed radius: the radius, the fallback, and a score from the rows inside."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, StrOptions
from scarce._typing import BoolArray, Calibration, FloatArray, IntArray, Label, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.neighbors._base import contrast, explain_near, labels_by_code
from scarce.neighbors._search import ClassIndex, RowTiles, merge_by_class

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
    _leaves_one_out = True
    # The rows that decide, for explanations; and whether the fallback decides between equals too.
    _deciders: ClassVar[str] = "training rows nearer than"
    _fallback_on_ties: ClassVar[bool] = False

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        tiles = RowTiles(X, y)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = tiles.root_mean_square_distance()
        if not np.isfinite(spread):
            raise ValueError("The squared distances between rows are too large for a number. Scale the features of X.")
        # Rows this close are taken for the same. The floor keeps the reciprocal of the square a number.
        self._sizes = tiles.class_sizes
        self._zero2 = max((SAME * spread) ** 2, 1e-280)
        self.radius_, self.radius_error_ = self._find_radius(tiles, spread)
        self._keep(tiles)

    @abstractmethod
    def _keep(self, tiles: RowTiles) -> None:
        """Keep what scores need of the training rows."""

    def _find_radius(self, tiles: RowTiles, spread: float) -> tuple[float, float]:
        if self.radius == "rms":
            return spread, 0.0
        if not isinstance(self.radius, str):
            return float(self.radius), 0.0
        mean, error = (tiles.mean_distance(), 0.0) if tiles.n_rows <= _EXACT_ROWS else tiles.sampled_mean_distance()
        return (mean / 2, error / 2) if self.radius == "half_mean" else (mean, error)

    @property
    def _inner_radius(self) -> float:
        """The radius less rounding, since a row on the circle is outside."""
        return self.radius_ * (1 - SAME)

    @property
    def _precedence(self) -> IntArray:
        """The classes in the order in which they win ties: the negative of two, the largest of more."""
        return np.arange(2) if len(self._sizes) == 2 else np.argsort(-self._sizes, kind="stable")

    @abstractmethod
    def _inside(self, X: NDArray, skip: IntArray | None) -> Inside:
        """Return the support of each class, without the row `skip` of each query."""

    def _weights(self, distance: FloatArray, code: int) -> FloatArray:
        """Return the weights of rows of a class in its support."""
        return np.ones(distance.shape)

    def _score(self, X: NDArray) -> FloatArray:
        return self._judge(self._inside(X, None))

    def _leave_one_out(self, X: NDArray, y: IntArray, rows: IntArray) -> FloatArray:
        return self._judge(self._inside(X[rows], rows))

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.5

    def _judge(self, inside: Inside) -> FloatArray:
        """Return the share of each class in the support, or of the positive of two, with the rule's own winner."""
        n_classes = len(self._sizes)
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

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        inside, sizes = self._inside(X, None), self._sizes
        total = inside.support.sum(axis=1, keepdims=True)
        # The nearest row of each class where none is inside.
        votes = np.where(total > 0, inside.votes, 1).astype(np.intp)
        own = np.ones(len(X), dtype=np.intp) if code is None else code
        found, shares = [], []
        for c in range(len(sizes)):
            distance, number = self.index_.kneighbors(X, c, min(_NAMED, int(sizes[c])))
            there = np.arange(number.shape[1]) < votes[:, [c]]
            share = self._weights(distance, c) / np.where(total > 0, total, np.inf)
            found.append((np.where(there, distance, np.inf), number))
            shares.append(np.where(own[:, None] == c, share, 0.0))
        near = merge_by_class(found, list(range(len(sizes))), _NAMED * len(sizes))
        order = np.argsort(np.hstack([distance for distance, _ in found]), axis=1, kind="stable")
        effects = np.take_along_axis(np.hstack(shares), order, axis=1)
        known["rule"] = self._rules_met(inside, own, np.broadcast_to(known["label"], len(X)))
        return explain_near(self, X, code, near, effects, effects=contrast(self, X, code), **known)

    def _rules_met(self, inside: Inside, own: IntArray, labels: NDArray) -> list[str]:
        """Return how each row was decided, in words."""
        radius, default = f"{self.radius_:.4g}", labels_by_code(self)[self._precedence[0]]
        decider = "the nearest one decides" if self.fallback == "nearest" else f"the class is {default}"
        return [
            f"{votes[c]:.0f} of the {votes.sum():.0f} {self._deciders} {radius} are of class {label}"
            if votes.any()
            else f"no training row is nearer than {radius}, so that {decider}"
            for votes, c, label in zip(inside.votes, own, labels, strict=True)
        ]


class AllInside(FixedRadius):
    """A rule by all rows inside the radius."""

    def __init__(
        self,
        radius: str | float = "half_mean",
        *,
        fallback: str = "nearest",
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.radius = radius
        self.fallback = fallback
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @property
    def index_(self) -> ClassIndex:
        """The training rows by class."""
        return self._tiles.index

    def _keep(self, tiles: RowTiles) -> None:
        self._tiles = tiles

    def _measure(self, X: NDArray, skip: IntArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._tiles.forces(X, self._inner_radius**2, self._zero2, skip)


def _shares(amount: FloatArray) -> FloatArray:
    """Return each amount as a share of its row's total; equal shares where the total is 0."""
    total = amount.sum(axis=1, keepdims=True)
    return np.divide(amount, total, out=np.full(amount.shape, 1 / amount.shape[1]), where=total > 0)
