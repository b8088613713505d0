"""The nodes of all trees of a forest in one place, so that rows are scored in one call of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray
from scarce.trees._base import GrownTree
from scarce.trees._engine import Graph
from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._kernels_forest import add_forest, find_ways

__all__ = ["PackedTrees", "packed"]

_NO_SUBSET = np.empty((0, WORDS), np.uint64)


class PackedTrees(NamedTuple):
    """The nodes of all trees, with the fields that a walk reads; a tree of trees has no jumps any more."""

    root: NDArray[np.int32]
    feature: NDArray[np.int32]  # -1 for a leaf
    threshold: FloatArray
    child: NDArray[np.int32]  # (nodes, 2): where a row goes that is not above the threshold, and where another
    missing_left: BoolArray
    subset: NDArray[np.uint64]
    n_categories: NDArray[np.int64]
    value: FloatArray

    def tree(self, number: int) -> PackedTrees:
        """Return one of the trees."""
        return self._replace(root=self.root[number : number + 1])

    def add_up(self, X: NDArray[Any]) -> FloatArray:
        """Return the sum over the trees of the value of each row's leaf."""
        total = np.zeros(len(X))
        add_forest(X, self, total)
        return total


def packed(trees: Sequence[GrownTree]) -> PackedTrees:
    """Return the nodes of trees whose leaves have one score each, without tests that do not change the leaf."""
    kept = [_kept_nodes(tree.graph) for tree in trees]
    sizes = [len(nodes) for nodes, _ in kept]
    start = np.cumsum([0, *sizes[:-1]])
    graphs = [(tree.graph, nodes) for tree, (nodes, _) in zip(trees, kept, strict=True)]
    return PackedTrees(
        root=start.astype(np.int32),  # the first node that is kept
        feature=np.concatenate([graph.feature[nodes] for graph, nodes in graphs]).astype(np.int32),
        threshold=np.concatenate([graph.threshold[nodes] for graph, nodes in graphs]),
        child=np.concatenate([child + n for (_, child), n in zip(kept, start, strict=True)]).astype(np.int32),
        missing_left=np.concatenate([graph.missing_left[nodes] for graph, nodes in graphs]),
        subset=np.concatenate([graph.subset[nodes] for graph, nodes in graphs if len(graph.subset)] or [_NO_SUBSET]),
        n_categories=trees[0].graph.n_categories,
        value=np.concatenate([_values(tree)[nodes] for tree, (nodes, _) in zip(trees, kept, strict=True)]),
    )


def _kept_nodes(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes that a walk visits, the first of them first, and the places of the two nodes after each."""
    way = np.empty(len(graph.feature), np.int64)
    find_ways(graph, way)
    nodes = np.flatnonzero(way == np.arange(len(way)))
    nodes = nodes[nodes >= way[0]]
    after = np.where(graph.feature[nodes, None] < 0, way[0], np.column_stack((graph.left, graph.right))[nodes])
    return nodes, np.searchsorted(nodes, way[after])


def _values(tree: GrownTree) -> FloatArray:
    """Return the score of each final leaf at its node."""
    final = (tree.graph.feature < 0) & (tree.graph.jump < 0)
    return np.where(final, tree.scores.value[np.where(final, -1 - tree.graph.jump, 0)], 0.0)
