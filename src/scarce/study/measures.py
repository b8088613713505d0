"""Figures of a model on the test rows of a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, log_loss

from scarce._typing import Estimator, FloatArray, IntArray
from scarce.metrics import group_precision_at_k, profit_score

from .data import Rows
from .probabilities import LABELS_OF_PROBABILITIES, measure_probabilities, probabilities_of
from .resamples import resampled_precisions
from .stakes import LABELS_OF_STAKES, lost_with_any_stakes, lost_with_own_stakes

__all__ = ["LABELS", "MEASURES", "lower_is_better"]

LABELS = {
    "f1": "F1",
    "gmean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "ap": "average precision",
    "cp@100": "card precision among 100 cards a day",
    "precision": "precision",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "p@100": "precision among as many rows as there are positives",
    "p@1%": "precision among the first 1 % of rows",
    "p@5%": "precision among the first 5 % of rows",
    "p@10%": "precision among the first 10 % of rows",
    "error": "error rate",
    "false negative rate": "false negative rate",
    "false positive rate": "false positive rate",
    "gap": "gap to the greatest profit",
    "gained": "share of what can be gained beyond accepting every row",
    "found": "frauds found a day",
    "money": "amount of the frauds found a day",
    "at new customers": "frauds found a day at customers without a confirmed case",
    "at new places": "frauds found a day at terminals or shops without a confirmed case",
    "found share": "frauds found, in %",
    "renewals": "renewals",
    "gain per renewal": "further frauds found per renewal, in points",
    "seconds": "seconds of processor time",
    "gamma": "γ",
    "bound": "certified bound of F1",
    "envelope": "highest F1 outside all cones",
    "envelope of Parambath": "highest F1 outside the cones of Parambath et al.",
    "area": "area outside all cones",
    "area of Parambath": "area outside the cones of Parambath et al.",
    "train_f1": "F1 on the training rows",
    "search_f1": "F1 on the rows that guide the search",
    **LABELS_OF_STAKES,
    **LABELS_OF_PROBABILITIES,
}
_LOWER_IS_BETTER = {
    *(
        "error",
        "false negative rate",
        "false positive rate",
        "gap",
        "seconds",
        "envelope",
        "envelope of Parambath",
        "area",
        "area of Parambath",
    ),
    *LABELS_OF_STAKES,
    *LABELS_OF_PROBABILITIES,
}
# Precision at k: k is a percentage of the number of positives, or of all rows.
SHARES = tuple(range(10, 101, 10))
_BUDGETS = (1, 5, 10)
_ATTRIBUTES = {"gamma": "gamma_", "bound": "f_upper_bound_", "train_f1": "f_fit_", "search_f1": "f_"}


def lower_is_better(metric: str) -> bool:
    """Return whether lower values of a metric are better."""
    state, arrow, called = metric.partition("→")
    return metric in _LOWER_IS_BETTER or (bool(arrow) and state != called)


class Called(NamedTuple):
    """The labels and scores that a model gives to the test rows."""

    labels: NDArray[Any]
    scores: FloatArray | None = None


class Measure(NamedTuple):
    """A call of a model, which is timed, and the figures that are made of it, which are not."""

    call: Callable[[Estimator, Rows], Called]
    figures: Callable[[Estimator, Rows, Called], dict[str, float]]
    resamples: Callable[[Rows, Called], dict[str, list[float]]] | None = None


def _labels(model: Estimator, rows: Rows) -> Called:
    return Called(model.predict(rows.X_test))


def _labels_and_scores(model: Estimator, rows: Rows) -> Called:
    for method in ("score_samples", "decision_function"):
        if hasattr(model, method):
            return Called(model.predict(rows.X_test), getattr(model, method)(rows.X_test))
    return Called(model.predict(rows.X_test), model.predict_proba(rows.X_test)[:, 1])


def _scores(model: Estimator, rows: Rows) -> Called:
    """Score the test rows alone: what takes `predict` its time is no part of a ranking."""
    for method in ("score_samples", "decision_function"):
        if hasattr(model, method):
            return Called(np.empty(0), getattr(model, method)(rows.X_test))
    return Called(np.empty(0), model.predict_proba(rows.X_test)[:, 1])


def _labels_for_money(model: Estimator, rows: Rows) -> Called:
    try:
        return Called(model.predict(rows.X_test, gains=rows.gains_test))
    except TypeError:
        return _labels(model, rows)


def _decisions(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    (tn, fp), (fn, tp) = np.bincount(2 * (rows.y_test == 1) + (called.labels == 1), minlength=4).reshape(2, 2)
    sensitivity, specificity = tp / max(tp + fn, 1), tn / max(tn + fp, 1)
    figures = {
        "f1": 2 * tp / max(2 * tp + fp + fn, 1),
        "precision": tp / max(tp + fp, 1),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "gmean": float(np.sqrt(sensitivity * specificity)),
        "balanced_accuracy": (sensitivity + specificity) / 2,
        "accuracy": (tp + tn) / len(rows.y_test),
        "false negative rate": 1 - sensitivity,
        "false positive rate": 1 - specificity,
    }
    learned = {name: getattr(model, attribute, None) for name, attribute in _ATTRIBUTES.items()}
    figures |= {name: float(value) for name, value in learned.items() if isinstance(value, float | np.floating)}
    return {name: float(value) for name, value in figures.items()}


def _ranking(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    assert called.scores is not None
    # Infinite scores would be in order, yet no metric takes them.
    scores = np.nan_to_num(np.asarray(called.scores, dtype=np.float64))
    counted = {f"p@{share}": share * int(rows.y_test.sum()) / 100 for share in SHARES}
    counted |= {f"p@{share}%": share * len(scores) / 100 for share in _BUDGETS}
    first = np.array([max(1, round(count)) for count in counted.values()])
    average, precision = ranking_figures(rows.y_test, scores, first)
    return {**_decisions(model, rows, called), "ap": average, **dict(zip(counted, precision.tolist(), strict=True))}


def ranking_figures(truth: NDArray[np.int64], scores: FloatArray, first: IntArray) -> tuple[float, FloatArray]:
    """Return the average precision, and the precision among the first rows for several numbers of them.

    All come from one sort, which is why they are not asked of scikit-learn and `scarce.metrics` one by one: these
    check their arguments anew for each, and that took longer than many a fit.
    """
    order = np.argsort(-scores, kind="stable")
    last_of_ties = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    seen, found = last_of_ties + 1, np.cumsum(truth[order])[last_of_ties]
    caught = np.diff(found, prepend=0)
    average = float((caught * found / seen).sum() / max(found[-1], 1))
    # Of rows tied at the threshold each is among the first to the same extent.
    return average, np.interp(first, np.append(0, seen), np.append(0, found)) / np.minimum(first, len(truth))


def _precisions(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    scores = np.nan_to_num(np.asarray(called.scores, dtype=np.float64))
    figures = {"ap": ranking_figures(rows.y_test, scores, np.array([1]))[0]}
    if rows.groups_test is not None:
        figures["cp@100"] = group_precision_at_k(rows.y_test, scores, rows.groups_test, rows.days_test, k=100)
    return figures


def _resamples(rows: Rows, called: Called) -> dict[str, list[float]]:
    scores = np.nan_to_num(np.asarray(called.scores, dtype=np.float64))
    values = resampled_precisions(rows.y_test, scores, rows.groups_test, rows.n_groups)
    return {"ap": values.round(7).tolist()} if len(values) else {}


def _confusion(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    """Measure, for each state, the share of it that is called each state, states in the order of the training rows."""
    states = list(dict.fromkeys(rows.y_train.tolist()))
    shares = confusion_matrix(rows.y_test, called.labels, labels=states, normalize="true")
    figures = {f"{a}→{b}": float(shares[i, j]) for i, a in enumerate(states) for j, b in enumerate(states)}
    return {"error": float(1 - np.trace(shares) / len(states)), **figures}


def _money(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    gains = rows.gains_test if rows.gains_judged is None else rows.gains_judged
    if gains is None:
        raise ValueError("The set has no gains.")
    called_none = np.zeros_like(rows.y_test)
    most, profit, least = (
        profit_score(rows.y_test, labels, gains) for labels in (rows.y_test, called.labels, called_none)
    )
    gap, gained = (most - profit) / abs(most), (profit - least) / (most - least)
    return {**_decisions(model, rows, called), "profit": profit, "gap": gap, "gained": gained}


def _stakes(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    assert called.scores is not None
    if rows.gains_test is None:
        raise ValueError("The set has no gains.")
    positive = np.asarray(called.scores)
    return {
        **_decisions(model, rows, called),
        "lost with own stakes": float(lost_with_own_stakes(rows.y_test, rows.gains_test, positive).mean()),
        "lost with any stakes": float(lost_with_any_stakes(rows.y_test, rows.gains_test, positive).mean()),
        "log_loss": float(log_loss(rows.y_test, np.clip(positive, 1e-6, 1 - 1e-6))),
    }


def _call_chance(model: Estimator, rows: Rows) -> Called:
    return Called(model.predict(rows.X_test), model.predict_proba(rows.X_test)[:, 1])


def _call_probabilities(model: Estimator, rows: Rows) -> Called:
    return Called(model.predict(rows.X_test), probabilities_of(model, rows.X_train, rows.y_train, rows.X_test))


def _probabilities(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    assert called.scores is not None
    return {**_decisions(model, rows, called), **measure_probabilities(rows.y_test, called.scores)}


def _cone(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    """Measure how tight the cones of a search are, and those of Parambath et al. (2014) from the same models."""
    from scarce.fmeasure.bounds import ErrorProfile, cones, parambath_cones, upper_envelope

    path = {name: np.asarray(values) for name, values in model.path_.items()}
    fitted = np.isfinite(path["fn"])
    profile = ErrorProfile(path["fn"][fitted], path["fp"][fitted], float(np.mean(rows.y_train == 1)))
    found = _decisions(model, rows, called)
    for name, kind in (("", cones), (" of Parambath", parambath_cones)):
        envelope = upper_envelope(kind(path["t"][fitted], profile, epsilon=model.epsilon))
        found |= {f"envelope{name}": float(envelope.maximum), f"area{name}": float(envelope.area)}
    return found


def _call_weeks(model: Estimator, rows: Rows) -> Called:
    return Called(*model.steps[-1][1].run(rows.X_test, rows.y_test))


def _renewals(model: Estimator, rows: Rows, called: Called) -> dict[str, float]:
    assert called.scores is not None
    found, by_first = (100 * float(rows.y_test[flags == 1].sum() / rows.y_test.sum()) for flags in called)
    renewals = len(model.renewed_)
    gain = (found - by_first) / renewals if renewals else 0.0
    return {"found share": found, "renewals": float(renewals), "gain per renewal": gain}


MEASURES = {
    "renewal": Measure(_call_weeks, _renewals),
    "cone": Measure(_labels, _cone),
    "binary": Measure(_labels_and_scores, _ranking),
    "ranking": Measure(_scores, _precisions, _resamples),
    "decisions": Measure(_labels, _decisions),
    "confusion": Measure(_labels, _confusion),
    "probabilities": Measure(_call_probabilities, _probabilities),
    "money": Measure(_labels_for_money, _money),
    "stakes": Measure(_call_chance, _stakes),
}
