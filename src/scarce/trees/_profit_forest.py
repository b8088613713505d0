"""A forest of trees for profit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from scarce._sklearn import Interval, StrOptions
from scarce._typing import (
    Calibration,
    CategoricalFeatures,
    FloatArray,
    IntArray,
    Label,
    MaxFeatures,
    RandomState,
    Rows,
    Threshold,
)
from scarce.explanation import Unit
from scarce.profit._gains import log_ratio, stakes
from scarce.trees._base import GrownTree, TreeClassifier, TreeData, constant_scores
from scarce.trees._boosted import boost_in_turn
from scarce.trees._engine import grow_tree
from scarce.trees._engine.shap import Effects, forest_effects
from scarce.trees._engine.sql import Coded, Column, double, to_sql
from scarce.trees._forest import TreeForest, lacks_class
from scarce.trees._packed import packed
from scarce.trees._path_weights import N_SIZES, fit_path_weights, steps_of_leaves
from scarce.trees._profit_base import ProfitTrees, in_units
from scarce.trees._profit_tree import ProfitTree

__all__ = ["ProfitForest"]

_DEPTH_OF_STAKES = 10  # a thousand leaves for what is mostly a plain function of an amount


class ProfitForest(ProfitTrees, TreeForest):
    """A forest of :class:`ProfitTree`, each grown on rows drawn with replacement.

    The gains of the rows, (n_samples, 4) with columns tp, fp, tn, fn, or :class:`~scarce.profit.Gains`, are an argument
    of `fit`; `predict` needs none.

    Parameters
    ----------
    n_estimators : int, default=300
        The number of trees; the thesis has 24.
    n_boosted : int, default=150
        For "odds", the number of short trees beside them: each is grown on the residuals of the class that those before
        it have left. 0 is a forest of bagged trees alone.
    vote : {"odds", "mean", "max", "majority"}, default="odds"
        The rule that makes one score of the trees. "odds": the mean over the trees of the log-odds of the class, summed
        up on the way to the leaf, and the log-odds of the short trees, with the weights that are best on rows that the
        trees had not seen; plus the log-odds of what is at stake, which one further tree learns from the gains alone;
        positive above 0. "mean" (RF_mean-prof): the mean over the trees of how much more calling the row's leaf
        positive earns than calling it negative, in money a row; positive above 0. "max" (RF_max-prof): the share of
        trees in which calling the leaf positive earns more. "majority" (RF_prof): the share of trees in which most of
        the leaf is positive.
    min_votes : float, default=0.375
        For "max" and "majority", the share of trees that makes a row positive: 9 of 24 in the thesis.
    criterion, weighting, max_depth, min_gain, max_bins, categorical_features
        See :class:`ProfitTree`.
    min_samples_leaf : int, default=10
        The fewest rows of a leaf. With the vote "mean" more are better: in a leaf of its own, one expensive fraud
        outweighs all other trees.
    max_features : int, float, "sqrt" or None, default=0.2
        The number of features, drawn anew in each node, that a split may use: a number, a share of all, or None for
        all. With few, the first splits, which matter most, are not on the same features in all trees.
    max_samples : float, default=1.0
        The number of rows drawn for a tree, as a share of all.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the rows and features drawn.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0 for "odds" and "mean", and just below `min_votes` for the others. Any objective is optimised on
        out-of-bag scores: of the trees that did not draw a row. See :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    trees_ : list of GrownTree
        The trees as arrays, with the scores of their leaves.
    path_weights_ : ndarray of shape (6,)
        The weight of a change of the log-odds that leads to a node of less than 16 training rows, of 16 to 63, to 255,
        to 1023, to 4095, and of more; with the vote "odds" only.
    boosted_ : list of GrownTree
        The short trees, with what they add to the score; none unless the vote is "odds", or if a class has one row.
    boosted_weight_ : float
        The weight of the log-odds of the short trees; with the vote "odds" only.
    stakes_ : GrownTree
        The tree for the stakes, with their log-odds; None unless the vote is "odds".

    See Also
    --------
    ProfitTree : One tree of the forest, which can be read.
    scarce.boosting.ProfitBoosting : Boosted trees that learn from gains.
    scarce.profit.BayesProfitClassifier : The Bayes rule on the probabilities of any classifier.

    Notes
    -----
    With the vote "odds" the score is ``log(p / (1 - p)) + log(U / D)``, with p the probability of the class and U and D
    the means of ``tp - fn`` and ``tn - fp`` among rows with such features: the Bayes rule, if the features determine
    the gains. In the probability an expensive fraud then counts no more than a cheap one; with "mean" it may decide
    alone.

    The log-odds of a row are a sum over the splits on its path of how much each changes the log-odds of the node. A
    change among few rows is partly chance, and partly what all other trees have missed; the shares differ from table
    to table. So the changes are weighted by the number of rows of the node that they lead to, with the weights of
    least log-loss on out-of-bag rows, each of them 1 unless these rows show otherwise. Shrinking the
    steps of a path is due to Agarwal et al.; there, one constant decides for all nodes.

    Trees on bags are good at what is true of few rows, and poor at sums of many small effects, which each of them would
    have to find anew in every branch. So short boosted trees are added: by the log-loss, of at most 16 leaves and with
    half of the features for a split, drawn anew. Their log-odds for the rows of a third, by trees grown on the other
    two, are one more column for which a weight is found, beside the steps: next to 0 where they do not help. Boosting
    a forest on its residuals is due to Ghosal and Hooker; here both learn the class, and the weights combine them.

    On the mean of three sets with money in them it earned more than the Bayes rule on boosted trees did
    (:class:`~scarce.profit.BayesProfitClassifier`): on payments and loans, and about as much on card payments. Without
    short trees it earned as much on the mean, and less on card payments.

    References
    ----------
    G. Metzler et al., "Tree-based cost sensitive methods for fraud detection in imbalanced data", IDA 2018. A. Agarwal
    et al., "Hierarchical shrinkage: improving the accuracy and interpretability of tree-based models", ICML 2022. I.
    Ghosal and G. Hooker, "Boosting random forests to reduce bias; one-step boosted forest and its variance estimate",
    Journal of Computational and Graphical Statistics 30 (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from scarce.metrics import profit_score
    >>> from scarce.profit import Gains
    >>> from scarce.trees import ProfitForest
    >>> X, y = make_classification(4000, weights=[0.95], random_state=0)
    >>> amount = np.random.default_rng(0).lognormal(3, 1, len(X))
    >>> gains = Gains(fn=-amount, fp=-5)(X)
    >>> model = ProfitForest(24, random_state=0).fit(X[:2000], y[:2000], gains=gains[:2000])
    >>> called = model.predict(X[2000:])
    >>> profit_score(y[2000:], called, gains[2000:]) > profit_score(y[2000:], 0 * called, gains[2000:])
    True
    """

    n_boosted: int
    vote: str
    min_votes: float
    path_weights_: FloatArray
    boosted_: list[GrownTree]
    boosted_weight_: float
    stakes_: GrownTree | None

    _tree_class = ProfitTree
    _out_of_fold: FloatArray  # while it learns: steps and log-odds of rows by trees that had not seen them

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ProfitTrees._parameter_constraints,
        **TreeForest._parameter_constraints,
        "n_boosted": [Interval(Integral, 0, None, closed="left")],
        "vote": [StrOptions({"odds", "mean", "max", "majority"})],
        "min_votes": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        n_boosted: int = 150,
        vote: str = "odds",
        min_votes: float = 0.375,
        criterion: str = "profit",
        weighting: str = "size",
        max_depth: int | None = None,
        min_samples_leaf: int = 10,
        min_gain: float = 0.0,
        max_features: MaxFeatures = 0.2,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        max_samples: float = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_boosted = n_boosted
        self.vote = vote
        self.min_votes = min_votes
        self.criterion = criterion
        self.weighting = weighting
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _tree(self) -> TreeClassifier:
        tree = super()._tree()
        tree._unit = self._unit
        return tree

    def _grow(self, data: TreeData, seed: int, number: int = 0) -> GrownTree:
        graph, scores = super()._grow(data, seed)
        weight, positive = graph.leaf_sums()[:, :2].T
        if self.vote == "max":
            scores = constant_scores((scores.value > 0).astype(np.float64))
        elif self.vote == "majority":
            scores = constant_scores((2 * positive > weight).astype(np.float64))
        return GrownTree(graph, scores)

    def _fit_trees(self, data: TreeData) -> None:
        super()._fit_trees(data)
        self.stakes_, self.boosted_ = None, []
        if self.vote == "odds":
            self._fit_odds(data)
            self.stakes_ = self._grow_stakes(data)
            self._added_nodes = packed([*self.boosted_, self.stakes_])

    def _fit_odds(self, data: TreeData) -> None:
        """Fit the weights of the steps and of the short trees on rows that neither had seen."""
        weight, positive = data.stats[:, 0], data.stats[:, 1] > 0
        self._rate = float(weight @ positive / weight.sum())
        half = (self.n_features_in_ + 1) // 2
        boosted, by_others = boost_in_turn(
            data,
            self.n_boosted,
            half,
            groups=self._metadata.groups,
            seed=self._tree_seeds[0],
            n_jobs=self.n_jobs,
        )
        self._out_of_fold = np.column_stack((self._out_of_bag_steps(data.X), by_others))
        found = fit_path_weights(self._out_of_fold, positive, weight)
        self.path_weights_, self.boosted_weight_ = found.weight[:N_SIZES], float(found.weight[N_SIZES:].sum())
        self._constant = found.constant + self.boosted_weight_ * boosted.start
        self.trees_ = [
            GrownTree(tree.graph, constant_scores(self._steps(tree) @ self.path_weights_)) for tree in self.trees_
        ]
        self.boosted_ = [
            GrownTree(tree.graph, constant_scores(self.boosted_weight_ * tree.scores.value)) for tree in boosted.trees
        ]

    def _in_bag(self, n: int, seed: int) -> FloatArray:
        if self._metadata.groups is None:
            return super()._in_bag(n, seed)
        # Whole groups are drawn, so that rows out of the bag have steps by trees that saw nothing of their group.
        names, group = np.unique(self._metadata.groups, return_inverse=True)
        return super()._in_bag(len(names), seed)[group]

    def _steps(self, tree: GrownTree) -> FloatArray:
        """Return how the log-odds of the class change on the way to each leaf, by the size of nodes."""
        weight, positive = tree.graph.sums[:, :2].T
        # One more row of the usual kind, since a node without positives is not certain to have none.
        return steps_of_leaves(tree.graph, log_ratio(positive + self._rate, weight - positive + 1 - self._rate))

    def _out_of_bag_steps(self, X: Rows) -> FloatArray:
        """Return for each training row the mean steps in the trees that did not draw it; NaN where there are none."""
        return self._out_of_bag(X, lambda tree, rows: self._steps(tree)[tree.graph.apply(rows)], (N_SIZES,))

    def _grow_stakes(self, data: TreeData) -> GrownTree:
        """Grow a tree for what is at stake, whatever the class."""
        both = np.column_stack(stakes(self._gains))
        if (data.stats[:, :1] * both).any():
            both *= data.stats[:, :1]
        both, _ = in_units(both, float(both.sum()))
        rule = self._rule("gini", _DEPTH_OF_STAKES)
        rule = rule._replace(max_features=self.n_features_in_, min_gain=0.0)
        stats = np.column_stack((both.sum(axis=1), both[:, 0]))
        graph = grow_tree(data.columns, data.order, stats, rule, seed=self._tree_seeds[0])
        total, up = graph.leaf_sums()[:, :2].T
        return GrownTree(graph, constant_scores(log_ratio(up, total - up)))

    def _block_score(self, X: Rows) -> FloatArray:
        mean = super()._block_score(X)
        if self.stakes_ is None:
            return mean
        return mean + self._constant + self._added_nodes.add_up(X)

    def _leaf_effects(self, X: Rows) -> Effects:
        mean = super()._leaf_effects(X)
        if self.stakes_ is None:
            return mean
        trees = [(tree.graph, tree.scores.value) for tree in (*self.boosted_, self.stakes_)]
        added = forest_effects(trees, X, np.ones(len(trees)))
        return Effects(mean.effects + added.effects, mean.base_value + self._constant + added.base_value)

    @property
    def _score_unit(self) -> Unit:
        return "log-odds" if self.vote == "odds" else "score"

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        if self.stakes_ is None:
            return super()._honest_scores(X, y, sample_weight)
        steps = self._out_of_fold
        # The steps are honest already; the weights for a row must not know its class either.
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        log_odds = np.empty(len(y))
        for train, test in self._splits(y):
            path = fit_path_weights(steps[train], y[train] == 1, weight[train])
            log_odds[test] = steps[test] @ path.weight + path.constant
        if lacks_class(y, log_odds):
            return TreeClassifier._honest_scores(self, X, y, sample_weight)
        return log_odds + self.stakes_.score(X)

    def _cheap_honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray | None:
        if self.stakes_ is None:
            return super()._cheap_honest_scores(X, y, sample_weight)
        return self._honest_scores(X, y, sample_weight)

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0 if self.vote in ("odds", "mean") else float(np.nextafter(self.min_votes, -1))

    def _positive_share(self, score: FloatArray) -> FloatArray:
        if self.vote == "odds":
            return expit(score - self.threshold_)
        if self.vote == "mean":
            return super()._positive_share(score)
        # A share of trees may be 0 and 1, and half of the way on either side of the threshold is to be half of the way.
        return np.interp(score, [min(0, self.threshold_), self.threshold_, max(1, self.threshold_)], [0, 0.5, 1])

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        mean = super()._score_as_sql(columns)
        if self.stakes_ is None:
            return mean
        added = to_sql([*self.boosted_, self.stakes_], columns, mean=False)
        return f"(({mean}) + {double(self._constant)}) + ({added})"

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(10, n_boosted=10, random_state=0)
        yield cls(10, vote="mean", random_state=0)
        yield cls(10, vote="max", weighting="equal", min_samples_leaf=1, max_depth=4, max_bins=64, random_state=0)
        yield cls(
            10, vote="majority", min_votes=0.5, min_samples_leaf=5, criterion="cost", max_features=None, random_state=0
        )
