"""Search for inputs that break an estimator or the audit until the time is up; print the counts by kind.

``python -m tests.fuzz SECONDS`` gives each search half of the time, and exits with 1 if one found a failure. With
``--count`` a search ends when it has tried so many, if it has the time.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import math
import sys
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from .calls import calls, try_call
from .kinds import Found
from .tables import tables, try_table

AT_ONCE = 50
# An example that takes more seconds shows where it is.
SLOW = 60
QUIET = {"database": None, "deadline": None, "phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}


def try_few(drawn: SearchStrategy[Any], attempt: Callable[[Any, Found], None], examples: int) -> Found:
    """Try a fixed number of examples, always the same."""
    found = Found()
    seed(0)(settings(max_examples=examples, **QUIET)(given(drawn)(lambda example: attempt(example, found))))()
    return found


def search(
    drawn: SearchStrategy[Any],
    attempt: Callable[[Any, Found], None],
    seconds: float,
    first: int = 0,
    count: float = math.inf,
    on_batch: Callable[[int, Found], None] = lambda batch, found: None,
) -> Found:
    """Try what is drawn until the time is up or so many are tried, one at least."""
    found, end, batch = Found(), time.monotonic() + seconds, first

    def is_over() -> bool:
        return found.tried > 0 and (time.monotonic() >= end or found.tried >= count)

    while not is_over():

        @seed(batch)
        @settings(max_examples=AT_ONCE, **QUIET)
        @given(drawn)
        def once(example: Any) -> None:
            if not is_over():
                faulthandler.dump_traceback_later(SLOW)
                attempt(example, found)
                faulthandler.cancel_dump_traceback_later()

        once()
        batch += 1
        on_batch(batch, found)
    return found


class _Told:
    """Tell how far a search is, every minute: after a crash the search goes on from the seed that was told last."""

    def __init__(self, name: str) -> None:
        self.name, self.last = name, time.monotonic()

    def __call__(self, batch: int, found: Found) -> None:
        if time.monotonic() - self.last >= 60:
            self.last = time.monotonic()
            print(f"{self.name}: {found.tried:,} tried; the next seed is {batch}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=600.0)
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--count", type=float, default=math.inf, help="how many are tried at most in each search")
    parser.add_argument("--only", choices=("calls", "tables"), help="one of the two searches")
    options = parser.parse_args()
    faulthandler.enable()
    logging.disable()
    searches: dict[str, Any] = {"calls": (calls(), try_call), "tables": (tables(), try_table)}
    chosen = [options.only] if options.only else list(searches)
    failed = False
    for name in chosen:
        seconds = options.seconds / len(chosen)
        found = search(*searches[name], seconds, options.seed, options.count, on_batch=_Told(name))
        print(f"{name}: {found.tried:,}", *found.lines(), sep="\n", flush=True)
        failed |= found.failed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
