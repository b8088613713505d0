"""Drawings of a model's inside: calibration, periods, importance and dependence."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from scarce._colours import ORANGE
from scarce._typing import Json

from .plots import ACCENT, INK, MUTED, PAGE_STYLE, on_page

__all__ = ["calibration", "dependence", "importance", "periods"]


def calibration(deciles: Sequence[Json]) -> str:
    """Draw the share of positives of each tenth of the tested rows against its mean probability."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(5.2, 3.9), layout="constrained")
        axis = figure.subplots()
        expected = np.array([d["expected"] for d in deciles])
        observed = np.array([d["observed"] for d in deciles])
        low, high = np.array([d["low"] for d in deciles]), np.array([d["high"] for d in deciles])
        end = float(max(expected.max(), high.max())) * 1.05
        axis.plot([0, end], [0, end], color=MUTED, lw=1, ls=":")
        axis.vlines(expected, low, high, color=ACCENT, lw=2)
        axis.plot(expected, observed, "o", color=ACCENT, ms=6)
        axis.set(xlabel="mean probability", ylabel="share of positives", xlim=(0, end), ylim=(0, end))
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_formatter(PercentFormatter(1, decimals=None))
            side.set_major_locator(MaxNLocator(5))
        return on_page(figure, "Share of positives against probability, by tenths of the tested rows")


def periods(segments: Sequence[Json]) -> str:
    """Draw precision and recall within the budget of each period, with intervals."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(10.4, 3.0), layout="constrained")
        axis = figure.subplots()
        place = np.arange(len(segments))
        for name, colour, marker, aside in (("precision", ACCENT, "o", -0.08), ("recall", ORANGE, "s", 0.08)):
            known = [i for i, s in enumerate(segments) if s[name] is not None]
            axis.vlines(
                place[known] + aside,
                [segments[i][f"{name}_interval"][0] for i in known],
                [segments[i][f"{name}_interval"][1] for i in known],
                color=colour,
                lw=1.6,
            )
            axis.plot(
                place[known] + aside,
                [segments[i][name] for i in known],
                color=colour,
                marker=marker,
                ms=5,
                lw=1,
                label=name,
            )
        step = max(1, len(segments) // 8)
        axis.set_xticks(place[::step], [segments[i]["name"] for i in place[::step]])
        axis.set(ylim=(0, 1.02), ylabel="within the budget")
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        figure.legend(loc="outside lower center", ncols=2)
        return on_page(figure, "Precision and recall within the budget by period")


def importance(columns: Sequence[Json]) -> str:
    """Draw the average precision that is lost without each column."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(5.2, 0.3 * len(columns) + 0.9), layout="constrained")
        axis = figure.subplots()
        place = np.arange(len(columns))[::-1]
        losses = np.array([c["loss"] for c in columns])
        axis.barh(place, losses, height=0.62, color=ACCENT)
        axis.hlines(place, [c["low"] for c in columns], [c["high"] for c in columns], color=INK, lw=1)
        axis.set_yticks(place, [_short(c["title"]) for c in columns])
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", visible=False)
        axis.set(xlabel="average precision lost without it")
        return on_page(figure, "Importance of the columns")


def dependence(drawn: Json) -> str:
    """Draw the mean probability for each usual value of one column."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(4.1, 2.6), layout="constrained")
        axis = figure.subplots()
        values, probability = drawn["values"], np.array(drawn["probability"])
        if drawn["numeric"]:
            known = [i for i, value in enumerate(values) if value is not None]
            axis.plot([values[i] for i in known], probability[known], color=ACCENT, marker="o", ms=4, lw=1.6)
            axis.xaxis.set_major_locator(MaxNLocator(4))
        else:
            place = np.arange(len(values))
            axis.bar(place, probability, width=0.6, color=ACCENT)
            axis.set_xticks(place, [_short(str(value), 10) for value in values], rotation=35, ha="right")
            axis.grid(axis="x", visible=False)
        axis.set_title(_short(drawn["title"], 40), loc="left")
        axis.set(ylim=(0, float(probability.max()) * 1.15 or 1), ylabel="mean probability")
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        axis.yaxis.set_major_locator(MaxNLocator(4))
        return on_page(figure, f"Mean probability by {drawn['title']}")


def _short(text: str, most: int = 28) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
