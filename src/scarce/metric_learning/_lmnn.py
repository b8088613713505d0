"""LMNN: rows of the own class are pulled closer, those of other classes pushed out by a margin."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.decomposition import PCA

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray
from scarce.metric_learning._kernels import large_margin, pair_squares
from scarce.metric_learning._linear import LinearMetric, Loss, descend, neighbours_within, rivals_within

__all__ = ["LMNN"]


# Of the rows of other classes only this number of nearest ones can be impostors of a row, until they are sought again.
_RIVALS = 30
# How far beyond the margin they are sought, times the squared distance: those may be impostors some steps later.
_REACH = 2.0
# Iterations between two searches.
_ROUND = 10


class LMNN(LinearMetric):
    """Large margin nearest neighbour: a linear map after which the neighbours of a row are of its class.

    Each row has targets, its nearest rows of the same class. The map pulls them closer, and pushes impostors out: rows
    of other classes that are not farther than a target by a margin of 1. After it, k nearest neighbours do better.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many targets each row has; fewer where its class has fewer rows.
    n_components : int or None, default=None
        The dimension to map to; None keeps that of the rows.
    mu : float, default=0.5
        The weight of the push; that of the pull is 1 - mu.
    max_iter : int, default=50
        The most iterations of L-BFGS.
    tol : float, default=1e-3
        The share by which the loss must fall in ten iterations for ten more.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        The iterations taken.

    See Also
    --------
    IML : A map for two classes of which one is rare.
    sklearn.neighbors.NeighborhoodComponentsAnalysis : A map for the same purpose, slower from some hundred rows on.

    Notes
    -----
    The loss is not convex in the map, as it would be in the matrix of the metric, but has far fewer constraints to
    mind; the start is the identity, or the principal components where there are fewer. Rows are first divided by the
    root mean square of the distances to targets, so that the margin means the same in any unit. Every ten iterations
    the 30 nearest rows of other classes are sought for each row, and the loss is summed over those: memory grows with
    the rows, not with their square. The map does not depend on the order of the rows.

    References
    ----------
    K. Q. Weinberger, L. K. Saul, "Distance Metric Learning for Large Margin Nearest Neighbor Classification", Journal
    of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from scarce.metric_learning import LMNN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)  # the other eight features are noise
    >>> plain = KNeighborsClassifier(3).fit(X[:100], y[:100]).score(X[100:], y[100:])
    >>> learned = make_pipeline(LMNN(), KNeighborsClassifier(3)).fit(X[:100], y[:100]).score(X[100:], y[100:])
    >>> learned > plain
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "mu": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        n_components: int | None = None,
        mu: float = 0.5,
        max_iter: int = 50,
        tol: float = 1e-3,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.mu = mu
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, X: FloatArray, y: IntArray) -> tuple[FloatArray, int]:
        targets = neighbours_within(X, y, min(self.n_neighbors, int(np.bincount(y).max()) - 1))
        if not (targets >= 0).any():
            raise ValueError(
                "LMNN needs a class of at least two rows, since rows of the same class attract each other."
            )
        rows = np.arange(len(X))
        squares = pair_squares(X, rows, targets)
        scale = 1 / np.sqrt(squares[targets >= 0].mean() or 1.0)
        X = (X - X.mean(axis=0)) * scale
        factor = self._start(X)
        n_iter = 0
        while n_iter < self.max_iter:
            Z = X @ factor.T
            near = np.where(targets >= 0, pair_squares(Z, rows, targets), 0.0)
            rivals = rivals_within(Z, y, _REACH * (1 + near.max(axis=1)), _RIVALS)
            loss = self._loss(X, targets, rivals)
            before = loss(factor)[0]
            factor, after, steps = descend(loss, factor, min(_ROUND, self.max_iter - n_iter))
            n_iter += steps
            if steps == 0 or before - after <= self.tol * before:
                break
        return factor * scale, n_iter

    def _loss(self, X: FloatArray, targets: IntArray, rivals: IntArray) -> Loss:
        def loss(factor: FloatArray) -> tuple[float, FloatArray]:
            value, pulls = large_margin(X @ factor.T, targets, rivals, self.mu)
            return value / len(X), 2 / len(X) * pulls.T @ X

        return loss

    def _start(self, X: FloatArray) -> FloatArray:
        n, m = X.shape
        if self.n_components is None:
            return np.eye(m)
        if self.n_components > min(n, m):
            raise ValueError(
                f"n_components={self.n_components} is more than the {min(n, m)} that {n} rows of {m} features have."
            )
        return np.ascontiguousarray(PCA(self.n_components, svd_solver="full").fit(X).components_)
