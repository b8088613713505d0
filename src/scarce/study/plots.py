"""The drawings of a study's report, as SVG that stands inside a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from scarce._colours import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from scarce._svg import STYLE, to_svg
from scarce._typing import Record

__all__ = ["agreement", "gains", "means", "panels", "plane", "rank_diagram"]

COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, GREY, BLACK)
MARKS = "osD^vP*X"
_STYLE: Any = STYLE | {"font.size": 9, "grid.color": "#dde2e8", "legend.fontsize": 8}


def means(table: Record) -> str:
    """Draw the mean of each column, and the paper's where it printed one."""
    columns = [c for c in table["columns"] if c["mean"] is not None][::-1]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 0.26 * len(columns) + 1.0), layout="constrained")
        axis = figure.subplots()
        place = range(len(columns))
        axis.plot([c["mean"] for c in columns], place, "o", color=COLOURS[0], ms=6, label="ours")
        theirs = [(c["printed_mean"], i) for i, c in enumerate(columns) if c["printed_mean"] is not None]
        if theirs:
            axis.plot(*zip(*theirs, strict=True), "D", mfc="none", color=COLOURS[1], ms=6, label="printed")
            axis.legend(loc="best")
        axis.set_yticks(place, [c["column"] for c in columns])
        axis.set(xlabel=f"{table['label']}, mean over sets", ylim=(-0.6, len(columns) - 0.4))
        return to_svg(figure, f"Mean {table['label']} of each method")


def gains(rows: Sequence[Record]) -> str:
    """Draw the differences from the control with their intervals, a panel for each set and metric."""
    metrics, places = (list(dict.fromkeys(row[key] for row in rows)) for key in ("label", "place"))
    names = list(dict.fromkeys(row["against"] for row in rows))[::-1]
    with mpl.rc_context(_STYLE):
        size = (3.1 * len(metrics) + 2.2, (0.24 * len(names) + 0.75) * len(places))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(places), len(metrics), squeeze=False, sharey=True, sharex="col")
        for row in rows:
            axis = axes[places.index(row["place"]), metrics.index(row["label"])]
            at, clear = names.index(row["against"]), row["low"] is not None and not row["low"] <= 0 <= row["high"]
            if row["low"] is not None:
                axis.plot([row["low"], row["high"]], [at, at], color=COLOURS[0], lw=1.6)
            axis.plot(row["difference"], at, "o", color=COLOURS[0], mfc=COLOURS[0] if clear else "white", ms=5)
        for (i, j), axis in np.ndenumerate(axes):
            axis.axvline(0, color=GREY, lw=1, zorder=0)
            axis.set(ylim=(-0.6, len(names) - 0.4), title=places[i], xlabel=metrics[j] if i == len(places) - 1 else "")
            axis.set_yticks(range(len(names)), names)
        return to_svg(figure, "Differences from the control, with 95 % intervals; filled where these exclude 0")


def agreement(table: Record) -> str:
    """Draw our figure of each set against the paper's; on the line they are equal."""
    columns = [c for c in table["columns"] if c["n_both"]]
    if not columns:
        return ""
    scalings = list(dict.fromkeys(c["scaling"] for c in columns))
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(3.9 * len(scalings), 3.9), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(scalings), sharex=True, sharey=True))
        for axis, scaling in zip(axes, scalings, strict=True):
            for column, (colour, mark) in zip((c for c in columns if c["scaling"] == scaling), _marks(), strict=False):
                pairs = zip(column["printed"], column["values"], strict=True)
                both = [(a, b) for a, b in pairs if a is not None and b is not None]
                axis.plot(*zip(*both, strict=True), mark, ms=4, color=colour, label=column["label"], alpha=0.8)
            axis.axline((0, 0), slope=1, color="#9aa7b5", lw=1, zorder=0)
            axis.set(title="" if scaling == "none" else scaling, xlabel="printed", ylabel="ours")
        axes[0].legend(loc="upper left")
        return to_svg(figure, f"{table['label']} of each set, ours against the paper's")


def rank_diagram(ranking: Record) -> str:
    """Draw the mean ranks, with a bar over methods that Nemenyi's test does not separate."""
    from scarce.plotting import CriticalDifferenceDisplay

    ranks = ranking["ranks"]
    display = CriticalDifferenceDisplay(list(ranks.values()), names=list(ranks), n_sets=ranking["n_sets"])
    with mpl.rc_context({**_STYLE, "axes.grid": False}):
        figure = Figure(figsize=(7.2, 0.16 * len(ranks) + 1.5), layout="constrained")
        display.plot(figure.subplots(), label_props={"fontsize": 8})
        return to_svg(figure, "Mean ranks; methods under one bar are not separated by Nemenyi's test at 5 %")


def panels(curves: Sequence[Record]) -> str:
    """Draw lines, one panel for each group of sets or each metric."""
    with mpl.rc_context(_STYLE):
        wide = min(3, len(curves))
        high = -(-len(curves) // wide)
        figure = Figure(figsize=(4.0 * wide, 3.3 * high), layout="constrained")
        axes = np.atleast_1d(figure.subplots(high, wide)).ravel()
        names = dict.fromkeys(name for curve in curves for name in curve["lines"])
        looks = dict(zip(names, _marks(), strict=False))
        named: list[str] = []
        for axis, curve in zip(axes, curves, strict=False):
            for name, line in curve["lines"].items():
                colour, mark = looks[name]
                axis.plot(*zip(*line, strict=True), marker=mark, ms=4, lw=1.4, color=colour, label=name)
            axis.set(title=curve["title"], xlabel=curve["x"], ylabel=curve["y"])
            # Where other lines come in, the names are given again.
            if list(curve["lines"]) != named:
                axis.legend(loc="best")
            named = list(curve["lines"])
        for axis in axes[len(curves) :]:
            axis.set_axis_off()
        return to_svg(figure, f"{curves[0]['y']} against {curves[0]['x']}")


def plane(curve: Record) -> str:
    """Draw a value over two parameters, the best pair marked."""
    x, y, z = (np.array(values, dtype=np.float64) for values in zip(*curve["points"], strict=True))
    across, along = np.unique(x), np.unique(y)
    cells = np.full((len(along), len(across)), np.nan)
    cells[np.searchsorted(along, y), np.searchsorted(across, x)] = z
    with mpl.rc_context({**_STYLE, "axes.grid": False}):
        figure = Figure(figsize=(5.2, 4.4), layout="constrained")
        axis = figure.subplots()
        mesh = axis.pcolormesh(across, along, cells, shading="nearest", cmap="viridis", rasterized=False)
        figure.colorbar(mesh, label=curve["z"])
        best = int(z.argmax())
        axis.plot(x[best], y[best], "o", color=COLOURS[1], ms=8)
        axis.set(xlabel=curve["x"], ylabel=curve["y"], title=f"best {z[best]:.3f} at ({x[best]:.1f}, {y[best]:.1f})")
        return to_svg(figure, str(curve["title"]))


def _marks() -> list[tuple[str, str]]:
    return [(colour, mark) for mark in MARKS for colour in COLOURS]
