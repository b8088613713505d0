"""One-class models, as baselines for methods that learn from both classes."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.metrics import euclidean_distances
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_is_fitted, validate_data

from scarce._sklearn import HasMethods, Interval, StrOptions, safe_indexing
from scarce._typing import Calibration, Estimator, FloatArray, IntArray, Label, MatrixLike, Threshold
from scarce.base import RareEventClassifier

__all__ = ["SVDD", "OneClassClassifier"]

_CODES = {"negatives": (0,), "positives": (1,), "all": (0, 1)}


class OneClassClassifier(MetaEstimatorMixin, RareEventClassifier):
    """An outlier detector as a classifier: rows unusual among negatives, or usual among positives, are positive.

    The detector sees one class, or all rows without their classes. It is a baseline: it can only be good where the
    rare rows are outliers, or where there are no others like them.

    Parameters
    ----------
    estimator : outlier detector
        Anything with `decision_function` for new rows: scikit-learn's ``OneClassSVM``, ``IsolationForest``,
        ``LocalOutlierFactor(novelty=True)`` and others, or :class:`SVDD`.
    fit_on : {"negatives", "positives", "all"}, default="negatives"
        The rows that the detector is fitted on. With "positives" a row is positive if it is no outlier, else if it is
        one. With "all", known classes are not used but for the choice of a threshold.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0, the detector's own threshold; see :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : outlier detector
        The detector, fitted.

    See Also
    --------
    SVDD : The smallest ball around the rows, as a detector.
    scarce.TunedThreshold : A classifier that learns from both classes.

    Notes
    -----
    `sample_weight` is how much a row counts in the objective; the detector does not see it.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import OneClassSVM
    >>> from scarce.oneclass import OneClassClassifier
    >>> X, y = make_classification(1000, weights=[0.95], random_state=0)
    >>> model = OneClassClassifier(OneClassSVM(nu=0.05)).fit(X, y)
    >>> bool((model.predict(X) == (model.estimator_.predict(X) == -1)).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "decision_function"])],
        "fit_on": [StrOptions({"negatives", "positives", "all"})],
    }

    def __init__(
        self,
        estimator: Estimator,
        *,
        fit_on: str = "negatives",
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.estimator = estimator
        self.fit_on = fit_on
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.estimator_ = clone(self.estimator).fit(safe_indexing(X, np.isin(y, _CODES[self.fit_on])))

    def _score(self, X: NDArray) -> FloatArray:
        usual = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        return usual if self.fit_on == "positives" else -usual

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        # A row on the detector's threshold is no outlier.
        return float(-np.nextafter(0, 1)) if self.fit_on == "positives" else 0.0

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(OneClassSVM(nu=0.1, tol=1e-8))
        yield cls(SVDD(0.2), fit_on="positives")


class SVDD(OutlierMixin, BaseEstimator):
    """Support vector data description: the smallest ball around all rows but a few.

    It minimises R² + C Σ ξ over the centre a, R and ξ >= 0 with ‖x - a‖² <= R² + ξ for each row, C = 1 / (nu n). With
    a kernel whose value K(x, x) is constant, such as RBF, it is scikit-learn's ``OneClassSVM``; this is the ball in
    the space of the rows themselves, for which that is not so.

    Parameters
    ----------
    nu : float, default=0.1
        At most this share of the rows is outside the ball.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,)
        a.
    offset_ : float
        -R². A row is an outlier if its score is less.

    See Also
    --------
    OneClassClassifier : A detector as a classifier.
    sklearn.svm.OneClassSVM : The same with a kernel.

    Notes
    -----
    The rows' distances to each other are held in memory, so its size grows with the square of their number.

    The dual is that of a one-class support vector machine whose kernel is minus half the squared distance, since the
    multipliers sum to a constant; so scikit-learn's solver is used.

    References
    ----------
    D. Tax, R. Duin, "Support Vector Data Description", Machine Learning 54, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.oneclass import SVDD
    >>> corners = np.array([[0.0, 0], [2, 0], [0, 2], [2, 2]])
    >>> model = SVDD(nu=0.01).fit(corners)
    >>> model.center_.round(3), round(-model.offset_, 3)
    (array([1., 1.]), 2.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"nu": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, nu: float = 0.1) -> None:
        self.nu = nu

    def fit(self, X: MatrixLike, y: None = None) -> Self:
        """Find the ball; `y` is ignored.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        squared = euclidean_distances(X, squared=True)
        scale = squared.max() or 1.0
        machine = OneClassSVM(kernel="precomputed", nu=self.nu, tol=1e-8).fit(-0.5 * squared / scale)
        self.center_ = machine.dual_coef_[0] @ X[machine.support_] / machine.dual_coef_.sum()
        # For this centre, R² is best where as many rows are outside as are allowed to be.
        outside = int(self.nu * len(X))
        self.offset_ = float(np.sort(-((X - self.center_) ** 2).sum(axis=1))[outside])
        return self

    def score_samples(self, X: MatrixLike) -> FloatArray:
        """Return minus the squared distance of each row to the centre."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return -((X - self.center_) ** 2).sum(axis=1)

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return R² less the squared distance of each row to the centre."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: MatrixLike) -> IntArray:
        """Return -1 for rows outside the ball, else 1."""
        return np.where(self.decision_function(X) < 0, -1, 1)
