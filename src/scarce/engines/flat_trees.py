"""The trees of LightGBM and scikit-learn as the flat nodes that one kernel walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import Booster, Estimator, FloatArray
from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._packed import PackedTrees

from ._kernels_leaves import add_leaves
from .encoder import NotCompiled

__all__ = ["LeafTable", "flat_booster", "flat_forest", "leaf_table"]

# Bits of LightGBM's decision types.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_NONE, _MISSING_NAN = 0, 2
# Leaves that a byte can mark, and the largest table that stays near the processor.
_LEAVES, _LARGEST_TABLE = 8, 4_000_000


class _Tree(NamedTuple):
    """A tree: its nodes, then its leaves, whose features are -1."""

    feature: NDArray[np.int32]
    threshold: FloatArray
    child: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: FloatArray


def flat_booster(booster: Booster, n_features: int) -> PackedTrees:
    """Return the trees of a booster of LightGBM; their sum is its raw score, with the same bits.

    Splits by categories and linear leaves, which no audit grows, raise `NotCompiled`.
    """
    head, *parts = booster.model_to_string().partition("end of trees")[0].split("\nTree=")
    if "average_output" in head or "num_tree_per_iteration=1" not in head:
        raise NotCompiled("its boosted trees are no plain sum")
    return _joined([_of_text(_fields(part)) for part in parts], n_features)


def flat_forest(trees: Sequence[Estimator], n_features: int) -> PackedTrees:
    """Return the trees of a forest of scikit-learn for two classes; their sum is that of the shares of class 1.

    Rows must be float32, as scikit-learn compares them.
    """
    return _joined([_of_scikit(tree.tree_) for tree in trees], n_features)


def _joined(trees: Sequence[_Tree], n_features: int) -> PackedTrees:
    if not trees:
        raise NotCompiled("it has no trees")
    start = np.cumsum([0, *(len(tree.feature) for tree in trees)])[:-1].astype(np.int32)
    return PackedTrees(
        root=start,
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        child=np.concatenate([tree.child + first for tree, first in zip(trees, start, strict=True)]).astype(np.int32),
        missing_left=np.concatenate([tree.missing_left for tree in trees]),
        subset=np.empty((0, WORDS), np.uint64),
        n_categories=np.zeros(n_features, np.int64),
        value=np.concatenate([tree.value for tree in trees]),
    )


def _fields(part: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in part.splitlines() if "=" in line)
    return {name: value for name, _, value in pairs}


def _of_text(field: Mapping[str, str]) -> _Tree:
    def numbers(name: str, dtype: Any) -> NDArray[Any]:
        return np.array(field.get(name, "").split(), dtype=dtype)

    leaves = numbers("leaf_value", np.float64)
    decision = numbers("decision_type", np.int64)[: len(leaves) - 1]
    nodes = len(decision)
    missing = (decision >> 2) & 3
    if int(field.get("num_cat", 0)) or int(field.get("is_linear", 0)) or (decision & _CATEGORICAL).any():
        raise NotCompiled("its boosted trees have splits by categories or linear leaves")
    if not np.isin(missing, [_MISSING_NONE, _MISSING_NAN]).all():
        raise NotCompiled("its boosted trees take zeros for missing values")
    threshold = numbers("threshold", np.float64)[:nodes]
    # Without missing values in training LightGBM reads one as 0.
    left = np.where(missing == _MISSING_NAN, (decision & _DEFAULT_LEFT) > 0, threshold >= 0)
    child = np.column_stack([numbers(name, np.int32)[:nodes] for name in ("left_child", "right_child")])
    child = np.where(child < 0, nodes + ~child, child)  # a leaf is counted from -1 downwards
    return _Tree(
        np.concatenate((numbers("split_feature", np.int32)[:nodes], np.full(len(leaves), -1, np.int32))),
        np.concatenate((threshold, np.zeros(len(leaves)))),
        np.concatenate((child.reshape(nodes, 2), np.zeros((len(leaves), 2), np.int32))).astype(np.int32),
        np.concatenate((left, np.zeros(len(leaves), np.bool_))),
        np.concatenate((np.zeros(nodes), leaves)),
    )


def _of_scikit(tree: Any) -> _Tree:
    leaf = tree.children_left < 0
    child = np.column_stack((tree.children_left, tree.children_right))
    return _Tree(
        np.where(leaf, -1, tree.feature).astype(np.int32),
        np.where(leaf, 0.0, tree.threshold),
        np.where(leaf[:, None], 0, child).astype(np.int32),
        np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        np.ascontiguousarray(tree.value[:, 0, 1]),
    )


class LeafTable(NamedTuple):
    """Trees of at most eight leaves, as the leaves that each value of each feature leaves possible.

    Of the leaves that all features of a row leave possible, the row comes to the leftmost: a test that sends the row to
    the right rules out the leaves to its left, and no other.

    Attributes
    ----------
    feature : ndarray of shape (n_features,)
        The features that are tested.
    start : ndarray of shape (n_features + 1,)
        Where the edges of each begin.
    edge : ndarray of shape (n_edges,)
        The thresholds of a feature in order, each once.
    possible : ndarray of shape (n_edges + 2 * n_features, n_trees)
        A bit for each leaf, from the left: for each feature a row for each number of edges below its value, and one for
        a missing value.
    value : ndarray of shape (n_trees, 8)
        The values of the leaves.
    """

    feature: NDArray[np.int64]
    start: NDArray[np.int64]
    edge: FloatArray
    possible: NDArray[np.uint8]
    value: FloatArray

    def add_up(self, X: NDArray[Any]) -> FloatArray:
        """Return the sum over the trees of the value of each row's leaf."""
        total = np.empty(len(X))
        add_leaves(X, self, total)
        return total


