"""The effect of each feature on the score of a tree or a forest: path-dependent Shapley values."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray
from scarce.trees._engine._kernels_shap import add_by_paths, add_by_subsets, sizes_unrolled
from scarce.trees._engine.tree import Graph

__all__ = ["Effects", "forest_effects", "tree_effects"]

ALWAYS_EXACT = 8  # features
MAX_STEPS = 2**19  # of the exact ways, for one row; about a millisecond
LEAST = 0.01
MAX_POINTS = 16


class Effects(NamedTuple):
    """The effects of features on the scores of rows, and the score that they are added to."""

    effects: FloatArray  # (n_samples, n_features)
    base_value: float


class _Memory(NamedTuple):
    """The state of each level on the way down a path, and of each feature."""

    node: NDArray[np.int64]
    n_visited: NDArray[np.int64]  # of its two children
    goes_left: BoolArray  # the row
    agreed: BoolArray  # the state of the parent's feature before
    z_before: FloatArray
    probability: FloatArray
    total: FloatArray
    agrees: BoolArray  # the row passed all tests of the feature on this path
    z: FloatArray


def tree_effects(graph: Graph, value: FloatArray, X: NDArray[Any]) -> Effects:
    """Return the Shapley values of the leaf values, for each row.

    The game is that of path-dependent tree SHAP: a set of features is worth the mean leaf value of a walk that, at a
    test of one of them, goes where the row goes, and at any other test both ways, by their shares of the training
    weight, and through jumps to other blocks. The base value, that of no features, is the weighted mean of the leaf
    values of the training rows. The effects add up to the value of the row's leaf less the base value.

    Parameters
    ----------
    graph : Graph
        A tree, or a tree of trees.
    value : ndarray of shape (n_leaves,)
        The value of each final leaf, such as ``leaf_scores_.value``. The place of a row within its leaf is no part of
        the game.
    X : ndarray of shape (n_samples, n_features)
        The rows; missing values and unknown categories go where the tree sends them.

    Returns
    -------
    Effects
        The effects and the base value.

    Notes
    -----
    Shares are of the training weight (the first of a node's sums), not of the number of rows, so that a row of weight 2
    counts as two rows, and a row that a forest drew twice too. In a tree grown by Newton's steps this is the curvature,
    as in XGBoost.

    A single tree takes O(nodes × depth) for a row. It is the sum over leaves of Lundberg et al., with the
    sum over subsets written as an integral of a polynomial, which Gauss's quadrature gives exactly (Yu et al. share the
    sums of a subtree in a similar way).

    A tree of trees has as many paths as its blocks have ways in, and no polynomial way is known, since a feature may
    occur in many blocks. The effects are exact where the tree uses at most 8 features, or where the paths or the
    subsets of features take at most half a million steps. Otherwise, a block that is entered with a probability below
    0.01 is opened once for all its ways in; there, a feature is a player apart from the same feature in the blocks
    before. The effects still add up. On three trees of trees grown on 5,000 simulated rows, with effects up to 0.56,
    the largest error over 30 rows was 0.0032 and the root mean square error 0.0005.

    References
    ----------
    S. Lundberg, G. Erion and S.-I. Lee, "Consistent individualized feature attribution for tree ensembles", 2018.
    P. Yu, A. Bifet, J. Read and C. Xu, "Linear TreeSHAP", NeurIPS 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import APTree
    >>> from scarce.trees._engine.shap import tree_effects
    >>> X, y = make_classification(400, 5, weights=[0.9], random_state=0)
    >>> model = APTree(max_depth=3, tie_break=None).fit(X, y)
    >>> effects, base_value = tree_effects(model.tree_, model.leaf_scores_.value, X[:3])
    >>> (effects.sum(axis=1) + base_value - model.score_samples(X[:3])).round(12).tolist()
    [0.0, 0.0, 0.0]
    """
    X = np.ascontiguousarray(X)  # a strided table would be compiled for anew
    out = np.zeros(X.shape)
    value = np.asarray(value, dtype=np.float64)
    _add_effects(graph, value, X, out)
    weight = graph.leaf_sums()[:, 0]
    if not weight.any():  # a tree without rows has one leaf
        weight = np.ones(len(value))
    return Effects(out, float(weight @ value / weight.sum()))


def forest_effects(
    trees: Iterable[tuple[Graph, FloatArray]], X: NDArray[Any], weights: Iterable[float] | None = None
) -> Effects:
    """Return the effects of a weighted sum of trees, which are the weighted sum of the trees' effects.

    Parameters
    ----------
    trees : iterable of (graph, value)
        The trees and the values of their leaves.
    X : ndarray of shape (n_samples, n_features)
        The rows.
    weights : iterable of float, optional
        What each tree counts; if not given, the mean is explained.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import MetaAPForest
    >>> from scarce.trees._engine.shap import forest_effects
    >>> X, y = make_classification(400, 5, weights=[0.9], random_state=0)
    >>> model = MetaAPForest(5, max_depth=2, tie_break=None, random_state=0).fit(X, y)
    >>> trees = [(tree.graph, tree.scores.value) for tree in model.trees_]
    >>> effects, base_value = forest_effects(trees, X[:3])
    >>> (effects.sum(axis=1) + base_value - model.score_samples(X[:3])).round(12).tolist()
    [0.0, 0.0, 0.0]
    """
    trees = list(trees)
    shares = [1 / len(trees)] * len(trees) if weights is None else weights
    total, base_value = np.zeros(X.shape), 0.0
    for (graph, value), share in zip(trees, shares, strict=True):
        effects, base = tree_effects(graph, share * np.asarray(value, dtype=np.float64), X)
        total += effects
        base_value += base
    return Effects(total, base_value)


def _add_effects(graph: Graph, value: FloatArray, X: NDArray[Any], out: FloatArray) -> None:
    """Add the effects by the cheaper exact way, or by the bounded one."""
    inner = np.flatnonzero(graph.feature >= 0)
    used = np.unique(graph.feature[inner])
    share = np.ones(len(graph.feature))
    for side in (graph.left, graph.right):
        share[side[inner]] = graph.sums[side[inner], 0] / graph.sums[inner, 0]
    depth, n_unrolled = sizes_unrolled(graph)
    degree = min(depth, len(used))  # of the polynomial, with one factor for each feature of a path
    by_paths, by_subsets = n_unrolled * degree, 2.0 ** len(used) * len(share)
    exact = len(graph.first) == 1 or len(used) <= ALWAYS_EXACT or min(by_paths, by_subsets) <= MAX_STEPS
    if exact and by_subsets < by_paths:
        n = len(used)
        weight = np.array([1 / (n * comb(n - 1, size)) for size in range(n)])
        add_by_subsets(X, graph, value, share, used, weight, out)
        return
    # n points are exact to the degree 2n - 1, one more than the integrand's.
    n_points = max(1, (degree + 1) // 2) if exact else min((depth + 1) // 2, MAX_POINTS)
    points, weights = np.polynomial.legendre.leggauss(n_points)
    memory = _Memory(
        node=np.empty(depth + 1, np.int64),
        n_visited=np.empty(depth + 1, np.int64),
        goes_left=np.empty(depth + 1, np.bool_),
        agreed=np.empty(depth + 1, np.bool_),
        z_before=np.empty(depth + 1),
        probability=np.empty((depth + 1, n_points)),
        total=np.empty((depth + 1, n_points)),
        agrees=np.empty(X.shape[1], np.bool_),
        z=np.empty(X.shape[1]),
    )
    add_by_paths(X, graph, value, share, 0.0 if exact else LEAST, (points + 1) / 2, weights / 2, memory, out)
