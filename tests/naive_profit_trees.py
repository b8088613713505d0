"""Slow, obvious versions of the trees for profit; rows and gains are those of `tests.naive_trees`."""

import numpy as np

from tests import naive_trees


def rows_of(X, y, gains, weight=None):
    """Rows as `tests.naive_trees` has them, in exact numbers of the given ones."""
    weight = np.ones(len(y)) if weight is None else weight
    out = []
    for x, truth, w, (tp, fp, tn, fn) in zip(X.tolist(), y, weight, gains, strict=True):
        if w > 0:
            out.append((x, w, w * truth, w * (tp if truth else fp), w * (fn if truth else tn)))
    return out


def mean_profit(rows):
    """Γ of the thesis, equation 6.2, with gains (tp, fp, tn, fn) and class by row."""
    m = len(rows)
    positive = sum(truth for truth, _ in rows)
    total = 0.0
    for truth, (tp, fp, tn, fn) in rows:
        if truth:
            total += positive / m * tp + (m - positive) / m * fn
        else:
            total += positive / m * fp + (m - positive) / m * tn
    return total / m


def leaf_worth(rows):
    """γ₁ - γ₀: how much more a row earns if the leaf is called positive."""
    return (naive_trees.total(rows, 3) - naive_trees.total(rows, 4)) / naive_trees.weight(rows)


def best_pruned(graph, node, called, tested):
    """The most that a tree, pruned or not, can earn below a node on the tested rows, and with how many leaves."""
    own = sum(row[3] if called[node] else row[4] for row in tested)
    if graph.feature[node] < 0:
        return own, 1
    left = [row for row in tested if naive_trees.goes_left(graph, node, row[0])]
    right = [row for row in tested if not naive_trees.goes_left(graph, node, row[0])]
    (a, size_a), (b, size_b) = (
        best_pruned(graph, child, called, side)
        for child, side in ((graph.left[node], left), (graph.right[node], right))
    )
    return (own, 1) if own >= a + b else (a + b, size_a + size_b)


def share_of_trees(forest, X, label):
    """The share of trees whose leaf `label` calls positive, given its four sums; by a walk node by node."""
    shares = []
    for x in X.tolist():
        votes = [label(*tree.graph.sums[naive_trees.descend(tree.graph, x)[1]]) for tree in forest.trees_]
        shares.append(sum(votes) / len(votes))
    return np.array(shares)
