"""The console that all commands print to: its width, progress with or without a terminal, and options in messages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

__all__ = ["Lines", "make_console", "options_of", "progress", "times", "with_options"]

WIDTH = 100
SECONDS_BETWEEN_LINES = 5.0
SECONDS_TO_FIRST_LINE = 2.0

# Called with the name of a step, the effort spent so far, and the effort of the whole.
Show = Callable[[str, float, float], None]


def make_console(width: int = WIDTH, *, stderr: bool = False) -> Console:
    """Return a console at most `width` characters wide, and exactly so wide where there is no terminal."""
    console = Console(stderr=stderr, highlight=False)
    # Without a terminal rich takes 80 characters, in which the tables do not fit.
    console.width = min(console.width, width) if console.is_terminal else width
    return console


def times(elapsed: float, left: float | None) -> str:
    """Write the time that has passed and the time that is left, where it can be estimated."""
    return f"{_duration(elapsed)} elapsed" + ("" if left is None else f", about {_duration(left)} left")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes}:{rest:02}"


class Lines:
    """Plain lines for a log file, one every few seconds.

    Parameters
    ----------
    console : Console
        Where they go.
    clock : callable
        The time, in seconds.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._start = clock()
        # A command that ends at once prints its result alone.
        self._last = self._start - SECONDS_BETWEEN_LINES + SECONDS_TO_FIRST_LINE

    @property
    def elapsed(self) -> float:
        """Return the seconds since the beginning."""
        return self._clock() - self._start

    def print(self, line: Callable[[float], str], *, last: bool = False) -> None:
        """Print a line, made from the seconds that have passed, unless one was printed a moment ago."""
        now = self._clock()
        if last or now - self._last >= SECONDS_BETWEEN_LINES:
            self._console.print(line(now - self._start), soft_wrap=True, markup=False)
            self._last = now


@contextmanager
def progress(console: Console | None = None) -> Iterator[Show]:
    """Give a function that shows how far a command is: a bar on a terminal, and plain lines elsewhere."""
    console = console or make_console(stderr=True)
    lines = Lines(console)

    def state(elapsed: float, done: float, total: float) -> str:
        share = f"{done / total:.0%}, " if done else ""
        return share + times(elapsed, elapsed / done * (total - done) if done else None)

    if not console.is_terminal:
        yield lambda step, done, total: lines.print(lambda elapsed: f"{step}: {state(elapsed, done, total)}")
        return
    columns = (TextColumn("{task.description:<24}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Starting", total=None, state="")
        yield lambda step, done, total: bar.update(
            task, description=step, completed=done, total=total, state=state(lines.elapsed, done, total)
        )


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
