"""From the store to what a reader sees: our figures, the paper's beside them, and whether they differ."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np
from scipy.stats import spearmanr

from scarce._typing import Json, Record

from .curves import curves_of
from .differences import differences_of, judge_difference, judge_level
from .measures import LABELS, lower_is_better
from .runner import needs
from .spec import Method, Study
from .statistics import (
    bonferroni_dunn,
    bootstrap_mean,
    compare_pairs,
    critical_difference,
    nemenyi,
    rank_methods,
    wilcoxon_p,
)
from .store import Store, Stored

__all__ = ["Grid", "tabulate"]

# Values of one metric by column, set and split.
Grid = Mapping[str, Mapping[str, Mapping[int, float]]]
# With fewer sets a test over sets could hardly be significant; then the splits are resampled.
FEWEST_SETS = 6
ALPHA = 0.05
_OPEN = {"verdict": "not run", "difference": None, "p": None, "detail": ""}


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
        "claims": [verdict for claim in study.claims for verdict in _verdicts(study, claim, grids, differences)],
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
    beside: Json = {"printed_mean": None, "difference": None, "apart": None, "p": None, "n_both": len(both)}
    if both:
        ours, theirs = np.array(both).T
        beside["printed_mean"], beside["difference"] = float(theirs.mean()), float((ours - theirs).mean())
        beside["ours_mean"] = float(ours.mean())
        beside["p"] = wilcoxon_p(ours, theirs) if len(both) >= FEWEST_SETS else None
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


def _verdicts(study: Study, claim: Record, grids: Mapping[str, Grid], differences: Sequence[Record]) -> Iterable[Json]:
    """Judge a statement of the paper on our figures, once for each scaling."""
    metric = claim.get("metric", study.metrics[0])
    if "group" in claim:
        judge = judge_level if "at_least" in claim else judge_difference
        yield {"text": claim["text"], "metric": metric, "scaling": "", **(judge(claim, differences) or _OPEN)}
        return
    lower = lower_is_better(metric)
    scalings = dict.fromkeys(method.scaling for method in study.methods if not method.rival)
    for scaling in scalings:
        names = {m.label: m.column for m in study.methods if m.scaling == scaling and not m.rival}
        described = {"text": claim["text"], "metric": metric, "scaling": scaling if len(scalings) > 1 else ""}
        places = {set_["label"]: float(set_[study.x[0]]) for set_ in study.sets if study.x and study.x[0] in set_}
        yield {**described, **_judge(claim, names, grids[metric], -1.0 if lower else 1.0, places)}


def _judge(claim: Record, names: Mapping[str, str], grid: Grid, sign: float, places: Mapping[str, float]) -> Json:
    if "rises" in claim or "falls" in claim:
        return _judge_trend(claim, names, grid, places) or _OPEN
    if "best" in claim or "beats" in claim or "level" in claim:
        among = [names[label] for label in claim.get("among", names) if names.get(label) in grid and grid[names[label]]]
        return _judge_ranks(claim, among, names, grid, sign) or _OPEN
    better, worse = (grid.get(names.get(claim[side], ""), {}) for side in ("better", "worse"))
    sets = [set_ for set_ in better if set_ in worse]
    if not sets:
        return dict(_OPEN)
    x, y = (np.array([fmean(values[set_].values()) for set_ in sets]) for values in (better, worse))
    difference = sign * (x - y)
    if len(sets) >= FEWEST_SETS:
        p = wilcoxon_p(x, y)
        clear, detail = p < ALPHA, f"Wilcoxon over {len(sets)} sets, p = {p:.2g}"
    else:
        p = None
        by_split = [sign * (better[s][i] - worse[s][i]) for s in sets for i in better[s] if i in worse[s]]
        low, high = bootstrap_mean(by_split)[1:]
        clear = low > 0 or high < 0
        many = "s" if len(sets) > 1 else ""
        detail = f"{len(by_split)} splits of {len(sets)} set{many}, 95 % interval {low:+.3f} to {high:+.3f}"
    mean = float(difference.mean())
    verdict = ("confirmed" if mean > 0 else "refuted") if clear else ("agrees" if mean > 0 else "disagrees")
    return {"verdict": verdict, "difference": mean, "p": p, "detail": detail}


def _judge_trend(claim: Record, names: Mapping[str, str], grid: Grid, places: Mapping[str, float]) -> Json | None:
    """Judge whether a figure rises or falls along the axis, by Spearman's correlation over sets and splits."""
    values = grid[names[claim.get("rises") or claim["falls"]]]
    points = [(places[set_], value) for set_, by_split in values.items() for value in by_split.values()]
    if not points or min(len(set(axis)) for axis in zip(*points, strict=True)) < 2:
        return None
    found = spearmanr(*zip(*points, strict=True))
    agrees = (found.statistic > 0) == ("rises" in claim)
    verdict = ("confirmed" if agrees else "refuted") if found.pvalue < ALPHA else ("agrees" if agrees else "disagrees")
    detail = f"Spearman's correlation {found.statistic:+.2f} over {len(points)} cells, p = {found.pvalue:.2g}"
    return {"verdict": verdict, "difference": None, "p": float(found.pvalue), "detail": detail}


def _judge_ranks(claim: Record, among: Sequence[str], names: Mapping[str, str], grid: Grid, sign: float) -> Json | None:
    sets = [set_ for set_ in grid[among[0]] if all(set_ in grid[name] for name in among)] if among else []
    if len(among) < 2 or len(sets) < 2:
        return None
    table = sign * np.array([[fmean(grid[name][set_].values()) for name in among] for set_ in sets])
    ranks = dict(zip(among, rank_methods(table).ranks.tolist(), strict=True))
    difference = critical_difference(bonferroni_dunn(len(among)), len(among), len(sets))
    subject = names[claim.get("best") or claim["control"]]
    if subject not in ranks:
        return None
    behind = {name: rank - ranks[subject] for name, rank in ranks.items() if name != subject}
    described = _describe_ranks(ranks, difference)
    if "best" in claim:
        nearest = min(behind, key=behind.__getitem__)
        verdict = ("confirmed" if behind[nearest] >= difference else "agrees") if behind[nearest] > 0 else "disagrees"
        if behind[nearest] <= -difference:
            verdict = "refuted"
        return {
            "verdict": verdict,
            "difference": behind[nearest],
            "p": None,
            "detail": _describe_ranks(ranks, difference),
        }
    others = [names[label] for label in claim.get("beats", claim.get("level", ())) if names.get(label) in behind]
    if not others:
        return None
    if "beats" in claim:
        far = all(behind[name] >= difference for name in others)
        verdict = "confirmed" if far else "refuted" if any(behind[n] <= -difference for n in others) else "disagrees"
    else:
        # That a difference was not found does not show that there is none.
        verdict = "agrees" if all(abs(behind[name]) < difference for name in others) else "refuted"
    least = min(behind[name] for name in others)
    return {"verdict": verdict, "difference": least, "p": None, "detail": described}


def _describe_ranks(ranks: Mapping[str, float], difference: float) -> str:
    order = sorted(ranks, key=ranks.__getitem__)
    return (
        f"mean ranks {', '.join(f'{name} {ranks[name]:.2f}' for name in order)}; critical difference {difference:.2f}"
    )
