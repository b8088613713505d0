"""Trees and forests that rank, or that earn, with rules an auditor can read."""

from scarce.trees.profit import ProfitTree
from scarce.trees.profit_forest import ProfitForest
from scarce.trees.ranking import APTree, MetaAP, TreeRank
from scarce.trees.ranking_forest import MetaAPForest, RankingForest

__all__ = ["APTree", "MetaAP", "MetaAPForest", "ProfitForest", "ProfitTree", "RankingForest", "TreeRank"]
