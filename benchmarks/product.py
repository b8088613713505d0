"""Time of whole commands: an audit of the built-in example, and a study beyond its estimators' own time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Bar, Row, Run
from scarce.datasets import DatasetUnavailable, load
from scarce.study import Store, load_study, run_study

PROCESSES = 2
SETS = ["german", "vehicle", "segmentation", "yeast3", "wine4", "abalone8", "pageblocks"]


def audit_time(run: Run) -> list[Row]:
    what, bar = "scarce audit, from start to report", Bar("<=", 90, on="ours")
    if run.quick:
        return [Row(what, bar=bar, note="left out by --quick: takes a minute")]
    command = Path(sys.executable).with_name("scarce")
    if not command.exists() or subprocess.run([command, "audit", "--help"], capture_output=True).returncode:
        return [Row(what, bar=bar, note='there is no such command here; pip install "scarce[audit]"')]
    run.progress("scarce audit")
    with tempfile.TemporaryDirectory() as folder:
        before, start = sum(os.times()[2:4]), time.perf_counter()
        subprocess.run([command, "audit", "--out", Path(folder, "audit")], check=True, capture_output=True)
        ours = time.perf_counter() - start
    busy = sum(os.times()[2:4]) - before
    return [Row(what, ours, unit="s", bar=bar, note=f"{busy:.0f} s of processor time")]


def study_overhead(run: Run) -> list[Row]:
    """Compare the time of a run with that of the fits and predictions in it, by the processors and by the clock.

    The processes have been started before: in a study of an hour it does not show that they take seconds to import.
    By the clock, processes that wait for work count too; that figure needs an idle machine.
    """
    sets = SETS[:2] if run.quick else SETS
    try:
        for name in sets:
            load(name)
    except DatasetUnavailable as problem:
        return [Row("overhead of a study", note=str(problem))]
    study = load_study("gamma/table2").reduce(sets=sets, splits=1 if run.quick else 5)
    study = study.reduce(methods=[method.label for method in study.methods if method.label != "LMNN"])
    with tempfile.TemporaryDirectory() as folder:
        run.progress("starting the processes")
        with Store(Path(folder) / "warm") as store:
            run_study(study.reduce(splits=1), store, n_jobs=PROCESSES)
        with Store(Path(folder) / "store") as store:
            clock, processor = time.perf_counter(), _processor_seconds()
            done = run_study(
                study, store, n_jobs=PROCESSES, on_progress=lambda p: run.progress(f"{p.done} of {p.total} cells")
            )
            clock, processor = time.perf_counter() - clock, _processor_seconds() - processor
            estimators = sum(cell.cpu_seconds for cell in store.read(p.cell.key for p in study.plan()).values())
            again = time.perf_counter()
            resumed = run_study(study, store, n_jobs=PROCESSES)
            again = time.perf_counter() - again
    rows = []
    for how, all_, own in (
        ("processor time", processor, estimators),
        ("by the clock", PROCESSES * clock, done.own_seconds),
    ):
        what = f"runner's time beyond that of {done.new} cells' estimators, {PROCESSES} processes, {how}; ratio: share"
        rows.append(
            Row(what, all_ - own, own, (all_ - own) / own, "s", run.judged(Bar("<=", 0.05)), f"{done.failed} failed")
        )
    what = f"the same study again: {resumed.done} cells found, {resumed.new} computed; peer: the first run"
    return [*rows, Row(what, again, clock, again / clock, "s")]


def _processor_seconds() -> float:
    """Return the seconds that this process and those it started have taken so far."""
    total = time.process_time()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total
