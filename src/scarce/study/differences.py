"""By how much a study's own method is better than each other one, on groups of sets, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from scarce._typing import FloatArray, Json, Record

from .spec import Method, Study
from .statistics import bootstrap_clusters, win_tie_loss
from .store import Stored

__all__ = ["OPEN", "differences_of", "judge_difference", "judge_level", "verdict_of"]

# The judgement of a statement whose cells were not run.
OPEN: Json = {"verdict": "not run", **dict.fromkeys(("difference", "low", "high", "least", "p")), "detail": ""}
# The metrics that cells have resamples of.
_METRICS = {"ranking": ("ap",), "replay": ("found", "money")}


def differences_of(study: Study, stored: Mapping[str, Stored]) -> list[Json]:
    """Compare the control with every other method, on each group of sets and on each large set.

    The sets of a group that come from several source tables are compared by one figure each, and whole source tables
    are drawn for the interval. Where all come from one, as weeks of the same customers do, the test rows or customers
    were drawn, alike for all methods and weeks.

    The differences of a replay are turned round: each desk is compared with the control, which does nothing.

    Returns
    -------
    list of dict
        "metric", "place", "sets", "against", the means "ours" and "theirs", their "difference", "low" and "high" (None
        without an interval), the ends "level" of the interval of ours, "drawn" and the "record".
    """
    groups: dict[str, list[Record]] = {}
    for set_ in study.sets:
        if "group" in set_:
            groups.setdefault(set_["group"], []).append(set_)
    ours = next((method for method in study.methods if method.label == study.control), None)
    if not groups or ours is None:
        return []
    cells: dict[tuple[str, str], list[Stored]] = {}
    for planned in study.plan():
        if planned.cell.key in stored:
            cells.setdefault((planned.method.column, planned.set), []).append(stored[planned.cell.key])
    places = list(groups.items())
    places += [(set_["label"], [set_]) for sets in groups.values() if len(sets) > 1 for set_ in sets if _is_large(set_)]
    rows = [
        _compare(metric, name, sets, ours, method, cells)
        for metric in _METRICS.get(study.measures, ("ap",))
        for name, sets in places
        for method in study.methods
        if method.column != ours.column
    ]
    if study.measures == "replay":
        rows = [{**_reversed(row), "gain": True} for row in rows if row]
    grouped = set(groups)
    return [row for row in rows if row and (row["place"] in grouped or row["low"] is not None)]


def _compare(
    metric: str,
    place: str,
    sets: Sequence[Record],
    ours: Method,
    theirs: Method,
    cells: Mapping[tuple[str, str], Sequence[Stored]],
) -> Json:
    both = [set_ for set_ in sets if all((m.column, set_["label"]) in cells for m in (ours, theirs))]
    if not both:
        return {}
    a, b = (_figures(metric, method, both, cells) for method in (ours, theirs))
    sources = [set_.get("source", set_["label"]) for set_ in both]
    low = high = level = None
    drawn = ""
    if len(set(sources)) > 1:
        _, low, high = bootstrap_clusters(a - b, sources)
        level = list(bootstrap_clusters(a, sources)[1:])
        drawn = f"{len(set(sources))} source tables"
    else:
        resampled = [_resamples(metric, method, both, cells) for method in (ours, theirs)]
        if all(len(values) for values in resampled):
            low, high = np.quantile(resampled[0] - resampled[1], [0.025, 0.975]).tolist()
            level = np.quantile(resampled[0], [0.025, 0.975]).tolist()
            drawn = "customers" if "start" in both[0] else "days" if metric != "ap" else "test rows"
    return {
        "metric": metric,
        "place": place,
        "sets": len(both),
        "of": len(sets),
        "against": theirs.column,
        "ours": float(a.mean()),
        "theirs": float(b.mean()),
        "difference": float((a - b).mean()),
        "low": low,
        "high": high,
        "level": level,
        "drawn": drawn,
        "record": list(win_tie_loss(a, b)),
    }


def _is_large(set_: Record) -> bool:
    """Return whether a set is split by time or as it is distributed, or not all of its rows are used."""
    return any(key in set_ for key in ("start", "train_rows", "rows"))


def _figures(metric: str, method: Method, sets: Sequence[Record], cells: Any) -> FloatArray:
    return np.array([fmean(cell.figures[metric] for cell in cells[method.column, set_["label"]]) for set_ in sets])


def _resamples(metric: str, method: Method, sets: Sequence[Record], cells: Any) -> FloatArray:
    """Return the mean of the resampled figures over sets, and within a set over seeds."""
    by_set = []
    for set_ in sets:
        drawn = [cell.resamples[metric] for cell in cells[method.column, set_["label"]] if metric in cell.resamples]
        if not drawn:
            return np.empty(0)
        by_set.append(np.mean(drawn, axis=0))
    return np.mean(by_set, axis=0)


def judge_difference(claim: Record, rows: Sequence[Record]) -> Json | None:
    """Judge whether a method is better than another, or at most `margin` worse, by the interval of the difference.

    One of the two is the control.
    """
    metric = claim.get("metric", rows[0].get("metric") if rows else None)
    others = {row["against"]: row for row in rows if row["place"] == claim["group"] and row.get("metric") == metric}
    row = others.get(claim["worse"])
    other = others.get(claim["better"])
    if (row or other or {"low": None})["low"] is None:
        return None
    if row is None and other is not None:
        row = other if other.get("gain") else _reversed(other)
    assert row is not None
    judged = verdict_of(row["difference"], row["low"], row["high"], margin=claim.get("margin"))
    return {**judged, "p": None, "detail": describe(row)}


def verdict_of(difference: float, low: float, high: float, *, margin: float | None = None) -> Json:
    """Return a verdict by the interval of a difference, and the smallest difference that could be detected."""
    # "Not worse by more than a margin" may lie on it; "better" must exceed 0.
    bound = 0.0 if margin is None else -margin
    holds = low > bound or (margin is not None and low == bound)
    verdict = "confirmed" if holds else "refuted" if high < bound else "inconclusive"
    return {"verdict": verdict, "difference": difference, "low": low, "high": high, "least": (high - low) / 2}


def _reversed(row: Record) -> Json:
    swapped = {"ours": row["theirs"], "theirs": row["ours"], "record": row.get("record", [])[::-1]}
    # Less 0, so that no difference is written as -0.
    swapped["difference"] = 0.0 - row["difference"]
    ends = {} if row["low"] is None else {"low": 0.0 - row["high"], "high": 0.0 - row["low"]}
    return {**row, **swapped, **ends}


def judge_level(claim: Record, rows: Sequence[Record]) -> Json | None:
    """Judge whether the mean of the control on a group of sets reaches a level."""
    row = next((r for r in rows if r["place"] == claim["group"]), None)
    if row is None or row["sets"] < row["of"]:
        return None
    above = row["ours"] - claim["at_least"]
    detail = f"{row['ours']:.4f} on {row['sets']} sets, to reach {claim['at_least']:g}"
    if row["level"] is None:
        return {**OPEN, "verdict": "inconclusive", "difference": above, "detail": f"{detail}; there is no interval"}
    low, high = (end - claim["at_least"] for end in row["level"])
    return {**verdict_of(above, low, high, margin=0.0), "p": None, "detail": f"{detail} ({row['drawn']} drawn)"}


def describe(row: Record) -> str:
    """Write what a difference was found on."""
    return f"{row['ours']:.4f} and {row['theirs']:.4f} on {row['sets']} of {row['of']} sets ({row['drawn']} drawn)"
