"""Parts of the report as plain data: cases, the inside of the model, and answers for a validator."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import version

from markupsafe import Markup

from scarce._typing import Json
from scarce._values import plain

from .cases import case_data
from .gather import MOST_CASES
from .result import Audit
from .segments import Segment

__all__ = ["cases_data", "inside_data", "script_json", "validator_data"]


def script_json(data: Json) -> Markup:
    """Write data as JSON inside an HTML script element, which no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def cases_data(result: Audit) -> list[Json]:
    """Return the first queued cases with all their cells and their evidence."""
    names = result.names
    cells = result.frame.drop(columns=[result.target.name])
    keys = [name for name in result.profile.identifiers if name in cells]

    def identify(row: int) -> str:
        if not keys:
            return f"row {row}"
        return ", ".join(f"{key} {plain(cells[key].iloc[row])}" for key in keys[:2]) + f" (row {row})"

    return [
        case_data(evidence, cells.iloc[evidence.row], result.usual, names, identify)
        for evidence in result.evidence[:MOST_CASES]
    ]


def inside_data(result: Audit) -> Json:
    """Return figures by period and segment, calibration, importance and dependence."""
    inside, names = result.inside, result.names
    kinds = {column.name: column.kind for column in result.profile.columns}
    return {
        "recall": inside.recall,
        "periods": [_segment(segment) for segment in inside.periods],
        "segments": [_segment(segment) for segment in inside.segments],
        "weak": [_segment(segment) for segment in inside.weak],
        "sensitive": [_segment(segment) for segment in inside.segments if segment.column in names.sensitive],
        "deciles": [asdict(decile) for decile in inside.deciles],
        "importance": [
            {**asdict(importance), "title": names.title(importance.column)} for importance in inside.importance
        ],
        "dependence": [
            {
                "title": names.title(drawn.column),
                "numeric": kinds[drawn.column] == "number",
                "values": [plain(value) for value in drawn.values],
                "probability": drawn.probability,
            }
            for drawn in inside.dependence
        ],
    }


def _segment(segment: Segment) -> Json:
    figures = {name: getattr(segment, name) for name in ("precision", "recall", "false_positive_rate")}
    intervals = {f"{name}_interval": segment.interval(name) for name in ("precision", "recall")}
    return {**asdict(segment), **figures, **intervals, "title": segment.column}


def validator_data(result: Audit) -> list[Json]:
    """Return what model-risk teams ask for, in their order."""
    settings, comparison, promise = result.settings, result.comparison, result.promise
    winner = comparison.winner
    rivals = ", ".join(outcome.candidate.name for outcome in comparison.outcomes[1:])
    stopped = [f"{s.candidate.name} was {s.reason}." for s in comparison.stopped]
    ap = winner.figures["ap"]
    parts = {
        "Intended use": [
            f"Ranking rows of {result.source.name} for {settings.budget_plan} checks by people. It decides nothing by "
            "itself, and is not meant for other populations, other outcomes or automatic refusals.",
        ],
        "Data": [
            f"{result.profile.rows:,} rows, {result.profile.labelled:,} with a known outcome, "
            f"{result.profile.positives:,} positive; SHA-256 {result.source.sha256}.",
            *result.roles.assumed,
        ],
        "What was tried": [
            f"{winner.candidate.name} ({winner.candidate.description}) against {rivals or 'no other method'}, on "
            f"{comparison.folds.description}.",
            f"Its average precision is {ap.estimate:.3f} ({ap.low:.3f} to {ap.high:.3f}). {comparison.summary}",
            *stopped,
        ],
        "Performance": [
            f"{promise.low:,} to {promise.high:,} of the {promise.size:,} queued rows will be positive in "
            f"{promise.level:.0%} of such queues. From one past queue to the next the log-odds moved by "
            f"{promise.spread:.2f}, and they were off by {promise.shift:+.2f} on average.",
            f"Segments where positives are missed more often than elsewhere: {len(result.inside.weak)}.",
        ],
        "Limits": [
            "Rows that nobody checked count as they stand in the table. A new kind of case is not found by resemblance "
            "to old ones.",
            result.shift.sentence if result.shift is not None else "Every outcome is known; no row was ranked blindly.",
        ],
        "Monitoring": [
            "Compare the number of positives found with the promise above for each queue. Repeat the audit with new "
            "outcomes (again) when it falls outside, when columns shift, or when a segment becomes weak.",
        ],
        "Versions": [
            ", ".join(f"{name} {version(name)}" for name in ("scarce", "scikit-learn", "lightgbm", "numpy", "pandas"))
            + f"; seed {settings.seed}.",
        ],
    }
    return [{"title": title, "sentences": sentences} for title, sentences in parts.items()]
