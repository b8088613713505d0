"""Short trees, each grown on what those before it have missed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from scarce.base import FloatArray
from scarce.profit._gains import log_ratio
from scarce.trees._base import GrownTree, TreeData
from scarce.trees._engine import CRITERIA, Rule, grow_tree
from scarce.trees.profit import constant_scores, in_units

__all__ = ["Boosted", "boost"]

_DEPTH = 4
_MIN_SAMPLES_LEAF = 20
_RATE = 0.1
_ADDED_CURVATURE = 5.0


class Boosted(NamedTuple):
    """Trees that add up to log-odds."""

    start: float
    trees: list[GrownTree]
    log_odds: FloatArray  # of all rows of the table, also of those that had no weight


def boost(data: TreeData, n_trees: int, max_features: int, seed: int) -> Boosted:
    """Return trees for the log-odds of the class, grown on the rows with a positive weight by the log-loss."""
    weight, positive = data.stats[:, 0], data.stats[:, 1]
    rule = Rule(CRITERIA["newton"], _DEPTH, _MIN_SAMPLES_LEAF, max_features, 0.0, False)
    total = float(weight.sum())
    start = float(log_ratio(positive.sum(), (weight - positive).sum()))
    log_odds = np.full(len(weight), start)
    trees = []
    for tree_seed in np.random.default_rng(seed).integers(2**32, size=n_trees):
        chance = expit(log_odds)
        curvature_and_slope = np.column_stack((weight * chance * (1 - chance), positive - weight * chance))
        # Sums that are exact do not depend on the order of the rows.
        stats, unit = in_units(curvature_and_slope, total)
        added = _ADDED_CURVATURE / unit
        graph = grow_tree(data.columns, data.order, stats, rule, parameter=added, seed=tree_seed)
        curvature, slope = graph.leaf_sums()[:, :2].T
        tree = GrownTree(graph, constant_scores(_RATE * slope / (curvature + added)))
        log_odds += tree.score(data.X)
        trees.append(tree)
    return Boosted(start, trees, log_odds)
