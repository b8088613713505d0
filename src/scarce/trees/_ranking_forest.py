"""A forest of TreeRank, and a consensus of its rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import StrOptions
from scarce._typing import (
    Calibration,
    CategoricalFeatures,
    FloatArray,
    IntArray,
    Label,
    MaxFeatures,
    RandomState,
    Rows,
    Threshold,
)
from scarce.explanation import Explanation
from scarce.trees._base import GrownTree, TreeClassifier, TreeData, constant_scores
from scarce.trees._engine.sql import Coded, Column
from scarce.trees._forest import TreeForest
from scarce.trees._kernels_consensus import insert_by_majority
from scarce.trees._ranking_base import scored_by_precision
from scarce.trees._tree_rank import TreeRank

__all__ = ["RankingForest"]

_CONSENSUS = {"median_rank", "kemeny"}  # which are no sums of trees


class RankingForest(TreeForest):
    """Many :class:`TreeRank`, each grown on rows drawn with replacement, and a consensus of their rankings.

    Parameters
    ----------
    n_estimators : int, default=50
        The number of trees.
    max_samples : float, default=1.0
        The number of rows drawn for a tree, as a share of all.
    aggregate : {"precision", "mean_score", "mean_rank", "median_rank", "kemeny"}, default="precision"
        The rule that makes one ranking of many. "precision": the mean of the smoothed precisions of the row's leaves,
        as in :class:`MetaAPForest`. "mean_score": the mean of the trees' scores. "mean_rank", "median_rank": the mean
        or median of the rank of the row's leaf among the training rows, the middle one for rows of the same leaf.
        "kemeny": the groups of training rows that no tree separates are put in the order of their mean ranks, and
        neighbours change places as long as most trees, counted by rows, rank them so; a row that falls into no such
        group has its mean rank. Explanations of the last two are by occlusion: they are no sums of trees.
    leaf_rank : {"balanced", "weighted_error"}, default="balanced"
        The criterion by which LeafRank splits; see :class:`TreeRank`.
    min_samples_split : int, default=20
        The fewest rows of a node of the tree of trees that is split further.
    max_features : int, float, "sqrt" or None, default=0.5
        The number of features, drawn anew in each node, that a split may use: a number, a share of all, or None for
        all.
    tie_break : {"path", "boundary"} or None, default=None
        For "mean_score", how rows of one leaf are ordered; see :class:`APTree`.
    max_depth, max_leaf_depth, min_samples_leaf, min_gain, max_bins, categorical_features
        See :class:`TreeRank`.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the rows and features drawn.
    threshold, calibration, pos_label
        See :class:`~scarce.base.RareEventClassifier`.

    See Also
    --------
    TreeRank : One tree of the forest, which can be read.
    MetaAPForest : A forest for the average precision, which ranks a little better.

    Notes
    -----
    Built after the descriptions in Viola et al. (Pattern Recognition Letters, 2022) and the abstract. Open there, and
    decided here: where features are drawn, the search for the consensus, the order of cells between which the trees
    are evenly divided (by mean rank, where the paper may merge them), and the ranks of rows in cells that no training
    row is in.

    The forest of the paper is ``RankingForest(max_samples=0.5, aggregate="kemeny", leaf_rank="weighted_error",
    min_samples_split=2, max_features=None)``.

    References
    ----------
    S. Clémençon, M. Depecker and N. Vayatis, "Ranking forests", Journal of Machine Learning Research 14 (2013).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import RankingForest
    >>> X, y = make_classification(300, weights=[0.9], flip_y=0.02, random_state=0)
    >>> model = RankingForest(10, random_state=0).fit(X, y)
    >>> bool(model.score_samples(X)[y == 1].mean() > model.score_samples(X)[y == 0].mean())
    True
    """

    _tree_class = TreeRank
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeRank._parameter_constraints,
        **TreeForest._parameter_constraints,
        "aggregate": [StrOptions({"precision", "mean_score", "mean_rank", "median_rank", "kemeny"})],
    }

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        max_samples: float = 1.0,
        aggregate: str = "precision",
        max_depth: int = 10,
        max_leaf_depth: int | None = None,
        leaf_rank: str = "balanced",
        min_samples_split: int = 20,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: MaxFeatures = 0.5,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        tie_break: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.aggregate = aggregate
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _grow(self, data: TreeData, seed: int, number: int = 0) -> GrownTree:
        if self.aggregate == "precision":
            weight, positives = data.stats.sum(axis=0)
            return scored_by_precision(self._tree()._graph(self._bag(data, seed), seed), float(positives / weight))
        grown = super()._grow(data, seed)
        if self.aggregate == "mean_score":
            return grown
        graph = grown.graph
        rank = _leaf_ranks(graph.apply(data.X), data.stats[:, 0], graph.n_leaves)
        return GrownTree(graph, constant_scores(rank))

    def _fit_trees(self, data: TreeData) -> None:
        super()._fit_trees(data)
        if self.aggregate == "kemeny":
            self._find_consensus(data)

    def _find_consensus(self, data: TreeData) -> None:
        cells, cell = np.unique(self._leaves(data.X), axis=0, return_inverse=True)
        weight = np.bincount(cell.ravel(), data.stats[:, 0])
        ranks = self._ranks(cells)
        order = np.argsort(-ranks.mean(axis=1), kind="stable")
        order = insert_by_majority(order, ranks)
        ahead = np.cumsum(weight[order]) - 0.5 * weight[order]
        score = np.empty(len(order))
        score[order] = 1 - ahead / weight.sum()
        self._cells, self._cell_scores = cells, score

    def _leaves(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the leaf of each row (rows) in each tree (columns)."""
        return np.column_stack([tree.graph.apply(X) for tree in self.trees_])

    def _ranks(self, leaves: NDArray[np.int64]) -> FloatArray:
        return np.column_stack([tree.scores.value[leaves[:, t]] for t, tree in enumerate(self.trees_)])

    def _block_score(self, X: Rows) -> FloatArray:
        if self.aggregate not in _CONSENSUS:
            return super()._block_score(X)
        leaves = self._leaves(X)
        ranks = self._ranks(leaves)
        if self.aggregate == "median_rank":
            return np.median(ranks, axis=1)
        known = {row.tobytes(): score for row, score in zip(self._cells, self._cell_scores, strict=True)}
        mean = ranks.mean(axis=1)
        return np.array([known.get(row.tobytes(), m) for row, m in zip(leaves, mean, strict=True)])

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        if self.aggregate in _CONSENSUS:
            raise ValueError(f'aggregate="{self.aggregate}" cannot be written as SQL. Use "mean_score" or "mean_rank".')
        return super()._score_as_sql(columns)

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        explain = TreeClassifier._explain if self._needs_background else TreeForest._explain
        return explain(self, X, code, **known)

    @property
    def _needs_background(self) -> bool:
        return self.aggregate in _CONSENSUS

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        if self.aggregate not in _CONSENSUS:
            return super()._honest_scores(X, y, sample_weight)
        # A median or a consensus of the trees that did not see a row is not one of all trees: fit anew instead.
        return TreeClassifier._honest_scores(self, X, y, sample_weight)

    def _cheap_honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray | None:
        if self.aggregate not in _CONSENSUS:
            return super()._cheap_honest_scores(X, y, sample_weight)
        return None

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(10, max_depth=3, random_state=0)
        yield cls(5, max_depth=2, aggregate="mean_score", leaf_rank="weighted_error", tie_break="path", random_state=0)
        yield cls(5, max_depth=2, aggregate="mean_rank", random_state=0)
        yield cls(5, max_depth=2, aggregate="median_rank", max_bins=64, random_state=0)
        yield cls(5, max_depth=2, aggregate="kemeny", random_state=0)


def _leaf_ranks(leaf: NDArray[np.int64], weight: FloatArray, n_leaves: int) -> FloatArray:
    """Return the share of training rows ranked below each leaf, counting half of its own rows."""
    size = np.bincount(leaf, weight, n_leaves)
    return 1 - (np.cumsum(size) - 0.5 * size) / size.sum()
