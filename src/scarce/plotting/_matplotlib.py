"""What every display asks of matplotlib, which is an extra."""

from __future__ import annotations

from typing import Any

__all__ = ["axes_or_new", "pyplot"]


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Plots are drawn with matplotlib, which is not installed: pip install "scarce[audit]".'
        ) from error
    return plt


def axes_or_new(ax: Any) -> Any:
    """Return the axes, those of a new figure if none are given."""
    plt = pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else ax
