"""Pruning for profit, on rows that the tree was not grown on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.trees._engine import Graph

__all__ = ["prune_for_profit"]


def prune_for_profit(graph: Graph, X: NDArray[Any], stats: FloatArray, aside: IntArray) -> Graph:
    """Return the pruned tree that earns most on the rows aside, the smallest of equals, with the sums of all rows.

    Parameters
    ----------
    graph : Graph
        A tree grown on the other rows; its sums decide the label of a node.
    X : ndarray of shape (n_samples, n_features)
        All rows.
    stats : ndarray of shape (n_samples, 4)
        Of each row its weight, its positive weight, and what it earns if called positive, and if negative.
    aside : ndarray of int
        The rows to prune on.
    """
    leaf = np.flatnonzero(graph.feature < 0)[graph.apply(X)]
    tested = _sums_of_nodes(graph, leaf[aside], stats[aside])
    called = graph.sums[:, 2] > graph.sums[:, 3]
    best = np.where(
        called, tested[:, 2], tested[:, 3]
    )  # the profit of a node as a leaf, then as the best tree below it
    kept = np.ones(len(best), dtype=bool)
    split = graph.feature >= 0
    for node in np.flatnonzero(split)[::-1].tolist():  # children have higher numbers than their parents
        below = best[graph.left[node]] + best[graph.right[node]]
        if below > best[node]:
            best[node] = below
        else:
            split[node] = False
    for node in range(len(best)):
        if not (kept[node] and split[node]) and graph.feature[node] >= 0:
            kept[graph.left[node]] = kept[graph.right[node]] = False
    counted = _sums_of_nodes(graph, leaf, np.column_stack((stats, stats[:, 0] > 0)))
    return _subtree(graph._replace(sums=counted[:, :4], n_rows=counted[:, 4].astype(np.int64)), kept, split)


def _sums_of_nodes(graph: Graph, leaf: IntArray, stats: FloatArray) -> FloatArray:
    """Return the sums over the rows that pass each node, given the leaf of each row."""
    sums = np.empty((len(graph.feature), stats.shape[1]))
    for column, of_nodes in zip(stats.T, sums.T, strict=True):
        of_nodes[:] = np.bincount(leaf, column, len(sums))
    for node in np.flatnonzero(graph.feature >= 0)[::-1].tolist():
        sums[node] = sums[graph.left[node]] + sums[graph.right[node]]
    return sums


def _subtree(graph: Graph, kept: BoolArray, split: BoolArray) -> Graph:
    """Return a graph of the kept nodes, of which those that are not split are leaves."""
    number = np.cumsum(kept) - 1
    leaf = ~split[kept]
    follow = {side: np.where(leaf, -1, number[getattr(graph, side)[kept]]) for side in ("left", "right")}
    nodes = ("missing_left", "n_rows", "sums", "threshold")
    return graph._replace(
        feature=np.where(leaf, -1, graph.feature[kept]),
        jump=np.where(leaf, -np.cumsum(leaf, dtype=np.int64), graph.jump[kept]),
        subset=graph.subset[kept] if len(graph.subset) else graph.subset,
        end=np.array([kept.sum()]),
        **follow,
        **{name: getattr(graph, name)[kept] for name in nodes},
    )
