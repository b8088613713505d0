"""Search for inputs that break an estimator or the audit until the time is up; print the counts by kind.

``python -m tests.fuzz SECONDS`` gives each search half of the time, and exits with 1 if one found a failure.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
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
QUIET = {"database": None, "deadline": None, "phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}


def try_few(drawn: SearchStrategy[Any], attempt: Callable[[Any, Found], None], examples: int) -> Found:
    """Try a fixed number of examples, always the same."""
    found = Found()
    seed(0)(settings(max_examples=examples, **QUIET)(given(drawn)(lambda example: attempt(example, found))))()
    return found


def search(drawn: SearchStrategy[Any], attempt: Callable[[Any, Found], None], seconds: float, first: int = 0) -> Found:
    """Try what is drawn until the time is up."""
    found, end, batch = Found(), time.monotonic() + seconds, first
    while True:

        @seed(batch)
        @settings(max_examples=AT_ONCE, **QUIET)
        @given(drawn)
        def once(example: Any) -> None:
            if time.monotonic() < end or not found.counts:
                attempt(example, found)

        once()
        batch += 1
        if time.monotonic() >= end:
            return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=600.0)
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--only", choices=("calls", "tables"), help="one of the two searches")
    options = parser.parse_args()
    faulthandler.enable()
    logging.disable()
    searches: dict[str, Any] = {"calls": (calls(), try_call), "tables": (tables(), try_table)}
    chosen = [options.only] if options.only else list(searches)
    failed = False
    for name in chosen:
        found = search(*searches[name], options.seconds / len(chosen), options.seed)
        print(f"{name}: {sum(found.counts.values()):,}", *found.lines(), sep="\n", flush=True)
        failed |= found.failed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
