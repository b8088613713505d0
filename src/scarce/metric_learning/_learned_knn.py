"""The base of γk-NN under a learned metric."""

from __future__ import annotations

from scarce._typing import FloatArray
from scarce.metric_learning._linear import RareMetric
from scarce.neighbors import GammaKNN

__all__ = ["LearnedKNN"]


class LearnedKNN(GammaKNN):
    """γk-NN whose transform is learned by a metric learner of its own."""

    # Fixed here, parameters there.
    gamma = None
    gamma_max = 1.0
    tie = "positive"
    metric = "minkowski"
    p = 2
    algorithm = "auto"
    recall = 0.99
    n_jobs = None

    metric_transform_: RareMetric
    _multi_class = False
    _largest_value = 1e70  # it takes squares of squares

    def _parts(self, code: int, difference: FloatArray, power: int) -> FloatArray:
        if code not in self._transformed:
            return difference**2
        learned = self.metric_transform_.components_
        return difference * (difference @ learned.T @ learned)
