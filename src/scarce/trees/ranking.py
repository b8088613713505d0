"""Trees that rank: APTree, and the trees of trees MetaAP and TreeRank."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, RealNotInt, StrOptions
from scarce.base import FloatArray
from scarce.trees._base import GrownTree, TreeClassifier, TreeData
from scarce.trees._engine import (
    BY_PRECISION,
    BY_SLOPE,
    MERGE_AP,
    MERGE_AUC,
    Graph,
    LeafScores,
    grow_meta_tree,
    grow_tree,
    leaf_scores,
    refine_leaves,
    with_boxes,
)
from scarce.trees._readable import ReadableTree

__all__ = ["APTree", "MetaAP", "TreeRank"]

_CRITERIA = {"paper", "ap_max", "gini", "entropy"}
_TIE_BREAK = [StrOptions({"path", "boundary"}), None]
_DEPTH = [Interval(Integral, 1, None, closed="left")]
_TOP_K = [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither"), None]


class _RankingTree(ReadableTree, TreeClassifier):
    """One tree, or tree of trees, with its leaves' scores."""

    tree_: Graph
    leaf_scores_: LeafScores
    tie_break: str | None

    def _fit(self, X: Any, y: NDArray[np.intp], sample_weight: FloatArray | None) -> None:
        grown = self._grow(self._prepare(X, y, sample_weight), self._seeds(1)[0])
        self.tree_, self.leaf_scores_ = grown

    def _score(self, X: Any) -> FloatArray:
        out = np.zeros(len(X))
        self.leaf_scores_.add_to(out, self.tree_, X)
        return out

    def _scored(self, data: TreeData, graph: Graph, value: FloatArray, spread: FloatArray) -> GrownTree:
        if self.tie_break == "boundary":
            graph = with_boxes(graph, _standard_deviations(data.X))
        return GrownTree(graph, leaf_scores(graph, value, spread, data.X, data.stats[:, 0], self.tie_break))


