"""The console that all commands print to."""

from __future__ import annotations

from rich.console import Console

__all__ = ["make_console"]

WIDTH = 100


def make_console(width: int = WIDTH, *, stderr: bool = False) -> Console:
    """Return a console at most `width` characters wide, and exactly so wide where there is no terminal."""
    console = Console(stderr=stderr, highlight=False)
    # Without a terminal rich takes 80 characters, in which the tables do not fit.
    console.width = min(console.width, width) if console.is_terminal else width
    return console
