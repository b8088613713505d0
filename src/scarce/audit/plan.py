"""The methods that an audit compares, by its objective and the size of the table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

import joblib
from sklearn.pipeline import Pipeline

from scarce._errors import AuditError
from scarce.objectives import Budget, Objective, Profit
from scarce.tables import Column, make_encoder
from scarce.tuned import CalibratedThreshold

from .methods import METHODS, PLANS, Size
from .settings import ObjectiveName

__all__ = ["Candidate", "Plan", "make_plan", "threshold_for"]

QUICK = 3
# Threads that wait for each other on a busy machine made small boostings a hundred times slower.
ROWS_FOR_THREADS = 100_000


@dataclass(frozen=True)
class Candidate:
    """A method in the comparison.

    Attributes
    ----------
    key : str
        The name by which users ask for it.
    name : str
        Its name in tables.
    description : str
        A few words on what it is.
    model : Pipeline
        The encoder and the method, not fitted.
    effort : int
        How long it takes compared with the others.
    """

    key: str
    name: str
    description: str
    model: Pipeline = field(repr=False)
    effort: int


@dataclass(frozen=True)
class Plan:
    """The candidates of an audit, what their thresholds are chosen for, and sentences about what was left out."""

    candidates: list[Candidate]
    threshold: str | Objective
    remarks: list[str]

    def __str__(self) -> str:
        return "\n".join([*(f"{c.name}: {c.description}" for c in self.candidates), *self.remarks])


def threshold_for(objective: ObjectiveName, share: float) -> str | Objective:
    """Return what the threshold is chosen for; average precision has none, so it borrows that of F1."""
    if objective == "budget":
        return Budget(share=min(share, 1.0))
    if objective == "profit":
        return Profit()
    return "gmean" if objective == "gmean" else "f1"


def make_plan(
    objective: ObjectiveName,
    columns: Sequence[Column],
    size: Size,
    share: float,
    *,
    methods: Sequence[str] = (),
    quick: bool = False,
    time: str | None = None,
) -> Plan:
    """Return the methods to compare.

    Parameters
    ----------
    objective : {"ap", "f1", "gmean", "budget", "profit"}
        What chooses the winner.
    columns : sequence of Column
        The columns to learn from.
    size : Size
        The number of training rows and of positives; the folds within them, for honest scores and encodings.
    share : float
        The share of the rows that can be checked.
    methods : sequence of str
        The methods to compare instead of those of the objective.
    quick : bool
        Whether to take the three cheapest only.
    time : str, optional
        The column that orders the rows.
    """
    size = size._replace(threads=1 if size.rows <= ROWS_FOR_THREADS else joblib.cpu_count())
    threshold = threshold_for(objective, share)
    keys, remarks = _chosen(objective, size, methods, quick)
    candidates = [_candidate(key, objective, threshold, columns, size, time) for key in keys]
    return Plan(candidates, threshold, remarks)


def _chosen(objective: str, size: Size, methods: Sequence[str], quick: bool) -> tuple[list[str], list[str]]:
    for key in methods:
        if key not in METHODS:
            near = difflib.get_close_matches(key, METHODS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the methods are {', '.join(METHODS)}."
            raise AuditError(f"There is no method {key!r} (`methods`); {hint}")
        if METHODS[key].kind == "profit" and objective != "profit":
            raise AuditError(f"The method {key!r} learns from money; set the objective profit too (`objective`).")
    if methods:
        return list(dict.fromkeys(methods)), []
    keys = [key for key in PLANS[objective] if METHODS[key].fits(size)]
    remarks = [
        f"{METHODS[key].name} was not tried on a table of this size; ask for it by name (`methods`)."
        for key in PLANS[objective]
        if key not in keys
    ]
    if quick:
        return sorted(keys, key=lambda key: METHODS[key].effort)[:QUICK], [
            f"Only the {QUICK} cheapest methods were compared, as asked."
        ]
    return keys, remarks


def _candidate(
    key: str,
    objective: str,
    threshold: str | Objective,
    columns: Sequence[Column],
    size: Size,
    time: str | None,
) -> Candidate:
    known = METHODS[key]
    method = known.build(size)
    if known.kind == "plain":
        method = CalibratedThreshold(method, cv=size.folds)
    elif "calibration" in method.get_params() and key != "bayes":
        method.set_params(calibration="honest")
    # The methods that learn from gains have rules of their own for what to call positive.
    method.set_params(pos_label=1, **({} if known.kind == "profit" else {"threshold": threshold}))
    encoder = make_encoder(columns, known.suited_to, folds=size.folds, seed=size.seed, time=time)
    return Candidate(
        key, known.name, known.description, Pipeline([("encode", encoder), ("method", method)]), known.effort
    )
