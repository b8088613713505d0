"""From the store to what a reader sees: our figures, the paper's beside them, and whether they differ."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from scarce._typing import Json, Record

from .curves import curves_of
from .differences import differences_of
from .measures import LABELS, lower_is_better
from .protocols import describe_protocol
from .runner import needs
from .spec import Method, Study
from .statistics import (
    bonferroni_dunn,
    bootstrap_mean,
    compare_pairs,
    critical_difference,
    mean_interval,
    nemenyi,
    rank_methods,
    wilcoxon_p,
)
from .store import Store, Stored
from .verdicts import FEWEST_SETS, Grid, verdicts_of

__all__ = ["Grid", "tabulate"]


def tabulate(study: Study, store: Store) -> Json:
    """Return all that is known of a study, as plain data.

    Parameters
    ----------
    study : Study
        The study, reduced or not.
    store : Store
        Where its figures are.

    Returns
    -------
    dict
        "tables" (one for each metric), "differences" (on groups of sets), "claims", "curves", "errata", "notes", and
        how much of the study was run.
    """
    plan = study.plan()
    stored = store.read({planned.cell.key for planned in plan})
    failures = store.failures({planned.cell.key for planned in plan})
    grids = {metric: _grid(study, stored, metric) for metric in study.metrics}
    found = list(stored.values())
    differences = differences_of(study, stored)
    failed = {f"{p.method.column} on {p.set}": failures[p.cell.key] for p in plan if p.cell.key in failures}
    return {
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "has_printed": bool(study.printed),
        "command": _command(study),
        "splits": study.splits,
        "stamp": study.stamp,
        "protocol": describe_protocol(study),
        "reduced": list(study.reduced),
        "needs": needs(study),
        "cells": {"done": len(stored), "failed": len(failures), "total": len({planned.cell.key for planned in plan})},
        "failures": failed,
        "seconds": sum(outcome.fit_seconds + outcome.predict_seconds for outcome in found),
        "days": sorted({outcome.written[:10] for outcome in found}),
        "versions": found[0].versions if found else {},
        "tables": [_table(study, metric, grid) for metric, grid in grids.items()],
        "differences": [{**row, "label": LABELS.get(row["metric"], row["metric"])} for row in differences],
        # A replay has several metrics, and its control is what the others are compared with.
        "several": study.measures == "replay",
        "claims": verdicts_of(study, grids, differences),
        "curves": curves_of(study, stored),
        "control": study.control,
        "view": study.view,
        "errata": [dict(erratum) for erratum in study.errata],
        "notes": [*study.notes, *sorted({outcome.note for outcome in found} - {""})],
    }


def _command(study: Study) -> str:
    files = [set_ for set_ in study.sets if "sha256" in set_]
    if not files:
        return f"scarce study run {study.name}"
    positive = files[0]["positive"]
    return shlex.join(
        ["scarce", "study", "compare", "--target", files[0]["target"], "--metric", study.metrics[0]]
        + ["--splits", str(study.splits), "--methods", ",".join(m.label for m in study.methods if not m.rival)]
        + (["--positive", positive] if positive else [])
        + [word for set_ in files for word in ("--data", set_["name"])]
    )


def _grid(study: Study, stored: Mapping[str, Stored], metric: str) -> dict[str, dict[str, dict[int, float]]]:
    grid: dict[str, dict[str, dict[int, float]]] = {method.column: {} for method in study.methods}
    for planned in study.plan():
        outcome = stored.get(planned.cell.key)
        if outcome is None:
            continue
        value = outcome.cpu_seconds if metric == "seconds" else outcome.figures.get(metric)
        if value is not None:
            grid[planned.method.column].setdefault(planned.set, {})[planned.split] = value
    return grid


def _table(study: Study, metric: str, grid: Grid) -> Json:
    sets = [set_["label"] for set_ in study.sets]
    printed = _printed(study, metric)
    columns = [_column(method, sets, grid, printed.get(method.label, {})) for method in study.methods]
    lower = lower_is_better(metric)
    scalings = dict.fromkeys(method.scaling for method in study.methods if not method.rival)
    own = {s: [c for c in columns if c["scaling"] == s and not c["rival"]] for s in scalings}
    rankings = {}
    for scaling, block in own.items():
        name = scaling if len(own) > 1 else "the study's methods"
        rankings[name] = _ranking(block, sets, study, lower)
    if any(c["rival"] for c in columns):
        rankings["all columns"] = _ranking(columns, sets, study, lower)
    return {
        "metric": metric,
        "label": LABELS.get(metric, metric),
        "lower_is_better": lower,
        "sets": sets,
        "columns": columns,
        "rankings": {name: ranking for name, ranking in rankings.items() if ranking},
    }


def _column(method: Method, sets: Sequence[str], grid: Grid, printed: Mapping[str, float]) -> Json:
    values = grid[method.column]
    mean = [fmean(values[set_].values()) if set_ in values else None for set_ in sets]
    spread = [stdev(values[set_].values()) if len(values.get(set_, ())) > 1 else None for set_ in sets]
    done = [value for value in mean if value is not None]
    both = [
        (value, printed[set_]) for set_, value in zip(sets, mean, strict=True) if value is not None and set_ in printed
    ]
    beside: Json = dict.fromkeys(("printed_mean", "difference", "low", "high", "apart", "p"))
    beside["n_both"] = len(both)
    if both:
        ours, theirs = np.array(both).T
        beside["printed_mean"], beside["difference"] = float(theirs.mean()), float((ours - theirs).mean())
        beside["ours_mean"] = float(ours.mean())
        if len(both) >= FEWEST_SETS:
            beside["p"] = wilcoxon_p(ours, theirs)
            beside["low"], beside["high"] = mean_interval(ours - theirs)[1:]
        beside["apart"] = float(np.abs(ours - theirs).mean())
    elif "mean" in printed and done and len(done) == len(sets):
        beside["printed_mean"], beside["difference"] = printed["mean"], fmean(done) - printed["mean"]
        beside["ours_mean"] = fmean(done)
    return {
        "column": method.column,
        "label": method.label,
        "scaling": method.scaling,
        "rival": method.rival,
        "mean": fmean(done) if done else None,
        "interval": list(bootstrap_mean(done)[1:]) if len(done) > 1 else None,
        "n_sets": len(done),
        "values": mean,
        "spread": spread,
        "splits": [len(values.get(set_, ())) for set_ in sets],
        "printed": [printed.get(set_) for set_ in sets],
        **beside,
    }


def _printed(study: Study, metric: str) -> dict[str, dict[str, float]]:
    """Return the paper's figures by column and set; "mean" is a mean that the paper prints without its sets."""
    block = study.printed.get(metric)
    if not block:
        return {}
    scale = 0.01 if block.get("percent") else 1.0
    rows = {key: row for key, row in block.items() if key not in ("columns", "percent")}
    # A figure that the paper does not print is written as a negative one.
    return {
        str(column): {set_: scale * row[j] for set_, row in rows.items() if row[j] >= 0}
        for j, column in enumerate(block["columns"])
    }


