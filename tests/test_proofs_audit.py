"""Small versions of the proofs of the audit, which can fail, and the page that they write."""

from __future__ import annotations

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from proofs import audit as proof_of_audit
from proofs import costs, replays, rivals
from proofs.__main__ import main
from proofs.audit import PARTS, prove_same
from proofs.cases import Case, MissingSets, Proof
from proofs.page import FOLDER
from proofs.parts import Parts
from proofs.replays import Replay, Source, Store, Window
from scarce.audit import audit
from tests.payments import make_table


def replay(hits: int, *, low: int = 10, high: int = 20, differs: bool = False) -> Replay:
    return Replay(low, high, 50, 15.0, hits, differs)


def test_a_replay_promises_what_an_audit_promises():
    frame = make_table(900).drop(columns=["chargeback", "shop"])
    frame["fraud"] = (frame["fraud"] == "yes").astype(int)
    window = Window(frame, "fraud", "date", 200, 20)
    found = window.replay()
    truth = frame["fraud"].to_numpy().copy()
    hidden = frame.assign(fraud=frame["fraud"].astype(float).where(np.arange(900) < 700))
    result = audit(hidden, "fraud", time="date", budget=20, methods=replays.METHODS)
    assert (found.low, found.high, found.size) == (result.promise.low, result.promise.high, 20)
    assert found.hits == truth[result.queue["row"]].sum()
    assert found.differs == result.shift.differs


@pytest.mark.parametrize(("hits", "missed"), [(15, 1), (25, 4)], ids=["all covered", "none covered"])
def test_bars_of_coverage(hits, missed, monkeypatch, tmp_path):
    """An interval that always holds is too wide, and misses the bar of all tables together."""
    monkeypatch.setattr(Window, "replay", lambda self: replay(hits))
    tiny = pd.DataFrame({"y": [0.0] * 40, "t": range(40)})
    sources = {name: Source(lambda: tiny, "y", "t", 10, 5, 2, 5) for name in replays.SOURCES}
    monkeypatch.setattr(replays, "SOURCES", sources)
    monkeypatch.setattr(replays, "read_ieee", lambda: tiny)
    proof = replays.prove_coverage(2, Store(tmp_path))
    assert proof.missed == missed + (hits == 25)
    assert replays.prove_simulated(2, Store(tmp_path)).missed == 1


def test_windows_begin_evenly_and_take_every_few_rows():
    frame = pd.DataFrame({"y": 0, "t": range(100)})
    source = Source(lambda: frame, "y", "t", 10, 5, 2, 5)
    first, last = source.window(0, 3), source.window(2, 3)
    assert list(first.frame["t"][:3]) == [0, 2, 4]
    assert len(first.frame) == len(last.frame) == 15
    assert last.frame["t"].iloc[-1] == 98


def test_finished_replays_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(Window, "replay", lambda self: replay(12))
    window = partial(Window, pd.DataFrame(), "y", "t", 1, 1)
    assert Store(tmp_path).get("one", window) == replay(12)
    monkeypatch.setattr(Window, "replay", lambda self: pytest.fail("made again"))
    assert Store(tmp_path).get("one", window).covered


def test_simulated_tables_without_dates_of_their_own_hold_the_same_payments():
    as_simulated, exchanged = replays.simulated(0).frame, replays.simulated(1).frame
    assert sorted(as_simulated["amount"]) == sorted(exchanged["amount"])
    assert exchanged["date"].is_monotonic_increasing
    assert list(as_simulated["fraud"]) != list(exchanged["fraud"])


def test_time_is_compared_in_the_same_folds(monkeypatch):
    monkeypatch.setattr(costs, "audit", lambda frame, target, **options: sum(range(1000)))
    proof = costs.prove_time(1_500)
    assert proof.missed == 0
    assert [case.place for case in proof.cases] == [("quick",), ("all",)]
    monkeypatch.setattr(costs, "BARS", {"quick": 0.0, "all": 8.0})
    assert costs.prove_time(1_500).missed == 1


