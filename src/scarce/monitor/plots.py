"""Drawings of the monitor's page: figures of all runs and of all periods."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from scarce._colours import ORANGE, RED
from scarce._typing import FloatArray, Json
from scarce.audit.plots import ACCENT, INK, MUTED, PAGE_STYLE, on_page

__all__ = ["of_periods", "over_runs"]

# The column of the history, its title, the value without any drift, and whether it is a share.
SERIES = (
    ("psi", "Largest population stability index of a column", 0.0, False),
    ("auc", "AUC of new rows against tested ones", 0.5, False),
    ("expected_ratio", "Expected positives, in times of the tested rows", 1.0, False),
    ("precision", "Precision within the budget", None, True),
    ("recall", "Recall within the budget", None, True),
    ("calibration", "Positives found, in times of those expected", 1.0, False),
)
MOST_LABELS = 6


def over_runs(history: pd.DataFrame) -> list[str]:
    """Draw each figure over all runs, with its interval; a red ring is a run that needed a person."""
    # A period that was looked at again has the figures of the last time.
    shown = history[~history.duplicated(["model", "period"], keep="last")]
    drawn = []
    for name, title, usual, share in SERIES:
        values = shown[name].to_numpy(dtype=np.float64)
        if np.isfinite(values).any():
            drawn.append(_series(shown, name, values, title, usual, share))
    return drawn


def _series(shown: pd.DataFrame, name: str, values: FloatArray, title: str, usual: float | None, share: bool) -> str:
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(5.2, 2.3), layout="constrained")
        axis = figure.subplots()
        place = np.arange(len(values))
        if usual is not None:
            axis.axhline(usual, color=MUTED, lw=1, ls=":")
        if f"{name}_low" in shown:
            low, high = (shown[f"{name}_{end}"].to_numpy(dtype=np.float64) for end in ("low", "high"))
            axis.vlines(place, low, high, color=ACCENT, lw=1.6)
        known = np.isfinite(values)
        axis.plot(place[known], values[known], color=ACCENT, marker="o", ms=4, lw=1.2)
        person = shown["needs_person"].to_numpy(dtype=bool) & known
        axis.plot(place[person], values[person], "o", ms=9, mfc="none", mec=RED, mew=1.4)
        for renewed in np.flatnonzero(shown["model"].to_numpy()[1:] != shown["model"].to_numpy()[:-1]) + 0.5:
            axis.axvline(renewed, color=INK, lw=1, ls="--")
        _label(axis, [str(period)[:10] for period in shown["period"]])
        axis.set_title(title, loc="left")
        axis.margins(x=0.06)
        axis.set_ylim(bottom=0)
        if share:
            axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        return on_page(figure, f"{title}, run by run")


def of_periods(periods: Sequence[Json]) -> str | None:
    """Draw precision and recall within the budget of each period, with intervals; None where neither is known."""
    if all(p[name] is None for p in periods for name in ("precision", "recall")):
        return None
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(10.4, 2.8), layout="constrained")
        axis = figure.subplots()
        for name, colour, marker, aside in (("precision", ACCENT, "o", -0.08), ("recall", ORANGE, "s", 0.08)):
            known = [(place + aside, p[name]) for place, p in enumerate(periods) if p[name] is not None]
            if not known:
                continue
            places, intervals = [place for place, _ in known], [interval for _, interval in known]
            axis.vlines(places, [i["low"] for i in intervals], [i["high"] for i in intervals], color=colour, lw=1.6)
            axis.plot(places, [i["estimate"] for i in intervals], color=colour, marker=marker, ms=5, lw=1, label=name)
        _label(axis, [str(p["name"]) for p in periods])
        axis.set(ylim=(0, 1.02), ylabel="within the budget")
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        figure.legend(loc="outside lower center", ncols=2)
        return on_page(figure, "Precision and recall within the budget by period")


def _label(axis: Axes, names: Sequence[str]) -> None:
    step = max(1, -(-len(names) // MOST_LABELS))
    axis.set_xticks(np.arange(len(names))[::step], names[::step])
