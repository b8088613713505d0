import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from scarce.audit import Audit, AuditError
from scarce.audit.folds import inner_folds, make_folds
from scarce.metrics import precision_at_k
from tests import naive


@given(st.integers(8, 60), st.integers(0, 5))
def test_random_folds_test_every_row_once(positives: int, seed: int) -> None:
    y = np.zeros(300, dtype=np.int64)
    y[:positives] = 1
    folds = make_folds(y, None, seed)
    assert sorted(folds.tested) == list(range(300))
    assert 2 <= len(folds.splits) <= 5
    for train, test in folds.splits:
        assert not set(train) & set(test)
        assert y[test].sum() >= 4
    assert 2 <= inner_folds(y, folds) <= 3


@given(st.lists(st.integers(0, 40), min_size=40, max_size=80), st.integers(0, 10_000))
def test_time_folds_learn_from_strictly_earlier_rows(times: list[int], seed: int) -> None:
    y = (np.random.default_rng(seed).random(len(times)) < 0.4).astype(np.int64)
    moment = pd.Series(times)
    try:
        folds = make_folds(y, moment, seed)
    except AuditError:
        assume(False)
    for train, test in folds.splits:
        assert moment[train].max() < moment[test].min()
        assert set(train) == set(np.flatnonzero(moment < moment[test].min()))
    assert len(set(folds.tested)) == len(folds.tested)
    latest = moment == moment.max()
    assert latest[folds.tested].sum() == latest.sum()


def test_too_few_positives_are_refused() -> None:
    with pytest.raises(AuditError, match="has 7 rows that are positive, and an honest comparison needs at least 8"):
        make_folds(np.array([1] * 7 + [0] * 100), None, 0)
    late = pd.Series(np.arange(120))
    with pytest.raises(AuditError, match="Too few positive rows lie in the later two thirds"):
        make_folds(np.array([1] * 20 + [0] * 100), late, 0)


@given(st.lists(st.integers(0, 40), min_size=40, max_size=80), st.integers(1, 10), st.integers(0, 10_000))
def test_with_a_delay_only_known_outcomes_are_learned_from(times: list[int], delay: int, seed: int) -> None:
    y = (np.random.default_rng(seed).random(len(times)) < 0.4).astype(np.int64)
    moment = pd.Series(times)
    try:
        folds = make_folds(y, moment, seed, delay=delay)
    except AuditError:
        assume(False)
    for train, test in folds.splits:
        first = moment[test].min()
        assert set(train) == {row for row in range(len(y)) if moment[row] < first and moment[row] + delay <= first}


def test_a_period_is_never_divided_between_folds() -> None:
    dates = pd.Series(pd.date_range("2024-01-01", periods=400, freq="5h"), name="date")
    y = (np.arange(400) % 7 == 0).astype(np.int64)
    for period, code in {"day": "D", "week": "W", "month": "M"}.items():
        folds = make_folds(y, dates, 0, period=period)
        parts = [set(dates.iloc[test].dt.to_period(code)) for _, test in folds.splits]
        assert sum(map(len, parts)) == len(set.union(*parts))
    numbers = pd.Series(np.arange(400), name="step")
    with pytest.raises(AuditError, match="A budget for each day needs dates, and the time column 'step' holds numbers"):
        make_folds(y, numbers, 0, period="day")
    with pytest.raises(AuditError, match=r"`delay` is the time after which .* such as 7d.*; it was 'soon'"):
        make_folds(y, dates, 0, delay="soon")
    with pytest.raises(AuditError, match="so `delay` must be a number in their unit; it was '7d'"):
        make_folds(y, numbers, 0, delay="7d")


def test_figures_are_those_of_the_pooled_tests(result: Audit) -> None:
    comparison, task = result.comparison, result.task
    truth = task.y[comparison.folds.tested]
    for outcome in comparison.outcomes:
        ranks = naive.rank_within_fold(outcome.score.tolist(), comparison.folds.fold_of_tested.tolist())
        np.testing.assert_allclose(outcome.rank, ranks)
        figures = outcome.figures
        assert figures["ap"].estimate == pytest.approx(average_precision_score(truth, outcome.rank))
        assert figures["f1"].estimate == pytest.approx(f1_score(truth, outcome.flagged))
        # Every outcome is known, so each fold of a fifth of the rows has a fifth of the 50 checks.
        folds = comparison.folds.fold_of_tested
        hits = [10 * precision_at_k(truth[folds == f], outcome.score[folds == f], 10) for f in range(5)]
        assert figures["precision"].estimate == pytest.approx(sum(hits) / 50)
        assert figures["recall"].estimate == pytest.approx(sum(hits) / truth.sum())
        assert 0 <= figures["money"].estimate <= 1
        for figure in figures.values():
            assert figure.low <= figure.estimate <= figure.high


def test_the_winner_is_first_and_keeps_its_models_as_me2_does_for_its_ellipsoids(result: Audit) -> None:
    comparison = result.comparison
    values = [o.figures["ap"].estimate for o in comparison.outcomes]
    assert values == sorted(values, reverse=True)
    assert len(values) == 8
    keeping = [comparison.winner.candidate.key, "me2"]
    for outcome in comparison.outcomes:
        assert len(outcome.models) == (len(comparison.folds.splits) if outcome.candidate.key in keeping else 0)
    assert comparison.lead.estimate == pytest.approx(values[0] - values[1])
    assert ("within the noise" in comparison.summary) == (comparison.lead.low <= 0)
    # The amount and the channel decide in this table: a method that learned nothing would have the share of positives.
    assert values[0] > 10 * task_rate(result)


def task_rate(result: Audit) -> float:
    return float(result.task.y.mean())


def test_honest_scores_come_from_models_that_did_not_see_the_row(result: Audit) -> None:
    comparison, task = result.comparison, result.task
    winner, folds = comparison.winner, comparison.folds
    place = 0
    for model, (train, test) in zip(winner.models, folds.splits, strict=True):
        again = task.fit(winner.candidate.model, train)
        score = again.score_samples(task.X.iloc[test])
        np.testing.assert_array_equal(winner.score[place : place + len(test)], score)
        assert again[-1].threshold_ == model[-1].threshold_ == winner.threshold[place]
        place += len(test)
