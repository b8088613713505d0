"""The papers' figures as plain data: panels of lines, or a plane."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from scarce._typing import Json
from scarce.datasets import info

from .measures import LABELS, SHARES
from .spec import Study
from .store import Stored

__all__ = ["curves_of"]

AXES = {
    "train_ir": "negatives for each positive in the training rows",
    "n_models": "number of models",
    "n_neighbors": "k",
    "epsilon": "sub-optimality of the learner, in shares of rows",
    "zeta": "ζ",
    "depth": "depth p",
}
# The papers group sets by their share of positives, in per cent.
GROUPS = (10, 20, 30, 40, 50)
PANELS = (10, 30, 50)


def curves_of(study: Study, stored: Mapping[str, Stored]) -> list[Json]:
    """Return the panels of a study's figure: titles of the axes, and lines of points."""
    draw = {"positives": _by_positives, "sweep": _by_parameter, "first": _by_share, "sets": _by_set, "plane": _plane}
    return draw[study.view](study, _values(study, stored)) if study.view in draw else []


class _Values:
    """Means over splits, then over those of some sets that were run for every method."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.by: dict[tuple[str, str, str], list[float]] = defaultdict(list)

    def mean(self, metric: str, column: str, sets: Sequence[str]) -> float | None:
        found = [fmean(self.by[metric, column, s]) for s in sets if (metric, column, s) in self.by]
        return fmean(found) if found else None


def _values(study: Study, stored: Mapping[str, Stored]) -> _Values:
    values = _Values(study)
    for planned in study.plan():
        outcome = stored.get(planned.cell.key)
        if outcome is None:
            continue
        for metric, value in {**outcome.figures, "seconds": outcome.cpu_seconds}.items():
            values.by[metric, planned.method.column, planned.set].append(value)
    return values


def _sets_up_to(study: Study, share: int) -> list[str]:
    return [set_["label"] for set_ in study.sets if 100 * info(set_["name"]).rate <= share]


def _panel(title: str, x: str, y: str, lines: Mapping[str, Sequence[tuple[Any, float | None]]]) -> Json:
    kept = {name: [[a, b] for a, b in line if b is not None] for name, line in lines.items()}
    return {"title": title, "x": x, "y": y, "lines": {name: line for name, line in kept.items() if line}}


def _by_positives(study: Study, values: _Values) -> list[Json]:
    metric = study.metrics[0]
    lines = {
        method.column: [(share, values.mean(metric, method.column, _sets_up_to(study, share))) for share in GROUPS]
        for method in study.methods
    }
    return [_panel("", "maximum share of positives of the sets, in %", LABELS[metric], lines)]


def _by_parameter(study: Study, values: _Values) -> list[Json]:
    panels = []
    for name, metric, (title, sets) in itertools.product(study.x, study.metrics, _groups(study)):
        lines: dict[str, list[tuple[Any, float | None]]] = defaultdict(list)
        for method in study.methods:
            if name in method.at:
                lines[method.at["method"]].append((method.at[name], values.mean(metric, method.column, sets)))
        panels.append(_panel(title, AXES.get(name, name), LABELS.get(metric, metric), lines))
    return [panel for panel in panels if panel["lines"]]


def _groups(study: Study) -> list[tuple[str, list[str]]]:
    """Return sets as the figure groups them: as they say, or by their share of positives if there are many."""
    if all("panel" in set_ for set_ in study.sets):
        panels = dict.fromkeys(set_["panel"] for set_ in study.sets)
        return [(panel, [set_["label"] for set_ in study.sets if set_["panel"] == panel]) for panel in panels]
    if len(study.sets) <= 4:
        return [(set_["label"], [set_["label"]]) for set_ in study.sets]
    return [(f"sets with at most {share} % of positives", _sets_up_to(study, share)) for share in PANELS]


def _by_share(study: Study, values: _Values) -> list[Json]:
    return [
        _panel(
            title,
            "rows checked, in % of the number of positives",
            "precision among them",
            {
                method.column: [(share, values.mean(f"p@{share}", method.column, sets)) for share in SHARES]
                for method in study.methods
            },
        )
        for title, sets in _groups(study)
    ]


def _by_set(study: Study, values: _Values) -> list[Json]:
    """Draw figures against a property of the sets."""
    panels = []
    [name] = study.x
    for metric in study.metrics:
        lines = {
            method.column: [(s[name], values.mean(metric, method.column, [s["label"]])) for s in study.sets]
            for method in study.methods
        }
        panels.append(_panel("", AXES.get(name, name), LABELS.get(metric, metric), lines))
    return [panel for panel in panels if panel["lines"]]


def _plane(study: Study, values: _Values) -> list[Json]:
    """Return the value at each pair of γ."""
    metric, sets, [name] = study.metrics[0], [set_["label"] for set_ in study.sets], study.x
    swept = [method for method in study.methods if name in method.at]
    points = [[*method.at[name], values.mean(metric, method.column, sets)] for method in swept]
    points = [point for point in points if point[-1] is not None]
    if not points:
        return []
    axes = {"x": "γ of real positives", "y": "γ of synthetic positives"}
    return [{"title": study.title, **axes, "z": LABELS[metric], "points": points}]
