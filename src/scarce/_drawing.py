"""Matplotlib, which is an extra, and the drawings that rooms below the displays need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scarce._colours import BLACK, BLUE, RED
from scarce._extras import require
from scarce._typing import Axes

__all__ = ["axes_or_new", "draw_effects", "pyplot"]

RAISES, LOWERS = RED, BLUE


def pyplot() -> Any:
    """Return matplotlib's pyplot; the error names the command that installs it."""
    return require("matplotlib.pyplot", "A plot")


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes, those of a new figure if none are given."""
    plt = pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def draw_effects(
    ax: Axes, names: Sequence[str], effects: Sequence[float], *, start: float, additive: bool, end: float, unit: str
) -> None:
    """Draw a bar for each effect, the first on top, and lines at the base value and the score.

    Effects that add up are laid end to end, from the base value `start` to the score `end`. Others are all drawn from
    `start`, and the score is no end of theirs.
    """
    total, lefts = start, []
    for effect in effects:
        lefts.append(total)
        total += effect if additive else 0.0
    places = list(range(len(effects)))
    colors = [RAISES if effect > 0 else LOWERS for effect in effects]
    bars = ax.barh(places, effects, left=lefts, color=colors, height=0.7)
    ax.bar_label(bars, [f"{effect:+.2g}" for effect in effects], padding=3, fontsize="small")
    ax.axvline(start, color="#777777", linestyle="--", linewidth=1, zorder=0, label=f"base value {start:.4g}")
    ax.axvline(end, color=BLACK, linewidth=1.2, zorder=0, label=f"score {end:.4g}")
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ends = [*lefts, *(left + effect for left, effect in zip(lefts, effects, strict=True)), start, end]
    margin = 0.25 * (max(ends) - min(ends)) or 0.1  # room for the numbers
    ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.set_xlabel({"probability": "Probability", "log-odds": "Log-odds"}.get(unit, "Score"))
    # Above the axes, where no bar is.
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize="small", borderaxespad=0.2)