class APTree(_RankingTree):
    """A decision tree whose splits maximise the average precision of the ranking they make.

    A row's score is the share of positives in its leaf. Within a leaf rows are ordered by how far they are from the
    tests that led there (`tie_break`), so that the score has few ties; this never reorders leaves.

    Parameters
    ----------
    criterion : {"paper", "ap_max", "gini", "entropy"}, default="paper"
        What a split is worth. "paper": the average precision of the two orders of its sides, each weighted by the
        size of the side that comes first, as in MetaAP. It is negative for a pure child that holds less than half of
        the positives, so it cannot cut off one of several groups of positives. "ap_max": the larger of the two average
        precisions, without that fault. "gini" and "entropy" are the usual ones.
    max_depth : int, default=None
        The most tests on a path; None grows until leaves are pure or no split gains.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    min_gain : float, default=0.0
        A split must gain more than this, in shares of all rows.
    max_features : int, float, "sqrt" or None, default=None
        How many features, drawn anew in each node, a split may use; None for all.
    max_bins : int, default=None
        None tries every cut between two values. A number, at most 255, tries the edges of that many bins only,
        which is faster on large data.
    categorical_features : array-like of bool, int or str, default=None
        Features that hold codes 0 to 254 without an order, by mask, by number or by name. Categories are ordered by
        their share of positives in each node before they are split.
    tie_break : {"path", "boundary"} or None, default="path"
        How rows of one leaf are ordered. "path": by the smallest distance to a threshold on the row's path, in the
        features' own units. "boundary": by the distance to the nearest leaf of the other majority, in standard
        deviations, which is slower. Both count as positive in leaves with a majority of positives and as negative in
        others.
    top_k : int or float, default=None
        Grow the tree for the positives among the first `top_k` rows (a number of training rows, or a share of them)
        instead: the richer side of a split is read first, and nodes that lie wholly before or behind the budget are not
        split. Replaces `criterion`.
    random_state : int, RandomState or None, default=None
        For `max_features`.
    threshold, pos_label
        See :class:`~scarce.base.RareEventClassifier`. The default threshold flags as many rows as were positive in
        training, or `top_k`.

    Attributes
    ----------
    tree_ : Graph
        The tree as arrays.
    compactness_ : dict
        The numbers of nodes, leaves and tests.

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
        **TreeClassifier._parameter_constraints,
        "criterion": [StrOptions(_CRITERIA)],
        "max_depth": [*_DEPTH, None],
        "tie_break": _TIE_BREAK,
        "top_k": _TOP_K,
    }

    def __init__(
        self,
        *,
        criterion: str = "paper",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int | None = None,
        categorical_features: Any = None,
        tie_break: str | None = "path",
        top_k: int | float | None = None,
        random_state: Any = None,
        threshold: Any = "default",
        pos_label: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.top_k = top_k
        self.random_state = random_state
        self.threshold = threshold
        self.pos_label = pos_label

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        criterion = self.criterion if self.top_k is None else "top_k"
        rule = self._rule(criterion, self.max_depth)
        graph = grow_tree(*data[1:], rule, parameter=self._rows_to_check(data.stats[:, 0]), seed=seed)
        sums = graph.leaf_sums()
        value = sums[:, 1] / sums[:, 0]
        return self._scored(data, graph, value, _half_gaps(value))

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(criterion="ap_max", max_depth=4, max_bins=32, tie_break="boundary")
        yield cls(top_k=0.5, tie_break=None)
        yield cls(criterion="gini", max_features="sqrt", min_gain=0.001, random_state=0)


class _MetaTree(_RankingTree):
    """A tree of trees: the leaves of a tree are ordered, merged into a better and a worse side, and so on in each."""

    max_depth: int
    max_leaf_depth: int | None

    def _grow_meta(self, data: TreeData, seed: int, *, refine: bool = False, **settings: Any) -> GrownTree:
        budget = self._rows_to_check(data.stats[:, 0])
        graph = grow_meta_tree(*data[1:], max_depth=self.max_depth, budget=budget, seed=seed, **settings)
        if refine:
            graph = refine_leaves(graph)
        n = graph.n_leaves
        return self._scored(data, graph, (n - np.arange(n)) / n, np.full(n, 0.5 / n))

    @property
    def _leaf_depth(self) -> int:
        return self.max_depth if self.max_leaf_depth is None else self.max_leaf_depth


class MetaAP(_MetaTree):
    """MetaAP: a tree of trees that ranks by average precision and stays small enough to read.

    In each node a tree is grown for average precision, its leaves are ordered, and the first of them, as many as give
    the best average precision, become the better side. The two sides are treated likewise. A final leaf is thus
    reached by several paths, and the final leaves, from the best, have the scores 1, (L - 1)/L, …, 1/L.

    Parameters
    ----------
    max_depth : int, default=5
        The levels of the tree of trees.
    max_leaf_depth : int, default=None
        The depth of the tree within a node; None for `max_depth`, as in the paper.
    criterion : {"paper", "authors", "ap_max", "gini", "entropy"}, default="paper"
        See :class:`APTree`. "authors" is "paper" with the stop rule of the authors' program, which compares a split
        with the average precision of the parent's split instead of the node's own: for reproduction.
    order : {"slope", "precision"}, default="slope"
        How leaves are ordered before they are merged. "slope": by (1 - precision) / recall, as in the paper, which puts
        a large impure leaf before a small pure one and loses average precision. "precision": by precision.
    refine : bool, default=False
        Rank the leaves of the last trees by their shares of positives instead of merging them. It ranks better and
        reads worse: there are as many rules as leaves.
    top_k : int or float, default=None
        Only the first `top_k` rows (a number of training rows, or a share of them) will be read: a node that lies
        wholly before or behind them becomes a final leaf, and the default threshold flags them.
    min_samples_leaf, min_gain, max_features, max_bins, categorical_features, tie_break, random_state, threshold, \
