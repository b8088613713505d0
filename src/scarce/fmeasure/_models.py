"""Fit a classifier with given class weights, and read its scores."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, softmax
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from scarce._sklearn import routing_enabled, safe_indexing
from scarce._typing import Estimator, FloatArray, IntArray, MatrixLike
from scarce.tuned import positive_score

__all__ = ["Costs", "Fitted", "Part", "find_costs", "fit_part", "margin_of", "own_threshold", "scores_of"]


# Probabilities are not taken for more certain than this.
_LEAST = 1e-6


class Part(NamedTuple):
    """Rows to fit on (None: all) and rows to judge by (None: none), by position."""

    fit: IntArray | None
    judge: IntArray | None
    # True if the scores of the rows fitted on are wanted.
    keep: bool


class Fitted(NamedTuple):
    """A model, its scores of the rows fitted on and of the rows to judge it by, and the time of the fit."""

    model: Estimator
    on_fit: Any  # an array, or None where not asked for
    on_judge: Any
    seconds: float
    error: Exception | None = None


@dataclass(frozen=True)
class Costs:
    """The way class weights reach an estimator: by a parameter of its `fit`, or by `class_weight`."""

    by: str
    name: str

    def fit(
        self, model: Estimator, X: MatrixLike, y: IntArray, weights: FloatArray, sample_weight: FloatArray | None
    ) -> Estimator:
        """Fit a model with one weight for each class."""
        if self.by == "class_weight":
            return model.set_params(**{self.name: dict(enumerate(weights.tolist()))}).fit(X, y)
        cost = weights[y] if sample_weight is None else weights[y] * sample_weight
        if "__" in self.name and routing_enabled():
            last_step(model)[0].set_fit_request(sample_weight=True)
            return model.fit(X, y, sample_weight=cost)
        return model.fit(X, y, **{self.name: cost})


def last_step(estimator: Estimator) -> tuple[Estimator, str]:
    """Return the classifier at the end of a pipeline, and the prefix of its parameters."""
    prefix = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def find_costs(estimator: Estimator, sample_weight: FloatArray | None) -> Costs:
    """Return the way an estimator takes class weights; raise if it takes none."""
    last, prefix = last_step(estimator)
    if has_fit_parameter(last, "sample_weight"):
        return Costs("sample_weight", prefix + "sample_weight")
    if not hasattr(last, "get_params") or "class_weight" not in last.get_params(deep=False):
        raise ValueError(
            f"{type(last).__name__} takes neither sample_weight nor class_weight, so that no class can be given more "
            "weight. Take an estimator that does, or TunedThreshold for the best threshold of this one."
        )
    if sample_weight is not None:
        raise ValueError(f"{type(last).__name__} does not take sample_weight. Leave the weights out.")
    return Costs("class_weight", prefix + "class_weight")


def fit_part(
    estimator: Estimator,
    costs: Costs,
    X: MatrixLike,
    y: IntArray,
    weights: FloatArray,
    part: Part,
    sample_weight: FloatArray | None,
    start: Estimator | None = None,
) -> Fitted:
    """Fit on the rows of a part, from another model if one is given; an exception is returned, not raised."""
    # Taken as they are, all rows need not be copied.
    rows, target, weight = X, y, sample_weight
    if part.fit is not None:
        rows, target = safe_indexing(X, part.fit), y[part.fit]
        weight = None if sample_weight is None else sample_weight[part.fit]
    model = clone(estimator) if start is None else copy.deepcopy(start)
    began = time.perf_counter()
    try:
        costs.fit(model, rows, target, weights, weight)
        seconds = time.perf_counter() - began
        on_fit = scores_of(model, rows, len(weights)) if part.keep else None
        on_judge = None if part.judge is None else scores_of(model, safe_indexing(X, part.judge), len(weights))
        if not all(np.isfinite(score).all() for score in (on_fit, on_judge) if score is not None):
            raise ValueError("it gives scores that are not finite.")
    except Exception as error:  # whatever a library may raise, the other models are worth having
        return Fitted(None, None, None, time.perf_counter() - began, error)
    return Fitted(model, on_fit, on_judge, seconds)


def scores_of(model: Estimator, X: MatrixLike, n_classes: int) -> FloatArray:
    """Return one score for each row, higher for class 1; with more than two classes, positive ones for each class."""
    if n_classes == 2:
        return positive_score(model, X)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return softmax(np.asarray(model.decision_function(X), dtype=np.float64), axis=1)


def own_threshold(model: Estimator) -> float:
    """Return the threshold of a classifier of two classes on its own score."""
    return 0.5 if hasattr(model, "predict_proba") else 0.0


def margin_of(model: Estimator, scores: FloatArray, default: int) -> tuple[FloatArray, IntArray]:
    """Return the distance of rows from the model's own threshold, and the class of each if it is called positive.

    Probabilities go by the log of their odds, with more than two classes those of the best class to the default one.
    """
    if scores.ndim == 1:
        odds = logit(np.clip(scores, _LEAST, 1 - _LEAST)) if hasattr(model, "predict_proba") else scores
        return odds, np.ones(len(scores), dtype=np.intp)
    logs = np.log(np.maximum(scores, _LEAST))
    others = np.delete(logs, default, axis=1)
    best = others.argmax(axis=1)
    return others.max(axis=1) - logs[:, default], best + (best >= default)
