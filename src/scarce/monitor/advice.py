"""The advice to keep, recalibrate or renew a model, from trying each on the latest rows of known outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from scarce._typing import FloatArray, IntArray, Keywords
from scarce.audit.compare import scored
from scarce.audit.task import learnable
from scarce.metrics import ConfidenceInterval

__all__ = ["RENEW_EVERY", "Advice", "Known", "Score", "advise", "recipe", "refitted_shift", "with_age"]

# What scores rows.
Score: TypeAlias = Callable[[pd.DataFrame], FloatArray]

# Days after which a model is renewed in any case: by the study ``profit/renewal`` that finds more than waiting.
RENEW_EVERY = 28
# Of each half of the latest rows, so many must be positive.
FEWEST = 10
RESAMPLES = 500
# The chance that renewal, or recalibration, is advised although it gains nothing.
LEVEL = 0.01
# A smaller shift of log-odds, by which odds change by less than a quarter, matters to nobody.
SHIFT = 0.22
_CERTAIN = 1e-9


@dataclass(frozen=True)
class Known:
    """Rows of known outcome.

    Attributes
    ----------
    X : DataFrame
        Columns as the model takes them.
    y : ndarray
        1 for positive, 0 for negative.
    weight : ndarray
        How many rows each stands for.
    worth : ndarray
        What finding the row brings, if it is positive: its amount, or 1.
    probability : ndarray
        By the model in use, which had not seen the row.
    gains : ndarray of shape (n_rows, 4), optional
        What each outcome (tp, fp, tn, fn) earns, for models that learn from it.
    checked : ndarray, optional
        How many checked rows each stands for, where `weight` is for all rows; by default `weight`. Probabilities are
        right or wrong for each row, however it was chosen, so calibration has no use for rows that stand for many.
    """

    X: pd.DataFrame
    y: IntArray
    weight: FloatArray
    worth: FloatArray
    probability: FloatArray
    gains: FloatArray | None = None
    checked: FloatArray | None = None

    def part(self, rows: IntArray) -> Known:
        """Return some of the rows."""
        gains, checked = (None if values is None else values[rows] for values in (self.gains, self.checked))
        return Known(
            self.X.iloc[rows].reset_index(drop=True),
            self.y[rows],
            self.weight[rows],
            self.worth[rows],
            self.probability[rows],
            gains,
            checked,
        )

    @property
    def counted(self) -> FloatArray:
        """The number of checked rows that each stands for."""
        return self.weight if self.checked is None else self.checked

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Advice:
    """The advice on a model, with its reason.

    Attributes
    ----------
    action : {"keep", "recalibrate", "renew"}
        The advice.
    sentence : str
        The same with its reason.
    found : ConfidenceInterval or None
        What a renewal is expected to gain: the share of positives, or of their money, that is found within the budget
        by a model that learned from the latest rows too, less that by a twin that did not. None where it was not tried.
    loss : ConfidenceInterval or None
        What a recalibration is expected to gain: the log loss of a row less.
    shift : float or None
        The shift of log-odds of a recalibration by all of the latest rows.
    tried_on : int
        The number of rows that both were judged on.
    """

    action: str
    sentence: str
    found: ConfidenceInterval | None = None
    loss: ConfidenceInterval | None = None
    shift: float | None = None
    tried_on: int = 0
    money: bool = False


def advise(
    fit: Callable[[Known], Score],
    old: Known,
    latest: Known,
    *,
    share: float,
    money: bool = False,
    spread: float = 0.0,
    drifts: bool = False,
    seed: int = 0,
) -> Advice:
    """Try recalibration and renewal on the latest rows of known outcome, and say what to do.

    The first half of the latest rows is learned from, the second half is judged on. Renewal is tried with two models
    of the same recipe: one learns from the old rows alone, its twin from the first half too, so that their difference
    is what newer rows add. Recalibration shifts the log-odds of all probabilities to fit the first half.

    Parameters
    ----------
    fit : callable
        Fit a model by the recipe of the one in use on rows with weights, and return what scores others.
    old : Known
        A sample of the rows that the model learned from.
    latest : Known
        Rows of known outcome that came later, in the order of time.
    share : float
        The share of rows that can be checked.
    money : bool
        Whether `worth` is money.
    spread : float
        The standard deviation of the log-odds of whole queues, by which calibration varies anyway.
    drifts : bool
        Whether new rows differ from the tested ones, for the sentence.
    seed : int
        Seed of resampling.

    Returns
    -------
    Advice
    """
    positive = np.flatnonzero(latest.y == 1)
    if len(positive) < 2 * FEWEST:
        return Advice("keep", _too_few(len(positive), drifts))
    # The halves have equal numbers of positives, which are what is scarce.
    middle = int(positive[len(positive) // 2])
    first, second = latest.part(np.arange(middle)), latest.part(np.arange(middle, len(latest)))
    if not (first.y == 0).any() or not (second.y == 0).any():
        return Advice("keep", _too_few(len(positive), drifts))
    loss = _gain_of_recalibration(first, second, seed)
    shift = refitted_shift(latest)
    try:
        found = _gain_of_renewal(fit, old, first, second, share, seed)
    except (TypeError, ValueError) as error:
        reason = f"Keep the model: a renewal could not be tried on the latest rows ({str(error).splitlines()[0]})."
        return Advice("keep", reason, None, loss, shift, len(second), money)
    what = "money at stake" if money else "positives"
    size = f"on the later half of {len(latest):,} rows of known outcome"
    gained = f"{found.estimate:+.1%} of the {what} within the budget ({found.low:+.1%} to {found.high:+.1%}), {size}"
    if found.low > 0:
        sentence = f"Renew the model by auditing again: a model that learned from the latest rows too found {gained}."
        return Advice("renew", sentence, found, loss, shift, len(second), money)
    if loss.low > 0 and abs(shift) > SHIFT and _is_off(latest, spread):
        sentence = (
            f"Recalibrate the model: probabilities moved by {shift:+.2f} in log-odds have a log loss lower by "
            f"{loss.estimate:.2g} a row ({loss.low:.2g} to {loss.high:.2g}), {size}, while a renewal found {gained}."
        )
        return Advice("recalibrate", sentence, found, loss, shift, len(second), money)
    sentence = f"Keep the model: one that learned from the latest rows too found {gained}."
    return Advice("keep", sentence, found, loss, shift, len(second), money)


def with_age(advice: Advice, days: int, every: int) -> Advice:
    """Return the advice for a model of so many days that is renewed every so often; never, if that is 0."""
    if advice.action == "renew" or not every or days < every:
        return advice
    sentence = (
        f"Renew the model by auditing again: it is {days:,} days old, and it is to be renewed every {every:,} days. "
        f"By the latest outcomes alone: {advice.sentence}"
    )
    return replace(advice, action="renew", sentence=sentence)


def _too_few(positives: int, drifts: bool) -> str:
    reason = f"Keep the model: {positives:,} of the latest rows are known to be positive"
    reason += f", and at least {2 * FEWEST} are needed to try a renewal"
    if drifts:
        return reason + "; the new rows differ, so see to it that their outcomes become known."
    return reason + "."


def refitted_shift(rows: Known) -> float:
    """Return the shift of log-odds with which as many positives are expected as there are."""
    log_odds = _log_odds(rows.probability)
    found = float(rows.counted @ rows.y)

    def off(shift: float) -> float:
        return float(rows.counted @ expit(log_odds + shift)) - found

    return float(brentq(off, -30.0, 30.0)) if off(-30.0) < 0 < off(30.0) else 0.0


def _is_off(rows: Known, spread: float) -> bool:
    """Return whether there are more or fewer positives than probabilities allow."""
    by_row = rows.probability * (1 - rows.probability)
    error = float(np.hypot(np.sqrt(rows.counted**2 @ by_row), spread * (rows.counted @ by_row)))
    off = abs(float(rows.counted @ (rows.y - rows.probability)))
    return bool(2 * norm.sf(off / max(error, _CERTAIN)) < LEVEL)


def _gain_of_recalibration(first: Known, second: Known, seed: int) -> ConfidenceInterval:
    log_odds = _log_odds(second.probability)
    less = _log_loss(second.y, expit(log_odds)) - _log_loss(second.y, expit(log_odds + refitted_shift(first)))
    return _resampled(second, second.counted, lambda weight: float(weight @ less / weight.sum()), seed)


def _gain_of_renewal(
    fit: Callable[[Known], Score], old: Known, first: Known, second: Known, share: float, seed: int
) -> ConfidenceInterval:
    gains = None if old.gains is None or first.gains is None else np.concatenate([old.gains, first.gains])
    both = Known(
        pd.concat([old.X, first.X], ignore_index=True),
        np.concatenate([old.y, first.y]),
        np.concatenate([old.weight, first.weight]),
        np.concatenate([old.worth, first.worth]),
        np.concatenate([old.probability, first.probability]),
        gains,
    )
    orders = [np.argsort(-fit(rows)(second.X), kind="stable") for rows in (old, both)]

    def gain(weight: FloatArray) -> float:
        without, with_ = (_found(order, second, weight, share) for order in orders)
        return with_ - without

    return _resampled(second, second.weight, gain, seed)


def recipe(model: Pipeline) -> Callable[[Known], Score]:
    """Return what fits models by the recipe of the model of an audit."""

    def fit(rows: Known) -> Score:
        params: Keywords = {"method__sample_weight": rows.weight * len(rows) / rows.weight.sum()}
        if rows.gains is not None:
            params["method__gains"] = learnable(rows.gains)
        with threadpool_limits(1, user_api="blas"):
            fitted = clone(model).fit(rows.X, rows.y, **params)
        return lambda X: scored(fitted, X)[0]

    return fit


def _found(order: IntArray, rows: Known, weight: FloatArray, share: float) -> float:
    """Return the share of positives, or of their money, among the first rows, as many as the budget allows."""
    ordered = weight[order]
    before = np.cumsum(ordered) - ordered
    inside = np.clip(share * ordered.sum() - before, 0, ordered)
    worth = (rows.worth * rows.y)[order]
    return float(inside @ worth / max(float(ordered @ worth), _CERTAIN))


def _resampled(rows: Known, weight: FloatArray, figure: Callable[[FloatArray], float], seed: int) -> ConfidenceInterval:
    """Return a figure of weighted rows and its bootstrap interval at twice the one-sided level."""
    rng, n = np.random.default_rng(seed), len(rows)
    kinds = [np.flatnonzero(rows.y == label) for label in (0, 1)]
    values = []
    for _ in range(RESAMPLES):
        times = np.zeros(n)
        for kind in kinds:
            times[kind] = np.bincount(rng.integers(len(kind), size=len(kind)), minlength=len(kind))
        values.append(figure(times * weight))
    low, high = np.quantile(values, [LEVEL, 1 - LEVEL])
    return ConfidenceInterval(float(figure(weight)), float(low), float(high))


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, _CERTAIN, 1 - _CERTAIN)))


def _log_loss(y: IntArray, probability: FloatArray) -> FloatArray:
    return np.asarray(-np.log(np.where(y == 1, probability, 1 - probability)))
