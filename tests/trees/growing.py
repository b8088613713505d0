"""Trees and trees of trees of all kinds, grown on small tables, for the tests of their readable forms."""

import math
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
from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._engine.tree import TIE_BREAKS


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


def from_dict(data):
    """Return the tree, the names of its features and its scores from the plain data of `to_dict`."""
    names = list(data["features"])
    nodes = [node for block in data["blocks"] for node in block]
    sizes = np.array([len(block) for block in data["blocks"]], dtype=np.int64)
    end = np.cumsum(sizes)
    n_categories = np.array(data["n_categories"], dtype=np.int64)
    feature = np.array([names.index(node["feature"]) if "feature" in node else -1 for node in nodes], dtype=np.int64)
    empty = np.empty((0, 0))
    graph = Graph(
        feature=feature,
        threshold=np.array([_threshold(node) for node in nodes]),
        left=np.array([node.get("left", -1) for node in nodes], dtype=np.int64),
        right=np.array([node.get("right", -1) for node in nodes], dtype=np.int64),
        missing_left=np.array([node.get("missing") == "left" for node in nodes], dtype=np.bool_),
        jump=np.array([node.get("to_block", -1 - node.get("leaf", 0)) for node in nodes], dtype=np.int64),
        n_rows=np.array([node["rows"] for node in nodes], dtype=np.int64),
        sums=np.array([node["sums"] for node in nodes], dtype=np.float64),
        subset=np.array([_words(node) for node in nodes if n_categories.any()], dtype=np.uint64).reshape(-1, WORDS),
        first=end - sizes,
        end=end,
        side=np.array(data["sides"], dtype=np.int64).reshape(-1, 2),
        n_categories=n_categories,
        low=empty,
        high=empty,
        scale=np.empty(0),
    )
    if "scale" in data:
        graph = with_boxes(graph, np.array(data["scale"], dtype=np.float64))
    return graph, names, _scores(data["scores"])


def _threshold(node):
    if "feature" not in node:
        return 0.0
    if "codes" in node:
        return math.nan
    return math.inf if node["up_to"] is None else float(node["up_to"])


def _words(node):
    bits = sum(1 << code for code in node.get("codes", ()))
    return [bits >> 64 * i & (2**64 - 1) for i in range(WORDS)]


def _scores(data):
    # A leaf without rows has no smallest and no largest distance.
    least = [math.inf if x is None else x for x in data["low"]]
    most = [-math.inf if x is None else x for x in data["high"]]
    value, spread, low, high = np.array([data["value"], data["spread"], least, most], dtype=np.float64)
    return LeafScores(value, spread, low, high, TIE_BREAKS[data["tie_break"]])
