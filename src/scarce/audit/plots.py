"""The report's figures, as SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from scarce._colours import GREEN, ORANGE, PINK, RED, SKY
from scarce._svg import STYLE, to_svg
from scarce._typing import Json, Keywords

__all__ = ["dots_and_whiskers", "on_page", "precision_at_budget", "precision_recall"]

# Colours that stand for the page's own, which differ between light and dark.
INK, MUTED, GRID, ACCENT = "#010101", "#020202", "#030303", "#040404"
_COLOURS_OF_PAGE = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--line)", ACCENT: "var(--accent)"}
OTHERS = (ORANGE, GREEN, PINK, RED, SKY, "#8A8F98")
LINES = ("-", "--", ":", "-.")
PAGE_STYLE: Any = STYLE | {
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.fontsize": 9,
    "legend.labelcolor": INK,
}


def dots_and_whiskers(title: str, names: Sequence[str], figures: Sequence[Mapping[str, float]]) -> str:
    """Draw every method's estimate and interval of one figure; the first method is the winner."""
    with mpl.rc_context(PAGE_STYLE):
        drawing = Figure(figsize=(4.1, 0.34 * len(names) + 0.9), layout="constrained")
        axis = drawing.subplots()
        place = np.arange(len(names))[::-1]
        for y, figure in zip(place, figures, strict=True):
            colour = ACCENT if y == place[0] else MUTED
            axis.plot([figure["low"], figure["high"]], [y, y], color=colour, lw=2, solid_capstyle="round")
            axis.plot(figure["estimate"], y, "o", color=colour, ms=7)
        axis.set_title(title, loc="left")
        axis.grid(axis="y", visible=False)
        axis.set_ylim(-0.6, len(names) - 0.4)
        axis.margins(x=0.08)
        axis.tick_params(axis="y", length=0)
        axis.set_yticks(place, names)
        axis.get_yticklabels()[0].set(color=INK, fontweight="bold")
        return on_page(drawing, f"{title} of each method with its 95 % interval")


def precision_recall(curves: Sequence[Json], rate: float) -> str:
    """Draw precision against recall for every method; the winner comes first, with its threshold."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(5.2, 4.5), layout="constrained")
        axis = figure.subplots()
        for curve, style in _with_styles(curves):
            axis.step(curve["recall"], curve["precision"], where="post", label=curve["name"], **style)
        chosen = curves[0]["at_threshold"]
        axis.plot(chosen["recall"], chosen["precision"], "o", color=ACCENT, ms=8, zorder=5)
        axis.axhline(rate, color=MUTED, lw=1, ls=":")
        axis.set(xlabel="recall: share of positives found", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
        figure.legend(loc="outside lower center", ncols=3)  # under the axes, where it covers no curve
        return on_page(figure, "Precision against recall of each method")


def precision_at_budget(curves: Sequence[Json], budget: float, rate: float) -> str:
    """Draw the precision among the first k rows for every method, the budget marked."""
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(5.2, 4.5), layout="constrained")
        axis = figure.subplots()
        for curve, style in _with_styles(curves):
            axis.plot(curve["checked"], curve["precision_at"], label=curve["name"], **style)
        axis.axhline(rate, color=MUTED, lw=1, ls=":")
        axis.axvline(budget, color=INK, lw=1.2, ls="--")
        axis.annotate(
            "budget ", (budget, 1), xycoords=("data", "axes fraction"), va="top", ha="right", color=INK, fontsize=9
        )
        axis.set(xlabel="rows checked", ylabel="precision among them", xscale="log", ylim=(0, 1.02))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.margins(x=0)
        figure.legend(loc="outside lower center", ncols=3)  # under the axes, where it covers no curve
        return on_page(figure, "Precision among the first rows of each method's ranking")


def _with_styles(curves: Sequence[Json]) -> list[tuple[Json, Keywords]]:
    winner = [(curves[0], {"color": ACCENT, "lw": 2.4, "zorder": 4})]
    # After the last colour, the first comes again with another kind of line.
    return winner + [
        (curve, {"color": OTHERS[i % len(OTHERS)], "ls": LINES[i // len(OTHERS) % len(LINES)], "lw": 1.2, "alpha": 0.9})
        for i, curve in enumerate(curves[1:])
    ]


def on_page(figure: Figure, title: str) -> str:
    """Return a drawing as SVG whose colours are those of the page, light or dark."""
    drawing = to_svg(figure, title)
    for placeholder, colour in _COLOURS_OF_PAGE.items():
        drawing = drawing.replace(placeholder, colour)
    return drawing
