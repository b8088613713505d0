"""Trees and forests that rank, or that earn, with rules an auditor can read."""

from scarce.trees._ap_tree import APTree
from scarce.trees._meta_ap import MetaAP
from scarce.trees._meta_ap_forest import MetaAPForest
from scarce.trees._profit_forest import ProfitForest
from scarce.trees._profit_tree import ProfitTree
from scarce.trees._ranking_forest import RankingForest
from scarce.trees._sql import category_names, pipeline_to_sql
from scarce.trees._tree_rank import TreeRank

__all__ = [
    "APTree",
    "MetaAP",
    "MetaAPForest",
    "ProfitForest",
    "ProfitTree",
    "RankingForest",
    "TreeRank",
    "category_names",
    "pipeline_to_sql",
]
