"""Verdicts on the statements of papers by our figures, and the smallest difference that these can detect.

A statement is confirmed where the whole interval of the difference is on its side, refuted where the whole interval is
on the other side, and inconclusive where it includes both. Half of the interval is the smallest difference that so
many sets and splits can detect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np
from scipy.stats import spearmanr, t

from scarce._typing import FloatArray, Json, Record

from .differences import OPEN, judge_difference, judge_level, verdict_of
from .measures import lower_is_better
from .protocols import overlap_of
from .spec import Study
from .statistics import (
    bonferroni_dunn,
    critical_difference,
    mean_interval,
    rank_methods,
    splits_interval,
    wilcoxon_p,
)

__all__ = ["FEWEST_SETS", "VERDICTS", "Grid", "verdicts_of"]

VERDICTS = ("confirmed", "refuted", "inconclusive")
# Values of one metric by column, set and split.
Grid = Mapping[str, Mapping[str, Mapping[int, float]]]
# With fewer sets an interval over sets could hardly detect anything; then the splits of these sets are compared.
FEWEST_SETS = 6
ALPHA = 0.05


def verdicts_of(study: Study, grids: Mapping[str, Grid], differences: Sequence[Record]) -> list[Json]:
    """Judge every statement of a study on our figures, once for each scaling.

    Returns
    -------
    list of dict
        "text", "metric", "scaling", "verdict", the "difference" with "low" and "high", the "least" difference that
        could be detected, Wilcoxon's "p", and the "detail" of the evidence.
    """
    return [verdict for claim in study.claims for verdict in _verdicts(study, claim, grids, differences)]


def _verdicts(study: Study, claim: Record, grids: Mapping[str, Grid], differences: Sequence[Record]) -> Iterator[Json]:
    metric = claim.get("metric", study.metrics[0])
    if "group" in claim:
        judge = judge_level if "at_least" in claim else judge_difference
        yield {"text": claim["text"], "metric": metric, "scaling": "", **(judge(claim, differences) or OPEN)}
        return
    sign = -1.0 if lower_is_better(metric) else 1.0
    scalings = dict.fromkeys(method.scaling for method in study.methods if not method.rival)
    for scaling in scalings:
        names = {m.label: m.column for m in study.methods if m.scaling == scaling and not m.rival}
        described = {"text": claim["text"], "metric": metric, "scaling": scaling if len(scalings) > 1 else ""}
        yield {**described, **(_judge(study, claim, names, grids[metric], sign) or OPEN)}


def _judge(study: Study, claim: Record, names: Mapping[str, str], grid: Grid, sign: float) -> Json | None:
    if "rises" in claim or "falls" in claim:
        places = {set_["label"]: float(set_[study.x[0]]) for set_ in study.sets if study.x and study.x[0] in set_}
        return _judge_trend(claim, names, grid, places)
    if "best" in claim or "beats" in claim or "level" in claim:
        among = [names[label] for label in claim.get("among", names) if names.get(label) in grid and grid[names[label]]]
        return _judge_ranks(claim, among, names, grid, sign)
    return _judge_means(study, claim, names, grid, sign)


def _judge_means(study: Study, claim: Record, names: Mapping[str, str], grid: Grid, sign: float) -> Json | None:
    """Judge by the difference of two methods, over sets or, where these are few, over the splits of each."""
    better, worse = (grid.get(names.get(claim[side], ""), {}) for side in ("better", "worse"))
    sets = [set_ for set_ in better if set_ in worse]
    if not sets:
        return None
    x, y = (np.array([fmean(values[set_].values()) for set_ in sets]) for values in (better, worse))
    if len(sets) >= FEWEST_SETS:
        p = wilcoxon_p(x, y)
        judged = verdict_of(*mean_interval(sign * (x - y)))
        return {**judged, "p": p, "detail": f"over {len(sets)} sets; Wilcoxon's p = {p:.2g}"}
    by_set = {s: [sign * (better[s][i] - worse[s][i]) for i in better[s] if i in worse[s]] for s in sets}
    count = sum(map(len, by_set.values()))
    detail = f"over {count} split{'s' * (count > 1)} of {len(sets)} set{'s' * (len(sets) > 1)}"
    mean = float(np.mean([np.mean(figures) for figures in by_set.values() if figures])) if count else None
    if mean is None:
        return None
    if min(map(len, by_set.values())) < 2:
        return {**OPEN, "verdict": "inconclusive", "difference": mean, "detail": f"{detail}, which has no interval"}
    described = {set_["label"]: overlap_of(set_, study.protocol) for set_ in study.sets}
    interval = splits_interval([*by_set.values()], [described[s] for s in sets])
    return {**verdict_of(*interval), "p": None, "detail": detail}


def _judge_trend(claim: Record, names: Mapping[str, str], grid: Grid, places: Mapping[str, float]) -> Json | None:
    """Judge whether a figure rises or falls along the axis, by Spearman's correlation over sets."""
    values = grid[names[claim.get("rises") or claim["falls"]]]
    points = [(places[set_], fmean(by_split.values())) for set_, by_split in values.items()]
    if len(points) < 3 or min(len(set(axis)) for axis in zip(*points, strict=True)) < 2:
        return None
    found = spearmanr(*zip(*points, strict=True))
    agrees = (found.statistic > 0) == ("rises" in claim)
    clear = found.pvalue < ALPHA
    detail = (
        f"Spearman's correlation {found.statistic:+.2f} over {len(points)} sets, p = {found.pvalue:.2g}; "
        f"{_least_correlation(len(points)):.2f} could be detected"
    )
    verdict = "inconclusive" if not clear else "confirmed" if agrees else "refuted"
    return {**OPEN, "verdict": verdict, "p": float(found.pvalue), "detail": detail}


