"""IML: a metric in which both classes count the same, however few rows one has."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray, Label
from scarce.metric_learning._kernels import pair_pulls, pair_squares
from scarce.metric_learning._linear import Loss, RareMetric, descend, neighbours_within, rivals_within, stray

__all__ = ["IML"]


_MAX_ITER = 200


class IML(RareMetric):
    """Metric learning from imbalanced classes: a linear map in which few rows weigh as much as many.

    The map brings the nearest rows of the same class within a distance of 1 and keeps the nearest rows of the other
    class beyond, by a margin. The losses of positive rows are weighted by the share of negative ones, and the other
    way round. k nearest neighbours follow, as in :class:`IMLKNN`.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many nearest rows of each class a row is compared with.
    margin : float, default=1.0
        By how much, in squared distance, rows of the other class are to be farther than 1.
    lam : float, default=1.0
        How much a map other than the identity costs.
    pos_label : label, default=None
        The positive class; None is the rarer one.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class.
    n_iter_ : int
        The iterations of L-BFGS.

    See Also
    --------
    IMLKNN : γk-NN after this map.
    LMNN : A map for any number of classes, each row counting the same.

    Notes
    -----
    With L the map, M = LᵀL and w = 1 - (share of the own class), L-BFGS from the identity lowers::

        Σ w [d_M²(x, x') - 1]₊  +  Σ w [1 + margin - d_M²(x, x'')]₊  +  lam ‖M - I‖²

    over each row x, its nearest rows x' of the same class in plain distance, and its nearest rows x'' of the other
    class under M, sought anew at each step. Features should be standardised, as the distance of 1 supposes. A positive
    row that is alone has no x'. The map does not depend on the order of the rows.

    References
    ----------
    L. Gautheron, A. Habrard, E. Morvant, M. Sebban, "Metric Learning from Imbalanced Data with Generalization
    Guarantees", Pattern Recognition Letters 133, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.metric_learning import IML
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = (X[:, 0] > 1.5).astype(int)  # the other two features are noise
    >>> IML().fit(X, y).transform(X).std(axis=0).argmax()
    np.int64(0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="left")],
        "pos_label": [str, Real, "boolean", None],
    }

    def __init__(self, n_neighbors: int = 3, *, margin: float = 1.0, lam: float = 1.0, pos_label: Label = None) -> None:
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.lam = lam
        self.pos_label = pos_label

    def _learn(self, X: FloatArray, y: IntArray) -> tuple[FloatArray, int]:
        factor, _, n_iter = descend(self._loss(X, y), np.eye(X.shape[1]), _MAX_ITER)
        return factor, n_iter

    def _loss(self, X: FloatArray, y: IntArray) -> Loss:
        rows = np.arange(len(X))
        same = neighbours_within(X, y, self.n_neighbors)
        weight = np.where(y == 1, 1 - y.mean(), y.mean())[:, None]
        reach = 1 + self.margin
        known = np.full((len(X), self.n_neighbors), -1, dtype=np.intp)

        def loss(factor: FloatArray) -> tuple[float, FloatArray]:
            Z = X @ factor.T
            # The nearest of the last step are about as far now, so others need not be sought beyond them.
            bound = pair_squares(Z, rows, known).max(axis=1) * (1 + 1e-9) + 1e-9
            others = rivals_within(Z, y, np.minimum(bound, reach), self.n_neighbors)
            known[:] = others
            spread = np.where(same >= 0, pair_squares(Z, rows, same), 0.0) - 1
            close = reach - pair_squares(Z, rows, others)
            value = np.sum(weight * (np.maximum(spread, 0) + np.maximum(close, 0)))
            pulls = pair_pulls(Z, rows, same, weight * (spread > 0)) - pair_pulls(Z, rows, others, weight * (close > 0))
            cost, slope = stray(factor)
            return float(value) + self.lam * cost, 2 * pulls.T @ X + self.lam * slope

        return loss
