"""The report: a dictionary of plain data, and one HTML file made from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray

import scarce
from scarce._typing import Json
from scarce._values import plain
from scarce.metrics import value_at_k

from . import plots
from .compare import DECIDING, Outcome
from .run import Audit

__all__ = ["figure_titles", "report_data", "report_html"]

MAX_QUEUE_SHOWN = 1_000
CURVE_POINTS = 200

OBJECTIVES = {
    "ap": "average precision, the quality of the ranking over all budgets",
    "f1": "F1 at the tuned threshold",
    "budget": "precision within the budget",
    "profit": "profit: a caught positive saves its amount, every check costs",
}

THRESHOLDS = {"ap": "for F1", "f1": "for F1", "budget": "so that it uses the budget", "profit": "for profit"}


def figure_titles(result: Audit) -> dict[str, str]:
    """Return the column titles of the comparison, by figure."""
    titles = {
        "ap": "Average precision",
        "f1": "F1 at the threshold",
        "precision": f"Precision@{result.settings.budget:,}",
        "recall": f"Recall@{result.settings.budget:,}",
        "money": f"Money@{result.settings.budget:,}",
        "profit": "Profit",
    }
    return {name: titles[name] for name in result.comparison.winner.figures}


def report_data(result: Audit) -> Json:
    """Return the contents of the report, as plain data."""
    comparison, profile = result.comparison, result.profile
    tested = comparison.folds.tested
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
            "columns": [asdict(column) for column in profile.columns],
        },
        "warnings": result.warnings,
        "headline": _headline(result),
        "comparison": {
            "objective": result.settings.objective,
            "objective_description": OBJECTIVES[result.settings.objective],
            "deciding": DECIDING[result.settings.objective],
            "folds": comparison.folds.description,
            "tested": len(tested),
            "tested_positives": int(result.task.y[tested].sum()),
            "titles": figure_titles(result),
            "lead": comparison.lead._asdict(),
            "summary": comparison.summary,
            "methods": [_method(outcome) for outcome in comparison.outcomes],
        },
        "budget": result.settings.budget,
        "threshold": result.threshold,
        "queue": _queue(result),
        "done": _done(result),
        "caveats": _caveats(result),
    }


def report_html(result: Audit, data: Json) -> str:
    """Return the report as one HTML page that refers to nothing outside itself."""
    environment = Environment(loader=PackageLoader("scarce.audit"), autoescape=True, undefined=StrictUndefined)
    environment.filters["figure"] = figure_text
    environment.filters["interval"] = interval_text
    curves = [_curve(outcome, result) for outcome in result.comparison.outcomes]
    methods = data["comparison"]["methods"]
    titles = data["comparison"]["titles"]
    rate = data["comparison"]["tested_positives"] / data["comparison"]["tested"]
    shown = list(dict.fromkeys([data["comparison"]["deciding"], "ap", "f1", "precision"]))[:3]
    drawings = {
        "whiskers": [
            plots.dots_and_whiskers(titles[name], [m["name"] for m in methods], [m["figures"][name] for m in methods])
            for name in shown
        ],
        "recall": plots.precision_recall(curves, rate),
        "budget": plots.precision_at_budget(curves, _checks(result), rate),
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


def _checks(result: Audit) -> float:
    """Return how many of the tested rows the budget stands for."""
    budget = result.task.budget
    return budget if isinstance(budget, int) else budget * len(result.comparison.folds.tested)


def _method(outcome: Outcome) -> Json:
    return {
        "name": outcome.candidate.name,
        "description": outcome.candidate.description,
        "seconds": round(outcome.seconds, 1),
        "figures": {name: interval._asdict() for name, interval in outcome.figures.items()},
    }


def _headline(result: Audit) -> Json:
    """Return the figures that lead the report: what to expect of the queue."""
    precision = result.comparison.winner.figures["precision"]
    rate = float(result.task.y[result.comparison.folds.tested].mean())
    size = len(result.queue)
    return {
        "size": size,
        "winner": result.comparison.winner.candidate.name,
        "hits": round(precision.estimate * size),
        "hits_low": round(precision.low * size),
        "hits_high": round(precision.high * size),
        "by_chance": rate * size,
        "lift": precision.estimate / rate,
        "recall": result.comparison.winner.figures["recall"].estimate,
        "money": _money(result),
    }


def _money(result: Audit) -> dict[str, float] | None:
    if result.task.amount is None:
        return None
    tested = result.comparison.folds.tested
    truth, amount = result.task.y[tested], result.task.amount[tested]
    caught = value_at_k(truth, result.comparison.winner.rank, result.task.budget, amount)
    return {"caught": float(caught), "at_stake": float(amount[truth == 1].sum())}


def _curve(outcome: Outcome, result: Audit) -> Json:
    """Return the precision-recall and the precision-at-k curve of a method, thinned for drawing."""
    truth = result.task.y[result.comparison.folds.tested]
    order = np.argsort(-outcome.rank, kind="stable")
    found = np.cumsum(truth[order])
    checked = np.arange(1, len(truth) + 1)
    # The precision among fewer than ten rows jumps about too much to be drawn.
    few = np.unique(np.geomspace(min(10, len(truth)), len(truth), CURVE_POINTS).astype(np.intp)) - 1
    hits = np.flatnonzero(truth[order])
    some = hits[np.unique(np.linspace(0, len(hits) - 1, CURVE_POINTS).astype(np.intp))]
    called = outcome.flagged
    caught = (called & (truth == 1)).sum()
    return {
        "name": outcome.candidate.name,
        "recall": _floats(found[some] / found[-1]),
        "precision": _floats(found[some] / checked[some]),
        "checked": _floats(checked[few]),
        "precision_at": _floats(found[few] / checked[few]),
        "at_threshold": {"recall": float(caught / found[-1]), "precision": float(caught / max(called.sum(), 1))},
    }


def _floats(values: NDArray[Any]) -> list[float]:
    return [float(v) for v in values]


def _queue(result: Audit) -> Json:
    queue = result.queue
    known = None if result.new_rows else int((queue["outcome"].astype(str) == result.target.positive).sum())
    return {
        "size": len(queue),
        "new_rows": result.new_rows,
        "positives": known,
        "flagged": int((queue["flagged"] == "yes").sum()),
        "columns": [c for c in queue.columns if c != "threshold"],
        "rows": [
            {name: plain(value) for name, value in row.items() if name != "threshold"}
            for row in queue.head(MAX_QUEUE_SHOWN).to_dict("records")
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
        "Turned scores into ranks within their fold before pooling them, since each fold has a model of its own; so "
        "each fold gets its share of the budget. F1 counts the decisions of all folds together.",
        f"Chose the winner by {OBJECTIVES[settings.objective]}, and fitted it once more on all rows of known outcome.",
    ]
    if result.new_rows:
        steps.append("Ranked the rows of unknown outcome with that model: they are the queue.")
    else:
        steps.append(
            "Ranked the tested rows by their out-of-fold scores, because no outcome in the table is unknown: each "
            "row of the queue was scored by a model that had not seen it. The threshold of its fold decides whether a "
            "row is flagged."
        )
    if settings.objective == "profit":
        steps.append(f"Counted {settings.check_cost:g} as the cost of one check.")
    return steps


def _caveats(result: Audit) -> list[str]:
    caveats = [
        "Intervals (95 %) come from resampling the tested rows. They leave out that a model of other training "
        "rows would differ, and that the winner was chosen on the same rows, which flatters it slightly.",
        "Scores put rows in order; they are not probabilities.",
        "A reason shows how the score would change if that one column had its usual values. It is not a cause, and "
        "columns that only matter together share no credit.",
        "Rows that nobody checked count as negative, so some false positives may be positives that were never found.",
    ]
    if result.comparison.folds.by_time:
        caveats.append("Every earlier outcome is taken as known at once; in use, outcomes arrive late.")
    else:
        caveats.append(
            "Random folds test on rows of the same period as the training rows; new kinds of cases are harder."
        )
        shared = [c.name for c in result.profile.columns if c.role == "identifier" and c.distinct < result.profile.rows]
        if shared:
            caveats.append(
                f"Rows with the same {shared[0]} can be among both the training and the tested rows, which flatters "
                "the figures if they resemble each other."
            )
    if result.source.simulated:
        caveats.insert(0, "The data are SIMULATED: no figure here holds for real payments.")
    return caveats
