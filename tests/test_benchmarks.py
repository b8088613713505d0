"""The benchmark harness runs, and the peers are the classifiers that they stand for."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from benchmarks import growth, neighbors, product, start
from benchmarks.__main__ import MEASUREMENTS, main
from benchmarks.memory import memory_row
from benchmarks.peers import ArrayGammaKNN, PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.neighbors import GammaKNN

ROOT = Path(__file__).resolve().parents[1]


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


class WithoutMercy(Run):
    """A run on small data whose bars no row can keep."""

    def judged(self, bar):
        return Bar(">=", np.inf, bar.on) if bar.sign == ">=" else Bar("<", -np.inf, bar.on)


@pytest.mark.parametrize(
    ("name", "n_rows", "figures"),
    [
        ("fit-time", 2, {"ours", "peer", "ratio"}),
        ("ccnnd-predict-time", 4, {"ours", "peer", "ratio"}),
        ("tuned-growth", 4, {"ours", "peer", "ratio"}),
        ("ccnnd-growth", 2, {"ours", "peer", "ratio"}),
        ("sampling-time", 3, {"ours", "peer", "ratio"}),
        ("lmnn-time", 2, {"ours", "peer", "ratio"}),
        ("ellipsoid-dual-time", 2, {"ours", "peer", "ratio"}),
        ("fmeasure-overhead", 4, {"ours", "peer"}),
        ("forest-fit-time", 4, {"ours", "peer", "ratio"}),
        ("forest-histogram-time", 2, {"ours", "peer", "ratio"}),
        ("forest-predict-time", 4, {"ours", "peer", "ratio"}),
        ("profit-fit-time", 3, {"ours", "peer", "ratio"}),
    ],
)
def test_every_family_is_measured_in_seconds_and_can_miss_a_bar(name, n_rows, figures):
    rows = MEASUREMENTS[name](WithoutMercy(quick=True))
    assert len(rows) == n_rows
    for row in rows:
        assert row.what
        assert row.unit == "s"
        assert all(np.isfinite(getattr(row, figure)) and getattr(row, figure) > 0 for figure in figures)
    judged = [row for row in rows if row.bar is not None]
    assert [row.passed for row in judged] == [False] * len(judged)
    assert judged or name == "sampling-time", "neighbours beside each other have no bar"


def test_the_time_of_a_study_beyond_its_estimators_can_miss_its_bar(monkeypatch):
    monkeypatch.setattr(product, "PROCESSES", 1)
    monkeypatch.setattr(product, "SETS", ["wine"])
    *overhead, again = product.study_overhead(WithoutMercy(quick=True))
    assert [(row.unit, row.passed) for row in overhead] == [("s", False), ("s", False)]
    assert again.ours > 0
    assert "0 computed" in again.what


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


def test_commands_of_the_readme_name_measurements_that_exist():
    readme = (ROOT / "benchmarks" / "README.md").read_text()
    commands = re.findall(r"-m benchmarks.* --only (.*)$", readme, re.MULTILINE)
    named = {name for line in commands for name in line.split()}
    assert named
    assert named <= set(MEASUREMENTS)


def test_every_measurement_has_a_row_on_the_page_with_a_figure_or_the_reason_why_not():
    page = (ROOT / "docs" / "proofs" / "bench.md").read_text()
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == list(MEASUREMENTS)
    for line in re.findall(r"^\| (?!name|---).*", page, re.MULTILINE):
        _, what, ours, _, ratio, _, verdict = [cell.strip() for cell in line.strip("|").split(" | ")]
        assert what
        # A bar that is missed stands on the page as it came out.
        assert verdict in {"", "kept", "MISSED"} or verdict.startswith("not measured"), line
        assert bool(ours or ratio) != verdict.startswith("not measured"), line


def test_starting_is_measured_and_can_miss_its_bar():
    help_, study, import_ = start.start_time(WithoutMercy(quick=True))
    assert help_.passed is False
    assert all(row.ours > 0 for row in (help_, study, import_))
    (threads,) = start.busy_threads(WithoutMercy(quick=True))
    assert threads.passed is False
    assert threads.ratio == threads.ours / threads.peer


def test_the_first_fit_compiles_and_the_next_does_not():
    (row,) = start.first_fit(Run(quick=True))
    assert row.what.startswith("GammaKNN")
    assert row.ours > row.peer > 0


def test_times_that_would_take_too_long_are_extrapolated_by_the_exponent_and_marked(tmp_path):
    cells = {10: growth.Cell(1.0, 2.0, 5.0), 100: growth.Cell(100.0, 20.0, 7.0)}
    assert growth.extrapolate({10: cells[10]}, 100) is None
    beyond = growth.extrapolate(cells, 1_000)
    assert (beyond.fit, beyond.predict) == pytest.approx((10_000, 200))
    assert not beyond.measured
    found = {"A": {**cells, 1_000: beyond}, "B": {10: growth.Cell(0.5, 1e-6, 0.0)}}
    page = growth.page(found, (10, 100, 1_000), 60)
    assert "| A | 1 | 100 | ≈1e+04 |" in page
    assert "| n^2.0 | n^1.0 |" in page
    assert "| B | 0.5 |  |  | 1 |  |  | 0 |  |  |  |  |" in page
    growth.draw(found, tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").read_text().count("<svg") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_growth_is_measured_in_fresh_processes_up_to_the_limit(tmp_path, capsys):
    only = ["--only", "MetaAP, bins", "--folder", str(tmp_path)]
    assert growth.main(["--sizes", "500", "1000", "2000", "--limit", "1e-9", *only]) == 0
    lines = (tmp_path / "growth.md").read_text().splitlines()
    cells = lines[-1].split(" | ")
    assert cells[0] == "| MetaAP, bins"
    assert [cell[0] == "≈" for cell in cells[1:7]] == [False, False, True] * 2  # two sizes are always measured
    assert "MetaAP, bins: 500: " in capsys.readouterr().out
