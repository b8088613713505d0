"""Figures are those of scikit-learn and scarce.metrics, and nothing is chosen on test rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
)
from sklearn.utils import Bunch

import scarce.study.compute as compute
from scarce.datasets import handbook_split, load
from scarce.metrics import gmean_score, group_precision_at_k, precision_at_k, profit_score
from scarce.study import data, load_study
from scarce.study.compute import compute as compute_cell
from scarce.study.data import Rows, describe_file, rows_of
from scarce.study.measures import MEASURES, Called, lower_is_better, ranking_figures


@pytest.mark.filterwarnings("ignore:k=")
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=2, max_size=40))
def test_the_fast_ranking_figures_are_those_of_the_metrics(pairs):
    truth, scores = np.array([(1, 3), *pairs]).T
    first = np.array([1, 2, 5, len(truth), len(truth) + 3])
    average, precision = ranking_figures(truth, scores / 5, first)
    assert average == pytest.approx(average_precision_score(truth, scores))
    expected = [precision_at_k(truth, scores, int(k)) for k in first]
    np.testing.assert_allclose(precision, expected)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_decisions_are_those_of_scikit_learn(pairs):
    truth, called = np.array([(1, 0), (0, 0), *pairs]).T
    X = np.zeros((len(truth), 1))
    found = MEASURES["decisions"].figures(None, Rows(X, truth, X, truth), Called(called))
    assert found["f1"] == pytest.approx(f1_score(truth, called, zero_division=0))
    assert found["precision"] == pytest.approx(precision_score(truth, called, zero_division=0))
    assert found["gmean"] == pytest.approx(gmean_score(truth, called))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, called))
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, called))


def test_test_rows_have_no_say_in_what_is_chosen(small, monkeypatch):
    [planned] = [p for p in load_study(small).plan() if p.method.label == "chosen" and p.set == "wine" and p.split == 1]
    honest = compute_cell(planned.cell)

    def upside_down(*arguments):
        rows = rows_of(*arguments)
        return rows._replace(y_test=1 - rows.y_test, X_test=-1000 * rows.X_test)

    monkeypatch.setattr(compute, "rows_of", upside_down)
    other = compute_cell(planned.cell)
    assert other.chosen == honest.chosen
    assert honest.chosen["model__shift"] in {"-1.0", "0.0", "1.0"}
    assert other.figures != honest.figures


@pytest.mark.parametrize("kind", ["shuffle", "folds"])
def test_splits_are_partitions_that_depend_on_their_number_alone(kind):
    protocol = {"kind": kind, "test_size": 0.3}
    one, again, other = (rows_of({"name": "wine"}, protocol, split) for split in (3, 3, 4))
    np.testing.assert_array_equal(one.X_test, again.X_test)
    assert one.X_test.shape != other.X_test.shape or not np.array_equal(one.X_test, other.X_test)
    together = {row.tobytes() for row in np.vstack([one.X_train, one.X_test])}
    assert len(together) == len(one.X_train) + len(one.X_test) == 178
    assert one.y_train.sum() + one.y_test.sum() == 59


def test_folds_cover_the_set():
    parts = [rows_of({"name": "wine"}, {"kind": "folds"}, split).X_test for split in range(5)]
    assert len({row.tobytes() for part in parts for row in part}) == 178


def test_fewer_positives_are_taken_from_the_training_rows_alone():
    protocol = {"kind": "shuffle", "test_size": 0.2}
    all_, few = (rows_of({"name": "balance", **more}, protocol, 0) for more in ({}, {"train_ir": 10}))
    np.testing.assert_array_equal(all_.X_test, few.X_test)
    assert (few.y_train == 0).sum() == (all_.y_train == 0).sum()
    assert few.y_train.sum() == round((all_.y_train == 0).sum() / 10)


def test_the_maximum_number_of_rows_is_drawn_with_the_same_share_of_positives():
    protocol = {"kind": "shuffle", "test_size": 0.3}
    whole = rows_of({"name": "balance"}, protocol, 0)
    few = rows_of({"name": "balance"}, {**protocol, "rows": 200, "test_rows": 100}, 0)
    assert (len(few.y_train), len(few.y_test)) == (200, 100)
    assert few.note == "200 training rows, 100 test rows"
    assert few.y_train.mean() == pytest.approx(whole.y_train.mean(), abs=1 / 200)
    assert few.y_test.mean() == pytest.approx(whole.y_test.mean(), abs=1 / 100)
    assert {tuple(row) for row in few.X_test} <= {tuple(row) for row in whole.X_test}
    enough = rows_of({"name": "balance"}, {**protocol, "rows": 10_000, "test_rows": 10_000}, 0)
    np.testing.assert_array_equal(enough.X_train, whole.X_train)
    assert enough.note == ""


def test_a_set_has_limits_of_its_own_and_keeps_all_positives_if_negatives_are_limited():
    protocol = {"kind": "shuffle", "test_size": 0.3, "rows": 300}
    assert len(rows_of({"name": "balance", "rows": 200}, protocol, 0).y_train) == 200
    set_ = {"name": "balance", "train_rows": 400, "rows": 400}
    limits = ({}, {"negatives": 50}, {"negatives": 999})
    whole, few, enough = (rows_of({**set_, **more}, protocol, 1) for more in limits)
    assert (few.y_train == 0).sum() == 50
    assert few.y_train.sum() == whole.y_train.sum()
    np.testing.assert_array_equal(few.X_test, whole.X_test)
    rows = {tuple(row) for row in whole.X_train}
    assert {tuple(row) for row in few.X_train} <= rows
    np.testing.assert_array_equal(enough.X_train, whole.X_train)


@pytest.mark.filterwarnings("ignore:k=")
def test_payments_are_split_from_a_start_day_with_their_customers(monkeypatch):
    rng = np.random.default_rng(0)
    times = np.datetime64("2018-04-01") + np.sort(rng.integers(30 * 86_400, size=3000)).astype("timedelta64[s]")
    frame = pd.DataFrame({"TX_DATETIME": times, "CUSTOMER_ID": rng.integers(7, 90, size=3000)})
    frame["TX_FRAUD"] = (rng.random(3000) < 0.02).astype(int)
    bunch = Bunch(
        data=np.arange(3000.0)[:, None], target=frame["TX_FRAUD"].to_numpy(), frame=frame, times=times,
        groups=frame["CUSTOMER_ID"].to_numpy(),
    )  # fmt: skip
    monkeypatch.setattr(data, "load", lambda name: bunch)
    data._payments.cache_clear()
    set_ = {"name": "handbook-payments", "start": "2018-04-03"}
    rows, other = (rows_of(set_, {"kind": "shuffle"}, seed) for seed in (0, 1))
    data._payments.cache_clear()
    train, test = handbook_split(frame, "2018-04-03")
    np.testing.assert_array_equal(rows.X_train[:, 0], train)
    np.testing.assert_array_equal(rows.X_test[:, 0], test)
    np.testing.assert_array_equal(other.X_test, rows.X_test)  # the seed is that of the method alone
    assert rows.n_groups == 83
    scores = rng.random(len(test))
    figures = MEASURES["ranking"].figures(None, rows, Called(np.empty(0), scores))
    cards = group_precision_at_k(rows.y_test, scores, frame["CUSTOMER_ID"].iloc[test], times[test].astype("M8[D]"), 100)
    assert figures == {"ap": pytest.approx(average_precision_score(rows.y_test, scores)), "cp@100": cards}


def test_features_can_be_left_out():
    whole, less = (
        rows_of({"name": "wine", **more}, {"kind": "folds"}, 0) for more in ({}, {"without": ["ash", "hue"]})
    )
    np.testing.assert_array_equal(less.X_train, np.delete(whole.X_train, [2, 10], axis=1))


def test_all_rows_that_are_not_fitted_on_can_be_the_test():
    protocol = {"kind": "shuffle", "test_size": 0.5, "rows": 200, "test_rows": "others"}
    rows, known = rows_of({"name": "balance"}, protocol, 0), load("balance")
    assert len(rows.y_train) == 200
    both = np.vstack((rows.X_train, rows.X_test))
    np.testing.assert_array_equal(both[np.lexsort(both.T)], known.data[np.lexsort(known.data.T)])
    assert rows.y_train.sum() + rows.y_test.sum() == known.target.sum()


def test_simulated_states_are_drawn_anew_for_each_split():
    set_ = {"name": "simulated-flow"}
    one, again, other = (rows_of(set_, {"kind": "drawn"}, split) for split in (0, 0, 1))
    np.testing.assert_array_equal(one.X_train, again.X_train)
    assert not np.array_equal(one.X_train, other.X_train)
    names, counts = np.unique(one.y_train, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {"normal": 1500, "slugging": 50, "churn": 10}
    assert len(one.y_test) == 1500


def test_missing_values_are_filled_from_the_training_rows(monkeypatch):
    X = np.c_[np.arange(40.0), np.full(40, np.nan)]
    X[::3, 0] = np.nan
    monkeypatch.setattr(data, "_table", lambda _: (X, np.tile([0, 0, 0, 1], 10), None))
    set_, protocol = {"name": "with missing values"}, {"kind": "shuffle", "test_size": 0.5}
    rows, gaps = rows_of(set_, protocol, 0), data._split(set_, protocol, 0)
    for filled, before in ((rows.X_train, gaps.X_train), (rows.X_test, gaps.X_test)):
        missing = np.isnan(before[:, 0])
        assert set(filled[missing, 0]) == {np.nanmedian(gaps.X_train[:, 0])}
        np.testing.assert_array_equal(filled[~missing, 0], before[~missing, 0])
        assert not filled[:, 1].any()  # there is nothing to learn from a column without a value


def test_a_file_is_encoded_as_the_audit_does_by_the_training_rows_alone(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=400), "same": 1, "id": [f"n{i}" for i in range(400)], "y": np.arange(400) % 8 == 0}
    )
    frame["shop"] = rng.choice([f"shop {i}" for i in range(60)], 400)
    frame["day"] = pd.date_range("2024-01-01", periods=400).astype(str)
    frame.loc[::5, "a"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    set_, left_out = describe_file(tmp_path / "t.csv", "y", None)
    assert [note.split("'")[1] for note in left_out] == ["same", "id"]
    protocol = {"kind": "shuffle", "test_size": 0.5}
    rows = rows_of(set_, protocol, 0)
    # A number and whether it is missing, five parts of a date, and 60 shops in one column.
    assert rows.X_train.shape == rows.X_test.shape == (200, 8)
    assert np.isfinite(rows.X_train).all()
    np.testing.assert_allclose(rows.X_train[:, 0].mean(), 0, atol=1e-9)
    assert abs(rows.X_test[:, 0].mean()) > 1e-9
    again = rows_of({**set_}, protocol, 0)
    np.testing.assert_array_equal(again.X_test, rows.X_test)


def test_models_decide_with_the_gains_of_the_study_and_earn_those_that_are_judged():
    costs = {"tp": 0.0, "fn": "-0.8 * amount", "fp": "margin - zeta", "tn": "margin"}
    set_ = {"name": "simulated-payments", "rows": 2000, "label": "ζ = 20", "zeta": 20.0}
    set_ |= {"gains": costs | {"zeta": 20.0}, "judged": costs | {"zeta": 5.0}}
    rows = rows_of(set_, {"kind": "drawn"}, 0)
    for gains, zeta in ((rows.gains_train, 20), (rows.gains_test, 20), (rows.gains_judged, 5)):
        np.testing.assert_allclose(gains[:, 2] - gains[:, 1], zeta)

    class DecidesByGains:
        def predict(self, X, gains):
            return (gains[:, 2] - gains[:, 1] > 10).astype(int)

    called = MEASURES["money"].call(DecidesByGains(), rows)
    assert called.labels.all()
    found = MEASURES["money"].figures(None, rows, called)
    most, profit, least = (
        profit_score(rows.y_test, labels, rows.gains_judged)
        for labels in (rows.y_test, called.labels, np.zeros_like(rows.y_test))
    )
    assert found["profit"] == pytest.approx(profit)
    assert found["gap"] == pytest.approx((most - profit) / most)
    assert found["gained"] == pytest.approx((profit - least) / (most - least))


def test_payments_without_gains_are_the_same_rows():
    plain = {"name": "simulated-payments", "rows": 1000}
    rows = rows_of(plain, {"kind": "drawn"}, 0)
    assert rows.gains_train is None
    with_gains = rows_of({**plain, "gains": {"tp": 0.0, "fp": -1.0, "tn": 0.0, "fn": -5.0}}, {"kind": "drawn"}, 0)
    np.testing.assert_array_equal(rows.X_test, with_gains.X_test)
    assert with_gains.gains_test.shape == (len(rows.y_test), 4)


def test_precision_is_taken_among_shares_of_the_rows_too():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 200), rng.random(200).round(1)
    X = np.zeros((200, 1))
    found = MEASURES["binary"].figures(None, Rows(X, truth, X, truth), Called(truth, scores))
    for share, count in ((1, 2), (5, 10), (10, 20)):
        assert found[f"p@{share}%"] == pytest.approx(precision_at_k(truth, scores, count))


def test_less_is_better_of_gaps_and_wrong_calls_only():
    studies = {"profit/fig6.1": {"gap"}, "ccnnd/table3": {"error", "normal→churn", "churn→slugging"}}
    for name, lower in studies.items():
        metrics = load_study(name).metrics
        assert lower <= {metric for metric in metrics if lower_is_better(metric)}
        assert not lower_is_better(metrics[-1])  # F1, and churn→churn
    assert not any(lower_is_better(metric) for metric in ("precision", "sensitivity", "ap", "churn→churn"))
