"""The store: added to only, shared, and whole whenever a process is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scarce.study import Outcome, Store, load_study, run_study

from .conftest import write

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {"set": "wine", "split": 0, "method": "3-NN"}
RUN = """
import sys
from scarce.study import Store, load_study, run_study
with Store(sys.argv[2]) as store:
    progress = run_study(load_study(sys.argv[1]), store, on_progress=lambda progress: print(progress.new, flush=True))
print("computed", progress.new, "elsewhere", progress.elsewhere)
"""


def start(study: str, store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, study, str(store)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def written(file: Path) -> dict[str, str]:
    """Return when each cell was written, straight from the file."""
    with sqlite3.connect(file) as db:
        return dict(db.execute("SELECT cell, written || fit_seconds FROM cells"))


def test_a_cell_is_claimed_once_and_given_back(tmp_path):
    with Store(tmp_path / "s") as store:
        assert store.claim("a")
        assert not store.claim("a")
        store.write("a", SETTINGS, Outcome({"f1": 0.5, "ap": float("nan")}, 1.0, 2.0, note="n", chosen={"k": "3"}))
        assert not store.claim("a")
        assert store.claim("b")
    with Store(tmp_path / "s") as store:
        assert store.claim("b")
        found = store.read(["a", "b", "c"])
        assert list(found) == ["a"]
        assert found["a"].figures["f1"] == 0.5
        assert found["a"].figures["ap"] != found["a"].figures["ap"]
        assert (found["a"].fit_seconds, found["a"].note, found["a"].chosen) == (1.0, "n", {"k": "3"})


def test_failures_are_stored_and_tried_again(tmp_path):
    with Store(tmp_path / "s") as store:
        assert store.claim("a")
        store.write("a", SETTINGS, Outcome(error="No memory."))
        assert store.failures(["a"]) == {"a": "No memory."}
        assert store.claim("a")
        store.write("a", SETTINGS, Outcome({"f1": 1.0}))
        assert store.failures(["a"]) == {}


@pytest.mark.parametrize(
    "statement", ["UPDATE figures SET value = 1", "DELETE FROM cells", "UPDATE cells SET note = ''"]
)
def test_results_can_be_neither_changed_nor_removed(tmp_path, statement):
    with Store(tmp_path / "s") as store:
        store.write("a", SETTINGS, Outcome({"f1": 0.5}))
        store.write("a", SETTINGS, Outcome({"f1": 0.7}))
        with sqlite3.connect(store.path) as db, pytest.raises(sqlite3.IntegrityError, match="only ever added"):
            db.execute(statement)
        assert store.read(["a"])["a"].figures == {"f1": 0.5}


def test_one_row_for_each_set_split_method_and_metric(tmp_path, small):
    study = load_study(small)
    with Store(tmp_path / "s") as store:
        run_study(study, store)
        with sqlite3.connect(store.path) as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM results WHERE metric = 'f1'").fetchall()
    assert len(rows) == len({(row["set"], row["split"], row["method"]) for row in rows}) == 2 * 2 * 3
    for row in rows:
        assert 0 <= row["value"] <= 1
        assert row["seconds"] > 0
        assert row["peak_mb"] >= 0
        assert '"scikit-learn"' in row["versions"]
        assert '"protocol"' in row["settings"]


def test_many_cells_are_read_at_once(tmp_path):
    with Store(tmp_path / "s") as store:
        store.write("7", SETTINGS, Outcome({"f1": 0.5}))
        assert list(store.read(map(str, range(5_000)))) == ["7"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
def test_killed_at_any_moment_a_run_loses_only_the_cell_under_way(tmp_path):
    study, store = write(tmp_path, splits=4, seconds=0.15), tmp_path / "s"
    total = len(load_study(study).plan())
    seen: dict[str, str] = {}
    for after in (2, 9):
        process = start(study, store)
        assert process.stdout is not None
        while int(process.stdout.readline()) + len(seen) < after:
            pass
        time.sleep(0.02 * after)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        found = written(store)
        # Whoever reads along may be a cell behind, and the claim of the dead process is still there.
        assert after <= len(found) < total
        assert seen.items() <= found.items()
        seen = found
    with Store(store) as opened:
        progress = run_study(load_study(study), opened)
        assert (progress.new, progress.done, progress.elsewhere) == (total - len(seen), total, 0)
        whole = opened.read([planned.cell.key for planned in load_study(study).plan()])
    assert seen.items() <= written(store).items()
    with Store(tmp_path / "at-once") as other:
        run_study(load_study(study), other)
        at_once = other.read(whole)
    assert {cell: outcome.figures for cell, outcome in whole.items()} == {c: o.figures for c, o in at_once.items()}


def test_two_processes_share_the_work_and_compute_nothing_twice(tmp_path):
    study, store = write(tmp_path, splits=6, seconds=0.15), tmp_path / "s"
    total = len(load_study(study).plan())
    other = start(study, store)
    assert other.stdout is not None
    other.stdout.readline()
    with Store(store) as opened:
        ours = run_study(load_study(study), opened).new
    theirs = int(other.communicate()[0].splitlines()[-1].split()[1])
    assert ours + theirs == total == len(written(store))
    assert min(ours, theirs) > 0
