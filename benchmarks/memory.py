"""How much memory does a fit take beyond the data?"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.rows import Bar, Row, Run
from benchmarks.speed import rare_class
from scarce.neighbors import GammaKNN

_STATUS = Path("/proc/self/status")


def fit_memory(run: Run) -> list[Row]:
    n_rows = 50_000 if run.quick else 200_000
    what = f"peak memory of a fit beyond the data, {n_rows:,} × 30"
    bar = Bar("<", 300, on="ours")
    if not _STATUS.exists():
        return [Row(what, bar=bar, note=f"this system has no {_STATUS}")]
    run.tell("in a fresh process; the full size takes minutes")
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip(("X", "y"), rare_class(n_rows, 30), strict=True):
            np.save(Path(folder, f"{name}.npy"), array)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", folder], check=True, capture_output=True, text=True
        )
    return [Row(what, float(done.stdout), unit="MB", bar=bar, note="the bar is for 200,000 rows" if run.quick else "")]


def _status(field: str) -> float:
    # Not getrusage: its peak is inherited through fork and exec, so it would begin with that of the parent.
    [kilobytes] = re.findall(rf"{field}:\s+(\d+) kB", _STATUS.read_text())
    return int(kilobytes) / 1000


def _measure_here(folder: str) -> float:
    """Return the megabytes by which a fit raises this process's peak over what it holds with the data loaded."""
    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    GammaKNN().fit(X[:500], y[:500])
    held = _status("VmRSS")
    GammaKNN().fit(X, y)
    return _status("VmHWM") - held


if __name__ == "__main__":
    print(_measure_here(sys.argv[1]))
