"""Trees and trees of trees of all kinds, grown on small tables, for the tests of their readable forms."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from scarce.trees._engine import (
    BY_PRECISION,
    CRITERIA,
    MERGE_AP,
    Graph,
    LeafScores,
    Rule,
    count_categories,
    encode_columns,
    grow_meta_tree,
    grow_tree,
    leaf_scores,
    with_boxes,
)


class Grown(NamedTuple):
    graph: Graph
    scores: LeafScores
    names: list[str]
    X: np.ndarray  # the training rows
    new: np.ndarray  # other rows, with missing values and unknown codes


def grow(
    seed, *, n=60, d=4, depth=3, meta=True, missing=True, categories=True, dtype=np.float64, max_bins=None,
    tie_break="path", weighted=False, meta_depth=3,
):  # fmt: skip
    rng = np.random.default_rng(seed)
    n_new = 120
    X = np.round(rng.normal(size=(n + n_new, d)), rng.integers(0, 3))
    is_categorical = np.zeros(d, dtype=bool)
    if categories:
        is_categorical[0] = True
        X[:, 0] = rng.integers(0, rng.choice([3, 6, 70]), n + n_new)
    y = X[:, -1] * X[:, 1 % d] + (X[:, 0] % 3 == 0) + rng.normal(size=n + n_new) * 0.5 > 1
    y[:2] = True, False
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    X = X.astype(dtype)
    X, new, y = X[:n], X[n:], y[:n]
    names = [f"f{j}" for j in range(d)]
    weight = rng.integers(0, 4, n) + rng.random() if weighted else np.ones(n)
    n_categories = count_categories(X, is_categorical, names)
    columns, order = encode_columns(X, n_categories, max_bins)
    stats = np.column_stack((weight, weight * y))
    rule = Rule(CRITERIA["ap_max"], depth, 1, d, 0.0, False)
    if meta:
        graph = grow_meta_tree(
            columns, order, stats, rule, max_depth=meta_depth, min_split=2, by=BY_PRECISION, merge=MERGE_AP, seed=seed
        )
        value = np.arange(graph.n_leaves, 0, -1) / graph.n_leaves
        spread = np.full(graph.n_leaves, 0.5 / graph.n_leaves)
    else:
        graph = grow_tree(columns, order, stats, rule, seed=seed)
        sums = graph.leaf_sums()
        value, spread = sums[:, 1] / sums[:, 0], np.full(graph.n_leaves, 1e-3)
    if tie_break == "boundary":
        graph = with_boxes(graph, np.linspace(1, 2, d))
    scores = leaf_scores(graph, value, spread, X, weight, tie_break)
    new[rng.random(new.shape) < 0.1] = np.nan
    if categories:
        new[rng.random(len(new)) < 0.1, 0] = rng.choice([-1, 0.5, 71, 300])
    at = rng.integers(0, len(graph.threshold), len(new))  # rows on a threshold
    numeric = np.flatnonzero((graph.feature[at] >= 0) & np.isfinite(graph.threshold[at]))
    new[numeric, graph.feature[at[numeric]]] = graph.threshold[at[numeric]]
    return Grown(graph, scores, names, X, new)


kinds = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "d": st.integers(1, 5),
        "n": st.integers(2, 80),
        "depth": st.integers(1, 4),
        "meta": st.booleans(),
        "missing": st.booleans(),
        "categories": st.booleans(),
        "dtype": st.sampled_from([np.float64, np.float32]),
        "max_bins": st.sampled_from([None, 16]),
        "weighted": st.booleans(),
    }
)
