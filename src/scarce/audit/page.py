"""Parts of the report as plain data: cases, the inside of the model, and answers for a validator."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby

import pandas as pd
from markupsafe import Markup

from scarce._typing import Json
from scarce._values import plain

from .cases import case_data
from .dictionary import Dictionary
from .gather import MOST_CASES
from .result import Audit
from .segments import Segment

__all__ = ["case_names", "cases_data", "cells_of", "inside_data", "known_cells", "script_json", "validator_data"]


def script_json(data: Json) -> Markup:
    """Write data as JSON inside an HTML script element, which no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def cases_data(result: Audit) -> list[Json]:
    """Return the first queued cases with all their cells and their evidence."""
    identify = case_names(result)
    return [
        case_data(evidence, cells_of(result, place), result.usual, result.names, identify)
        for place, evidence in enumerate(result.evidence[:MOST_CASES])
    ]


def cells_of(result: Audit, place: int) -> pd.Series:
    """Return the cells of the queued row of a place: those of the table, and the history of its entities."""
    own = result.frame.iloc[result.evidence[place].row].drop(result.target.name)
    if result.histories is None:
        return own
    made = [column.name for column in result.histories.columns]
    return pd.concat([own, result.cases[made].iloc[place].astype(object)])


def known_cells(result: Audit, row: int) -> pd.Series:
    """Return the cells of a row of the table, and the history of its entities."""
    own = result.frame.iloc[row].drop(result.target.name)
    return own if result.histories is None else pd.concat([own, result.histories.frame.iloc[row].astype(object)])


def case_names(result: Audit) -> Callable[[int], str]:
    """Return the function that takes the number of a row, and returns what people call it."""
    keys = result.names.visible(name for name in result.profile.identifiers if name != result.target.name)

    def identify(row: int) -> str:
        if not keys:
            return f"row {row}"
        return ", ".join(f"{key} {plain(result.frame[key].iloc[row])}" for key in keys[:2]) + f" (row {row})"

    return identify


def inside_data(result: Audit) -> Json:
    """Return figures by period and segment, calibration, importance and dependence."""
    inside, names = result.inside, result.names
    hidden = set(names.hidden)
    kinds = {column.name: column.kind for column in result.profile.columns}
    return {
        "recall": inside.recall,
        "periods": [_segment(segment, names) for segment in inside.periods],
        "segments": [_segment(segment, names) for segment in inside.segments if segment.column not in hidden],
        "weak": [_segment(segment, names) for segment in inside.weak if segment.column not in hidden],
        "sensitive": _sensitive(inside.sensitive, names),
        "deciles": [asdict(decile) for decile in inside.deciles],
        "importance": [
            {**asdict(importance), "title": names.title(importance.column)}
            for importance in inside.importance
            if importance.column not in hidden
        ],
        "dependence": [
            {
                "title": names.title(drawn.column),
                "numeric": kinds[drawn.column] == "number",
                "values": [plain(value) for value in drawn.values],
                "probability": drawn.probability,
            }
            for drawn in inside.dependence
            if drawn.column not in hidden
        ],
    }


def _sensitive(segments: Sequence[Segment], names: Dictionary) -> list[Json]:
    """Return the groups of sensitive columns; of a hidden one neither its name nor its values."""
    found = []
    for column, of_column in groupby(segments, key=lambda segment: segment.column):
        for number, segment in enumerate(of_column, 1):
            data = _segment(segment, names)
            if names[column].hidden:
                data |= {"column": "(hidden)", "title": "(hidden)", "name": f"group {number}"}
            found.append(data)
    return found


def _segment(segment: Segment, names: Dictionary) -> Json:
    figures = {name: getattr(segment, name) for name in ("precision", "recall", "false_positive_rate")}
    intervals = {f"{name}_interval": segment.interval(name) for name in ("precision", "recall")}
    return {**asdict(segment), **figures, **intervals, "title": names.title(segment.column)}


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
            f"{promise.level:.0%} of such queues. By what past queues held, and by how time has gone on since, the "
            f"log-odds of this one are expected to be off by {promise.shift:+.2f}, give or take {promise.spread:.2f}.",
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
