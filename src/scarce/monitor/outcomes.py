"""The performance of the model on new rows whose outcome is known by now, period by period."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact, norm

from scarce._typing import BoolArray, FloatArray
from scarce.audit.explore import estimate_missed
from scarce.audit.reference import OWN
from scarce.metrics import ConfidenceInterval

from .detectors import Detected, detect
from .reference import Reference
from .rows import NewRows, first_of_periods

__all__ = ["CHECKED", "OfPeriod", "Outcomes", "alarms_of_checked", "measure_outcomes"]

# Of rows within the budget that were checked: what later runs need to test all of them together.
CHECKED = ("outcome", "probability", "stands_among")

# The chance of an alarm without a change in all, shared equally by hits, calibration and two detectors.
LEVEL = 0.01
FAMILIES = 4
# A change of hits, or of positives against those expected, by less than a quarter matters to nobody.
RATIO = 1.25
WAITS = "All outcomes are of rows so late that others of their time are not known yet; they were not used."


@dataclass(frozen=True)
class OfPeriod:
    """The figures of a period.

    Attributes
    ----------
    name : str
        The day, week or month, or "all".
    queued, checked, hits : int
        The rows within the budget, those of them whose outcome is known, and the positive ones.
    precision : ConfidenceInterval or None
        Hits among those checked, with Wilson's 95 % interval.
    recall : ConfidenceInterval or None
        Hits among all positives; those that were not queued are estimated from rows that were checked with known
        chances. None where no such row is known.
    money : float or None
        The amount of the hits.
    money_share : ConfidenceInterval or None
        Its share of the amount of all positives.
    expected : float
        The positives to expect among the rows checked within the budget, by their probabilities.
    """

    name: str
    queued: int
    checked: int
    hits: int
    precision: ConfidenceInterval | None
    recall: ConfidenceInterval | None
    money: float | None
    money_share: ConfidenceInterval | None
    expected: float


@dataclass(frozen=True)
class Outcomes:
    """The performance on new rows of known outcome.

    Attributes
    ----------
    known : int
        New rows of known outcome.
    waiting : int
        Those of them that are left out, because outcomes of their time are not complete yet.
    periods : list of OfPeriod
        Period by period; the last entry is of all.
    calibration : ConfidenceInterval or None
        The positives found over those expected by the probabilities, among all rows that were checked with known
        chances.
    detected : list of Detected
        What the detectors found in the stream of hits and misses.
    notes : list of str
        Sentences on what could not be measured.
    alarms : list of str
        A sentence for each change that is larger than chance and large enough to matter.
    rows : DataFrame
        The rows of known outcome whose time has come, with ``scarce.stands_for``: how many rows each stands for, NaN
        where that is not known.
    checked : DataFrame
        The rows within the budget that were checked, with ``scarce.stands_among``: how many rows there were for each
        row within the budget.
    """

    known: int
    waiting: int
    periods: list[OfPeriod]
    calibration: ConfidenceInterval | None
    detected: list[Detected]
    notes: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    checked: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)

    @property
    def whole(self) -> OfPeriod:
        """The figures of all periods together."""
        return self.periods[-1]


def measure_outcomes(
    reference: Reference, rows: NewRows, *, names: dict[int, str], delay: float = 0.0, by_period: bool = False
) -> Outcomes | None:
    """Measure the model on new rows of known outcome; None where there are none whose time has come.

    Parameters
    ----------
    reference : Reference
    rows : NewRows
    names : dict of int to str
        The names of periods.
    delay : float
        The time after which outcomes are complete, in the unit of the moments.
    by_period : bool
        Whether the budget is for each period; otherwise it is for all rows.
    """
    assert rows.of_period is not None
    known, weight = rows.known()
    if not len(known):
        return None
    of_period = rows.of_period
    limit = rows.latest - delay if delay else np.inf
    if by_period:
        ready = set(of_period.index[of_period["latest"] <= limit])
        due = known[OWN + "period"].isin(ready).to_numpy()
        queue = rows.queue.frame[lambda q: q[OWN + "period"].isin(ready)]
    else:
        due = (known[OWN + "moment"] <= limit).to_numpy()
        queue = rows.queue.frame[lambda q: q[OWN + "moment"] <= limit]
        queue = first_of_periods(queue, rows.checks, OWN + "whole") if len(queue) else queue
    waiting = round(weight[~due].sum())
    if not due.any():
        return Outcomes(rows.positive.seen + rows.negative.seen, waiting, [], None, [], [WAITS])
    # Without periods, how many rows are due follows from the sample.
    of_due = float((rows.sample.frame[OWN + "moment"] <= limit).mean()) * rows.count
    of_rows = float(of_period["rows"][list(ready)].sum()) if by_period else max(of_due, len(queue))
    known, weight = known[due].reset_index(drop=True), weight[due]
    queue = queue.reset_index(drop=True)
    complete = set(of_period.index[of_period["known"] == of_period["rows"]])
    chance = _chances(known, queue, complete)
    known[OWN + "stands_for"], known[OWN + "weight"] = weight / chance, weight
    in_queue = known[OWN + "number"].isin(queue[OWN + "number"]).to_numpy()
    periods = []
    for period in sorted(set(queue[OWN + "period"])):
        inside = (known[OWN + "period"] == period).to_numpy()
        periods.append(
            _of_period(
                names.get(period, str(period)),
                queue[queue[OWN + "period"] == period],
                known[inside],
                weight[inside],
                chance[inside],
                in_queue[inside],
            )
        )
    whole = _of_period("all", queue, known, weight, chance, in_queue)
    if len(periods) != 1:
        periods.append(whole)
    notes = []
    if whole.recall is None:
        notes.append(
            "Recall and the gain of a renewal cannot be estimated: outcomes are known of rows that this model chose, "
            "and of no others that were checked with a known chance. Have a share of each queue drawn at random "
            "(`explore` of the audit)."
        )
    if whole.checked < whole.queued:
        notes.append(
            f"{whole.checked:,} of the {whole.queued:,} rows within the budget have an outcome; figures within the "
            "budget are of these."
        )
    calibration = _calibration(known, chance, weight)
    miss = queue[queue[OWN + "outcome"] >= 0].sort_values([OWN + "moment", OWN + "number"])
    before = reference.outcome[reference.queue(len(queue) / of_rows)] == 0
    detected = detect(before, (miss[OWN + "outcome"] == 0).to_numpy(), LEVEL / FAMILIES)
    checked = queue[queue[OWN + "outcome"] >= 0].assign(**{OWN + "stands_among": of_rows / len(queue)})
    alarms = [*alarms_of_checked(reference, checked), *(found.sentence for found in detected if found.alarm)]
    seen = rows.positive.seen + rows.negative.seen
    return Outcomes(seen, waiting, periods, calibration, detected, notes, alarms, known, checked)


def _chances(known: pd.DataFrame, queue: pd.DataFrame, complete: set[Any]) -> FloatArray:
    """Return the chance of each row to have been checked; NaN where nothing is known about it.

    It is 1 where all rows of a period have outcomes. Else it is what was given, and 1 for rows within the budget.
    """
    given = known[OWN + "chance"].to_numpy(dtype=np.float64)
    in_queue = known[OWN + "number"].isin(queue[OWN + "number"]).to_numpy()
    of_complete = known[OWN + "period"].isin(complete).to_numpy()
    return np.where(of_complete, 1.0, np.where(np.isnan(given) & in_queue, 1.0, given))


def _of_period(
    name: str, queue: pd.DataFrame, known: pd.DataFrame, weight: FloatArray, chance: FloatArray, in_queue: BoolArray
) -> OfPeriod:
    checked = queue[queue[OWN + "outcome"] >= 0]
    hits = int(checked[OWN + "outcome"].sum())
    precision = None
    if len(checked):
        interval = binomtest(hits, len(checked)).proportion_ci(0.95, method="wilson")
        precision = ConfidenceInterval(hits / len(checked), float(interval.low), float(interval.high))
    outside = ~in_queue & ~np.isnan(chance)
    positive = (known[OWN + "outcome"] == 1).to_numpy()
    recall = money = share = None
    if outside.any():
        recall = _share(
            float(hits), positive[outside].astype(float), chance[outside] / weight[outside], weight[outside]
        )
    if OWN + "amount" in queue:
        money = float(checked[OWN + "amount"][checked[OWN + "outcome"] == 1].sum())
        if outside.any():
            lost = np.where(positive, known[OWN + "amount"].to_numpy(), 0.0)
            share = _share(money, lost[outside], chance[outside] / weight[outside], weight[outside])
    return OfPeriod(
        name, len(queue), len(checked), hits, precision, recall, money, share, float(checked[OWN + "probability"].sum())
    )


def _share(found: float, missed: FloatArray, chance: FloatArray, weight: FloatArray) -> ConfidenceInterval | None:
    """Return what was found as a share of all, what was missed being estimated from rows drawn with known chances."""
    if (chance >= 1).all():  # nothing is estimated
        total = found + float(missed.sum())
        return ConfidenceInterval(found / total, found / total, found / total) if total else None
    unit = float(missed.max()) or 1.0
    estimate = estimate_missed(missed / unit, np.minimum(chance, 1.0), confidence=0.95)
    if not found and not estimate.estimate:
        return None
    shares = [found / (found + unit * number) if found + unit * number else 1.0 for number in estimate]
    return ConfidenceInterval(shares[0], min(shares), max(shares))


def _calibration(known: pd.DataFrame, chance: FloatArray, weight: FloatArray) -> ConfidenceInterval | None:
    """Return positives found over positives expected, among rows checked with known chances, with its 95 % interval."""
    usable = ~np.isnan(chance)
    stands_for = weight[usable] / chance[usable]
    probability = known[OWN + "probability"].to_numpy()[usable]
    outcome = known[OWN + "outcome"].to_numpy()[usable]
    expected = float(stands_for @ probability)
    if expected <= 0:
        return None
    found = float(stands_for @ outcome)
    half = float(norm.ppf(0.975) * np.sqrt(stands_for**2 @ (outcome - probability) ** 2))
    return ConfidenceInterval(found / expected, max(found - half, 0.0) / expected, (found + half) / expected)


def alarms_of_checked(reference: Reference, checked: pd.DataFrame, when: str = "") -> list[str]:
    """Return a sentence for each way in which rows checked within the budget differ from what was promised.

    Parameters
    ----------
    reference : Reference
    checked : DataFrame
        The rows, as `Outcomes.checked` has them.
    when : str
        The beginning of each sentence, such as "Since the audit, ".
    """
    if not len(checked):
        return []
    level, alarms = LEVEL / FAMILIES, []
    n, hits = len(checked), int(checked[OWN + "outcome"].sum())
    positive = reference.outcome[reference.queue(n / float(checked[OWN + "stands_among"].sum()))] == 1
    if len(positive):
        of_tested = int(positive.sum())
        p = fisher_exact([[of_tested, len(positive) - of_tested], [hits, n - hits]]).pvalue
        was, now = of_tested / len(positive), hits / n
        if p < level and not was / RATIO <= now <= was * RATIO:
            interval = binomtest(hits, n).proportion_ci(0.95, method="wilson")
            alarms.append(
                f"{when}{'p' if when else 'P'}recision within the budget is {now:.1%} ({interval.low:.1%} to "
                f"{interval.high:.1%}); among as large a share of the tested rows it was {was:.1%}."
            )
    probability = checked[OWN + "probability"].to_numpy()
    expected, by_row = float(probability.sum()), probability * (1 - probability)
    # The number of positives varies as rows with their probabilities do, and all log-odds of a queue vary together by
    # what they did among the queues of the audit. Rows drawn at random, each of which stands for many, are no part of
    # this test: a single positive among them moves the estimate by a lot.
    error = float(np.hypot(np.sqrt(by_row.sum()), float(reference.about["spread"]) * by_row.sum()))
    p = 2 * norm.sf(abs(hits - expected) / max(error, 1e-12))
    if p < level and not expected / RATIO <= hits <= expected * RATIO:
        alarms.append(
            f"{when}{hits:,} of {n:,} checked rows within the budget are positive; by their probabilities it would be "
            f"{expected:,.1f}."
        )
    return alarms
