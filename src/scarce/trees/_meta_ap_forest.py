"""A forest of trees of trees for the average precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from scarce._typing import Calibration, CategoricalFeatures, Label, MaxFeatures, RandomState, Threshold, TopK
from scarce.trees._forest import TreeForest
from scarce.trees._meta_ap import MetaAP

__all__ = ["MetaAPForest"]


class MetaAPForest(TreeForest):
    """The mean score of many :class:`MetaAP`, each grown on rows drawn with replacement.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_samples : float, default=1.0
        The number of rows drawn for a tree, as a share of all.
    max_depth, max_leaf_depth, criterion, order, refine, min_samples_leaf, min_gain, max_features, max_bins, \
categorical_features, tie_break, top_k
        See :class:`MetaAP`.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the rows and features drawn.
    threshold, calibration, pos_label
        See :class:`~scarce.base.RareEventClassifier`. Thresholds are chosen on out-of-bag scores.

    Attributes
    ----------
    trees_ : list of GrownTree
        The trees as arrays, with the scores of their leaves.

    See Also
    --------
    MetaAP : One such tree, which can be read.
    RankingForest : A forest of :class:`TreeRank`.
    scarce.boosting.APBoosting : Boosted trees for the average precision.

    References
    ----------
    R. Viola, L. Gautheron, A. Habrard and M. Sebban, "MetaAP: a meta-tree-based ranking algorithm optimizing the
    average precision from imbalanced data", Pattern Recognition Letters 161 (2022).
    """

    _tree_class = MetaAP
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MetaAP._parameter_constraints,
        **TreeForest._parameter_constraints,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 1.0,
        max_depth: int = 5,
        max_leaf_depth: int | None = None,
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
        n_jobs: int | None = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(10, max_depth=3, random_state=0)
        yield cls(
            10,
            max_depth=2,
            criterion="ap_max",
            order="precision",
            max_bins=64,
            max_features=0.5,
            top_k=0.5,
            random_state=0,
        )
