"""How much memory does a fit take beyond the data?"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Bar, Row, Run
from benchmarks.speed import rare_class
from scarce.neighbors import GammaKNN

STATUS = Path("/proc/self/status")


def fit_memory(run: Run) -> list[Row]:
    n_rows = 50_000 if run.quick else 200_000
    what = f"peak memory of a fit beyond the data, {n_rows:,} × 30"
    bar = Bar("<", 300, on="ours")
    if not STATUS.exists():
        return [Row(what, bar=bar, note=f"this system has no {STATUS}")]
    run.tell("in a fresh process; the full size takes minutes")
    ours = peak_beyond_data(*rare_class(n_rows, 30))
    return [Row(what, ours, unit="MB", bar=bar, note="the bar is for 200,000 rows" if run.quick else "")]


def peak_beyond_data(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the megabytes that a fit adds, at its highest, to a fresh process that has loaded the data."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        command = [sys.executable, "-m", "benchmarks.memory", folder]
        root = Path(__file__).parent.parent
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root).stdout)


def status(field: str) -> float:
    # Not getrusage: its peak is inherited through fork and exec, so it would begin with that of the parent.
    [kilobytes] = re.findall(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    return int(kilobytes) / 1000


def _measure_here(folder: str) -> float:
    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    GammaKNN().fit(X[:500], y[:500])
    held = status("VmRSS")
    GammaKNN().fit(X, y)
    return status("VmHWM") - held


if __name__ == "__main__":
    print(_measure_here(sys.argv[1]))
