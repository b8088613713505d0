"""Audits that were killed and go on."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from scarce.audit import AuditError, audit
from scarce.audit.kept import Kept, partial_folder
from scarce.audit.task import Task
from scarce.cli import app
from tests.payments import make_table

METHODS = "lightgbm,knn,logistic"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table = make_table(900, seed=2).drop(columns=["chargeback", "currency"])
    table.loc[700:, "fraud"] = None
    table.to_csv(tmp_path / "payments.csv", index=False)
    return tmp_path / "payments.csv"


def options(file: Path, out: Path) -> list[str]:
    return ["audit", str(file), "--target", "fraud", "--budget", "20", "--methods", METHODS, "--out", str(out)]


def run(arguments: list[str]) -> None:
    CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_a_killed_run_goes_on_where_it_was(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kept = partial_folder(killed)
    process = subprocess.Popen(
        [sys.executable, "-m", "scarce.cli", *options(file, killed)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (kept / "lightgbm.npz").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path.stem for path in kept.glob("*.npz")}
    assert not killed.exists()
    assert "lightgbm" in finished

    fitted = []
    fit = Task.fit
    monkeypatch.setattr(
        Task, "fit", lambda task, model, *rows: fitted.append((model[-1], rows)) or fit(task, model, *rows)
    )
    run(options(file, killed))
    assert not kept.exists()
    in_folds = [type(getattr(method, "estimator", method)).__name__ for method, rows in fitted if rows]
    names = {"lightgbm": "LGBMClassifier", "knn": "KNeighborsClassifier", "logistic": "LogisticRegression"}
    assert set(in_folds) == {name for key, name in names.items() if key not in finished}

    run(options(file, whole))
    assert (killed / "queue.csv").read_bytes() == (whole / "queue.csv").read_bytes()
    ours, theirs = (json.loads((folder / "report.json").read_text()) for folder in (killed, whole))
    for report in (ours, theirs):
        for method in report["comparison"]["methods"]:
            del method["seconds"]
    assert ours["comparison"] == theirs["comparison"]
    assert ours["headline"] == theirs["headline"]


def test_a_race_takes_up_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(900, seed=2).drop(columns=["chargeback", "currency"])
    asked = {"target": "fraud", "budget": 20, "minutes": 30.0, "methods": METHODS, "partial": tmp_path / "kept"}
    first = audit(table, **asked)
    fitted = []
    fit = Task.fit
    monkeypatch.setattr(Task, "fit", lambda task, model, *rows: fitted.append(rows) or fit(task, model, *rows))
    again = audit(table, **asked)
    # What was stopped ran its heats once more, and the winner was fitted on all rows.
    assert sum(bool(rows) for rows in fitted) == 2 * len(first.comparison.stopped)
    pd.testing.assert_frame_equal(again.queue, first.queue)
    assert [o.candidate.key for o in again.comparison.outcomes] == [o.candidate.key for o in first.comparison.outcomes]


def test_another_table_or_option_begins_anew(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "p", {"data": "a"})
    kept.keep("logistic", {"score": pd.Series([1.0]).to_numpy()}, [])
    assert Kept(tmp_path / "p", {"data": "a"}).arrays("logistic")["score"].tolist() == [1.0]
    assert Kept(tmp_path / "p", {"data": "a"}).models("logistic") is None
    assert Kept(tmp_path / "p", {"data": "b"}).arrays("logistic") is None


def test_what_is_damaged_or_not_ours_is_not_used(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "p", {})
    (tmp_path / "p").mkdir(exist_ok=True)
    (tmp_path / "p" / "logistic.npz").write_bytes(b"half")
    assert kept.arrays("logistic") is None
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "letter.txt").write_text("of somebody")
    with pytest.raises(AuditError, match="holds other files than a killed audit leaves"):
        Kept(tmp_path / "q", {})
    assert (tmp_path / "q" / "letter.txt").exists()