pos_label
        See :class:`APTree`. `tie_break` orders the rows of a final leaf by their distance to the tests of the last
        tree. The published results rest on it.

    Attributes
    ----------
    tree_ : Graph
        The tree of trees as arrays.
    compactness_ : dict
        The numbers of nodes, leaves and rules.

    Notes
    -----
    The authors scale the tie-break over the rows of one call of predict, so that a row's score depends on the others.
    Here it is scaled by the training rows of the leaf, and takes at most half of the step between two leaves.

    References
    ----------
    R. Viola, L. Gautheron, A. Habrard and M. Sebban, "MetaAP: a meta-tree-based ranking algorithm optimizing the
    average precision from imbalanced data", Pattern Recognition Letters 161 (2022).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._parameter_constraints,
        "max_depth": _DEPTH,
        "max_leaf_depth": [*_DEPTH, None],
        "criterion": [StrOptions(_CRITERIA | {"authors"})],
        "order": [StrOptions({"slope", "precision"})],
        "refine": ["boolean"],
        "tie_break": _TIE_BREAK,
        "top_k": _TOP_K,
    }

    def __init__(
        self,
        max_depth: int = 5,
        max_leaf_depth: int | None = None,
        *,
        criterion: str = "paper",
        order: str = "slope",
        refine: bool = False,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int | None = None,
        categorical_features: Any = None,
        tie_break: str | None = "path",
        top_k: int | float | None = None,
        random_state: Any = None,
        threshold: Any = "default",
        pos_label: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_depth = max_leaf_depth
        self.criterion = criterion
        self.order = order
        self.refine = refine
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.top_k = top_k
        self.random_state = random_state
        self.threshold = threshold
        self.pos_label = pos_label

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        inherit = self.criterion == "authors"
        rule = self._rule("paper" if inherit else self.criterion, self._leaf_depth, inherit=inherit)
        by = BY_SLOPE if self.order == "slope" else BY_PRECISION
        return self._grow_meta(data, seed, refine=self.refine, rule=rule, min_split=2, by=by, merge=MERGE_AP)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(3, 2, criterion="ap_max", order="precision", refine=True, max_bins=64, tie_break="boundary")
        yield cls(2, 4, criterion="authors", tie_break=None, max_features=2, top_k=0.5, random_state=0)


class TreeRank(_MetaTree):
    """TreeRank: a tree of trees that ranks by the area under the ROC curve.

    In each node LeafRank, a tree for the two classes with equal weight, finds the subset of rows with the most
    positives beyond negatives; it becomes the better side. Final leaves have the scores 1, (L - 1)/L, …, 1/L from the
    best.

    Parameters
    ----------
    max_depth : int, default=10
        The levels of the tree of trees.
    max_leaf_depth : int, default=None
        The depth of LeafRank; None for `max_depth`.
    leaf_rank : {"werm", "balanced"}, default="werm"
        How LeafRank splits: "werm" by the weighted error, as in the authors' package, "balanced" by Gini with class
        weights that make both classes equal in the node.
    min_samples_split : int, default=2
        The fewest rows of a node that is split further.
    min_samples_leaf, min_gain, max_features, max_bins, categorical_features, tie_break, random_state, threshold, \
pos_label
        See :class:`APTree` and :class:`MetaAP`.

    References
    ----------
    S. Clémençon and N. Vayatis, "Tree-based ranking methods", IEEE Transactions on Information Theory 55 (2009).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._parameter_constraints,
        "max_depth": _DEPTH,
        "max_leaf_depth": [*_DEPTH, None],
        "leaf_rank": [StrOptions({"werm", "balanced"})],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "tie_break": _TIE_BREAK,
    }

    def __init__(
        self,
        max_depth: int = 10,
        max_leaf_depth: int | None = None,
        *,
        leaf_rank: str = "werm",
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int | None = None,
        categorical_features: Any = None,
        tie_break: str | None = "path",
        random_state: Any = None,
        threshold: Any = "default",
        pos_label: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_depth = max_leaf_depth
        self.leaf_rank = leaf_rank
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.random_state = random_state
        self.threshold = threshold
        self.pos_label = pos_label

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        rule = self._rule(self.leaf_rank, self._leaf_depth)
        return self._grow_meta(
            data, seed, rule=rule, min_split=self.min_samples_split, by=BY_PRECISION, merge=MERGE_AUC
        )

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(3, leaf_rank="balanced", max_bins=64, tie_break=None)


def _half_gaps(value: FloatArray) -> FloatArray:
    """Return half of the distance to the next higher leaf, so that a place within a leaf never overtakes a leaf."""
    levels, at = np.unique(value, return_inverse=True)
    upper = np.append(levels[1:], max(1.0, levels[-1]))
    gaps = upper - levels
    if gaps[-1] == 0:
        gaps[-1] = 1 / len(levels)  # nothing is above a pure leaf
    return 0.5 * gaps[at]


def _standard_deviations(X: NDArray[Any]) -> FloatArray:
    with np.errstate(invalid="ignore"):
        scale = np.array([np.nanstd(x) if np.any(~np.isnan(x)) else 1.0 for x in X.T], dtype=np.float64)
    return np.where(scale > 0, scale, 1.0)
