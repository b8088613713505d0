"""What a measurement is told, what it returns, and how it takes time."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

_COMPARE = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}


@dataclass(frozen=True)
class Bar:
    """What `ratio` or `ours` of a row must keep to."""

    sign: str
    value: float
    on: str = "ratio"

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table. Without `ours` nothing was measured and `note` says why; without a bar it is context."""

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

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "bar": self.bar and f"{self.bar.on} {self.bar}", "passed": self.passed}


@dataclass(frozen=True)
class Detail:
    """A table behind a row."""

    title: str
    columns: list[str]
    rows: list[list[str | float]]


@dataclass
class Run:
    """What a measurement is told, and where it leaves its details."""

    quick: bool = False
    tell: Callable[[str], None] = lambda _: None
    details: list[Detail] = field(default_factory=list)


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
                run.tell(f"{name}, {repeat + 1} of {repeats}, on {'one core' if one_core else 'all cores'}")
                start = clock()
                call()
                seconds[name].append(clock() - start)
    return [min(taken) for taken in seconds.values()]
