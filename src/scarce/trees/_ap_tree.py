"""A decision tree for the average precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from scarce._sklearn import StrOptions
from scarce._typing import (
    Calibration,
    CategoricalFeatures,
    FloatArray,
    Label,
    MaxFeatures,
    RandomState,
    Rows,
    Threshold,
    TopK,
)
from scarce.trees._base import GrownTree, TreeData, shrunken_share
from scarce.trees._engine import grow_tree, path_distances
from scarce.trees._engine.sql import Coded, Column
from scarce.trees._ranking_base import CRITERIA, DEPTH, TOP_K, RankingTree

__all__ = ["APTree"]


class APTree(RankingTree):
    """A decision tree whose splits maximise the average precision of the ranking they make.

    A row's score is the share of positives in its leaf. Within a leaf rows are ordered by how far they are from the
    tests that led there (`tie_break`), so that the score has few ties; this never reorders leaves.

    Parameters
    ----------
    criterion : {"ap_mean", "ap_max", "gini", "entropy"}, default="ap_mean"
        The worth of a split. "ap_mean": the mean of the average precisions of both orders of its sides, each weighted
        by the size of the side that comes first. It is negative for a pure child that holds less than half of the
        positives, so it cannot separate one of several groups of positives. "ap_max": the larger of the two average
        precisions, which can. "gini" and "entropy" are the usual ones.
    max_depth : int, default=None
        The most tests on a path; None grows until leaves are pure or no split gains.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    min_gain : float, default=0.0
        A split must gain more than this, in shares of all rows.
    max_features : int, float, "sqrt" or None, default=None
        How many features, drawn anew in each node, a split may use; None for all.
    max_bins : int, default=None
        None tries every threshold between two values. A number, at most 255, tries the edges of that many bins only,
        which is faster on large data.
    categorical_features : array-like of bool, int or str, default=None
        Features that hold codes 0 to 254 without an order, by mask, by number or by name. Categories are ordered by
        their share of positives in each node before they are split.
    tie_break : {"path", "boundary"} or None, default="path"
        How rows of one leaf are ordered. "path": by the smallest distance to a threshold on the row's path, in the
        features' own units. "boundary": by the distance to the nearest leaf of the other majority, in standard
        deviations, which is slower. Both count as positive in leaves with a majority of positives and as negative in
        others.
    leaf_score : {"precision", "path_distance"}, default="precision"
        The score of a row. "precision": the share of positives in its leaf, and `tie_break` within it.
        "path_distance": the smallest distance to a threshold on its path alone, positive in leaves with a majority of
        positives and negative in others, so that rows are ranked by how surely they are in their leaf, whatever its
        share.
    top_k : int or float, default=None
        Grow the tree for the positives among the first `top_k` rows (a number of training rows, or a share of them)
        instead: the richer side of a split is read first, and nodes that lie wholly before or behind the budget are not
        split. Replaces `criterion`.
    random_state : int, RandomState or None, default=None
        For `max_features`.
    threshold, calibration, pos_label
        See :class:`~scarce.base.RareEventClassifier`. The default threshold flags as many rows as were positive in
        training, or `top_k`.

    Attributes
    ----------
    tree_ : Graph
        The tree as arrays.
    compactness_ : dict
        The numbers of nodes, leaves and tests.

    See Also
    --------
    MetaAP : A tree of such trees, which stays small enough to read.
    TreeRank : A tree of trees for the area under the ROC curve.
    ProfitTree : A tree that splits by money.

    Notes
    -----
    Missing values go to the side where they gained more in training; where none was missing, to the larger side.

    References
    ----------
    R. Viola, L. Gautheron, A. Habrard and M. Sebban, "MetaAP: a meta-tree-based ranking algorithm optimizing the
    average precision from imbalanced data", Pattern Recognition Letters 161 (2022). I. Alvarez and S. Bernard,
    "Ranking cases with decision trees: a geometric method that preserves intelligibility", IJCAI 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import APTree
    >>> X, y = make_classification(400, 5, weights=[0.9], random_state=0)
    >>> model = APTree(criterion="ap_max", max_depth=3).fit(X, y)
    >>> len(model.rules()) == model.tree_.n_leaves
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RankingTree._parameter_constraints,
        "criterion": [StrOptions(CRITERIA)],
        "max_depth": [DEPTH, None],
        "leaf_score": [StrOptions({"precision", "path_distance"})],
        "top_k": TOP_K,
    }

    def __init__(
        self,
        *,
        criterion: str = "ap_mean",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: MaxFeatures = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        tie_break: str | None = "path",
        leaf_score: str = "precision",
        top_k: TopK = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.leaf_score = leaf_score
        self.top_k = top_k
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        criterion = self.criterion if self.top_k is None else "top_k"
        rule = self._rule(criterion, self.max_depth)
        graph = grow_tree(*data[1:], rule, parameter=self._rows_to_check(data.stats[:, 0]), seed=seed)
        sums = graph.leaf_sums()
        value = sums[:, 1] / sums[:, 0]
        return self._scored(data, graph, value, _half_gaps(value))

    def _score(self, X: Rows) -> FloatArray:
        return path_distances(self.tree_, X) if self.leaf_score == "path_distance" else super()._score(X)

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        if self.leaf_score == "path_distance":
            raise ValueError('A tree with leaf_score="path_distance" has no SQL; use leaf_score="precision".')
        return super()._score_as_sql(columns)

    _has_class_score = True

    def _class_score(self, X: Rows) -> FloatArray:
        if self.leaf_score == "path_distance":
            return shrunken_share(self.tree_, X)
        # The order within a leaf is kept, and is no evidence of how many are positive.
        within = self._score(X) - self.leaf_scores_.value[self.tree_.apply(X)]
        return shrunken_share(self.tree_, X) + 1e-6 * within

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(criterion="ap_max", max_depth=4, max_bins=64, tie_break="boundary")
        yield cls(top_k=0.5, tie_break=None)
        yield cls(criterion="gini", max_features="sqrt", min_gain=0.001, random_state=0)
        yield cls(criterion="entropy", max_depth=4, leaf_score="path_distance")


def _half_gaps(value: FloatArray) -> FloatArray:
    """Return half of the distance to the next higher leaf, so that a place within a leaf never overtakes a leaf."""
    levels, at = np.unique(value, return_inverse=True)
    upper = np.append(levels[1:], max(1.0, levels[-1]))
    gaps = upper - levels
    if gaps[-1] == 0:
        gaps[-1] = 1 / len(levels)  # nothing is above a pure leaf
    return 0.5 * gaps[at]