class _Test(NamedTuple):
    """A test of a tree, and the leaves to its left."""

    tree: int
    feature: int
    threshold: float
    missing_left: bool
    left: int


def leaf_table(trees: PackedTrees) -> LeafTable | None:
    """Return trees as a table of leaves, or None where one has more than eight leaves or the table would be large."""
    tests: list[_Test] = []
    value = np.zeros((len(trees.root), _LEAVES))
    for number, root in enumerate(trees.root.tolist()):
        if not _is_small(trees, root):
            return None
        leaves: list[float] = []
        _read_tree(trees, number, root, tests, leaves)
        value[number, : len(leaves)] = leaves
    features = sorted({test.feature for test in tests})
    if not features or (len(tests) + 2 * len(features)) * len(value) > _LARGEST_TABLE:
        return None
    edges = [np.unique([test.threshold for test in tests if test.feature == feature]) for feature in features]
    possible = [
        _possible([test for test in tests if test.feature == feature], own, len(value))
        for feature, own in zip(features, edges, strict=True)
    ]
    start = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    return LeafTable(np.array(features), start, np.concatenate(edges), np.concatenate(possible), value)


def _is_small(trees: PackedTrees, root: int) -> bool:
    waiting, leaves = [root], 0
    while waiting and len(waiting) + leaves <= _LEAVES:
        node = waiting.pop()
        if trees.feature[node] < 0:
            leaves += 1
        else:
            waiting += trees.child[node].tolist()
    return not waiting


def _read_tree(trees: PackedTrees, number: int, node: int, tests: list[_Test], leaves: list[float]) -> int:
    """Collect the tests and the leaves from a node on, from left to right; return the bits of these leaves."""
    feature = int(trees.feature[node])
    if feature < 0:
        leaves.append(float(trees.value[node]))
        return 1 << (len(leaves) - 1)
    one, other = trees.child[node].tolist()
    left = _read_tree(trees, number, one, tests, leaves)
    tests.append(_Test(number, feature, float(trees.threshold[node]), bool(trees.missing_left[node]), left))
    return left | _read_tree(trees, number, other, tests, leaves)


def _possible(tests: Sequence[_Test], edges: FloatArray, n_trees: int) -> NDArray[np.uint8]:
    """Return the leaves that are possible for each number of edges below a value, and for a missing value."""
    possible = np.full((len(edges) + 2, n_trees), 255, dtype=np.uint8)
    for test in tests:
        right = np.uint8(~test.left & 255)
        possible[1 + np.searchsorted(edges, test.threshold) : -1, test.tree] &= right
        if not test.missing_left:
            possible[-1, test.tree] &= right
    return possible
