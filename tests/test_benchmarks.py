"""The benchmark harness runs, and what it compares with is what it says."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification

from benchmarks import memory, paper
from benchmarks.__main__ import MEASUREMENTS, main
from benchmarks.peers import ArrayGammaKNN, PlainGammaKNN
from benchmarks.rows import Bar, Row, Run, fastest
from scarce.datasets import DatasetUnavailable
from scarce.datasets import load as load_dataset
from scarce.neighbors import GammaKNN


def test_quick_run_writes_and_prints_every_row_asked_for(tmp_path, capsys):
    file = tmp_path / "bench.json"
    asked = ["fit-time", "grid-search-time", "predict-time", "creditcard-ap", "audit-time"]
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


def test_a_missed_bar_is_an_exit_code(monkeypatch):
    monkeypatch.setitem(MEASUREMENTS, "fit-time", lambda run: [Row("", 2.0, 1.0, 2.0, "s", Bar("<=", 1.5))])
    assert main(["--only", "fit-time"]) == 1


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


def test_sets_of_the_paper(monkeypatch):
    def load(name):
        if name == "gone":
            raise DatasetUnavailable("It cannot be had.")
        return load_dataset(name)

    monkeypatch.setattr(paper, "PRINTED", {"wine": (0.881, 0.856), "gone": (0.0, 0.0)})
    monkeypatch.setattr(paper, "GRID", paper.GRID[::20])
    monkeypatch.setattr(paper, "load", load)
    run = Run(quick=True)
    for row in paper.gamma_grid(run):
        assert row.passed
        assert "gone" in row.note
        assert json.loads(json.dumps(row.as_json()))["ours"] == 0
    for row in paper.paper_f1(run):
        assert 0 < row.ours <= 1
        assert row.bar is None  # the bar is for all sets
        assert "gone" in row.note
    [detail] = run.details
    assert [line[0] for line in detail.rows] == ["wine", "mean"]
    assert detail.rows[0][1:3] == [0.881, 0.856]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_that_of_the_fit():
    X, y = make_classification(3_000, 10, weights=[0.9], random_state=0)
    assert 0 <= memory.peak_beyond_data(X, y) < 100
