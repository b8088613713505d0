"""The growing engine that every tree of the library shares."""

from scarce.trees._engine._kernels_meta import BY_PRECISION, BY_SLOPE, MERGE_AP, MERGE_AUC
from scarce.trees._engine.columns import Columns, count_categories, encode_columns
from scarce.trees._engine.tree import (
    CRITERIA,
    Graph,
    LeafScores,
    Rule,
    grow_meta_tree,
    grow_tree,
    leaf_scores,
    path_distances,
    refine_leaves,
    with_boxes,
)

__all__ = [
    "BY_PRECISION",
    "BY_SLOPE",
    "CRITERIA",
    "MERGE_AP",
    "MERGE_AUC",
    "Columns",
    "Graph",
    "LeafScores",
    "Rule",
    "count_categories",
    "encode_columns",
    "grow_meta_tree",
    "grow_tree",
    "leaf_scores",
    "path_distances",
    "refine_leaves",
    "with_boxes",
]