def test_size_is_measured_in_processes_of_their_own(monkeypatch):
    measured = {1_000_000: (24.0, 300.0), 200_000: (10.0, 90.0)}
    found = {n: {"seconds": s, "peak": p, "table": 100.0} for n, (s, p) in measured.items()}
    monkeypatch.setattr(costs, "_measured", found.get)
    assert costs.prove_size().missed == 0
    found[1_000_000]["peak"] = 500.0
    assert costs.prove_size().missed == 1


def test_intervals_of_differences_on_payments(monkeypatch):
    monkeypatch.setattr(rivals, "CARDS", 20)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 3, 400), unit="D")
    rows = pd.DataFrame({"CUSTOMER_ID": rng.integers(0, 80, 400), "TX_DATETIME": days})
    good, poor = y + rng.normal(0, 0.5, 400), rng.normal(size=400)
    better, worse = (list(rivals._differences(10, "rival", y, *both, rows)) for both in ((good, poor), (poor, good)))
    assert [case.place[2] for case in better] == ["AP", "CP@20"]
    assert better[0].kept
    assert not worse[0].kept
    assert better[0].figures[2] < better[0].figures[0] - better[0].figures[1] < better[0].figures[3]


def test_profit_is_compared_with_the_bayes_rule():
    frame = make_table(1_200).drop(columns=["chargeback", "shop"])
    options = {"objective": "profit", "amount": "amount", "check_cost": 2.0, "methods": ("bayes", "profit-boosting")}
    case = rivals._by_profit("payments", frame, "fraud", **options)
    assert case.place == ("payments", "Profit boosting")
    ours, bayes, low, high = case.figures
    assert max(ours, bayes) <= 1
    assert low <= ours - bayes <= high
    assert case.kept == (low >= rivals.WORST_PROFIT)


def test_the_same_queue_twice_and_in_another_order(monkeypatch):
    assert prove_same(1_000, ["logistic"]).missed == 0
    scores = iter(range(9))
    other = lambda *_, **__: SimpleNamespace(queue=pd.DataFrame({"row": [0, 1], "score": next(scores)}))  # noqa: E731
    monkeypatch.setattr(proof_of_audit, "audit", other)
    assert prove_same(1_000, ["logistic"]).missed == 2


def test_a_part_replaces_its_own_section(tmp_path, capsys):
    def proof(kept):
        return Proof("A title", "A statement.", ("set", "figure", "verdict"), [Case(("wine",), (0.5,), kept)])

    def absent():
        raise MissingSets("no loans")

    parts = {"one": lambda: proof(True), "two": lambda: proof(False), "three": absent}
    whole = Parts("audit", "The audit", parts)
    assert whole.run(["two"], tmp_path) == 1
    assert whole.run(["one"], tmp_path) == 0
    page = (tmp_path / "audit.md").read_text()
    assert page.index("<!-- one -->") < page.index("<!-- two -->")
    assert page.count("## A title") == 2
    parts["two"] = lambda: proof(True)
    assert whole.run(["two", "three"], tmp_path) == 2
    assert "MISSED" not in (tmp_path / "audit.md").read_text()
    assert "no loans" in capsys.readouterr().err


def test_parts_are_chosen_on_the_command_line(monkeypatch, tmp_path):
    called = []
    monkeypatch.setitem(PARTS, "same", lambda: called.append("same") or Proof("A", "B.", ("c", "verdict")))
    assert main(["audit", "--part", "same", "--folder", str(tmp_path)]) == 0
    assert called == ["same"]


@pytest.mark.parametrize("name", ["audit", "desk", "monitor"])
def test_the_page_counts_what_its_tables_show(name):
    assert f"\nprove-{name}: " in (FOLDER.parents[1] / "Makefile").read_text()
    page = FOLDER / f"{name}.md"
    if not page.exists():
        pytest.skip("no part was run in full yet")
    sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]
    assert sections
    for section in sections:
        counts = re.search(r"(\d+) cases: (\d+) kept, (\d+) missed", section)
        assert counts
        assert int(counts[3]) == section.count("| MISSED |")
