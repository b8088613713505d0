"""The drift of new rows before their outcomes are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from scarce._typing import FloatArray, IntArray
from scarce.audit.reference import OWN
from scarce.audit.shift import column_apart, rows_apart, telling_columns
from scarce.metrics import ConfidenceInterval
from scarce.tables import Column

from .columns import ColumnDrift, columns_apart, population_stability_index
from .reference import Reference
from .rows import NewRows

__all__ = ["LEVEL", "Drift", "measure_drift"]

# The chance of an alarm without a change in one run is LEVEL in all; six families of tests share it equally.
LEVEL = 0.01
FAMILIES = 6
# The AUC of a classifier, and the ratio of expected positives, up to which rows count as alike.
ALIKE = 0.55
RATIO = 1.25
# The model in use differs from those of the tested parts as these do from each other; more than that is drift.
MORE = 1.5
FEWEST_ROWS = 50
# The name of columns that a dictionary hides.
HIDDEN = "(hidden)"
TELLING = 3


@dataclass(frozen=True)
class Drift:
    """The difference of new rows from the tested ones.

    Attributes
    ----------
    columns : list of ColumnDrift
        All columns but dates, the most different first.
    score : ColumnDrift
        The score.
    auc : ConfidenceInterval
        How well a classifier tells new rows from tested ones on rows that it had not seen: 0.5 if not at all, 1 always.
    telling : list of (str, float)
        The columns by which it does, each with its share.
    expected : float
        The expected number of positives among the new rows, the sum of their probabilities.
    expected_ratio : ConfidenceInterval
        The mean probability of new rows over that of the tested ones.
    alarms : list of str
        A sentence for each difference that is larger than chance and large enough to matter.
    """

    columns: list[ColumnDrift]
    score: ColumnDrift
    auc: ConfidenceInterval
    telling: list[tuple[str, float]]
    expected: float
    expected_ratio: ConfidenceInterval
    alarms: list[str] = field(default_factory=list)


def measure_drift(
    reference: Reference, rows: NewRows, columns: Sequence[Column], *, hidden: Collection[str] = (), seed: int = 0
) -> Drift:
    """Compare new rows with the tested rows of an audit, column by column and as a whole; hidden columns have no name.

    Every test is corrected, so that rows of the same kind raise an alarm in about one of a hundred runs, and an alarm
    needs a difference that matters too: a population stability index of 0.1, a point of the share of empty cells or of
    unknown categories, an AUC above 0.55, a quarter more or fewer expected positives. Hidden columns have no name.
    """
    level = LEVEL / FAMILIES
    sample = rows.sample.frame
    found = [
        replace(column, name=HIDDEN, before=None, now=None) if column.name in hidden else column
        for column in columns_apart(reference, rows, columns)
    ]
    old_score, new_score = pd.Series(reference.score[reference.drawn], name="score"), sample[OWN + "score"]
    apart = column_apart(old_score, new_score, "number")
    score = ColumnDrift(
        "score", population_stability_index(old_score, new_score), apart.p_value, apart.before, apart.now
    )
    old, new = reference.X[reference.drawn], sample[[c.name for c in columns]]
    auc, of_auc = ConfidenceInterval(0.5, 0.0, 1.0), 1.0
    telling: list[tuple[str, float]] = []
    if min(len(old), len(new)) >= FEWEST_ROWS:
        auc, error = area_under_curve(*rows_apart(old, new, columns, seed))
        of_auc = float(norm.sf((auc.estimate - ALIKE) / max(error, 1e-12)))
        telling = telling_columns(old, new, columns, seed)[:TELLING] if of_auc < level else []
        telling = [(HIDDEN if name in hidden else name, share) for name, share in telling]
    ratio, of_ratio = _ratio(reference, rows)
    alarms = [
        f"Column {c.name!r} differs: population stability index {c.psi:.2f}, and {_values(c)}."
        for c in found
        if c.differs(level)
    ]
    alarms += [
        f"Column {c.name!r} is empty in {c.missing_now:.1%} of the rows; it was in {c.missing_before:.1%}."
        for c in found
        if c.lacks_more(level)
    ]
    alarms += [
        f"Column {c.name!r} holds values that the model does not know in {c.unknown_now:.1%} of the rows; of tested "
        f"rows it was {c.unknown_before:.1%}."
        for c in found
        if c.knows_less(level)
    ]
    usual = _usual_index(reference)
    if score.differs(level) and score.psi > MORE * usual:
        alarms.append(
            f"The scores differ: population stability index {score.psi:.2f}; among the tested parts, each scored by a "
            f"model of its own, it was up to {usual:.2f}."
        )
    if of_auc < level:
        names = ", ".join(f"{name} ({share:.0%})" for name, share in telling)
        alarms.append(
            f"A classifier tells new rows from tested ones with an AUC of {auc.estimate:.2f} ({auc.low:.2f} to "
            f"{auc.high:.2f}), most by {names}."
        )
    expected = rows.probability
    if of_ratio < level:
        alarms.append(
            f"{expected:,.1f} positives are expected among {rows.count:,} rows, {ratio.estimate:.2f} times as many as "
            f"among as many tested rows ({ratio.low:.2f} to {ratio.high:.2f})."
        )
    return Drift(found, score, auc, telling, expected, ratio, alarms)


def _usual_index(reference: Reference) -> float:
    """Return how much the scores of a tested part differ from those of the others, at most."""
    drawn, score = reference.fold[reference.drawn], pd.Series(reference.score[reference.drawn])
    parts = [drawn == number for number in np.unique(drawn)]
    if len(parts) < 2:
        return 0.0
    return max(population_stability_index(score[~part], score[part]) for part in parts)


def _values(column: ColumnDrift) -> str:
    if column.name == HIDDEN:
        return "its values are hidden"
    if isinstance(column.now, str) or isinstance(column.before, str):
        if column.now == column.before:
            return f"{column.now} is still the most frequent value"
        return f"the most frequent value is {column.now}; it was {column.before}"
    values = ["none" if value is None else f"{value:,.4g}" for value in (column.now, column.before)]
    return f"the median is {values[0]}; it was {values[1]}"


def area_under_curve(truth: IntArray, score: FloatArray) -> tuple[ConfidenceInterval, float]:
    """Return the area under the ROC curve with its 95 % interval, and its standard error by DeLong's method.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 44, 1988.
    """
    one, zero = score[truth == 1], score[truth == 0]
    both = rankdata(np.concatenate([one, zero]))
    above = (both[: len(one)] - rankdata(one)) / len(zero)
    below = 1 - (both[len(one) :] - rankdata(zero)) / len(one)
    area = float(above.mean())
    error = float(np.sqrt(above.var(ddof=1) / len(one) + below.var(ddof=1) / len(zero)))
    half = float(norm.ppf(0.975)) * error
    return ConfidenceInterval(area, max(area - half, 0.0), min(area + half, 1.0)), error


def _ratio(reference: Reference, rows: NewRows) -> tuple[ConfidenceInterval, float]:
    """Return the ratio of mean probabilities with its 95 % interval, and the p-value of its being within the limit."""
    before, error_before = reference.expected
    now, error_now = rows.expected
    before, now = max(before, 1e-12), max(now, 1e-12)
    ratio = now / before
    error = float(np.hypot(error_before / before, error_now / now))
    half = float(np.exp(norm.ppf(0.975) * error))
    over = (abs(np.log(ratio)) - np.log(RATIO)) / max(error, 1e-12)
    return ConfidenceInterval(ratio, ratio / half, ratio * half), float(min(1.0, 2 * norm.sf(over)))
