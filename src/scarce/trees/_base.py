"""The common part of all trees: features as codes, statistics of rows, missing values and categories."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from scarce._sklearn import Interval, RealNotInt, StrOptions
from scarce._typing import (
    BoolArray,
    CategoricalFeatures,
    FloatArray,
    IntArray,
    MatrixLike,
    MaxFeatures,
    RandomState,
    Rows,
    TopK,
)
from scarce.base import RareEventClassifier
from scarce.trees._engine import CRITERIA, Columns, Graph, LeafScores, Rule, count_categories, encode_columns

__all__ = ["GrownTree", "TreeClassifier", "TreeData", "budget_threshold", "constant_scores"]


class TreeData(NamedTuple):
    """The training rows as the engine reads them."""

    X: NDArray[Any]
    columns: Columns
    order: NDArray[np.int32]  # the rows by value of each feature; empty with bins
    stats: FloatArray  # weight, positives, and for profit what a row earns if called positive, if negative


class GrownTree(NamedTuple):
    """A tree and the scores of its leaves."""

    graph: Graph
    scores: LeafScores

    def score(self, X: NDArray[Any]) -> FloatArray:
        """Return the score of each row."""
        total = np.zeros(len(X))
        self.scores.add_to(total, self.graph, X)
        return total


def constant_scores(value: FloatArray) -> LeafScores:
    """Return leaf scores that are the same for all rows of a leaf."""
    nothing = np.zeros(len(value))
    return LeafScores(value, nothing, nothing, nothing, 0)


_ROWS_OF_PRIOR = 5


class TreeClassifier(RareEventClassifier):
    """The common part of trees and forests: it reads the rows, once, into codes."""

    max_leaf_depth: int | None
    min_samples_leaf: Any  # a number; a forest may have a word for it
    min_gain: float
    max_features: MaxFeatures
    max_bins: int | None
    categorical_features: CategoricalFeatures
    random_state: RandomState
    top_k: TopK = None  # a parameter of the trees that can be grown for a review budget

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_gain": [Interval(Real, 0, None, closed="left")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt"}),
            None,
        ],
        "max_bins": [Interval(Integral, 2, 255, closed="both"), None],
        "categorical_features": ["array-like", None],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        """Grow one tree on the rows with a positive weight."""

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        return validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan", reset=reset
        )

    def _prepare(self, X: NDArray[Any], y: IntArray, sample_weight: FloatArray | None) -> TreeData:
        self._missing = np.isnan(X).any(axis=0)
        n_categories = count_categories(X, self._is_categorical(), self._feature_names, self.max_bins)
        columns, order = encode_columns(X, n_categories, self.max_bins, y == 1)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        for kind, total in (("positive", weight[y == 1].sum()), ("negative", weight[y == 0].sum())):
            if not total > 0:
                raise ValueError(f"All {kind} rows have a weight of 0. Give at least one of each class a weight.")
        return TreeData(X, columns, order, np.column_stack((weight, weight * y)))

    def _is_categorical(self) -> BoolArray:
        d = self.n_features_in_
        mask = np.zeros(d, dtype=bool)
        if self.categorical_features is None:
            return mask
        given = np.asarray(self.categorical_features)
        if given.dtype == bool:
            if given.shape != (d,):
                raise ValueError(f"categorical_features as booleans must have one for each of the {d} features.")
            return given
        names = self._feature_names
        for entry in given.tolist():
            if isinstance(entry, str):
                if entry not in names:
                    raise ValueError(f"categorical_features names {entry!r}, which is not a feature. {_known(names)}")
                mask[names.index(entry)] = True
            elif not isinstance(entry, int) or not 0 <= entry < d:
                raise ValueError(f"categorical_features has {entry!r}; columns are numbered 0 to {d - 1}.")
            else:
                mask[entry] = True
        return mask

    def _rule(self, criterion: str, max_depth: int | None, *, inherit: bool = False) -> Rule:
        d = self.n_features_in_
        if self.max_features is None:
            n_features = d
        elif self.max_features == "sqrt":
            n_features = max(1, int(np.sqrt(d)))
        elif isinstance(self.max_features, int | np.integer):
            n_features = min(int(self.max_features), d)
        else:
            n_features = max(1, int(float(self.max_features) * d))
        depth = np.iinfo(np.int32).max if max_depth is None else int(max_depth)
        return Rule(
            CRITERIA[criterion], int(depth), int(self.min_samples_leaf), n_features, float(self.min_gain), inherit
        )

    def _seeds(self, n: int) -> list[int]:
        return [int(s) for s in check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n)]

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        """Flag as many rows as are positive in training, the papers' precision at k with k = n+."""
        return budget_threshold(self._score(X), self._budget(y, sample_weight), sample_weight)

    def _budget(self, y: IntArray, sample_weight: FloatArray | None) -> float:
        """Return the weight of the training rows that the default threshold flags."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        return float(weight @ y) if self.top_k is None else self._rows_to_check(weight)

    def _rows_to_check(self, weight: FloatArray) -> float:
        """Return the weight of the training rows that the tree is grown to rank first; 0 if it has no budget."""
        if self.top_k is None:
            return 0.0
        share = self.top_k if self.top_k < 1 else self.top_k / len(weight)
        return float(min(share, 1.0) * weight.sum())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def budget_threshold(scores: FloatArray, budget: float, sample_weight: FloatArray | None) -> float:
    """Return the threshold that flags at most the budget, a weight of rows, but at least the highest score."""
    weight = np.ones(len(scores)) if sample_weight is None else sample_weight
    level, group = np.unique(-scores, return_inverse=True)
    flagged = np.cumsum(np.bincount(group, weight))
    at = max(1, int(np.searchsorted(flagged, budget, side="right")))
    return float(-level[at]) if at < len(level) else float(np.nextafter(-level[-1], -np.inf))


def _known(names: Iterable[str]) -> str:
    return "The features are " + ", ".join(list(names)[:20]) + "."


def shrunken_share(graph: Graph, X: NDArray[Any]) -> FloatArray:
    """Return for each row the share of positives in its leaf, drawn towards that of all rows where the leaf is small.

    A leaf counts by its rows against `_ROWS_OF_PRIOR`, which was chosen on sets that no study of probabilities has.
    """
    weight, positive = graph.leaf_sums()[:, :2].T
    prior = _ROWS_OF_PRIOR * weight.sum() / graph.leaf_counts().sum()
    share = (positive + prior * positive.sum() / weight.sum()) / (weight + prior)
    return share[graph.apply(X)]
