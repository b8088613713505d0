"""A tree of trees for the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, CategoricalFeatures, Label, MaxFeatures, RandomState, Threshold
from scarce.trees._base import TreeData
from scarce.trees._engine import BY_PRECISION, MERGE_AUC, Graph
from scarce.trees._ranking_base import MetaTree

__all__ = ["TreeRank"]


class TreeRank(MetaTree):
    """TreeRank: a tree of trees that ranks by the area under the ROC curve.

    In each node LeafRank, a tree for the two classes with equal weight, finds the subset of rows with the most
    positives beyond negatives; it becomes the better side. Final leaves have the scores 1, (L - 1)/L, …, 1/L from the
    best.

    Parameters
    ----------
    max_depth : int, default=10
        The levels of the tree of trees.
    max_leaf_depth : int, default=None
        The depth of LeafRank; None for `max_depth`.
    leaf_rank : {"weighted_error", "balanced"}, default="weighted_error"
        The criterion by which LeafRank splits: "weighted_error", with the weights that make both classes equal in the
        node, or "balanced", Gini with the same weights.
    min_samples_split : int, default=2
        The fewest rows of a node that is split further.
    min_samples_leaf, min_gain, max_features, max_bins, categorical_features, tie_break, random_state, threshold, \
calibration, pos_label
        See :class:`APTree` and :class:`MetaAP`.

    See Also
    --------
    RankingForest : Many such trees, and a consensus of their rankings.
    MetaAP : The same idea for the average precision.

    References
    ----------
    S. Clémençon and N. Vayatis, "Tree-based ranking methods", IEEE Transactions on Information Theory 55 (2009).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.trees import TreeRank
    >>> X, y = make_classification(300, weights=[0.9], flip_y=0.02, random_state=0)
    >>> model = TreeRank(max_depth=2).fit(X, y)
    >>> bool(model.score_samples(X)[y == 1].mean() > model.score_samples(X)[y == 0].mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetaTree._parameter_constraints,
        "leaf_rank": [StrOptions({"weighted_error", "balanced"})],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        max_depth: int = 10,
        max_leaf_depth: int | None = None,
        *,
        leaf_rank: str = "weighted_error",
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_features: MaxFeatures = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        tie_break: str | None = "path",
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_depth = max_leaf_depth
        self.leaf_rank = leaf_rank
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.tie_break = tie_break
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _graph(self, data: TreeData, seed: int, *, random: bool = False) -> Graph:
        rule = self._rule(self.leaf_rank, self._leaf_depth)._replace(random=random)
        return self._grow_meta(
            data, seed, rule=rule, min_split=self.min_samples_split, by=BY_PRECISION, merge=MERGE_AUC
        )

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(3, leaf_rank="balanced", max_bins=64, tie_break=None)
