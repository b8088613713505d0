"""Rows of the table of measurements, their bars, and how time is taken."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from proofs.page import VERDICTS

_COMPARE = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}


@dataclass(frozen=True)
class Bar:
    """A bound that `ratio` or `ours` of a row must keep."""

    sign: str
    value: float
    on: str = "ratio"

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Without `ours` nothing was measured and `note` has the reason; without a bar it is context.
    """

    what: str
    ours: float | None = None
    peer: float | None = None
    ratio: float | None = None
    unit: str = ""
    bar: Bar | None = None
    note: str = ""

    @property
    def passed(self) -> bool | None:
        if self.bar is None or self.ours is None:
            return None
        return bool(_COMPARE[self.bar.sign](getattr(self, self.bar.on), self.bar.value))

    @property
    def verdict(self) -> str:
        if self.ours is None:
            return "not measured"
        return VERDICTS[self.passed]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "bar": self.bar and f"{self.bar.on} {self.bar}", "passed": self.passed}


@dataclass
class Run:
    """The options of a run, and where a measurement reports how far it is."""

    quick: bool = False
    progress: Callable[[str], None] = lambda _: None

    def judged(self, bar: Bar) -> Bar | None:
        """Return the bar, unless the data are small: there the fixed costs of a call weigh more than the work."""
        return None if self.quick else bar


def fastest(run: Run, repeats: int, *, one_core: bool, **calls: Callable[[], object]) -> list[float]:
    """Return the least time of each call. The calls take turns, so that a busy minute slows all of them.

    On one core it is the processor's time, which hardly depends on what else the machine does; on all cores it is
    the clock's.
    """
    repeats = 1 if run.quick else repeats
    clock = time.process_time if one_core else time.perf_counter
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    with threadpool_limits(1 if one_core else None):
        for repeat in range(repeats):
            for name, call in calls.items():
                run.progress(f"{name}, {repeat + 1} of {repeats}, on {'one core' if one_core else 'all cores'}")
                start = clock()
                call()
                seconds[name].append(clock() - start)
    return [min(taken) for taken in seconds.values()]


def on_both(what: str) -> list[tuple[bool, str]]:
    """Return whether one core is used and the label of the row, for one core and for all."""
    return [(True, what), (False, f"the same on {os.cpu_count()} cores, by the clock")]