def _ranking(columns: Sequence[Record], sets: Sequence[str], study: Study, lower: bool) -> Json:
    done = [c for c in columns if any(value is not None for value in c["values"])]
    whole = [i for i in range(len(sets)) if all(c["values"][i] is not None for c in done)]
    if len(done) < 2 or len(whole) < 2:
        return {}
    table = np.array([[c["values"][i] for c in done] for i in whole])
    names = [c["column"] for c in done]
    ranking = rank_methods(table, lower_is_better=lower)
    k, n = len(names), len(whole)
    control = next((name for name in names if name == study.control or name.startswith(f"{study.control} (")), None)
    behind = {}
    if control and study.control:
        own = ranking.ranks[names.index(control)]
        behind = {name: float(rank - own) for name, rank in zip(names, ranking.ranks, strict=True) if name != control}
    few = {name: table[:, j] for j, name in enumerate(names)}
    return {
        "n_sets": n,
        "ranks": dict(zip(names, ranking.ranks.tolist(), strict=True)),
        "friedman": ranking.friedman,
        "friedman_p": ranking.friedman_p,
        "iman_davenport": ranking.iman_davenport,
        "iman_davenport_p": ranking.iman_davenport_p,
        "iman_davenport_critical": ranking.iman_davenport_critical,
        "nemenyi_cd": critical_difference(nemenyi(k), k, n),
        "control": control,
        "bonferroni_dunn_cd": critical_difference(bonferroni_dunn(k), k, n),
        "behind": behind,
        "pairs": [
            {**pair, "record": list(pair["record"])} for pair in compare_pairs(few, control, lower_is_better=lower)
        ],
    }
