"""Estimators from their descriptions."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from scarce._errors import StudyError
from scarce._extras import EXTRAS, require
from scarce._typing import Keywords, Record
from scarce.metrics import gmean_score, precision_at_k_scorer
from scarce.objectives import Objective
from scarce.registry import all_estimators

from .holdout import HoldoutChoice
from .names import check_name, names_in

__all__ = ["SCORERS", "build", "missing"]

_SCALERS = {
    "row-l2": Normalizer,
    "min-max": lambda: MinMaxScaler((-1, 1)),
    "standard": StandardScaler,
}
SCORERS: Keywords = {
    "f1": make_scorer(f1_score, zero_division=0.0),
    "gmean": make_scorer(gmean_score),
    "balanced_accuracy": make_scorer(balanced_accuracy_score),
    "ap": "average_precision",
    "p@5%": precision_at_k_scorer(0.05),
}


def build(recipe: Record, protocol: Record, *, seed: int, fewest: int, binary: bool = True) -> BaseEstimator:
    """Return the estimator of a cell, not fitted: scaling, further steps, the method, and the search around them.

    Parameters
    ----------
    recipe : mapping
        "estimator" (a name of the registry or a dotted path) and "params"; "steps" before it; "grid"; "scaling".
    protocol : mapping
        "inner" folds or a "holdout" share, and the metric "choose", for a grid; "refit" is false if the model that
        was chosen on the rows held out is kept as it is.
    seed : int
        For whatever is random and has no seed of its own.
    fewest : int
        The size of the smallest class of the training rows, which bounds the number of folds.
    binary : bool, default=True
        Whether 1 is the positive class.
    """
    scaling = recipe.get("scaling", "none")
    steps = [("scale", _SCALERS[scaling]())] if scaling != "none" else []
    steps += [(step["name"], _make(step)) for step in recipe.get("steps", ())]
    steps.append(("model", _make(recipe)))
    model = _pipeline(steps)
    _settle(model, seed, binary)
    grid = recipe.get("grid")
    if not grid:
        return model
    names = dict(steps)
    spread = {key if key.split("__")[0] in names else f"model__{key}": _values(grid[key]) for key in grid}
    if not protocol.get("refit", True):
        return HoldoutChoice(model, spread, protocol["holdout"], seed)
    if "holdout" in protocol:
        folds: Any = StratifiedShuffleSplit(1, test_size=protocol["holdout"], random_state=seed)
    else:
        folds = StratifiedKFold(max(2, min(protocol["inner"], fewest)), shuffle=True, random_state=seed)
    return GridSearchCV(model, spread, scoring=SCORERS[protocol["choose"]], cv=folds)


def missing(recipe: Record) -> str:
    """Return the name of an estimator that this installation does not have, or nothing."""
    for part in names_in(recipe):
        try:
            resolve(part)
        except StudyError:
            return part
    return ""


def resolve(name: str) -> type[Any]:
    """Return the class of a name of the registry or of a dotted path into a known package."""
    check_name(name)
    try:
        if "." not in name:
            return dict(all_estimators())[name]
        module, _, attribute = name.rpartition(".")
        of_extra = module.partition(".")[0] in EXTRAS
        found = getattr(require(module, "The study") if of_extra else importlib.import_module(module), attribute)
    except (KeyError, ImportError, AttributeError) as error:
        raise StudyError(f"The study needs estimator {name}, which is not installed here.") from error
    if not (isinstance(found, type) and issubclass(found, BaseEstimator | Objective)):
        raise StudyError(f"A study may name classes of estimators, samplers and objectives only; {name} is none.")
    return found


def _make(part: Record) -> BaseEstimator:
    class_ = resolve(part["estimator"])
    params = {name: _value(value) for name, value in part.get("params", {}).items()}
    try:
        return class_(**params)
    except TypeError:
        # A method that wraps another one has no default; it names instances of its own.
        example = next(class_._examples())
        return example.set_params(**params)


def _value(value: Any) -> Any:
    """Return the value of a parameter: build described estimators and sampling ratios, leave other values unchanged."""
    if value == "None":  # TOML has no word for it, and "none" is a value of some parameters
        return None
    if isinstance(value, Mapping) and isinstance(value.get("estimator"), str):
        return _make(value)
    if isinstance(value, list):
        return _values(value)
    if isinstance(value, str) and value.startswith("at least "):
        return partial(_at_least, float(value.removeprefix("at least ")))
    return value


def _at_least(ratio: float, y: NDArray[Any]) -> dict[Any, int]:
    """Return how many positives a sampler should bring about: none if there are enough."""
    labels, counts = np.unique(y, return_counts=True)
    rare = counts.argmin()
    return {labels[rare]: max(int(counts[rare]), round(ratio * int(counts.max())))}


def _values(value: Any) -> list[Any]:
    return [_value(one) for one in value]


def _pipeline(steps: Sequence[tuple[str, BaseEstimator]]) -> BaseEstimator:
    if any(hasattr(step, "fit_resample") for _, step in steps):
        from imblearn.pipeline import Pipeline as ResamplingPipeline

        return ResamplingPipeline(list(steps))
    return Pipeline(list(steps))


def _settle(model: BaseEstimator, seed: int, binary: bool) -> None:
    """Give every random part the seed of the split, and name the positive class."""
    params = model.get_params()
    settled = {name: seed for name, value in params.items() if name.split("__")[-1] == "random_state" and value is None}
    if binary:
        # The wrapped estimator of a method of ours sees codes, in which 1 is positive as well.
        settled |= {name: 1 for name, value in params.items() if name.split("__")[-1] == "pos_label" and value is None}
    model.set_params(**settled)
