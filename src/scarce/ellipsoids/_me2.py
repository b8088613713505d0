"""ME²: maximum excluding ellipsoids."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from scarce._honest import fewest_groups
from scarce._sklearn import Interval, StrOptions
from scarce._typing import Calibration, FloatArray, IntArray, Keywords, Label, MatrixLike, Threshold
from scarce.base import RareEventClassifier
from scarce.ellipsoids._ellipsoids import Ellipsoids
from scarce.ellipsoids._tuning import best_pair_by_score, best_pairs_by_rule, split
from scarce.explanation import Explanation, neighbours
from scarce.objectives import FBeta

__all__ = ["ME2"]


# How many of the nearest ellipsoids score a row.
_ASKED = {"mean": 5, "nearest": 1, "any": 3}
# How many of the nearest negatives it compares with their centres, where the mean counts.
_NEAR = 5
# With this probability a bound may fail.
_DELTA = 0.05


class ME2(RareEventClassifier):
    """ME²: one ellipsoid around each positive row, as large as it can be while it keeps negative rows out.

    Around a positive row c, a metric M and a squared radius R are learned from the negative rows nearest to c. With
    distances scaled so that the farthest of these n rows is at 1, they minimise ::

        mean of [R - (x - c)'M(x - c)]₊  +  mu (1 - R)²  +  lam ‖M - I‖²,    0 <= R <= 1,

    over the local negatives x: a larger `mu` makes larger ellipsoids, a larger `lam` rounder ones. The dual is a
    quadratic problem in a box, solved exactly for all centres in parallel; M needs no constraint to be positive
    definite.

    A row is scored by the ellipsoids of its five nearest positive rows. In each, under M, its squared distance to the
    centre is compared with R and with its squared distances to the five negatives nearest to it: by how much these are
    larger, as a share of the sum. The score is the mean of all, from -1 to 1, and the threshold is the best for the
    F-measure on honest scores. One ellipsoid is some evidence, five outweigh the one of an odd positive row among
    negatives.

    The rule of the thesis is ``combine="nearest"``. The ellipsoid of the nearest positive row decides alone: a row is
    positive if it is within, and if the nearest row within, under M, is positive too. Here the score is the smaller of
    two such shares, R against the distance to the centre and the nearest negative against the nearest positive row
    within, so that it is greater than 0 exactly where the row is positive by the rule.

    Parameters
    ----------
    n_local : int, default=100
        How many of the nearest negatives shape an ellipsoid; all, if there are fewer.
    mu : float, default=1.0
        The cost of a small ellipsoid. Used with ``tune=None``, and where there are too few rows to tune.
    lam : float, default=0.01
        The cost of a shape other than a ball. Used as `mu` is.
    tune : {"global", "per_center"} or None, default="global"
        Whether the pair of `mu` and `lam` is chosen: one pair for all ellipsoids, or the pairs that are best together
        by the rule of the thesis, one for each, as in the thesis. With that rule the choice is among its
        72 pairs in two-fold cross-validation; with the mean one of 15 of them, in five folds, whose scores have the
        highest F-measure at their best threshold. None takes `mu` and `lam` as they are.
    beta : float, default=1.0
        The F-measure to choose the pair by, and with the mean the threshold. Above 1 recall counts for more.
    combine : {"mean", "nearest", "any"}, default="mean"
        Whether the mean over five ellipsoids is the score, or the nearest one decides by the rule of the thesis, or a
        row is positive by that rule in any of the three nearest.
    n_jobs : int, default=None
        Threads that share the ellipsoids. The result is the same to the last bit.
    threshold : "default", str, Objective or float, default="default"
        "default" is the best threshold for the F-measure, or 0 for the rule of the thesis, and where there are too few
        rows to choose; see :class:`~scarce.base.RareEventClassifier`.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, n_features)
        The positive rows.
    center_rows_ : ndarray of shape (n_centers,)
        Their numbers in `X` of `fit`.
    radii_ : ndarray of shape (n_centers,)
        R of each ellipsoid, a squared radius, in the units of the data.
    mu_, lam_ : ndarray of shape (n_centers,)
        The pair in use for each ellipsoid.
    generalisation_bound_ : ndarray of shape (n_centers,)
        A bound, which holds for each ellipsoid with a probability of 95 %, on the mean of [R - (x - c)'M(x - c)]₊ over
        new negative rows from where the local ones are, with distances scaled as above. That mean is never more than
        1, so a bound above 1 is of no use.

    See Also
    --------
    scarce.neighbors.KENN : Balls around positive rows.
    scarce.neighbors.GammaKNN : A vote in which positive rows seem closer.
    scarce.plotting.EllipsoidDisplay : A picture of the ellipsoids.

    Notes
    -----
    Explanations name the centres of the ellipsoids asked, and what each adds to the score. With the mean, the effects
    of the features are exact: a comparison with a negative row is a sum over the features, and in one with R the part
    of R, which has no feature, is in the base value. For the rule of the thesis they are by occlusion.

    Distances need scaled features. `sample_weight` is how much a row counts in the choice of `mu`, `lam` and the
    threshold. The mean compares a row with all negative rows to find the nearest, the rule of the thesis with the
    positive ones.

    The thesis leaves open how many negatives are local, and B, the largest R allowed: here B is the squared distance to
    the farthest local negative, and `mu` and `lam` are for distances in that unit.

    References
    ----------
    G. Metzler, X. Badiche, B. Belkasmi, E. Fromont, A. Habrard, M. Sebban, "Learning maximum excluding ellipsoids from
    imbalanced data with theoretical guarantees", Pattern Recognition Letters 112, 2018; chapter 3 of the thesis of
    G. Metzler, Université de Lyon, 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.ellipsoids import ME2
    >>> X, y = make_classification(1000, 5, n_redundant=0, weights=[0.95], flip_y=0.02, random_state=0)
    >>> model = ME2().fit(X, y)
    >>> len(model.radii_) == int(y.sum())
    True
    >>> explanation = model.explain(model.centers_[:1])
    >>> bool(explanation.neighbours[0][0].row == model.center_rows_[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_local": [Interval(Integral, 1, None, closed="left")],
        "mu": [Interval(Real, 0, None, closed="neither")],
        "lam": [Interval(Real, 0, None, closed="neither")],
        "tune": [StrOptions({"global", "per_center"}), None],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "combine": [StrOptions({"mean", "nearest", "any"})],
        "n_jobs": [Integral, None],
    }
    _largest_value = 1e70  # it takes products of squares

    def __init__(
        self,
        n_local: int = 100,
        *,
        mu: float = 1.0,
        lam: float = 0.01,
        tune: str | None = "global",
        beta: float = 1.0,
        combine: str = "mean",
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_local = n_local
        self.mu = mu
        self.lam = lam
        self.tune = tune
        self.beta = beta
        self.combine = combine
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        X = X.astype(np.float64, copy=False)
        self.center_rows_ = np.flatnonzero(y == 1)
        self._negative_rows = np.flatnonzero(y == 0)
        p = len(self.center_rows_)
        self.mu_, self.lam_ = np.full(p, float(self.mu)), np.full(p, float(self.lam))
        groups = self._metadata.groups
        fewest = min(p, len(self._negative_rows)) if groups is None else fewest_groups(y, groups)
        if self.tune is not None and fewest >= 2:
            by_score = self.combine == "mean" and self.tune == "global"
            folds = split(X, y, min(5, fewest) if by_score else 2, groups)
            splits = self._check_splits(list(folds), y)
            shared: Keywords = {"n_local": self.n_local, "beta": self.beta, "n_jobs": self.n_jobs}
            if by_score:
                self.mu_[:], self.lam_[:], self._tuned_threshold = best_pair_by_score(
                    X, y, sample_weight, splits, n_candidates=_ASKED["mean"], n_near=_NEAR, **shared
                )
            else:
                asked = 1 if self.combine == "mean" else _ASKED[self.combine]
                self.mu_, self.lam_ = best_pairs_by_rule(
                    X, y, sample_weight, splits, n_candidates=asked, per_center=self.tune == "per_center", **shared
                )
        self._ellipsoids = self._around(X[self.center_rows_], X[self._negative_rows], self.mu_, self.lam_)

    def _around(self, positives: FloatArray, negatives: FloatArray, mu: FloatArray, lam: FloatArray) -> Ellipsoids:
        n_near = _NEAR if self.combine == "mean" else 0
        return Ellipsoids(positives, negatives, self.n_local, mu, lam, n_near, self.n_jobs)

    def _ask(self, ellipsoids: Ellipsoids, X: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scores, and for each row those by each of its nearest ellipsoids, and which these are."""
        parts, asked = ellipsoids.score(X, _ASKED[self.combine], self.n_jobs)
        return parts.mean(axis=1) if self.combine == "mean" else parts.max(axis=1), parts, asked

    def _score(self, X: NDArray) -> FloatArray:
        return self._ask(self._ellipsoids, X.astype(np.float64, copy=False))[0]

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        if self.combine != "mean" or np.bincount(y).min() < 2:
            return 0.0
        if self.tune == "global" and not self._splits_are_given:
            return self._tuned_threshold
        return self._best_threshold(FBeta(self.beta), X, y, sample_weight)

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        fewest = int(np.bincount(y).min())
        if fewest < 2:
            return super()._honest_scores(X, y, sample_weight)  # which raises the error
        X = X.astype(np.float64, copy=False)
        place = np.cumsum(y) - 1
        scores = np.empty(len(y))
        for train, test in split(X, y, min(5, fewest)):
            positives, negatives = train[y[train] == 1], train[y[train] == 0]
            chosen = place[positives]
            kept = self._around(X[positives], X[negatives], self.mu_[chosen], self.lam_[chosen])
            scores[test] = self._ask(kept, X[test])[0]
        return scores

    @property
    def centers_(self) -> FloatArray:
        """The positive rows."""
        return self._ellipsoids.rows[: len(self.center_rows_)]

    @property
    def radii_(self) -> FloatArray:
        """R of each ellipsoid."""
        return self._ellipsoids.radius

    @property
    def generalisation_bound_(self) -> FloatArray:
        """The bound of Theorem 3.2 of the thesis, with η = 1/2 (its section 3.4.3), for each ellipsoid."""
        n = self._ellipsoids.local.shape[1]
        # max(1, 4K²) of the thesis bounds ‖x - c‖², which is at most 1 in this unit.
        stability = 8 / np.minimum(self.mu_, self.lam_)
        return self._ellipsoids.risk + stability / n + (2 * stability + 1) * np.sqrt(np.log(1 / _DELTA) / (2 * n))

    def metric(self, center: int) -> FloatArray:
        """Return M of an ellipsoid, of shape (n_features, n_features), by its place in `center_rows_`."""
        check_is_fitted(self)
        stretch = self._ellipsoids.stretch(center)
        return np.eye(self.n_features_in_) + stretch.T @ stretch

    def ellipsoids_around(self, X: MatrixLike) -> list[IntArray]:
        """Return for each row the positive training rows in whose ellipsoids it lies, as rows of `X` of `fit`."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False).astype(np.float64, copy=False)
        return [self.center_rows_[inside] for inside in self._ellipsoids.contain(X)]

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        X, fitted = X.astype(np.float64, copy=False), self._ellipsoids
        _, parts, asked = self._ask(fitted, X)
        squared = np.array(
            [[fitted.squared_distances(x, np.array([c]), c)[0] for c in row] for x, row in zip(X, asked, strict=True)]
        )
        within = (squared <= fitted.radius[asked]).sum(axis=1)
        known["rule"] = [f"within {n} of the {asked.shape[1]} nearest ellipsoids" for n in within]
        about = self.center_rows_[asked], np.full(asked.shape, self.pos_label_), np.sqrt(squared)
        if self.combine == "mean":
            effects, base_value = fitted.effects(X, asked)
            known |= {"effects": effects, "base_value": base_value, "additive": True}
            return Explanation.from_neighbours(X, *about, parts / asked.shape[1], **known)
        best = np.arange(asked.shape[1]) == parts.argmax(axis=1)[:, None]
        named = neighbours(*about, np.where(best, parts, 0.0))
        return Explanation.from_occlusion(self._score, X, self._background, neighbours=named, **known)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(combine="nearest")
        yield cls(30, tune=None, lam=0.001, combine="any")
        yield cls(tune="per_center", beta=2.0, combine="nearest")
        yield cls(4, mu=0.3, tune=None)  # M implicit, since there are fewer local negatives than features
