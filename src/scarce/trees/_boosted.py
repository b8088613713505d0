"""Short trees, each grown on the residuals of those before it."""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.model_selection import StratifiedGroupKFold

from scarce._typing import FloatArray, IntArray
from scarce.profit._gains import log_ratio
from scarce.trees._base import GrownTree, TreeData, constant_scores
from scarce.trees._engine import CRITERIA, Rule, encode_columns, grow_tree
from scarce.trees._profit_base import in_units

__all__ = ["Boosted", "boost", "boost_in_turn"]

# Chosen on sets and rows set aside for such choices; see docs/profit-quality.md.
_DEPTH = 4
_MIN_SAMPLES_LEAF = 20
_RATE = 0.1
_ADDED_CURVATURE = 5.0
_BINS = 255  # enough for trees that split many rows at a time
_FOLDS = 3


class Boosted(NamedTuple):
    """Trees that add up to log-odds."""

    start: float
    trees: list[GrownTree]
    log_odds: FloatArray  # of all rows of the table, also of those that had no weight


def boost(data: TreeData, n_trees: int, max_features: int, seed: int) -> Boosted:
    """Return trees for the log-odds of the class, grown on the rows with a positive weight by the log-loss."""
    weight, positive = data.stats[:, 0], data.stats[:, 1]
    rule = Rule(CRITERIA["newton"], _DEPTH, _MIN_SAMPLES_LEAF, max_features, 0.0, False)
    # Sums that are exact do not depend on the order of the rows.
    total = fsum(weight)
    start = float(log_ratio(fsum(positive), fsum(weight - positive)))
    log_odds = np.full(len(weight), start)
    trees = []
    for tree_seed in np.random.default_rng(seed).integers(2**32, size=n_trees):
        chance = expit(log_odds)
        curvature_and_slope = np.column_stack((weight * chance * (1 - chance), positive - weight * chance))
        stats, unit = in_units(curvature_and_slope, total)
        added = _ADDED_CURVATURE / unit
        graph = grow_tree(data.columns, data.order, stats, rule, parameter=added, seed=tree_seed)
        curvature, slope = graph.leaf_sums()[:, :2].T
        tree = GrownTree(graph, constant_scores(_RATE * slope / (curvature + added)))
        log_odds += tree.score(data.X)
        trees.append(tree)
    return Boosted(start, trees, log_odds)


def boost_in_turn(
    data: TreeData, n_trees: int, max_features: int, *, groups: IntArray | None, seed: int, n_jobs: int | None
) -> tuple[Boosted, FloatArray]:
    """Grow trees on all rows, and on all but one fold at a time; rows of one group are in the same fold.

    Returns
    -------
    Boosted
        The trees on all rows.
    ndarray of shape (n_rows, 1)
        The log-odds of each row by trees that did not see it. No column, and no trees above, if there are to be none or
        if a class has a single row.
    """
    weight, positive = data.stats[:, 0], data.stats[:, 1] > 0
    kinds = [np.flatnonzero(rows) for rows in (positive, ~positive & (weight > 0), weight == 0)]
    apart = kinds[:2] if groups is None else [np.unique(groups[rows]) for rows in kinds[:2]]
    n_folds = min(_FOLDS, *map(len, apart))
    if n_trees == 0 or n_folds < 2:
        return Boosted(0.0, [], np.empty(0)), np.empty((len(weight), 0))
    rng = np.random.default_rng(seed)
    fold = np.empty(len(weight), dtype=np.intp)
    if groups is None:
        for rows in kinds:
            fold[rng.permutation(rows)] = np.arange(len(rows)) % n_folds
    else:
        folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        for number, (_, test) in enumerate(folds.split(positive, positive, groups)):
            fold[test] = number
    binned = TreeData(data.X, *encode_columns(data.X, data.columns.n_categories, _BINS, positive), data.stats[:, :2])
    seen = [np.ones(len(weight)), *(fold != k for k in range(n_folds))]
    on_all, *others = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(boost)(binned._replace(stats=binned.stats * kept[:, None]), n_trees, max_features, part_seed)
        for kept, part_seed in zip(seen, rng.integers(2**32, size=len(seen)), strict=True)
    )
    return on_all, np.choose(fold, [other.log_odds for other in others])[:, None]
