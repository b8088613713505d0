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


def out_of_bag_means(forest, X, value):
    """The mean of a leaf's value over the trees that did not draw the row; NaN if all did."""
    bags = [forest._in_bag(len(X), seed) for seed in forest._tree_seeds]
    means = []
    for row, x in enumerate(X.tolist()):
        said = [
            value(*tree.graph.sums[naive_trees.descend(tree.graph, x)[1]])
            for tree, bag in zip(forest.trees_, bags, strict=True)
            if not bag[row]
        ]
        means.append(sum(said) / len(said) if said else np.nan)
    return np.array(means)


def platt(scores, y, weight):
    """Slope and intercept of Platt's curve, by Newton's steps, from the rows that have a score."""
    kept = [(f, t, w) for f, t, w in zip(scores, y, weight, strict=True) if w > 0 and not np.isnan(f)]
    positive, negative = (sum(w for _, t, w in kept if t == truth) for truth in (1, 0))
    slope = intercept = 0.0
    for _ in range(25):
        gradient, hessian = np.zeros(2), np.zeros((2, 2))
        for f, truth, w in kept:
            wanted = (positive + 1) / (positive + 2) if truth else 1 / (negative + 2)
            p = 1 / (1 + np.exp(-slope * f - intercept))
            gradient += w * (p - wanted) * np.array([f, 1])
            hessian += w * p * (1 - p) * np.outer([f, 1], [f, 1])
        step = np.linalg.solve(hessian, gradient)
        step /= max(1, np.abs(step).max())
        slope, intercept = slope - step[0], intercept - step[1]
    return slope, intercept
