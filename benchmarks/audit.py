"""How long does a whole audit of the built-in example take?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Bar, Row, Run


def audit_time(run: Run) -> list[Row]:
    what, bar = "scarce audit, from start to report", Bar("<=", 90, on="ours")
    if run.quick:
        return [Row(what, bar=bar, note="left out by --quick: takes a minute")]
    command = Path(sys.executable).with_name("scarce")
    if not command.exists() or subprocess.run([command, "audit", "--help"], capture_output=True).returncode:
        return [Row(what, bar=bar, note='there is no such command here; pip install "scarce[audit]"')]
    run.tell("scarce audit")
    with tempfile.TemporaryDirectory() as folder:
        before, start = sum(os.times()[2:4]), time.perf_counter()
        subprocess.run([command, "audit", "--out", Path(folder, "audit")], check=True, capture_output=True)
        ours = time.perf_counter() - start
    busy = sum(os.times()[2:4]) - before
    return [Row(what, ours, unit="s", bar=bar, note=f"{busy:.0f} s of processor time")]
