"""The parts of the monitor beside slow, obvious versions of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scarce.audit.reference import OWN
from scarce.metrics import ConfidenceInterval
from scarce.monitor.advice import Known, advise, refitted_shift
from scarce.monitor.columns import population_stability_index
from scarce.monitor.detectors import detect
from scarce.monitor.drift import area_under_curve
from scarce.monitor.outcomes import alarms_of_checked
from scarce.monitor.rows import FirstRows, RandomRows, first_of_periods
from scarce.stream import FisherDrift
from tests import naive_monitor

NUMBERS = st.lists(st.none() | st.integers(-5, 5).map(float), min_size=1, max_size=40)


@given(NUMBERS, NUMBERS)
@settings(max_examples=60, deadline=None)
def test_the_stability_index_is_that_of_the_slow_version(old, new):
    series = [pd.Series(part, dtype="float64") for part in (old, new)]
    assert population_stability_index(*series) == pytest.approx(naive_monitor.stability_index(old, new), abs=1e-12)


def test_the_stability_index_of_categories_counts_those_that_are_new():
    old = pd.Series(["a", "b"] * 100)
    assert population_stability_index(old, old, "category") == 0
    assert population_stability_index(old, pd.Series(["a", "c"] * 100), "category") > 1


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 12), st.floats(0.001, 0.9))
@settings(max_examples=60, deadline=None)
def test_the_fisher_detector_is_the_slow_one(mistakes, window, level):
    detector, found = FisherDrift(window, level), []
    for place, mistake in enumerate(mistakes):
        detector.update(mistake)
        if detector.drift_detected:
            found.append(place)
    assert found == naive_monitor.fisher_drifts(mistakes, window, level)


def test_the_fisher_detector_keeps_its_level_on_streams_without_drift():
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(200):
        detector = FisherDrift(level=0.05)
        for mistake in rng.random(600) < 0.3:
            detector.update(bool(mistake))
            if detector.drift_detected:
                alarms += 1
                break
    # 5 % of 200 streams are 10; 19 or more would come about with a chance below 1 %.
    assert alarms < 19


@pytest.mark.parametrize(("name", "value"), [("window", 0), ("level", 1.0)])
def test_a_parameter_of_the_fisher_detector_that_means_nothing_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        FisherDrift(**{name: value})


def scored_rows(score, period, group=None):
    rows = pd.DataFrame({OWN + "score": score, OWN + "bucket": period, "place": np.arange(len(score))})
    return rows if group is None else rows.assign(**{OWN + "group": group})


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=30),
    st.integers(1, 4),
    st.booleans(),
    st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_the_first_rows_are_those_of_the_slow_version_however_the_rows_are_divided(rows, checks, grouped, size):
    score, period, group = (list(part) for part in zip(*rows, strict=True))
    frame = scored_rows([float(s) for s in score], period, group if grouped else None)
    naive = naive_monitor.first_of_periods(score, period, checks, group if grouped else None)
    assert first_of_periods(frame, checks, OWN + "bucket")["place"].tolist() == naive
    first = FirstRows(checks)
    for start in range(0, len(frame), size):
        first.add(frame.iloc[start : start + size])
    assert sorted(first.frame["place"]) == naive


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_a_random_sample_is_the_same_however_the_rows_are_divided(n, size, step):
    rows = pd.DataFrame({"place": np.arange(n)})
    parts, whole = RandomRows(size, 0), RandomRows(size, 0)
    whole.add(rows)
    for start in range(0, n, step):
        parts.add(rows.iloc[start : start + step])
    assert parts.frame["place"].tolist() == whole.frame["place"].tolist()
    assert len(whole.frame) == min(n, size)
    assert whole.weight * len(whole.frame) == pytest.approx(n)


def test_every_row_has_the_same_chance_to_be_in_a_random_sample():
    counts, parts = np.zeros(20), [pd.DataFrame({"place": np.arange(start, start + 10)}) for start in (0, 10)]
    for seed in range(400):
        sample = RandomRows(5, seed)
        for part in parts:
            sample.add(part)
        counts[sample.frame["place"]] += 1
    # 100 are expected of each, with a standard deviation of 8.7.
    assert np.abs(counts - 100).max() < 35


@given(arrays(np.float64, st.integers(4, 25), elements=st.integers(0, 4).map(float)), st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_area_under_the_curve_is_the_share_of_pairs(score, random):
    truth = np.array([0, 0, 1, 1] + [random.randint(0, 1) for _ in score[4:]])
    interval, error = area_under_curve(truth, score)
    assert interval.estimate == pytest.approx(naive_monitor.area_under_curve(truth, score))
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert error >= 0


def test_the_interval_of_the_area_covers_a_half_where_rows_are_alike():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        interval, _ = area_under_curve(np.repeat([0, 1], 60), rng.normal(size=120))
        covered += interval.low <= 0.5 <= interval.high
    assert covered >= 180


def test_detectors_notice_that_hits_vanish_and_keep_quiet_before():
    rng = np.random.default_rng(0)
    before, alike, worse = rng.random(400) < 0.5, rng.random(400) < 0.5, rng.random(400) < 0.95
    assert not any(found.alarm for found in detect(before, alike, 0.0025))
    found = {one.name: one for one in detect(before, worse, 0.0025)}
    assert found["ADWIN"].alarm
    assert found["Fisher's test"].alarm
    assert not found["EDDM"].alarm
    assert "5" in found["Fisher's test"].sentence


def test_what_is_too_little_for_an_alarm_in_one_run_is_enough_together_with_earlier_runs():
    tested = np.repeat([1, 0], [60, 90])
    reference = SimpleNamespace(
        outcome=tested, queue=lambda share: np.arange(round(share * 3_000)), about={"spread": 0}
    )
    own = {"outcome": np.repeat([1, 0], [30, 70]), "probability": np.full(100, 0.4), "stands_among": 20.0}
    one = pd.DataFrame({OWN + name: values for name, values in own.items()})
    assert alarms_of_checked(reference, one) == []
    three = alarms_of_checked(reference, pd.concat([one] * 3), "Since the audit, ")
    expected = (
        "Since the audit, 90 of 300 checked rows within the budget are positive; by their probabilities it would be"
    )
    assert three == [f"{expected} 120.0."]
    worse = one.assign(**{OWN + "outcome": 0})
    assert alarms_of_checked(reference, worse)[0].startswith("Precision within the budget is 0.0% (0.0% to 3.7%)")
    assert alarms_of_checked(reference, one.head(0)) == []


def known(n: int, seed: int, *, turned: bool = False, shift: float = 0.0) -> Known:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    log_odds = -2 + 2 * (X["b"] if turned else X["a"]).to_numpy()
    y = (rng.random(n) < 1 / (1 + np.exp(-log_odds - shift))).astype(np.intp)
    return Known(X, y, np.ones(n), np.ones(n), 1 / (1 + np.exp(-(-2 + 2 * X["a"].to_numpy()))))


def fit(rows: Known):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(rows.X, rows.y, sample_weight=rows.weight)
    return lambda X: model.predict_proba(X)[:, 1]


def test_a_model_is_kept_while_nothing_changes():
    assert advise(fit, known(1_000, 0), known(2_000, 1), share=0.1).action == "keep"


def test_a_renewal_is_advised_after_the_positives_changed_their_ways():
    advice = advise(fit, known(500, 0), known(4_000, 1, turned=True), share=0.1)
    assert advice.action == "renew"
    assert isinstance(advice.found, ConfidenceInterval)
    assert advice.found.low > 0
    assert "auditing again" in advice.sentence


def test_a_recalibration_is_advised_after_the_rate_has_changed():
    latest = known(3_000, 1, shift=1.0)
    advice = advise(fit, known(1_000, 0), latest, share=0.1)
    assert advice.action == "recalibrate"
    assert advice.shift == pytest.approx(1.0, abs=0.2)
    expected = 1 / (1 + np.exp(-(np.log(latest.probability / (1 - latest.probability)) + advice.shift)))
    assert expected.sum() == pytest.approx(latest.y.sum(), rel=1e-6)


def test_too_few_positives_are_a_reason_to_keep():
    advice = advise(fit, known(500, 0), known(60, 1), share=0.1)
    assert advice.action == "keep"
    assert "at least 20 are needed" in advice.sentence


def test_a_recipe_that_cannot_be_fitted_is_a_reason_to_keep():
    def refuse(rows):
        raise ValueError("No weights.")

    advice = advise(refuse, known(500, 0), known(1_000, 1), share=0.1)
    assert advice.action == "keep"
    assert "No weights" in advice.sentence


def test_rows_that_all_are_negative_have_no_shift():
    rows = known(50, 0)
    assert refitted_shift(Known(rows.X, np.zeros(50, dtype=np.intp), *(np.ones(50),) * 2, rows.probability)) == 0
