"""What does the runner of studies cost beyond the estimators' own time?"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Bar, Row, Run
from scarce.datasets import DatasetUnavailable, load
from scarce.study import Progress, Store, load_study, run_study

PROCESSES = 2
SETS = ["german", "vehicle", "segmentation", "yeast3", "wine4", "abalone8", "pageblocks"]


def study_overhead(run: Run) -> list[Row]:
    """Compare what a run takes with what the fits and predictions in it take, by the processors and by the clock.

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
        run.tell("starting the processes")
        with Store(Path(folder) / "warm") as store:
            run_study(study.reduce(splits=1), store, n_jobs=PROCESSES)
        with Store(Path(folder) / "store") as store:
            clock, processor = time.perf_counter(), _processor_seconds()
            done = run_study(study, store, n_jobs=PROCESSES, tell=lambda p: run.tell(_told(p)))
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
        bar = None if run.quick else Bar("<=", 0.05)
        rows.append(Row(what, all_ - own, own, (all_ - own) / own, "s", bar, f"{done.failed} failed"))
    what = f"the same study again: {resumed.done} cells found, {resumed.new} computed; peer: the first run"
    return [*rows, Row(what, again, clock, again / clock, "s")]


def _processor_seconds() -> float:
    """Return what this process and those it started have taken so far."""
    total = time.process_time()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def _told(progress: Progress) -> str:
    return f"{progress.done} of {progress.total} cells"
