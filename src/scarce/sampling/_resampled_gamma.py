"""γk-NN on resampled rows, with one γ for real and one for synthetic positives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from scarce._messages import fewest_of_a_class
from scarce._sklearn import HasMethods, Interval, StrOptions, check_sample_weight
from scarce._typing import (
    CV,
    Calibration,
    Estimator,
    FloatArray,
    IntArray,
    Label,
    MatrixLike,
    Metric,
    RandomState,
    Sampler,
    Threshold,
)
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation, neighbours
from scarce.neighbors import ClassIndex
from scarce.neighbors._base import additive_power, differences, labels_by_code, ratio_effects, voters
from scarce.neighbors._search import merge_by_class
from scarce.objectives import FBeta, Objective, get_objective
from scarce.sampling._leave_out import There, leave_one_out, nearest_there
from scarce.sampling._plane import ROUNDING, Near, best_pair, critical, plane
from scarce.sampling._resample import SAMPLERS, State, resample_in_steps

__all__ = ["ResampledGammaKNN"]


_NEGATIVE, _REAL, _SYNTHETIC = 0, 1, 2


class ResampledGammaKNN(RareEventClassifier):
    """γk-NN on resampled rows: a vote in which real and synthetic positives each have their own γ.

    Of the real positives, the synthetic positives and the negatives the k nearest are found; distances to the first
    are multiplied by one γ and distances to the second by another; the k nearest of all vote. A synthetic row may lie
    among negatives, so a γ above 1 for its kind, which pushes it away, is often best, with one below 1 for real rows.

    Both γ are chosen together and exactly: no pair in (0, gamma_real_max] × (0, gamma_synthetic_max] has a higher F1
    on the honest distances, which are those of one search. The score is as in
    :class:`~scarce.neighbors.GammaKNN`: the γ of real positives below which a row is positive while the ratio of the
    two γ is kept, brought into [0, 1].

    Parameters
    ----------
    sampler : {"smote", "borderline-smote", "adasyn", "smote-enn", "smote-tomek"} or sampler, default="smote"
        See :func:`~scarce.sampling.resample`. How many rows to make is the sampler's own parameter, for example
        ``SMOTE(sampling_strategy=0.5)``; the paper tunes it.
    n_neighbors : int, default=3
        How many neighbours vote. Positive needs at least half of the votes, and wins ties of distances.
    gamma : pair of float or None, default=None
        The γ of real and of synthetic positives. None chooses them.
    gamma_real_max, gamma_synthetic_max : float, default=1.0 and 2.0
        The largest γ to consider.
    metric : str or callable, default="euclidean"
        The distance of the vote. The sampler has its own.
    n_jobs : int, default=None
        Threads of a tree search. The brute-force search takes all cores.
    random_state : int, RandomState or None, default=None
        For a sampler by name, or one whose own is None.
    threshold : "default", str, Objective or float, default="default"
        "default" is the threshold that the two γ stand for. An objective or a number moves both γ, at the ratio that is
        best for F1, or for the F-measure that `threshold` asks for; it excludes `gamma`.
    cv : int, splitter of scikit-learn, iterable of splits or None, default=None
        The folds that give the honest distances on which the two γ are chosen, with the resampling inside each. None
        leaves out one row at a time where that is possible (see Notes) and no `groups` are given, and else takes 5.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    gamma_real_, gamma_synthetic_ : float
        The γ in use.
    index_ : ClassIndex
        The negatives (class 0), the real positives (1) and the synthetic ones (2).
    origin_ : ndarray of shape (n_rows,)
        The number in `X` of `fit` of each row of the index, -1 for a synthetic one.

    See Also
    --------
    scarce.neighbors.GammaKNN : One γ, without resampling.
    scarce.plotting.GammaPlaneDisplay : A picture of the plane of the two γ.

    Notes
    -----
    Honest distances are leave-one-out: the rows are resampled once, and a row is measured among what is left without
    it and without the synthetic rows that have it as a parent. The rows made from others stay as they were drawn, and
    where Borderline-SMOTE or ADASYN put it was decided with the row. Edited nearest neighbours and Tomek links are
    applied anew to what is left, for the row may have had others removed: a positive that clears negatives away from
    around itself would seem easy to find. A row that was itself removed is measured like any other. New rows are
    not cleaned either.

    This holds for the samplers by name, and for imbalanced-learn's random ones, ``EditedNearestNeighbours`` and
    ``TomekLinks``. Of other samplers it is not known which rows come or go with a row; there, honest distances come
    from stratified cross-fitting, 5 folds, with the resampling inside each. The honest scores of all rows share one
    ratio of the two γ, unless a splitter or `groups` are given: then each fold has its own.

    `sample_weight` is how much a row counts in the choice of γ. It does not change the rows that a sampler makes.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, S. Riou, M. Sebban, "An Adjusted Nearest Neighbor Algorithm
    Maximizing the F-Measure from Imbalanced Data", ICTAI 2019, Section V-B.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.sampling import ResampledGammaKNN
    >>> X, y = make_classification(1000, weights=[0.95], flip_y=0.02, random_state=0)
    >>> model = ResampledGammaKNN("smote-tomek", random_state=0).fit(X, y)
    >>> bool(0 < model.gamma_real_ <= 1 and 0 < model.gamma_synthetic_ <= 2)
    True
    """

    _score_is_ratio = True  # so the share is that of the distances as both γ scale them
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "sampler": [StrOptions(set(SAMPLERS)), HasMethods(["fit_resample"])],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": ["array-like", None],
        "gamma_real_max": [Interval(Real, 0, None, closed="neither")],
        "gamma_synthetic_max": [Interval(Real, 0, None, closed="neither")],
        "metric": [str, callable],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        sampler: Sampler = "smote",
        *,
        n_neighbors: int = 3,
        gamma: Sequence[float] | None = None,
        gamma_real_max: float = 1.0,
        gamma_synthetic_max: float = 2.0,
        metric: Metric = "euclidean",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        cv: CV = None,
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.sampler = sampler
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.gamma_real_max = gamma_real_max
        self.gamma_synthetic_max = gamma_synthetic_max
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold
        self.cv = cv
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._k = voters(self.n_neighbors, len(X))
        steps = self._resample(X, y)
        self.origin_ = steps[-1][1].origin
        self.index_ = self._index(steps[-1][1])
        if self.gamma is None:
            near, rows = self._honest_near(X, y, steps)
            weight = None if sample_weight is None else sample_weight[rows]
            beta = self._beta()
            self._gammas = best_pair(near, y[rows], weight, self.gamma_real_max, self.gamma_synthetic_max, beta)
            self._honest: FloatArray | None = self._honest_by_row(near, rows, len(y))
        else:
            self._gammas = self._given()
            self._honest = None
        if self.index_.class_sizes[_REAL:].sum() < self._needed:
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a row needs {self._needed} positive neighbours to be called "
                "positive, and there are fewer, so no row will be predicted positive. Use a smaller n_neighbors.",
                stacklevel=3,
            )

    def _given(self) -> tuple[float, float]:
        if self.threshold != "default":
            raise ValueError(
                f"gamma={self.gamma!r} and threshold={self.threshold!r} both fix the threshold. Give one of them."
            )
        pair = np.asarray(self.gamma, dtype=np.float64)
        if pair.shape != (2,) or not (np.isfinite(pair) & (pair > 0)).all():
            raise ValueError(
                f"gamma={self.gamma!r} must be two numbers above 0: the γ of real and of synthetic positives."
            )
        return float(pair[0]), float(pair[1])

    def _beta(self) -> float:
        if isinstance(self.threshold, str) and self.threshold != "default":
            objective: Any = get_objective(self.threshold)
        else:
            objective = self.threshold
        return float(objective.beta) if isinstance(objective, FBeta) else 1.0

    @property
    def _needed(self) -> int:
        """The number of the k neighbours that must be positive."""
        return (self._k + 1) // 2

    @property
    def _ratio(self) -> float:
        return self._gammas[1] / self._gammas[0]

    def _resample(self, X: NDArray, y: IntArray) -> list[tuple[Estimator, State]]:
        return resample_in_steps(X, y, self.sampler, self.random_state, np.empty((len(X), 0)))

    def _index(self, rows: State) -> ClassIndex:
        kind = np.where(rows.y == 1, np.where(rows.synthetic, _SYNTHETIC, _REAL), _NEGATIVE)
        return ClassIndex(self.metric, n_jobs=self.n_jobs).fit(rows.X, kind)

    def _measure(self, index: ClassIndex, X: NDArray, there: There | None = None) -> Near:
        def near(kind: int, k: int) -> FloatArray:
            if there is None or kind >= len(index.class_sizes):
                return _nearest(index, X, kind, k)[0]
            return nearest_there(index, X, kind, k, there)

        rival = near(_NEGATIVE, self._k - self._needed + 1)[:, -1]
        real, synthetic = near(_REAL, self._needed), near(_SYNTHETIC, self._needed)
        # Of two rows at the query itself γ is to decide, so a distance of 0 becomes one that γ can scale.
        return Near(*(np.maximum(d, 1e-300) for d in (rival, real, synthetic)))

    def _refuse_single_rows(self, y: IntArray) -> None:
        fewest_of_a_class(y, f"Choosing γ for {self!r}", "gamma as two numbers")

    def _honest_near(self, X: NDArray, y: IntArray, steps: list[tuple[Estimator, State]]) -> tuple[Near, IntArray]:
        """Measure rows among rows that were resampled without them; return also which rows these are."""
        left = leave_one_out(steps, self.n_jobs) if self.cv is None and self._metadata.groups is None else None
        if left is not None:
            rows, there = left
            return self._measure(self._index(rows), X, there), np.arange(len(y))
        self._refuse_single_rows(y)
        splits = self._splits_to_learn(y)
        parts = [
            self._measure(self._index(self._resample(X[train], y[train])[-1][1]), X[test]) for train, test in splits
        ]
        return Near(*map(np.concatenate, zip(*parts, strict=True))), np.concatenate([test for _, test in splits])

    def _honest_by_row(self, near: Near, rows: IntArray, n: int) -> FloatArray:
        """Return the mean score of each row over its tests, NaN where there are none."""
        total, tests = np.bincount(rows, critical(near, self._ratio), n), np.bincount(rows, minlength=n)
        return np.divide(total, tests, out=np.full(n, np.nan), where=tests > 0)

    def _score(self, X: NDArray) -> FloatArray:
        return critical(self._measure(self.index_, X), self._ratio)

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        if self._honest is None:
            return self._honest_by_row(*self._honest_near(X, y, self._resample(X, y)), len(y))
        return self._honest

    def _cheap_honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray | None:
        return self._honest

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        real = self._gammas[0]
        # A little below, since positive wins ties.
        return real / (1 + real) * (1 - ROUNDING)

    @property
    def gamma_real_(self) -> float:
        """The γ of real positives."""
        if not hasattr(self, "threshold_"):
            raise AttributeError("gamma_real_ is known once the model is fitted.")
        return float(self.threshold_ / (1 - self.threshold_)) if self.threshold_ < 1 else np.inf

    @property
    def gamma_synthetic_(self) -> float:
        """The γ of synthetic positives."""
        return self._ratio * self.gamma_real_

    def plane(
        self,
        X: MatrixLike,
        y: ArrayLike,
        gamma_real: ArrayLike,
        gamma_synthetic: ArrayLike,
        *,
        objective: str | Objective = "f1",
        sample_weight: ArrayLike | None = None,
        training: bool = True,
    ) -> FloatArray:
        """Return the value of an objective at each pair of γ.

        The estimator itself is not changed, and the rows are resampled as in `fit` if `random_state` is a number.

        Parameters
        ----------
        X, y : array-like
            Rows and their classes.
        gamma_real, gamma_synthetic : array-like of shape (n_real,) and (n_synthetic,)
            The γ of real and of synthetic positives, above 0.
        objective : str or Objective, default="f1"
            A name or an object of :mod:`scarce.objectives`.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`.
        training : bool, default=True
            Whether the rows are those of `fit`, each of which is then predicted by rows that are resampled without it.
            Others are predicted by the fitted model.

        Returns
        -------
        ndarray of shape (n_real, n_synthetic)
            NaN where the objective does not allow the predictions.
        """
        axes = [column_or_1d(g, dtype=np.float64) for g in (gamma_real, gamma_synthetic)]
        if not all((axis > 0).all() for axis in axes):
            raise ValueError("gamma_real and gamma_synthetic must be above 0.")
        if not training:
            return self._plane_of_new(X, y, sample_weight, get_objective(objective), axes)
        model = clone(self)
        X, target, weight = model._start(X, y, sample_weight)
        model._k = min(model.n_neighbors, len(X))
        near, rows = model._honest_near(X, target, model._resample(X, target))
        weight = None if weight is None else weight[rows]
        return plane(near, target[rows], weight, get_objective(objective), *axes)

    def _plane_of_new(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        objective: Objective,
        axes: list[FloatArray],
    ) -> FloatArray:
        check_is_fitted(self)
        X, target = self._check_X(X, reset=False), (column_or_1d(y) == self.pos_label_).astype(np.intp)
        check_consistent_length(X, target)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return plane(self._measure(self.index_, X), target, weight, objective, *axes)

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        kinds = [_NEGATIVE, _REAL, _SYNTHETIC]
        found = [_nearest(self.index_, X, kind, self._k) for kind in kinds]
        near = merge_by_class(found, kinds, 3 * self._k)
        labels = np.append(labels_by_code(self), self.pos_label_)[near.code]
        origin = np.append(self.origin_, -1)[near.number]  # where there is no row, its number is -1
        power = additive_power(self.metric, 2)
        if power is None:
            named = neighbours(origin, labels, near.distance)
            return Explanation.from_occlusion(self._score, X, self._background, neighbours=named, **known)
        # The positive row that decides, real or synthetic, at its distance as both γ scale it.
        distance, row = (np.hstack([found[kind][i][:, : self._needed] for kind in kinds[1:]]) for i in (0, 1))
        gamma = np.repeat([1.0, self._ratio], self._needed)
        at = np.argsort(gamma * distance, axis=1, kind="stable")[:, self._needed - 1]
        decider: IntArray = row[np.arange(len(X)), at].astype(np.intp)
        rival = found[_NEGATIVE][1][:, self._k - self._needed]
        positive, negative = (np.abs(differences(self.index_, X, row)) ** power for row in (decider, rival))
        known |= ratio_effects(known["score"], gamma[at, None] ** power * positive, negative, power)
        return Explanation.from_neighbours(X, origin, labels, near.distance, **known)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(random_state=0)
        yield cls("borderline-smote", n_neighbors=1, gamma=(0.5, 1.5), random_state=0)
        yield cls("smote-enn", n_neighbors=4, gamma_real_max=2.0, metric="manhattan", random_state=0)


def _nearest(index: ClassIndex, X: NDArray, kind: int, k: int) -> tuple[FloatArray, IntArray]:
    if kind < len(index.class_sizes):
        return index.kneighbors(X, kind, k)
    # The index knows the kinds that it has seen, and of each a sampler may leave or make none.
    return np.full((len(X), k), np.inf), np.full((len(X), k), -1, dtype=np.intp)
