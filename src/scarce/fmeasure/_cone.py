"""A classifier whose class weights are searched for the highest F, with an upper bound on F."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from scarce._messages import fewest_of_a_class
from scarce._sklearn import HasMethods, Interval, StrOptions
from scarce._typing import CV, BoolArray, Estimator, FloatArray, Fold, Folds, IntArray, Label, Labels, Rows, Threshold
from scarce.base import ONE_VS_REST, RareEventClassifier
from scarce.fmeasure._models import Part, find_costs, own_threshold, scores_of
from scarce.fmeasure._path import Path, Problem
from scarce.fmeasure._search import SEARCHES, new_search
from scarce.objectives import FBeta
from scarce.tuned import ClassifierWrapper

__all__ = ["ConeClassifier"]

_CLOSED = 1e-12


class ConeClassifier(ClassifierWrapper):
    """Search the class weights with which a classifier has the highest F, and bound the F that can be reached.

    Models are fitted with the weight ``1 + beta² - t`` on positive rows and ``t`` on negative ones; the best F is
    reached at one t between 0 and 1. The search looks for it where the scores of the models so far predict the highest
    F, then where their errors leave most room. The same errors bound the F of *every* classifier of the family, which
    shows when to stop. The probabilities are those of the chosen model with its class weights undone; where it has
    none, its decisions calibrated on the rows left out of its folds.

    Parameters
    ----------
    estimator : classifier
        Anything whose `fit` takes `sample_weight`, or that has `class_weight`, with `predict_proba` or
        `decision_function`; also at the end of a ``Pipeline``. Leave its own `class_weight` at None. If it has
        ``warm_start=True`` and coefficients, a fit starts from those of the model at the nearest t.
    beta : float, default=1.0
        The weight of recall relative to precision in F.
    n_models : int, default=19
        The maximum number of t that are tried.
    search : {"cone", "grid", "bisection", "dinkelbach"}, default="cone"
        The choice of t. "cone": where the scores of rows left out predict a higher F than the best so far; if nowhere,
        in the widest gap where the cones are highest, until they leave no room above the best F. With
        ``validation="train"``, ``guide="fit"`` or ``threshold="tune"`` it goes by the cones alone, as in the thesis.
        "grid": evenly spaced; "bisection": down where F is below t, else up; "dinkelbach": the F that was found is the
        next t, until it does not change.
    validation : "train", float, mask, int, splitter or iterable of splits, default=5
        The rows whose F guides the search and chooses the model. "train": those that the models are fitted on, which
        only suits models that cannot overfit much; a number below 1, or an array of bool with True for each of these
        rows: a held-out share of the rows, which no model is then fitted on; a number of folds, a splitter of
        scikit-learn or an iterable of splits: the rows left out by a model for each fold, besides the model of all
        rows. Rows of one of the `groups` that are given to `fit` stay together, except by a mask.
    guide : {"validation", "fit"}, default="validation"
        The rows whose errors guide the search. "fit": those that a model is fitted on, so that `validation` chooses the
        model and does nothing else, as in the experiments of the thesis.
    batch : int, default=1
        The number of t tried at once, in parallel where `n_jobs` allows. More than 1 may need more models in all.
        "dinkelbach" always takes one at a time.
    n_jobs : int or None, default=None
        The number of models fitted at the same time, of a batch and of its folds.
    stop : "budget", "gap" or float, default="budget"
        "budget": only after `n_models`, or when the search has nothing left to try; a number: also once the certified
        gap between the bound and the best F, on the rows that models are fitted on, is at most that; "gap": also once
        it is closed.
    max_seconds : float or None, default=None
        The time after which no further model is begun; the model at hand is finished, and one is fitted in any case. On
        another machine, or another day, more or fewer models may be tried.
    epsilon : float, default=0.0
        The most by which the weighted error of the best model at a t may exceed the least in the family, in shares of
        rows. It raises the cones and with them `f_upper_bound_`; see Notes.
    default_class : label, default=None
        With more than two classes the one that does not count in the micro-F; None is the largest.
    threshold : "default", "tune", str, Objective or float, default="default"
        "default" is the estimator's own threshold, 0.5 on probabilities and 0 on other scores; "tune" compares the
        models at the best threshold of each, and then takes the one of highest F on honest scores. For the rest see
        :class:`~scarce.base.RareEventClassifier`; they move the threshold of the chosen model.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : classifier
        The chosen model, with classes by their codes: 1 is the positive class of two.
    t_ : float
        The t that it was fitted with.
    f_, f_fit_ : float
        Its F on the rows that `validation` names (with ``threshold="tune"`` at the best threshold there), and its F on
        the rows it was fitted on.
    f_upper_bound_ : float
        No classifier of the estimator's family has a higher F on the rows that models are fitted on; see Notes.
    gap_ : float
        `f_upper_bound_` less `f_fit_`.
    path_ : dict of arrays
        One entry for each model, in the order of fitting: `t`; `f` and `f_fit` as above (`f_tuned` with
        ``threshold="tune"``); `fn`, `fp` and `positives`, shares of all rows fitted on; `height`, `slope_left` and
        `slope_right` of its cone; `regret`, its weighted error less that of the best model of the path at this t;
        `bound`, the certified bound by then; `seconds` of its fits. NaN where a fit failed.
    default_class_ : label
        The class that does not count in the micro-F; None with two classes.

    See Also
    --------
    scarce.TunedThreshold : One model and its best threshold, without class weights.
    scarce.fmeasure.bounds : The cones and bounds as functions.
    scarce.plotting.ConeDisplay : The search as a figure.

    Notes
    -----
    The bound is certain if at each t one of the fitted models comes within `epsilon` of the least weighted error that
    the family allows. With ``epsilon=0`` that is an exact learner of the weighted error. Real learners, which minimise
    another loss with a penalty, are not exact, so read the bound as what these costs can achieve with such models, and
    raise `epsilon` where more is at stake. It holds for the rows fitted on, not for new ones.

    With more than two classes F is :func:`~scarce.fmeasure.bounds.micro_f_parambath`.

    Weights of rows multiply the class weights and count in F.

    References
    ----------
    G. Metzler, "Learning from Imbalanced Data: An Application to Bank Fraud Detection", thesis, Saint-Étienne, 2019,
    chapter 5. S. Parambath, N. Usunier, Y. Grandvalet, "Optimizing F-Measures by Cost-Sensitive Classification", NIPS
    2014 ("grid"). H. Narasimhan, H. Ramaswamy, A. Saha, S. Agarwal, "Consistent Multiclass Algorithms for Complex
    Performance Measures", ICML 2015 ("bisection").

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.fmeasure import ConeClassifier
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=0.7, random_state=0)
    >>> model = ConeClassifier(LogisticRegression()).fit(X, y)
    >>> print(f"F <= {model.f_upper_bound_:.3f}; this model has {model.f_fit_:.3f}, on rows left out {model.f_:.3f}")
    F <= 0.922; this model has 0.913, on rows left out 0.908
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "decision_function"])],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "n_models": [Interval(Integral, 1, None, closed="left")],
        "search": [StrOptions(set(SEARCHES))],
        "validation": [
            StrOptions({"train"}),
            Interval(Real, 0, 1, closed="neither"),
            "cv_object",
        ],
        "guide": [StrOptions({"validation", "fit"})],
        "batch": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "stop": [StrOptions({"budget", "gap"}), Interval(Real, 0, None, closed="left")],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "default_class": [str, Real, "boolean", None],
    }
    _multi_class: ClassVar[bool] = True
    _cv_parameter: ClassVar[str] = "validation"

    def __init__(
        self,
        estimator: Estimator,
        *,
        beta: float = 1.0,
        n_models: int = 19,
        search: str = "cone",
        validation: CV | BoolArray | float | str = 5,
        guide: str = "validation",
        batch: int = 1,
        n_jobs: int | None = None,
        stop: str | float = "budget",
        max_seconds: float | None = None,
        epsilon: float = 0.0,
        default_class: Label = None,
        threshold: Threshold = "default",
        pos_label: Label = None,
    ) -> None:
        self.estimator = estimator
        self.beta = beta
        self.n_models = n_models
        self.search = search
        self.validation = validation
        self.guide = guide
        self.batch = batch
        self.n_jobs = n_jobs
        self.stop = stop
        self.max_seconds = max_seconds
        self.epsilon = epsilon
        self.default_class = default_class
        self.threshold = threshold
        self.pos_label = pos_label

    # Fit ------------------------------------------------------------------------------------------------------

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        default = self._default_code(y, sample_weight)
        costs = find_costs(self.estimator, sample_weight)
        parts = self._parts(y, sample_weight)
        problem = Problem(self.estimator, costs, X, y, sample_weight, self.beta, parts, default, self.n_jobs)
        # Where each model has its best threshold, other weights are no longer needed to move it.
        by_fit = problem.judged is None or self.guide == "fit"
        scored = not by_fit and self.threshold != "tune"
        search = new_search(self.search, self.n_models, self.beta, self.epsilon, problem.floor, scored=scored)
        path = Path(problem, search, tune=self.threshold == "tune", by_fit=by_fit)
        tolerance = {"budget": None, "gap": _CLOSED}[self.stop] if isinstance(self.stop, str) else float(self.stop)
        path.follow(self.batch, tolerance, self.max_seconds)
        best = path.steps[path.best]
        self.path_ = path.columns()
        self.estimator_, self.t_ = path.model, best.t
        self.f_ = float(best.f_tuned if path.tune else best.f)
        self.f_fit_ = float(path.f_fit[path.best])
        self.f_upper_bound_, self.gap_ = path.bounds[-1], path.gap(path.best)
        self.default_class_ = self.classes_[default] if len(self.classes_) > 2 else None
        self._class_weights = problem.class_weights(best.t)
        # For the threshold, which is chosen next and lets go of it.
        self._found = problem, path.scores
        if isinstance(self.validation, str) and len(path.steps) > 1 and np.nanmin(path.f_fit) == 1:
            warnings.warn(
                "Every model predicts all training rows correctly, so F on them does not distinguish the models. "
                "Set validation=5, or the share of rows to hold out.",
                UserWarning,
                stacklevel=2,
            )

    def _default_code(self, y: IntArray, weight: FloatArray | None) -> int:
        if len(self.classes_) == 2:
            if self.default_class is not None:
                raise ValueError("default_class is for more than two classes. With two, set pos_label.")
            return 0
        if self.default_class is None:
            return int(np.bincount(y, weight).argmax())
        found = np.flatnonzero(self.classes_ == self.default_class)
        if not len(found):
            raise ValueError(f"default_class={self.default_class!r} is not in y, which has {self.classes_.tolist()}.")
        return int(found[0])

    def _parts(self, y: IntArray, weight: FloatArray | None) -> list[Part]:
        """Return the rows to fit on and to judge by: first those of the model itself, then those of the folds."""
        if isinstance(self.validation, str):
            parts = [Part(None, None, keep=True)]
        elif self._holds_out:
            self._fewest(y)
            fit, judge = self._held_out(y)
            parts = [Part(np.sort(fit), np.sort(judge), keep=True)]
        else:
            parts = [Part(None, None, keep=True), *self._fold_parts(y)]
        self._check_parts(parts, y, weight)
        return parts

    @property
    def _mask(self) -> BoolArray | None:
        is_mask = isinstance(self.validation, np.ndarray) and self.validation.dtype == bool
        return np.asarray(self.validation) if is_mask else None

    @property
    def _holds_out(self) -> bool:
        return self._mask is not None or isinstance(self.validation, float | np.floating)

    @property
    def _own_cv(self) -> Folds | None:
        return None if self._holds_out else super()._own_cv

    def _copy_for(self, rows: IntArray) -> Self:
        copy = super()._copy_for(rows)
        if self._mask is not None:
            # The mask is of all rows, so among some of them the same share is held out.
            copy.validation = float(self._mask.mean())
        return copy

    def _held_out(self, y: IntArray) -> Fold:
        mask, groups = self._mask, self._metadata.groups
        if mask is not None:
            if mask.shape != y.shape:
                raise ValueError(f"validation is a mask of {len(mask)} rows, but X has {len(y)}.")
            return np.flatnonzero(~mask), np.flatnonzero(mask)
        share = float(self.validation)  # type: ignore[arg-type]
        if groups is not None:
            folds = StratifiedGroupKFold(max(2, round(1 / share)), shuffle=True, random_state=0)
            return next(iter(folds.split(y, y, groups)))
        try:
            fit, judge = train_test_split(np.arange(len(y)), test_size=share, stratify=y, random_state=0)
        except ValueError as error:
            raise ValueError(f"{self._too_small('rows to judge by of each class')} ({error})") from error
        return fit, judge

    def _fold_parts(self, y: IntArray) -> list[Part]:
        if self._own_cv is None:
            self._fewest(y)
        return [Part(train, test, keep=False) for train, test in self._split(y, self._own_cv)]

    def _fewest(self, y: IntArray) -> int:
        return fewest_of_a_class(y, self._named, 'set validation="train"')

    @property
    def _named(self) -> str:
        return "validation, a mask," if self._mask is not None else f"validation={self.validation!r}"

    def _check_parts(self, parts: list[Part], y: IntArray, weight: FloatArray | None) -> None:
        weight = np.ones(len(y)) if weight is None else weight
        held_out = [part.judge for part in parts if part.judge is not None]
        sides = [("fit on", part.fit) for part in parts if part.fit is not None]
        sides += [("judge by", np.concatenate(held_out))] if held_out else []
        for use, rows in sides:
            counts = np.bincount(y[rows], weight[rows], minlength=len(self.classes_))
            if (counts == 0).any():
                absent = self._label(int(np.argmin(counts)))
                raise ValueError(self._too_small(f"rows to {use} of the class {absent!r}"))

    def _too_small(self, what: str) -> str:
        return f'{self._named} leaves no {what}. Hold out another share or other folds, or set validation="train".'

    def _label(self, code: int) -> Label:
        labels = self.classes_.tolist()
        if len(labels) > 2:
            return labels[code]
        positive = labels.index(self.pos_label_)
        return labels[positive if code == 1 else 1 - positive]

    def _check_multi_class(self, y: Labels) -> None:
        if self.threshold == "tune":
            raise ValueError(
                f'threshold="tune" moves the one threshold of a score of two classes; y has {len(self.classes_)}, and '
                "rows are of the class of the highest score. Leave threshold at its default: the class weights, which "
                "are searched for, move these decisions. " + ONE_VS_REST
            )
        super()._check_multi_class(y)

    # Scores and thresholds ------------------------------------------------------------------------------------

    def _score(self, X: Rows) -> FloatArray:
        return scores_of(self.estimator_, X, len(self.classes_))

    @property
    def _has_own_probabilities(self) -> bool:
        return hasattr(self.estimator_, "predict_proba")

    def _own_probabilities(self, X: Rows) -> FloatArray:
        # A class of twice the weight is taken for twice as frequent; by Bayes' rule that is undone exactly.
        corrected = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64) / self._class_weights
        return corrected / corrected.sum(axis=1, keepdims=True)

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return own_threshold(self.estimator_)

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        """Score the rows by models of the chosen t that did not see them."""
        problem, scores = self._found
        rows = problem.judged
        if rows is None or not _are_all(rows, len(y)):
            problem = replace(problem, parts=self._fold_parts(y))
            fitted = problem.fit([self.t_])[0]
            if error := next((part.error for part in fitted if part.error), None):
                raise error
            rows, scores = problem.judged, np.concatenate([part.on_judge for part in fitted])
        honest = np.empty(len(y))
        honest[rows] = scores
        return honest

    def _choose_threshold(
        self,
        X: Rows,
        y: IntArray,
        weight: FloatArray | None,
        gains: ArrayLike | None,
        period: ArrayLike | None,
    ) -> float | None:
        problem, honest = self._found
        try:
            if not self._has_own_probabilities and len(self.classes_) == 2 and _are_all(problem.judged, len(y)):
                self._compute_honest_scores(X, y, weight)  # kept for the calibration
            if self.threshold != "tune":
                return super()._choose_threshold(X, y, weight, gains, period)
            if not self._holds_out:
                return self._best_threshold(FBeta(self.beta), X, y, weight, gains=gains, period=period)
            # The chosen model itself has not seen these rows.
            y, weight = problem.truth(problem.judged)
            return FBeta(self.beta).best_threshold(honest, y, weight, gains=gains, period=period).threshold
        finally:
            del self._found

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(LogisticRegression(), n_models=3)
        yield cls(LogisticRegression(), search="dinkelbach", n_models=4, validation="train")


def _are_all(rows: IntArray | None, n: int) -> bool:
    return rows is not None and np.array_equal(np.sort(rows), np.arange(n))
