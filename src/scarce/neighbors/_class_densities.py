"""The density of each class where its rows are: a mixture of Gaussians, and what it is without one of its rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from scarce._typing import FloatArray, IntArray

__all__ = ["ClassDensities", "ClassDensity"]

_MOST_COMPONENTS = 3
_ROWS_PER_COMPONENT = 5
# Added to the variances, as a share of the variance of the feature.
_REGULARISATION = 1e-3
# A component of less than this many rows is that of the row that was taken away.
_NO_ROWS = 1e-6


@dataclass(frozen=True)
class ClassDensity:
    """A mixture of Gaussians with diagonal covariances, of rows in the units of all classes.

    Attributes
    ----------
    n_rows : int
        How many rows of the class were learned from.
    n_components : int
        How many components there are; 0 is one round Gaussian of the pooled variance, for a class of few rows.
    rows, means, variances : ndarray
        Of each component: how many rows it has, and its mean and variance of each feature.
    n_pooled : int
        How many rows, less the classes, the pooled variance is of.
    """

    n_rows: int
    n_components: int
    rows: FloatArray
    means: FloatArray
    variances: FloatArray
    n_pooled: int

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log-density of rows."""
        return logsumexp(_parts(X, self.rows / self.n_rows, self.means, self.variances), axis=-1)

    def log_density_without(self, taken: FloatArray, X: FloatArray) -> FloatArray:
        """Return log-densities of shape (n, k) of rows of shape (n, k, n_features), without one row of the class each.

        That row is taken out of the sums that means and variances are made of, with the part that each component
        has in it. For one component that is what learning without it gives; for several it spares EM, which would
        go on from there.
        """
        if self.n_rows == 1:
            return np.full(X.shape[:2], -np.inf)
        off = (taken[:, None] - self.means) ** 2
        if self.n_components == 0:
            others = self.n_rows - 1
            means = self.means + (self.means - taken[:, None]) / others
            total = (self.variances - _REGULARISATION).mean(axis=-1) * max(1, self.n_pooled)
            total = total - (self.n_rows / others) * off.mean(axis=-1)
            variance = np.maximum(total, 0.0) / max(1, self.n_pooled - 1) + _REGULARISATION
            return _parts(X, np.ones((len(X), 1)), means, variance[..., None] * np.ones_like(means))[..., 0]
        part = softmax(_parts(taken, self.rows / self.n_rows, self.means, self.variances), axis=-1)
        left = self.rows - part
        there = left > _NO_ROWS
        left = np.where(there, left, 1.0)
        means = self.means + (self.means - taken[:, None]) * (part / left)[..., None]
        spread = self.variances - _REGULARISATION - off * (part / left)[..., None]
        variances = np.maximum(spread * (self.rows / left)[..., None], 0.0) + _REGULARISATION
        share = np.where(there, left, 0.0)
        return logsumexp(_parts(X, share / share.sum(axis=-1, keepdims=True), means, variances), axis=-1)


class ClassDensities:
    """The density of each class, of features divided by their standard deviations.

    Attributes
    ----------
    classes : list of ClassDensity
        One for each code.
    """

    centre: FloatArray
    spread: FloatArray
    classes: list[ClassDensity]

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Learn the densities."""
        spread = X.std(axis=0)
        self.centre, self.spread = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        X = self.scale(X)
        sizes = np.bincount(y)
        centres = np.array([X[y == code].mean(axis=0) for code in range(len(sizes))])
        n_pooled = len(X) - len(sizes)
        pooled = ((X - centres[y]) ** 2).sum(axis=0) / max(1, n_pooled)
        variance = float(pooled.mean()) + _REGULARISATION
        self.classes = []
        for code, size in enumerate(sizes.tolist()):
            if size < _ROWS_PER_COMPONENT:
                centre = centres[code][None]
                parts = np.full(1, float(size)), centre, np.full_like(centre, variance)
                self.classes.append(ClassDensity(size, 0, *parts, n_pooled))
            else:
                mixture = _mixture(X[y == code])
                parts = size * mixture.weights_, mixture.means_, mixture.covariances_
                self.classes.append(ClassDensity(size, mixture.n_components, *parts, n_pooled))
        return self

    def scale(self, X: FloatArray) -> FloatArray:
        """Return features in the units of the densities."""
        return (X - self.centre) / self.spread

    def log_density(self, X: FloatArray, y: IntArray) -> FloatArray:
        """Return the log-density of each row in its class."""
        X, out = self.scale(X), np.empty(len(X))
        for code, density in enumerate(self.classes):
            out[y == code] = density.log_density(X[y == code])
        return out


def _parts(X: FloatArray, share: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the logarithm of each component's part in the density of each row.

    `share`, `means` and `variances` are those of one mixture, or with one more axis at the front of one for each X[i].
    """
    parts = []
    for c in range(share.shape[-1]):
        shift, width, part = means[..., c, :], variances[..., c, :], share[..., c]
        if X.ndim == 3:
            shift, width, part = shift[:, None], width[:, None], part[:, None]
        with np.errstate(divide="ignore"):
            log_share = np.log(part)
        parts.append(log_share - 0.5 * ((X - shift) ** 2 / width + np.log(2 * np.pi * width)).sum(axis=-1))
    return np.stack(parts, axis=-1)


def _mixture(X: FloatArray) -> GaussianMixture:
    """Return the mixture of lowest BIC."""
    # EM starts from a draw of rows; in this order the draw does not depend on the order in which they came.
    X = X[np.lexsort(X.T)]
    most = min(_MOST_COMPONENTS, len(X) // _ROWS_PER_COMPONENT, len(np.unique(X, axis=0)))
    with warnings.catch_warnings():
        # A mixture on which EM has not settled competes by its BIC as it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = [_with_components(n).fit(X) for n in range(1, most + 1)]
    return min(fitted, key=lambda mixture: mixture.bic(X))


def _with_components(n: int) -> GaussianMixture:
    # Seeds of k-means, not k-means itself, whose threads add up in any order.
    return GaussianMixture(
        n,
        covariance_type="diag",
        reg_covar=_REGULARISATION,
        n_init=3 if n > 1 else 1,
        init_params="k-means++",
        random_state=0,
    )
