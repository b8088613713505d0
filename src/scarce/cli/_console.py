"""The console that all commands print to, and their options in messages of the library."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from rich.console import Console

__all__ = ["make_console", "options_of", "with_options"]

WIDTH = 100


def make_console(width: int = WIDTH, *, stderr: bool = False) -> Console:
    """Return a console at most `width` characters wide, and exactly so wide where there is no terminal."""
    console = Console(stderr=stderr, highlight=False)
    # Without a terminal rich takes 80 characters, in which the tables do not fit.
    console.width = min(console.width, width) if console.is_terminal else width
    return console


def options_of(command: Any) -> set[str]:
    """Return the options of a command, such as ``--check-cost``."""
    return {option for parameter in command.params for option in parameter.opts}


def with_options(message: str, options: Collection[str]) -> str:
    """Return a message of the library with the command's options in place of the parameters that it names.

    Parameters stand in backticks. What the library proposes as an alternative or in brackets is left out if the
    command has no such option.
    """

    def option(name: str) -> str:
        return "--" + name.replace("_", "-")

    def proposed(found: re.Match[str]) -> str:
        return found[0] if option(found["name"]) in options else ""

    message = re.sub(r"(, or [^,;`(]*)? \((no )?`(?P<name>\w+)`\)", proposed, message)
    return re.sub(r"`(\w+)`", lambda found: option(found[1]) if option(found[1]) in options else found[0], message)
