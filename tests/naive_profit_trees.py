"""Slow, obvious versions of the trees for profit; rows and gains are those of `tests.naive_trees`."""

from itertools import pairwise

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


def sizes_entered(graph, x, value):
    """The changes of a value, given the four sums of a node, on the path of a row: by the size of the nodes entered."""
    trail, end, _ = naive_trees.descend(graph, x)
    changes = np.zeros(6)
    for before, after in pairwise([*trail, end]):
        size = sum(graph.n_rows[after] >= least for least in (16, 64, 256, 1024, 4096))
        changes[size] += value(*graph.sums[after]) - value(*graph.sums[before])
    return changes


def mean_steps(forest, X, value, out_of_bag):
    """The mean of a row's changes over the trees, or over those that did not draw it; NaN if all did."""
    bags = [forest._in_bag(len(X), seed) for seed in forest._tree_seeds]
    means = []
    for row, x in enumerate(X.tolist()):
        steps = [
            sizes_entered(tree.graph, x, value)
            for tree, bag in zip(forest.trees_, bags, strict=True)
            if not (out_of_bag and bag[row])
        ]
        means.append(np.mean(steps, axis=0) if steps else np.full(6, np.nan))
    return np.array(means)


def boosted_log_odds(trees, X, y, weight):
    """The log-odds of rows by trees that add up, each leaf's value found anew from the trees before it."""
    log_odds = np.full(len(y), np.log(weight @ y / (weight @ (1 - y))))
    for tree in trees:
        chance = 1 / (1 + np.exp(-log_odds))
        leaf = np.array([naive_trees.descend(tree.graph, x)[2] for x in X.tolist()])
        log_odds = log_odds.copy()
        for own in set(leaf):
            rows = leaf == own
            slope = weight[rows] @ (y - chance)[rows]
            curvature = weight[rows] @ (chance * (1 - chance))[rows]
            log_odds[rows] += 0.1 * slope / (curvature + 5)
    return log_odds


def path_weights(steps, y, weight):
    """The weights of steps, none below a thousandth, by one coordinate after the other, each by halving.

    Without evidence those of the first six columns are 1, and those of others 0.
    """
    kept = [row for row in range(len(y)) if weight[row] > 0 and not np.isnan(steps[row]).any()]
    steps, y, weight = steps[kept], y[kept], weight[kept] / weight[kept].sum()
    variance = weight @ (steps - weight @ steps) ** 2
    n = steps.shape[1]
    usual = np.array([1.0] * 6 + [0.0] * (n - 6))
    point = np.append(usual, 0.0)
    columns = np.column_stack((steps, np.ones(len(y))))

    def derivative(at):
        chance = 1 / (1 + np.exp(-columns @ at))
        return columns.T @ (weight * (chance - y)) + np.append(variance * (at[:n] - usual) / len(y), 0)

    for _ in range(3000):
        before = point.copy()
        for k in [*np.flatnonzero(variance > 1e-24), n]:
            low, high = (1e-3, 100.0) if k < n else (-30.0, 30.0)
            for _ in range(45):
                point[k] = (low + high) / 2
                low, high = (low, point[k]) if derivative(point)[k] > 0 else (point[k], high)
        if np.abs(point - before).max() < 1e-9:
            break
    return point[:n], point[n]
