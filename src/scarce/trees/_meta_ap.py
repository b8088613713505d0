"""A tree of trees for the average precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from scarce._sklearn import StrOptions
from scarce._typing import Calibration, CategoricalFeatures, Label, MaxFeatures, RandomState, Threshold, TopK
from scarce.trees._base import TreeData
from scarce.trees._engine import BY_PRECISION, BY_SLOPE, MERGE_AP, Graph, refine_leaves
from scarce.trees._ranking_base import CRITERIA, TOP_K, MetaTree

__all__ = ["MetaAP"]


class MetaAP(MetaTree):
    """MetaAP: a tree of trees that ranks by average precision and stays small enough to read.

    In each node a tree is grown for average precision, its leaves are ordered, and the first of them, as many as give
    the best average precision, become the better side. The two sides are treated likewise. A final leaf is thus
    reached by several paths, and the final leaves, from the best, have the scores 1, (L - 1)/L, …, 1/L.

    Parameters
    ----------
    max_depth : int, default=5
        The levels of the tree of trees.
    max_leaf_depth : int, default=None
        The depth of the tree within a node; None for `max_depth`, as in the paper.
    criterion : {"ap_mean", "ap_mean_inherited", "ap_max", "gini", "entropy"}, default="ap_mean"
        See :class:`APTree`. "ap_mean_inherited" is "ap_mean" with the stop rule of the authors' program: a split is
        compared with the average precision that the node inherits from its parent's split instead of its own.
    order : {"slope", "precision"}, default="slope"
        How leaves are ordered before they are merged. "slope": by (1 - precision) / recall, as in the paper, which puts
        a large impure leaf before a small pure one and loses average precision. "precision": by precision.
    refine : bool, default=False
        Rank the leaves of the last trees by their shares of positives instead of merging them. Without a tie-break one
        tree ranks better by it, and reads worse: there are as many rules as leaves.
    top_k : int or float, default=None
        Only the first `top_k` rows (a number of training rows, or a share of them) will be read: a node that lies
        wholly before or behind them becomes a final leaf, and the default threshold flags them.
    min_samples_leaf, min_gain, max_features, max_bins, categorical_features, tie_break, random_state, threshold, \
calibration, pos_label
        See :class:`APTree`. `tie_break` orders the rows of a final leaf by their distance to the tests of the last
        tree. The published results rest on it.

    Attributes
    ----------
    tree_ : Graph
        The tree of trees as arrays.
    compactness_ : dict
        The numbers of nodes, leaves and rules.

    See Also
    --------
    MetaAPForest : Many such trees, which rank better and cannot be read.
    APTree : One ordinary tree for the average precision.
    TreeRank : The same idea for the area under the ROC curve.

    Notes
    -----
    The authors scale the tie-break over the rows of one call of predict, so that a row's score depends on the others.
    Here it is scaled by the training rows of the leaf, and takes at most half of the step between two leaves.

    References
    ----------
    R. Viola, L. Gautheron, A. Habrard and M. Sebban, "MetaAP: a meta-tree-based ranking algorithm optimizing the
    average precision from imbalanced data", Pattern Recognition Letters 161 (2022).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import MetaAP
    >>> X, y = make_classification(300, weights=[0.9], flip_y=0.02, random_state=0)
    >>> model = MetaAP(max_depth=2).fit(X, y)
    >>> model.compactness_["rules"] <= model.compactness_["leaves"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetaTree._parameter_constraints,
        "criterion": [StrOptions(CRITERIA | {"ap_mean_inherited"})],
        "order": [StrOptions({"slope", "precision"})],
        "refine": ["boolean"],
        "top_k": TOP_K,
    }

    def __init__(
        self,
        max_depth: int = 5,
        max_leaf_depth: int | None = None,
        *,
        criterion: str = "ap_mean",
        order: str = "slope",
        refine: bool = False,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: MaxFeatures = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        tie_break: str | None = "path",
        top_k: TopK = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_depth = max_leaf_depth
        self.criterion = criterion
        self.order = order
        self.refine = refine
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.top_k = top_k
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _graph(self, data: TreeData, seed: int, *, random: bool = False) -> Graph:
        inherit = self.criterion == "ap_mean_inherited"
        rule = self._rule("ap_mean" if inherit else self.criterion, self._leaf_depth, inherit=inherit)
        by = BY_SLOPE if self.order == "slope" else BY_PRECISION
        graph = self._grow_meta(data, seed, rule=rule._replace(random=random), min_split=2, by=by, merge=MERGE_AP)
        return refine_leaves(graph, float(graph.sums[0, 1] / graph.sums[0, 0]))[0] if self.refine else graph

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(3, 2, criterion="ap_max", order="precision", refine=True, max_bins=64, tie_break="boundary")
        yield cls(2, 4, criterion="ap_mean_inherited", tie_break=None, max_features=2, top_k=0.5, random_state=0)
