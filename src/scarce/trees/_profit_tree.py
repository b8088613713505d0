"""A decision tree that splits, labels and scores by money."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from scarce._sklearn import Interval, RealNotInt
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
from scarce.trees._base import GrownTree, TreeData, constant_scores, shrunken_share
from scarce.trees._engine import Graph
from scarce.trees._profit_base import ProfitTrees
from scarce.trees._pruning import prune_for_profit
from scarce.trees._readable import ReadableTree

__all__ = ["ProfitTree"]


class ProfitTree(ReadableTree, ProfitTrees):
    """A decision tree that splits, labels and scores by what the outcomes of the rows earn.

    The gains of the rows, (n_samples, 4) with columns tp, fp, tn, fn, or :class:`~scarce.profit.Gains`, are an argument
    of `fit`. A leaf is called positive if that earned more in training than calling it negative. Its score is how much
    more, a row, in the currency of the gains: the rule is "score above 0", and `predict` needs no gains.

    Parameters
    ----------
    criterion : {"profit", "cost"}, default="profit"
        The worth of a split. "profit", of Metzler et al.: the rise in profit if the rows of a node were labelled at
        random with the class shares of the node, which sees a purer child before it earns more. "cost", of Correa
        Bahnsen et al.: the rise in profit of the better of the two labels; a split whose sides have the same label is
        worth nothing.
    weighting : {"size", "equal"}, default="size"
        The weights with which "profit" adds the mean profits of the two sides: their sizes, or the same for both. The
        latter finds a gain in every split of rows that earn, and splits off small children: it is here for comparison.
    max_depth : int, default=None
        The most tests on a path; None grows until leaves are pure or no split gains.
    min_samples_leaf : int, default=1
        The fewest rows of a leaf.
    min_gain : float, default=0.0
        A split must earn more than this, in money for each row of the training set.
    prune : float, default=None
        A share of the rows that is set aside while the tree grows, to prune it: of all trees that come of it by making
        nodes leaves, the one that earns most on these rows is kept, and the smallest of equals. Leaves are then
        labelled and scored by all rows. Nothing is pruned with None; on the rows it was grown on, a tree hardly ever
        earns less than a smaller one.
    max_features, max_bins, categorical_features
        See :class:`~scarce.trees.APTree`. Categories are ordered by what calling them positive earns, a row.
    random_state : int, RandomState or None, default=None
        For `max_features` and `prune`.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0. See :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    tree_ : Graph
        The tree as arrays. Its `sums` hold, for each node, the weight of its training rows, that of the positive ones,
        and what they earn if all are called positive, and if all are called negative.

    See Also
    --------
    ProfitForest : Many such trees.
    scarce.boosting.ProfitBoosting : Boosted trees that learn from gains.
    scarce.metrics.savings_score : The profit beyond that of calling all rows the same.

    Notes
    -----
    Gains are rounded to about one part in 10¹⁰ of their mean, so that all sums are exact: the tree depends neither on
    the order of rows nor on the currency. Rows of one leaf have the same score.

    References
    ----------
    G. Metzler et al., "Tree-based cost sensitive methods for fraud detection in imbalanced data", IDA 2018. A. Correa
    Bahnsen, D. Aouada and B. Ottersten, "Example-dependent cost-sensitive decision trees", Expert Systems with
    Applications 42 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from scarce.metrics import profit_score
    >>> from scarce.profit import Gains
    >>> from scarce.trees import ProfitTree
    >>> X, y = make_classification(4000, weights=[0.95], random_state=0)
    >>> amount = np.random.default_rng(0).lognormal(3, 1, len(X))
    >>> gains = Gains(fn=-amount, fp=-5)(X)
    >>> model = ProfitTree(max_depth=4).fit(X[:2000], y[:2000], gains=gains[:2000])
    >>> called = model.predict(X[2000:])
    >>> profit_score(y[2000:], called, gains[2000:]) > profit_score(y[2000:], 0 * called, gains[2000:])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ProfitTrees._parameter_constraints,
        "prune": [Interval(RealNotInt, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "profit",
        weighting: str = "size",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        prune: float | None = None,
        max_features: MaxFeatures = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.criterion = criterion
        self.weighting = weighting
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.prune = prune
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        data = self._prepare(X, y, sample_weight)
        seed = self._seeds(1)[0]
        self.tree_, self.leaf_scores_ = self._grow(data, seed) if self.prune is None else self._pruned(data, y, seed)

    def _grow(self, data: TreeData, seed: int) -> GrownTree:
        return _scored(self._grow_graph(data, seed))

    def _pruned(self, data: TreeData, y: IntArray, seed: int) -> GrownTree:
        n_aside = round(self.prune * len(y))  # type: ignore[operator]
        _, aside = self._set_aside(y, n_aside, seed, f"prune={self.prune!r}", "set prune=None")
        left = data.stats.copy()
        left[aside] = 0
        graph = self._grow_graph(data._replace(stats=left), seed)
        stats = data.stats * [1, 1, self._unit, self._unit]
        return _scored(prune_for_profit(graph, data.X, stats, aside))

    def _score(self, X: Rows) -> FloatArray:
        return self.leaf_scores_.value[self.tree_.apply(X)]

    _has_class_score = True

    def _class_score(self, X: Rows) -> FloatArray:
        return shrunken_share(self.tree_, X)  # whatever is at stake

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(criterion="cost", max_depth=6, max_bins=32)
        yield cls(prune=0.3, min_samples_leaf=3, random_state=0)


def _scored(graph: Graph) -> GrownTree:
    weight, _, if_positive, if_negative = graph.leaf_sums().T
    # A bag that drew nothing but rows of weight 0 has no evidence.
    value = np.divide(if_positive - if_negative, weight, out=np.zeros(len(weight)), where=weight > 0)
    return GrownTree(graph, constant_scores(value))
