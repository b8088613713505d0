"""Differences on groups of sets: intervals that draw source tables or customers, and verdicts by them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from scarce.metrics import average_precision, bootstrap_interval
from scarce.study import Outcome, Store, run_study, tabulate
from scarce.study.differences import judge_difference, judge_level
from scarce.study.report import write_report
from scarce.study.resamples import FEWEST_POSITIVES, resampled_precisions
from scarce.study.spec import parse_study
from scarce.study.statistics import bootstrap_clusters
from tests.naive_study import naive_bootstrap_clusters, naive_resampled_precisions


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 30))
def test_resampled_precisions_are_those_of_weighted_rows(seed, grouped, n_scores):
    rng = np.random.default_rng(seed)
    truth = np.append(np.ones(FEWEST_POSITIVES, dtype=int), rng.integers(2, size=30))
    scores = rng.integers(n_scores, size=len(truth)) / 7  # with ties
    groups, n_groups = (rng.integers(9, size=len(truth)), 12) if grouped else (None, 0)
    found = resampled_precisions(truth, scores, groups, n_groups, n_resamples=5)
    np.testing.assert_allclose(found, naive_resampled_precisions(truth, scores, groups, n_groups, 5))


def test_customers_are_drawn_alike_for_all_weeks_and_methods():
    """Two weeks with the same scores of the same customers have the same resamples, whatever the order of rows."""
    rng = np.random.default_rng(0)
    customers, truth, scores = rng.integers(50, size=300), rng.integers(2, size=300), rng.random(300)
    one = resampled_precisions(truth, scores, customers, 50, n_resamples=20)
    order = rng.permutation(300)
    other = resampled_precisions(truth[order], scores[order], customers[order], 50, n_resamples=20)
    np.testing.assert_allclose(one, other)


def test_the_interval_is_about_that_of_the_metrics():
    rng = np.random.default_rng(3)
    customers = rng.integers(200, size=4000)
    truth = (rng.random(4000) < 0.05 + 0.1 * (customers < 20)).astype(int)
    scores = truth + rng.normal(size=4000)
    found = np.quantile(resampled_precisions(truth, scores, customers, 200), [0.025, 0.975])
    known = bootstrap_interval(average_precision, truth, scores, clusters=customers)
    np.testing.assert_allclose(found, (known.low, known.high), atol=0.02)
    assert known.low < average_precision_score(truth, scores) < known.high


def test_too_few_positives_are_not_resampled():
    truth = np.append(np.ones(FEWEST_POSITIVES - 1, dtype=int), np.zeros(100, dtype=int))
    assert len(resampled_precisions(truth, np.arange(len(truth)) / 1.0)) == 0


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 3)), min_size=1, max_size=12))
def test_clusters_are_drawn_whole(pairs):
    values, clusters = [value for value, _ in pairs], [str(cluster) for _, cluster in pairs]
    found = bootstrap_clusters(values, clusters, n_resamples=50)
    assert found == pytest.approx(naive_bootstrap_clusters(values, clusters, 50))


def _study(margin=None):
    return parse_study(
        "own",
        {
            "title": "t",
            "source": "s",
            "sets": [
                {"name": "wine", "group": "small", "source": "a"},
                {"name": "glass", "group": "small", "source": "b"},
                {"name": "pima", "group": "one", "source": "pima", "rows": 300},
            ],
            "metrics": ["ap"],
            "measures": "ranking",
            "control": "ours",
            "protocol": {"kind": "shuffle", "splits": 2, "test_size": 0.5},
            "methods": {
                "ours": {"estimator": "sklearn.tree.DecisionTreeClassifier", "params": {"max_depth": 3}},
                "theirs": {"estimator": "sklearn.dummy.DummyClassifier"},
            },
            "claims": [
                {"text": "better", "group": "small", "better": "ours", "worse": "theirs"},
                {"text": "worse", "group": "one", "better": "theirs", "worse": "ours"},
                {"text": "high", "group": "small", "at_least": 0.999},
            ],
        },
    )


def test_a_study_of_groups_from_run_to_report(tmp_path):
    study = _study()
    with Store(tmp_path / "store.sqlite") as store:
        run_study(study, store)
        data = tabulate(study, store)
        write_report(study, store, tmp_path)
    rows = {(row["place"], row["against"]): row for row in data["differences"]}
    assert set(rows) == {("small", "theirs"), ("one", "theirs")}
    small, one = rows["small", "theirs"], rows["one", "theirs"]
    ours, theirs = (column["values"] for column in data["tables"][0]["columns"])
    assert small["difference"] == pytest.approx(np.mean(ours[:2]) - np.mean(theirs[:2]))
    assert (small["drawn"], small["sets"], small["record"]) == ("2 source tables", 2, [2, 0, 0])
    assert one["drawn"] == "test rows"
    assert one["low"] < one["difference"] < one["high"]
    assert [claim["verdict"] for claim in data["claims"]] == ["confirmed", "refuted", "refuted"]
    assert "less each other method" in (tmp_path / "report.html").read_text()
    assert len((tmp_path / "differences.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("low", "high", "margin", "verdict"),
    [
        (-0.005, 0.01, 0.005, "confirmed"),
        (-0.006, 0.01, 0.005, "inconclusive"),
        (-0.03, 0.01, 0.005, "inconclusive"),
        (-0.03, -0.006, 0.005, "refuted"),
        (0.0, 0.01, None, "inconclusive"),
        (0.001, 0.01, None, "confirmed"),
        (-0.02, -0.001, None, "refuted"),
    ],
)
def test_a_margin_is_judged_by_the_interval(low, high, margin, verdict):
    row = {"place": "g", "against": "b", "ours": 0.5, "theirs": 0.5, "sets": 2, "of": 2, "drawn": "x"}
    row |= {"difference": (low + high) / 2, "low": low, "high": high}
    claim = {"group": "g", "better": "a", "worse": "b"} | ({} if margin is None else {"margin": margin})
    judged = judge_difference(claim, [row])
    assert judged["verdict"] == verdict
    assert judged["least"] == pytest.approx((high - low) / 2)


@pytest.mark.parametrize(
    ("level", "verdict"),
    [
        ([0.71, 0.75], "confirmed"),
        ([0.7, 0.75], "confirmed"),
        ([0.69, 0.75], "inconclusive"),
        ([0.6, 0.69], "refuted"),
    ],
)
def test_a_level_is_judged_by_the_interval(level, verdict):
    row = {"place": "g", "ours": sum(level) / 2, "sets": 2, "of": 2, "drawn": "x", "level": level}
    assert judge_level({"group": "g", "at_least": 0.7}, [row])["verdict"] == verdict
    assert judge_level({"group": "g", "at_least": 0.7}, [{**row, "level": None}])["verdict"] == "inconclusive"


def test_what_was_not_run_is_not_judged():
    row = {"place": "g", "against": "b", "ours": 0.7, "theirs": 0.5, "sets": 1, "of": 2, "low": None, "high": None}
    assert judge_difference({"group": "g", "better": "a", "worse": "b"}, [row]) is None
    assert judge_difference({"group": "g", "better": "b", "worse": "a"}, [row]) is None
    assert judge_level({"group": "g", "at_least": 0.5}, [row]) is None


def test_the_store_keeps_resamples(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        settings = {"set": "wine", "split": 0, "method": "m"}
        store.write("a", settings, Outcome({"ap": 0.5}, resamples={"ap": [0.4, 0.6]}))
        assert store.read(["a"])["a"].resamples == {"ap": [0.4, 0.6]}
