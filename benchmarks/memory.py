"""Peak memory of a fit beyond the data, taken in a fresh process."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.rows import Bar, Row, Run
from scarce.study.compute import STATUS, kilobytes


def memory_row(run: Run, what: str, bar: Bar, fit: Callable[[int], float], size: int) -> Row:
    """Call a function of a module of this package, with a size, in a fresh process; it returns megabytes."""
    if not STATUS.exists():
        return Row(what, bar=bar, note=f"this system has no {STATUS}")
    run.progress("in a fresh process; the full size takes minutes")
    command = [sys.executable, "-m", "benchmarks.memory", fit.__module__, fit.__name__, str(size)]
    root = Path(__file__).parent.parent
    ours = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root).stdout)
    return Row(what, ours, unit="MB", bar=bar, note="the bar is for the full size" if run.quick else "")


def memory_of(call: Callable[[], object]) -> float:
    """Return the megabytes that a call adds, at its highest, to what this process holds."""
    held = resident("VmRSS")
    call()
    return resident("VmHWM") - held


def resident(field: str) -> float:
    # Not getrusage: its peak is inherited through fork and exec, so it would begin with that of the parent.
    return kilobytes(field) / 1000


if __name__ == "__main__":
    module, name, size = sys.argv[1:]
    print(getattr(importlib.import_module(module), name)(int(size)))