def _least_correlation(n: int) -> float:
    """Return the smallest correlation of n points that is significant."""
    bound = t.ppf(1 - ALPHA / 2, n - 2)
    return float(bound / np.sqrt(n - 2 + bound**2))


def _judge_ranks(claim: Record, among: Sequence[str], names: Mapping[str, str], grid: Grid, sign: float) -> Json | None:
    """Judge by mean ranks; their critical difference is the smallest that can be detected."""
    sets = [set_ for set_ in grid[among[0]] if all(set_ in grid[name] for name in among)] if among else []
    if len(among) < 2 or len(sets) < 2:
        return None
    table: FloatArray = sign * np.array([[fmean(grid[name][set_].values()) for name in among] for set_ in sets])
    ranks = dict(zip(among, rank_methods(table).ranks.tolist(), strict=True))
    least = critical_difference(bonferroni_dunn(len(among)), len(among), len(sets))
    subject = names[claim.get("best") or claim["control"]]
    if subject not in ranks:
        return None
    behind = {name: rank - ranks[subject] for name, rank in ranks.items() if name != subject}
    rivals = [names[label] for label in claim.get("beats", claim.get("level", ()))] or [*behind]
    others = [name for name in rivals if name in behind]
    if not others:
        return None
    nearest = min(others, key=behind.__getitem__)
    lead = behind[nearest]
    verdict = "confirmed" if lead >= least else "refuted" if lead <= -least else "inconclusive"
    if "level" in claim:
        # That a difference was not found does not show that there is none.
        nearest = max(others, key=lambda name: abs(behind[name]))
        lead = behind[nearest]
        verdict = "refuted" if abs(lead) >= least else "inconclusive"
    order = sorted(ranks, key=ranks.__getitem__)
    detail = f"mean ranks over {len(sets)} sets: {', '.join(f'{name} {ranks[name]:.2f}' for name in order)}"
    ends = {"low": lead - least, "high": lead + least, "least": least}
    return {"verdict": verdict, "difference": lead, **ends, "p": None, "detail": detail}
