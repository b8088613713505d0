"""The common part of a tree and a forest for profit."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from scarce._sklearn import Interval, StrOptions
from scarce._typing import FloatArray, IntArray
from scarce.profit import ProfitClassifier
from scarce.trees._base import TreeClassifier, TreeData
from scarce.trees._engine import Graph, grow_tree

__all__ = ["ProfitTrees", "in_units"]

_EXACT_BITS = 50  # sums of whole numbers up to 2**53 are exact; bags may hold some rows more often than others


class ProfitTrees(ProfitClassifier, TreeClassifier):
    """The common part of a tree and a forest for profit: gains become statistics of the rows."""

    criterion: str
    weighting: str
    max_depth: int | None
    _unit: float  # the money that one unit of the statistics stands for

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._parameter_constraints,
        "criterion": [StrOptions({"profit", "cost"})],
        "weighting": [StrOptions({"size", "equal"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _prepare(self, X: NDArray[Any], y: IntArray, sample_weight: FloatArray | None) -> TreeData:
        data = super()._prepare(X, y, sample_weight)
        tp, fp, tn, fn = self._gains.T
        weight = data.stats[:, 0]
        earned = weight[:, None] * np.column_stack((np.where(y == 1, tp, fp), np.where(y == 1, fn, tn)))
        earned, self._unit = in_units(earned, float(weight.sum()))
        return data._replace(stats=np.column_stack((data.stats, earned)))

    def _grow_graph(self, data: TreeData, seed: int) -> Graph:
        """Grow a tree; the sums of its nodes are in money."""
        criterion = "profit_unweighted" if (self.criterion, self.weighting) == ("profit", "equal") else self.criterion
        rule = self._rule(criterion, self.max_depth)
        graph = grow_tree(*data[1:], rule._replace(min_gain=rule.min_gain / self._unit), seed=seed)
        return graph._replace(sums=graph.sums * [1, 1, self._unit, self._unit])

    def _positive_share(self, score: FloatArray) -> FloatArray:
        return expit((score - self.threshold_) / self._unit)


def in_units(money: FloatArray, weight: float) -> tuple[FloatArray, float]:
    """Return money in units of about the mean of what a row earns or loses, and that unit, a power of two.

    Amounts become multiples of a power of two so small that it is not seen and so large that all their sums are exact.
    """
    total = float(np.abs(money).sum())
    if total == 0 or weight == 0:
        return money, 1.0
    unit = 2.0 ** np.ceil(np.log2(total / weight))
    grid = 2.0 ** (np.ceil(np.log2(weight)) - _EXACT_BITS)
    return np.rint(money / unit / grid) * grid, float(unit)
