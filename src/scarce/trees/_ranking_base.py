"""The common parts of trees that rank, and of trees of trees."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._sklearn import Interval, RealNotInt, StrOptions
from scarce._typing import FloatArray, IntArray, Rows
from scarce.trees._base import GrownTree, TreeClassifier, TreeData, constant_scores
from scarce.trees._engine import Graph, LeafScores, grow_meta_tree, leaf_scores, refine_leaves, with_boxes
from scarce.trees._readable import ReadableTree

__all__ = ["CRITERIA", "DEPTH", "TOP_K", "MetaTree", "RankingTree", "scored_by_precision"]

CRITERIA = {"ap_mean", "ap_max", "gini", "entropy"}
DEPTH = Interval(Integral, 1, None, closed="left")
TOP_K = [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither"), None]


class RankingTree(ReadableTree, TreeClassifier):
    """One tree, or tree of trees, with its leaves' scores."""

    tree_: Graph
    leaf_scores_: LeafScores
    tie_break: str | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._parameter_constraints,
        "tie_break": [StrOptions({"path", "boundary"}), None],
    }

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        grown = self._grow(self._prepare(X, y, sample_weight), self._seeds(1)[0])
        self.tree_, self.leaf_scores_ = grown

    def _score(self, X: Rows) -> FloatArray:
        out = np.zeros(len(X))
        self.leaf_scores_.add_to(out, self.tree_, X)
        return out

    def _scored(self, data: TreeData, graph: Graph, value: FloatArray, spread: FloatArray) -> GrownTree:
        if self.tie_break == "boundary":
            graph = with_boxes(graph, _standard_deviations(data.X))
        return GrownTree(graph, leaf_scores(graph, value, spread, data.X, data.stats[:, 0], self.tie_break))


class MetaTree(RankingTree):
    """A tree of trees: the leaves of a tree are ordered, merged into a better and a worse side, and so on in each."""

    max_depth: int
    max_leaf_depth: int | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RankingTree._parameter_constraints,
        "max_depth": [DEPTH],
        "max_leaf_depth": [DEPTH, None],
    }

    @abstractmethod
    def _graph(self, data: TreeData, seed: int, *, random: bool = False) -> Graph:
        """Grow the tree of trees, by the best splits or at random thresholds."""

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        return self._ranked(data, self._graph(data, seed))

    def _grow_meta(self, data: TreeData, seed: int, **settings: Any) -> Graph:
        budget = self._rows_to_check(data.stats[:, 0])
        return grow_meta_tree(*data[1:], max_depth=self.max_depth, budget=budget, seed=seed, **settings)

    def _ranked(self, data: TreeData, graph: Graph) -> GrownTree:
        """Score the final leaves 1, (L - 1)/L, …, 1/L from the best."""
        n = graph.n_leaves
        return self._scored(data, graph, (n - np.arange(n)) / n, np.full(n, 0.5 / n))

    @property
    def _leaf_depth(self) -> int:
        return self.max_depth if self.max_leaf_depth is None else self.max_leaf_depth


def scored_by_precision(graph: Graph, prior: float) -> GrownTree:
    """Score each leaf of the last trees, merged or not, by its precision after one more row with the share `prior`."""
    graph, precision = refine_leaves(graph, prior)
    return GrownTree(graph, constant_scores(precision))


def _standard_deviations(X: NDArray[Any]) -> FloatArray:
    with np.errstate(invalid="ignore"):
        scale = np.array([np.nanstd(x) if np.any(~np.isnan(x)) else 1.0 for x in X.T], dtype=np.float64)
    return np.where(scale > 0, scale, 1.0)
