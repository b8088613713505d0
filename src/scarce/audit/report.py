"""The report: a dictionary of plain data, and one HTML file made from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray

import scarce
from scarce._typing import Json
from scarce._values import plain

from . import plots, plots_inside
from .blocks import shares_checked
from .compare import Outcome
from .distributions import Distribution, distributions, sparkline
from .evidence import NO_REASON
from .page import case_names, cases_data, inside_data, script_json, validator_data
from .result import Audit
from .shift import Shift
from .words import percent

__all__ = ["figure_titles", "report_data", "report_html"]

MAX_QUEUE_SHOWN = 1_000
CURVE_POINTS = 200
BUDGET_POINTS = 60
IMPORTANT = 15
HEAD = 5

OBJECTIVES = {
    "ap": "average precision, the quality of the ranking over all budgets",
    "f1": "F1 at the tuned threshold",
    "gmean": "the geometric mean of sensitivity and specificity at the tuned threshold",
    "budget": "precision within the budget",
    "profit": "profit, the sum of what the outcomes of all rows earn",
}

THRESHOLDS = {
    "ap": "for F1",
    "f1": "for F1",
    "gmean": "for the geometric mean of sensitivity and specificity",
    "budget": "so that it uses the budget",
    "profit": "for profit",
}


def figure_titles(result: Audit) -> dict[str, str]:
    """Return the column titles of the comparison, by figure."""
    budget = result.settings.budget_plan
    at = f"@{budget.checks:,}" + (f"/{budget.period}" if budget.period else "")
    titles = {
        "ap": "Average precision",
        "f1": "F1 at the threshold",
        "gmean": "G-mean at the threshold",
        "precision": f"Precision{at}",
        "recall": f"Recall{at}",
        "money": f"Money{at}",
        "profit": "Profit",
    }
    return {name: titles[name] for name in result.comparison.winner.figures}


def report_data(result: Audit) -> Json:
    """Return the contents of the report, as plain data."""
    comparison, profile, names = result.comparison, result.profile, result.names
    tested = comparison.folds.tested
    drawn = _distributions(result)
    return {
        "version": scarce.__version__,
        "simulated": result.source.simulated,
        "source": result.source.name,
        "sha256": result.source.sha256,
        "seconds": round(result.seconds, 1),
        "target": {"reason": result.target.reason, "positive": result.target.positive, "name": result.target.name},
        "data": {
            "rows": profile.rows,
            "labelled": profile.labelled,
            "unknown": profile.rows - profile.labelled,
            "positives": profile.positives,
            "rate": profile.positives / profile.labelled,
            "duplicates": profile.duplicates,
            "columns": [
                {
                    **asdict(column),
                    "title": names.title(column.name),
                    "distribution": asdict(drawn[column.name]) if column.name in drawn else None,
                }
                for column in profile.columns
                if not names[column.name].hidden
            ],
            "hidden": sum(names[column.name].hidden for column in profile.columns),
        },
        "warnings": result.warnings,
        "headline": _headline(result),
        "comparison": {
            "objective": result.settings.objective,
            "objective_description": OBJECTIVES[result.settings.objective],
            "deciding": comparison.deciding,
            "folds": comparison.folds.description,
            "blocks": comparison.blocks.description,
            "left_out": comparison.left_out,
            "tested": len(tested),
            "tested_positives": int(result.task.y[tested].sum()),
            "titles": figure_titles(result),
            "lead": None if comparison.lead is None else comparison.lead._asdict(),
            "summary": comparison.summary,
            "methods": [_method(outcome) for outcome in comparison.outcomes],
            "stopped": [
                {"name": s.candidate.name, "description": s.candidate.description, "reason": s.reason}
                for s in comparison.stopped
            ],
        },
        "shift": None if result.shift is None else _shift(result.shift),
        "readable": {
            "method": result.readable.method,
            "ap": result.readable.ap,
            "price": result.readable.price,
            "sentence": result.readable.sentence,
            "rules": [{**asdict(rule), "share": rule.share} for rule in result.readable.rules],
        },
        "menu": [{name: plain(value) for name, value in entry._asdict().items()} for entry in result.menu],
        "certificates": [asdict(certificate) for certificate in result.certificates],
        "exploration": None if result.exploration is None else asdict(result.exploration),
        "budget": result.settings.budget,
        "assumed": result.roles.assumed,
        "checks": None
        if result.checks is None
        else {
            "checked": result.checks.checked,
            "effective": result.checks.effective,
            "sentence": result.checks.sentence,
        },
        "changes": result.changes,
        "threshold": result.threshold,
        "queue": _queue(result),
        "head": _head(result),
        "cases": cases_data(result),
        "inside": inside_data(result),
        "validator": validator_data(result),
        "done": _done(result),
        "caveats": _caveats(result),
    }


def _distributions(result: Audit) -> dict[str, Distribution]:
    """Return the distribution of each column that is shown, of the table or made from it."""
    made = [] if result.histories is None else result.histories.columns
    own = [column for column in result.profile.columns if column not in made and column.role != "dropped"]
    y, seed = result.roles.y, result.settings.seed
    found = distributions(result.frame, own, y, seed=seed)
    if result.histories is not None:
        found |= distributions(result.histories.frame, made, y, seed=seed)
    return found


def report_html(result: Audit, data: Json) -> str:
    """Return the report as one HTML page that refers to nothing outside itself."""
    environment = Environment(loader=PackageLoader("scarce.audit"), autoescape=True, undefined=StrictUndefined)
    environment.filters["figure"] = figure_text
    environment.filters["interval"] = interval_text
    environment.filters["percent"] = percent
    environment.filters["script_json"] = script_json
    curves = [_curve(outcome, result) for outcome in result.comparison.outcomes]
    methods = data["comparison"]["methods"]
    titles = data["comparison"]["titles"]
    rate = data["comparison"]["tested_positives"] / data["comparison"]["tested"]
    wanted = [data["comparison"]["deciding"], "ap", "f1", "precision", "recall"]
    shown = [name for name in dict.fromkeys(wanted) if name in titles][:3]
    drawings = {
        "whiskers": [
            plots.dots_and_whiskers(titles[name], [m["name"] for m in methods], [m["figures"][name] for m in methods])
            for name in shown
        ],
        "recall": plots.precision_recall(curves, rate),
        "budget": plots.precision_at_budget(curves, result.settings.budget_plan.checks, rate),
        "calibration": plots_inside.calibration(data["inside"]["deciles"]),
        "periods": plots_inside.periods(data["inside"]["periods"]) if len(data["inside"]["periods"]) > 1 else None,
        "columns": {
            column["name"]: sparkline(Distribution(**column["distribution"]))
            for column in data["data"]["columns"]
            if column["distribution"]
        },
        "importance": plots_inside.importance(data["inside"]["importance"][:IMPORTANT]),
        "dependence": [plots_inside.dependence(drawn) for drawn in data["inside"]["dependence"]],
    }
    return environment.get_template("report.html.jinja").render(report=data, plots=drawings)


def figure_text(value: float, name: str) -> str:
    """Write a figure as its kind is usually written."""
    if name == "profit":
        return f"{value:,.0f}"
    return f"{value:.0%}" if name in ("precision", "recall", "money") else f"{value:.3f}"


def interval_text(figure: dict[str, float], name: str) -> str:
    """Write the ends of an interval."""
    low, high = figure_text(figure["low"], name), figure_text(figure["high"], name)
    return f"{low.removesuffix('%')}–{high}" if name != "profit" else f"{low} to {high}"


def _shift(shift: Shift) -> Json:
    return {**asdict(shift), "auc": shift.auc._asdict()}


def _method(outcome: Outcome) -> Json:
    return {
        "name": outcome.candidate.name,
        "description": outcome.candidate.description,
        "seconds": round(outcome.seconds, 1),
        "figures": {name: interval._asdict() for name, interval in outcome.figures.items()},
        "for_all_rows": {name: interval._asdict() for name, interval in outcome.for_all_rows.items()},
    }


def _headline(result: Audit) -> Json:
    """Return the figures that lead the report: what to expect of the queue."""
    winner = result.comparison.winner
    precision, recall = winner.figures.get("precision"), winner.figures.get("recall")
    rate = float(np.average(winner.units.truth, weights=winner.units.weight))
    size = len(result.queue)
    promise = result.promise
    return {
        "size": size,
        "winner": winner.candidate.name,
        "hits": round(promise.expected),
        "hits_low": promise.low,
        "hits_high": promise.high,
        "level": promise.level,
        "promise": asdict(promise),
        "by_chance": rate * size,
        "lift": None if precision is None or not rate else precision.estimate / rate,
        "recall": None if recall is None else recall.estimate,
        "money": _money(result),
    }


def _money(result: Audit) -> dict[str, float] | None:
    if "money" not in result.comparison.winner.figures:
        return None
    units = result.comparison.winner.units
    checked = units.weight * shares_checked(units, result.comparison.blocks.budget)
    return {"caught": float(checked @ units.money), "at_stake": float(units.weight @ units.money)}


def _curve(outcome: Outcome, result: Audit) -> Json:
    """Return the precision-recall and the precision-at-k curve of a method, thinned for drawing."""
    tested = result.comparison.folds.tested
    truth, weight = result.task.y[tested], result.task.weights(tested)
    order = np.argsort(-outcome.rank, kind="stable")
    found = np.cumsum((weight * truth)[order])
    checked = np.cumsum(weight[order])
    hits = np.flatnonzero(truth[order])
    some = hits[np.unique(np.linspace(0, len(hits) - 1, CURVE_POINTS).astype(np.intp))]
    called = outcome.flagged
    caught = weight[called & (truth == 1)].sum()
    checks, precision_at = _precision_at(outcome, result)
    return {
        "name": outcome.candidate.name,
        "recall": _floats(found[some] / found[-1]),
        "precision": _floats(found[some] / checked[some]),
        "checked": checks,
        "precision_at": precision_at,
        "at_threshold": {
            "recall": float(caught / found[-1]),
            "precision": float(caught / max(weight[called].sum(), 1)),
        },
    }


def _precision_at(outcome: Outcome, result: Audit) -> tuple[list[float], list[float]]:
    """Return numbers of checks in a queue, and the precision among so many first rows of each block."""
    units, budget = outcome.units, result.comparison.blocks.budget
    full = result.settings.budget_plan.checks
    most = float((np.bincount(units.block, units.weight) / np.maximum(budget, 1)).max() * full)
    checks, precision = [], []
    # The precision among fewer than ten rows jumps about too much to be drawn.
    for k in np.geomspace(min(10.0, most), most, BUDGET_POINTS):
        inside = units.weight * shares_checked(units, budget * (k / full))
        checks.append(float(k))
        precision.append(float(inside @ units.truth / inside.sum()))
    return checks, precision


def _floats(values: NDArray[Any]) -> list[float]:
    return [float(v) for v in values]


def _head(result: Audit) -> list[Json]:
    """Return the first cases by what people call them, with the first reason of each."""
    name = case_names(result)
    return [
        {
            "name": name(evidence.row),
            "probability": evidence.probability,
            "money": evidence.money or 0.0,
            "reason": result.names.sentence(evidence.reasons[0]) if evidence.reasons else NO_REASON,
        }
        for evidence in result.evidence[:HEAD]
    ]


def _queue(result: Audit) -> Json:
    queue = result.queue
    known = None if result.new_rows else int((queue["outcome"].astype(str) == result.target.positive).sum())
    return {
        "size": len(queue),
        "new_rows": result.new_rows,
        "positives": known,
        "flagged": int((queue["flagged"] == "yes").sum()),
        "columns": [c for c in queue.columns if c not in ("threshold", "chance_drawn")],
        "rows": [
            {name: plain(value) for name, value in row.items() if name != "threshold"}
            for row in queue.head(MAX_QUEUE_SHOWN).to_dict("records")
        ],
        "numeric": [
            str(name) for name in queue.columns if pd.api.types.is_numeric_dtype(queue[name].dtype) or name == "score"
        ],
        "positive": result.target.positive,
    }


def _done(result: Audit) -> list[str]:
    settings, folds = result.settings, result.comparison.folds
    used = len(result.profile.features)
    steps = [
        f"Read {result.profile.rows:,} rows and learned from {used} of {len(result.profile.columns)} columns. "
        f"{result.target.reason}",
        f"Tested {len(result.comparison.outcomes)} methods on {folds.description}. Filling of empty cells, scaling and "
        "encoding of categories were learned anew from the training rows of each fold, so that no tested row had "
        "an influence.",
        f"Chose each method's threshold {THRESHOLDS[settings.objective]}, on honest scores of its training rows: "
        "leave-one-out, out-of-bag or cross-fitted, never on the tested rows.",
        "Turned scores into ranks within their fold before pooling them, since each fold has a model of its own. F1 "
        "counts the decisions of all folds together.",
        f"{result.comparison.blocks.description} In each block the checks go to the rows of highest score.",
        f"Chose the winner by {OBJECTIVES[settings.objective]}, and fitted it once more on all rows of known outcome.",
        "Calibrated every model's probabilities on honest scores of its training rows. The queues of the tested blocks "
        "show by how much such probabilities were off from one period to the next, and the prediction interval of the "
        "queue follows from both.",
        *result.roles.assumed,
    ]
    if result.new_rows:
        steps.append(f"Ranked {result.rows_to_rank:,} rows with that model: the first of them are the queue.")
    else:
        steps.append(
            "Ranked the tested rows by their out-of-fold scores, because no outcome in the table is unknown: each "
            "row of the queue was scored by a model that had not seen it. The threshold of the model of all rows "
            "decides whether a row is flagged."
        )
    if settings.objective == "profit" and settings.gains is None:
        steps.append(f"Counted {settings.check_cost:g} as the cost of one check; a caught positive saves its amount.")
    elif settings.gains is not None:
        steps.append(f"Counted as gains: {', '.join(f'{name} = {value}' for name, value in settings.gains.items())}.")
    return steps


def _caveats(result: Audit) -> list[str]:
    caveats = [
        "Intervals (95 %) come from resampling the tested rows. They leave out that a model of other training "
        "rows would differ, and that the winner was chosen on the same rows, which flatters it slightly.",
        "Scores put rows in order. Probabilities are calibrated on rows of known outcome, and hold as long as "
        "new rows are like these.",
        "A reason shows how the score would change if that one column had its usual values. It is not a cause, and "
        "columns that only matter together share no credit.",
        "Rows that nobody checked count as negative, so some false positives may be positives that were never found.",
    ]
    if result.comparison.folds.by_time and result.settings.delay is None:
        caveats.append("Every earlier outcome is taken as known at once; in use, outcomes arrive late.")
    elif not result.comparison.folds.by_time:
        caveats.append(
            "Random folds test on rows of the same period as the training rows; new kinds of cases are harder."
        )
        shared = [c.name for c in result.profile.columns if c.role == "identifier" and c.distinct < result.profile.rows]
        shared = result.names.visible(shared)
        if shared:
            caveats.append(
                f"Rows with the same {shared[0]} can be among both the training and the tested rows, which flatters "
                "the figures if they resemble each other."
            )
    if result.source.simulated:
        caveats.insert(0, "The data are SIMULATED: no figure here holds for real payments.")
    return caveats
