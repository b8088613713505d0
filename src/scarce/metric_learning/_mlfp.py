"""MLFP: a metric for the distances to positive rows alone."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray, Label
from scarce.metric_learning._kernels import positive_margin
from scarce.metric_learning._linear import Loss, RareMetric, descend
from scarce.neighbors import ClassIndex

__all__ = ["MLFP"]


_MAX_ITER = 200


class MLFP(RareMetric):
    """Metric learning from few positives: a weight for each feature in the distances to positive rows.

    Distances to negative rows stay as they are. The weights bring the nearest positive rows of a positive row closer
    than its nearest negative rows, and keep the nearest positive rows of a negative row away. It is γ of γk-NN with a
    factor for each feature in place of one for all, and it is meant for
    ``GammaKNN(metric_transform=MLFP())``, which :class:`MLFPKNN` is.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many nearest rows of each class a row is compared with.
    margin : float, default=1.0
        By how much, in squared distance, the right class is to be nearer.
    mu : float, default=0.1
        How much weights other than 1 cost.
    pos_label : label, default=None
        The positive class; None is the rarer one.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map: a diagonal matrix, whose entries are the weights.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class.
    n_iter_ : int
        The iterations of L-BFGS.

    See Also
    --------
    MLFPKNN : γk-NN with this metric.
    IML : A map for the distances to both classes.

    Notes
    -----
    With w the weights, M = diag(w²) and d the plain distance, L-BFGS from w = 1 lowers::

        mean [margin + d_M²(x, x⁺) - d²(x, x⁻)]₊ / 2     over positive rows x
      + mean [margin + d²(x, x⁻) - d_M²(x, x⁺)]₊ / 2     over negative rows x
      + mu ‖M - I‖²

    where x⁺ and x⁻ are the nearest positive and negative rows of x, itself left out, in plain distance. The authors'
    program sums over all triplets, those of positive rows times the share of negative rows and those of negative rows
    times the share of positive ones: that gives both kinds the same weight in all, as the two means here do, but lets
    mu fade with more rows. A positive row that is alone has no x⁺, and the first mean is then left out. Features should
    be standardised, as the margin supposes. The weights do not depend on the order of the rows.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, M. Sebban, "Learning from Few Positives: a Provably Accurate Metric
    Learning Algorithm to Deal with Imbalanced Data", IJCAI 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.metric_learning import MLFP
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = (X[:, 0] > 1.5).astype(int)  # the other two features are noise
    >>> MLFP().fit(X, y).components_.diagonal().argmax()
    np.int64(0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "mu": [Interval(Real, 0, None, closed="left")],
        "pos_label": [str, Real, "boolean", None],
    }

    def __init__(self, n_neighbors: int = 3, *, margin: float = 1.0, mu: float = 0.1, pos_label: Label = None) -> None:
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.mu = mu
        self.pos_label = pos_label

    def _learn(self, X: FloatArray, y: IntArray) -> tuple[FloatArray, int]:
        weights, _, n_iter = descend(self._loss(X, y), np.ones(X.shape[1]), _MAX_ITER)
        return np.diag(np.abs(weights)), n_iter

    def _loss(self, X: FloatArray, y: IntArray) -> Loss:
        rows = np.arange(len(X))
        index = ClassIndex().fit(X, y)
        negatives, positives = (
            index.kneighbors(X, code, min(self.n_neighbors, int(size)), rows)
            for code, size in enumerate(index.class_sizes)
        )
        squares = negatives[0] ** 2
        weight = _triplet_weights(y, positives[1], squares)

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            value, pulls = positive_margin(X * weights, positives[1], squares, weight, self.margin)
            beyond = weights**2 - 1
            gradient = 2 * np.einsum("ij,ij->j", pulls, X) + 4 * self.mu * weights * beyond
            return value + self.mu * float(beyond @ beyond), gradient

        return loss


def _triplet_weights(y: IntArray, positives: IntArray, squares: FloatArray) -> FloatArray:
    """Return the weight of a triplet of each row: those of each class sum to 1/2; below 0 for negative rows."""
    triplets = (positives >= 0).sum(axis=1) * np.isfinite(squares).sum(axis=1)
    in_all = np.maximum(np.bincount(y, weights=triplets), 1)
    return np.where(y == 1, 0.5, -0.5) / in_all[y]
