"""A forest that ranks by the precisions of leaves, of trees of trees or of single trees."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, CategoricalFeatures, Label, MaxFeatures, RandomState, Threshold, TopK
from scarce.trees._base import GrownTree, TreeData
from scarce.trees._engine import grow_tree
from scarce.trees._forest import TreeForest
from scarce.trees._meta_ap import MetaAP
from scarce.trees._ranking_base import DEPTH, scored_by_precision

__all__ = ["MetaAPForest"]

_DEPTH = 8


class MetaAPForest(TreeForest):
    """A forest of :class:`MetaAP` that ranks rows by the mean precision of their leaves.

    Each tree is grown on rows drawn with replacement. By default half of the trees take the best splits, and half one
    random threshold for each feature and node: the two kinds err in different ways.

    Parameters
    ----------
    n_estimators : int, default=200
        The number of trees.
    max_samples : float, default=1.0
        The number of rows drawn for a tree, as a share of all.
    splits : {"mixed", "best", "random"}, default="mixed"
        "best": the best threshold of each feature. "random": for each node and feature one threshold, drawn between the
        node's smallest and largest value, of which the best feature is taken; of categories, ordered as for the best
        split, one place is drawn. "mixed": every second tree is grown by random splits.
    aggregate : {"precision", "mean_score"}, default="precision"
        The score of a row. "precision": the mean over the trees of ``(p + q) / (w + 1)``, with p and w the weights of
        the positives and of all rows that the tree saw in the row's last leaf, before leaves are merged, and q the
        share of positives in training. "mean_score": the mean of the scores of :class:`MetaAP`, which are ranks of
        merged leaves. A rank says nothing of how many of a leaf's rows are positive, so that their mean ranks worse.
    merge : bool, default=True
        Whether the leaves of a tree are merged into a better and a worse side, on which trees are grown in turn, as in
        :class:`MetaAP`. With False each tree is a single one: on card payments the fit takes a quarter of the time and
        scores take half, with the same average precision; on small sets that loses .004. The guide has the figures.
    max_depth : int, default=None
        The levels of a tree of trees, None for 8; or with ``merge=False`` the depth of a tree, None for no limit.
    max_leaf_depth : int, default=None
        The depth of the trees within a tree of trees; None for the same as its levels.
    criterion : {"entropy", "gini", "ap_max", "ap_mean", "ap_mean_inherited"}, default="entropy"
        The worth of a split, see :class:`MetaAP`. Splitting by average precision does not help in a forest.
    order : {"precision", "slope"}, default="precision"
        The order in which leaves are merged, see :class:`MetaAP`.
    min_samples_leaf : int or "auto", default="auto"
        The fewest rows of a leaf. "auto" is 5 with best splits and 2 with random ones.
    max_features : int, float, "sqrt", "auto" or None, default="auto"
        The number of features, drawn anew in each node, that a split may use: a number, a share of all, or None for
        all. "auto" is half of them with best splits and all with random ones.
    tie_break : {"path", "boundary"} or None, default=None
        For "mean_score", how rows of one leaf are ordered; see :class:`APTree`.
    min_gain, max_bins, categorical_features, top_k
        See :class:`APTree` and :class:`MetaAP`. With ``merge=False``, `top_k` is for the threshold alone.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the rows, features and thresholds drawn.
    threshold, calibration, pos_label
        See :class:`~scarce.base.RareEventClassifier`. Thresholds are chosen on out-of-bag scores: of the trees that did
        not draw a row. With few trees some rows are in every bag; these are left out, and are NaN in `honest_scores`.

    Attributes
    ----------
    trees_ : list of GrownTree
        The trees as arrays, with the scores of their leaves.

    See Also
    --------
    MetaAP : One tree of trees, which can be read.
    RankingForest : A forest of :class:`TreeRank`.
    scarce.boosting.APBoosting : Boosted trees for the average precision.

    Notes
    -----
    The forest of the paper is ``MetaAPForest(100, splits="best", aggregate="mean_score", max_depth=p,
    criterion="ap_mean", order="slope", min_samples_leaf=1, max_features=None, tie_break="path")``. Trees with random
    thresholds are due to Geurts et al.

    References
    ----------
    R. Viola, L. Gautheron, A. Habrard and M. Sebban, "MetaAP: a meta-tree-based ranking algorithm optimizing the
    average precision from imbalanced data", Pattern Recognition Letters 161 (2022). P. Geurts, D. Ernst and L.
    Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import average_precision_score
    >>> from scarce.trees import MetaAPForest
    >>> X, y = make_classification(2000, 8, weights=[0.95], random_state=0)
    >>> model = MetaAPForest(50, random_state=0).fit(X[:1000], y[:1000])
    >>> average_precision_score(y[1000:], model.score_samples(X[1000:])) > 0.5
    True
    """

    splits: str
    aggregate: str
    merge: bool
    max_depth: int | None
    criterion: str

    _tree_class = MetaAP
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: kinds for name, kinds in MetaAP._parameter_constraints.items() if name != "refine"},
        **TreeForest._parameter_constraints,
        "splits": [StrOptions({"mixed", "best", "random"})],
        "aggregate": [StrOptions({"precision", "mean_score"})],
        "merge": ["boolean"],
        "max_depth": [DEPTH, None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_features": [*TreeForest._parameter_constraints["max_features"], StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        max_samples: float = 1.0,
        splits: str = "mixed",
        aggregate: str = "precision",
        merge: bool = True,
        max_depth: int | None = None,
        max_leaf_depth: int | None = None,
        criterion: str = "entropy",
        order: str = "precision",
        min_samples_leaf: int | str = "auto",
        min_gain: float = 0.0,
        max_features: MaxFeatures = "auto",
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        tie_break: str | None = None,
        top_k: TopK = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.splits = splits
        self.aggregate = aggregate
        self.merge = merge
        self.max_depth = max_depth
        self.max_leaf_depth = max_leaf_depth
        self.criterion = criterion
        self.order = order
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

    def _fit_trees(self, data: TreeData) -> None:
        if not self.merge and self.aggregate == "mean_score":
            raise ValueError('aggregate="mean_score" ranks merged leaves: use merge=True, or aggregate="precision".')
        if self.splits != "best":
            data = data._replace(columns=data.columns.with_rows())
        super()._fit_trees(data)

    def _grow(self, data: TreeData, seed: int, number: int = 0) -> GrownTree:
        random = self.splits == "random" or (self.splits == "mixed" and number % 2 == 1)
        tree, bag = self._tree_of(random), self._bag(data, seed)
        if not self.merge:
            rule = tree._rule(self.criterion, self.max_depth)._replace(random=random)
            graph = grow_tree(*bag[1:], rule, seed=seed)
        else:
            graph = tree._graph(bag, seed, random=random)
        if self.aggregate == "mean_score":
            return tree._ranked(bag, graph)
        weight, positives = data.stats.sum(axis=0)
        return scored_by_precision(graph, float(positives / weight))

    def _tree_of(self, random: bool) -> MetaAP:
        """Return the tree that the forest repeats, unfitted, for one kind of splits."""
        tree = super()._tree()
        if self.max_depth is None:
            tree.max_depth = _DEPTH
        if self.min_samples_leaf == "auto":
            tree.min_samples_leaf = 2 if random else 5
        if self.max_features == "auto":
            tree.max_features = None if random else 0.5
        return tree

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(10, max_depth=3, random_state=0)
        yield cls(10, merge=False, splits="random", max_bins=64, max_features=0.5, top_k=0.5, random_state=0)
        yield cls(
            10, splits="best", aggregate="mean_score", max_depth=2, criterion="ap_max", min_samples_leaf=1,
            tie_break="path", random_state=0,
        )  # fmt: skip
