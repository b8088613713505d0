"""The trees of LightGBM and scikit-learn as the flat nodes that one kernel walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import Booster, Estimator, FloatArray
from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._packed import PackedTrees

from .encoder import NotCompiled

__all__ = ["flat_booster", "flat_forest"]

# Bits of LightGBM's decision types.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_NONE, _MISSING_NAN = 0, 2


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
