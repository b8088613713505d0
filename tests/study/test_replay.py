"""The replay of a desk: rounds, blocking and the figures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.desk.policies import ReplayedDesk
from scarce.study import Store, load_study, run_study, tabulate
from scarce.study.replay import DAY, Office, Payments, block_means, payments_of, replay
from scarce.study.report import write_report
from scarce.study.spec import parse_study
from tests.naive_memory import naive_replay

DESK = "scarce.desk.policies.ReplayedDesk"


class Fixed:
    """A desk whose scores never change."""

    def __init__(self, score):
        self.score, self.days, self.decided = score, [], []

    def begin(self, payments, office, seed):
        pass

    def begin_day(self, day, state):
        self.days.append(day)

    def scores(self, rows, now):
        return self.score[rows]

    def decide(self, rows, now):
        self.decided += rows.tolist()

    def learned(self):
        return {}


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_replay_is_that_of_looking_at_every_payment_in_every_round(seed, block):
    rng = np.random.default_rng(seed)
    n = 80
    time = np.sort(rng.integers(0, 6 * 24, n)) * 3600.0
    entities = np.column_stack([rng.integers(0, 8, n), rng.integers(0, 4, n)])
    payments = Payments(time, np.zeros((n, 1)), rng.integers(0, 2, n), rng.random(n), entities, ("card", "shop"))
    office = Office(first=1, last=6, rounds=(9, 14), checks=3, recent_days=2.0, blocked_days=1.5)
    score = rng.integers(0, 5, n) / 4
    found = replay(payments, Fixed(score), office, block=block)
    ours = np.column_stack([found.found, found.money, found.apart])[1:]
    np.testing.assert_allclose(ours, naive_replay(payments, score, office, block))


def test_a_payment_is_checked_once_at_most_and_days_come_in_order():
    rng = np.random.default_rng(0)
    payments = Payments(
        np.sort(rng.random(400)) * 8 * DAY, np.zeros((400, 1)), rng.integers(0, 2, 400), np.ones(400),
        rng.integers(0, 50, (400, 2)), ("card", "shop"),
    )  # fmt: skip
    desk = Fixed(rng.random(400))
    replay(payments, desk, Office(first=2, last=8, checks=4))
    assert desk.days == list(range(2, 8))
    assert len(desk.decided) == len(set(desk.decided)) > 100


def test_desks_draw_the_same_days():
    one, other = np.arange(28.0), np.arange(28.0) % 5
    np.testing.assert_allclose(block_means(one + other), block_means(one) + block_means(other))
    assert block_means(np.ones(28)).tolist() == [1.0] * 1000
    assert 11 < block_means(one).mean() < 16
    assert len(block_means(np.ones(27))) == 0, "fewer than four weeks"


@pytest.mark.parametrize("options", [{"links": "live", "look_alikes": True}, {"links": "features"}])
def test_what_is_known_later_changes_no_earlier_order(options):
    """Outcomes and payments of the last days must not be seen by the desk before."""
    payments = payments_of("make_transactions", 0, 12_000, 2)
    office = Office(first=10, last=20, checks=2)
    late = payments.time > 16 * DAY
    changed = payments._replace(
        y=np.where(late, 1 - payments.y, payments.y), X=np.where(late[:, None], 0.5, payments.X)
    )
    one, other = (replay(given, ReplayedDesk(**options), office) for given in (payments, changed))
    np.testing.assert_array_equal(one.found[:16], other.found[:16])
    np.testing.assert_array_equal(one.apart[:16], other.apart[:16])


def small_study():
    desks = {"no memory": {}, "links": {"links": "live"}}
    return parse_study(
        "small",
        {
            "title": "A small desk",
            "source": "None",
            "sets": [
                {"name": "make_transactions", "label": "shops", "group": "shops", "rows": 60_000, "months": 2}
                | {"first": 10, "judge": 28, "last": 56, "checks": 3}
            ],
            "metrics": ["found", "money", "at new customers", "at new places"],
            "measures": "replay",
            "control": "no memory",
            "protocol": {"kind": "replay", "splits": 1},
            "methods": {name: {"estimator": DESK, "params": params} for name, params in desks.items()},
            "claims": [{"text": "links help", "group": "shops", "better": "links", "worse": "no memory"}],
        },
    )


def test_a_small_replay_finds_more_with_links_than_without(tmp_path: Path):
    study = small_study()
    with Store(tmp_path / "store.sqlite") as store:
        done = run_study(study, store)
        assert (done.new, done.failed) == (2, 0)
        assert run_study(study, store).new == 0
        data = write_report(study, store, tmp_path / "report")
        assert tabulate(study, store) == data
    rows = {(row["metric"], row["against"]): row for row in data["differences"]}
    gain = rows["found", "links"]
    assert gain["difference"] == pytest.approx(gain["ours"] - gain["theirs"])
    assert gain["difference"] > 0
    assert gain["low"] <= gain["difference"] <= gain["high"]
    assert data["claims"][0]["verdict"] in ("confirmed", "agrees")
    # Every name of the drawing has its namespace, without which a browser shows an error.
    drawing = ElementTree.parse(tmp_path / "report" / "differences.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "money" in (tmp_path / "report" / "differences.csv").read_text()


def test_the_study_names_desks_that_can_be_made():
    study = load_study("desk/memory")
    assert study.control in {method.label for method in study.methods}
    for method in study.methods:
        assert method.recipe["estimator"] == DESK
        ReplayedDesk(**method.recipe.get("params", {}))
