"""The benchmark harness runs, and the peers are the classifiers that they stand for."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from benchmarks import neighbors
from benchmarks.__main__ import MEASUREMENTS, main
from benchmarks.memory import memory_row
from benchmarks.peers import ArrayGammaKNN, PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.neighbors import GammaKNN


def test_quick_run_writes_and_prints_every_row_asked_for(tmp_path, capsys):
    file = tmp_path / "bench.json"
    asked = ["fit-time", "grid-search-time", "predict-time", "audit-time"]
    assert main(["--quick", "--only", *asked, "--json", str(file)]) == 0
    report = json.loads(file.read_text())
    assert list(dict.fromkeys(row["name"] for row in report["rows"])) == asked
    printed = capsys.readouterr().out
    for row in report["rows"]:
        assert row["name"] in printed
        if row["ours"] is None:
            assert row["note"]
        else:
            assert row["ours"] > 0
            assert row["peer"] > 0


def rows_of_two_measurements():
    return {
        "fit-time": lambda run: [Row("a fit", 2.0, 1.0, 2.0, "s", Bar("<=", 1.5)), Row("context", 1.0)],
        "fit-memory": lambda run: [Row("memory", 90.0, unit="MB", bar=Bar("<", 300, on="ours"))],
    }


def test_a_missed_bar_is_counted_and_an_exit_code(monkeypatch, capsys):
    monkeypatch.setitem(MEASUREMENTS, "fit-time", rows_of_two_measurements()["fit-time"])
    assert main(["--only", "fit-time"]) == 1
    assert "0 bars kept, 1 missed; 1 rows without a bar" in capsys.readouterr().out


def test_a_whole_run_writes_its_table(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.__main__.MEASUREMENTS", rows_of_two_measurements())
    file = tmp_path / "bench.md"
    assert main(["--table", str(file)]) == 1
    lines = file.read_text().splitlines()
    assert "1 bars kept, 1 missed" in lines[2]
    assert lines[-3:] == [
        "| `fit-time` | a fit | 2 s | 1 s | 2 | <= 1.5 | MISSED |",
        "|  | context | 1.000 |  |  |  |  |",
        "| `fit-memory` | memory | 90 MB |  |  | < 300 | kept |",
    ]


@pytest.mark.parametrize("less", [["--quick"], ["--only", "fit-time"]])
def test_a_smaller_run_writes_no_table(less, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([*less, "--table", str(tmp_path / "bench.md")])
    assert "--table takes a whole run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("bar", "passed"),
    [
        (Bar("<=", 2), True),
        (Bar("<", 2), False),
        (Bar(">=", 2), True),
        (Bar(">=", 2, on="ours"), False),
        (None, None),
    ],
)
def test_bars(bar, passed):
    assert Row("", ours=1.0, peer=0.5, ratio=2.0, bar=bar).passed is passed


def test_what_was_not_measured_neither_passes_nor_fails():
    assert Row("", bar=Bar("<=", 2), note="no data").passed is None


def test_calls_take_turns():
    order = []
    fastest(Run(), 2, one_core=True, a=lambda: order.append("a"), b=lambda: order.append("b"))
    assert order == ["a", "b", "a", "b"]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("peer_class", [ArrayGammaKNN, PlainGammaKNN])
def test_the_grid_searched_peers_are_the_same_classifier(peer_class, k):
    X, y = make_classification(400, 6, weights=[0.8], flip_y=0.1, random_state=k)
    for gamma in (0.6, 0.77, 1.0):
        ours = GammaKNN(k, gamma=gamma).fit(X[:300], y[:300]).predict(X[300:])
        peer = peer_class(k, gamma).fit(X[:300], y[:300]).predict(X[300:])
        np.testing.assert_array_equal(ours, peer)
        assert 0 < ours.sum() < 100


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_that_of_the_fit():
    row = memory_row(Run(quick=True), "a small fit", Bar("<", 300, on="ours"), neighbors.gamma_memory, 3_000)
    assert 0 <= row.ours < 100
    assert row.passed


def test_pages_name_measurements_that_exist():
    root = Path(__file__).resolve().parents[1]
    table = (root / "docs" / "proofs" / "bench.md").read_text()
    commands = re.findall(
        r"-m benchmarks.* --only (.*)$", (root / "benchmarks" / "README.md").read_text(), re.MULTILINE
    )
    named = {*re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE), *(n for line in commands for n in line.split())}
    assert named
    assert named <= set(MEASUREMENTS)
    assert "MISSED" not in table
