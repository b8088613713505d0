import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from scarce.audit import Audit, AuditError
from scarce.audit.candidates import MAX_ROWS_FOR_NEIGHBOURS, make_candidates
from scarce.audit.compare import Task, threshold_for
from scarce.audit.folds import inner_folds, make_folds
from scarce.metrics import precision_at_k
from scarce.objectives import Budget, Profit
from scarce.tables import Column
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
    with pytest.raises(AuditError, match="has 7 positive rows, and an honest comparison needs at least 8"):
        make_folds(np.array([1] * 7 + [0] * 100), None, 0)
    late = pd.Series(np.arange(120))
    with pytest.raises(AuditError, match="Too few positive rows lie in the later two thirds"):
        make_folds(np.array([1] * 20 + [0] * 100), late, 0)


def test_each_objective_has_its_threshold() -> None:
    assert threshold_for("ap", 0.1) == threshold_for("f1", 0.1) == "f1"
    assert threshold_for("budget", 0.1) == Budget(share=0.1)
    assert threshold_for("budget", 7.0) == Budget(share=1.0)
    assert isinstance(threshold_for("profit", 0.1), Profit)


def test_gains_are_amounts_caught_less_the_cost_of_checks() -> None:
    task = Task(pd.DataFrame(index=range(2)), np.array([1, 0]), "profit", 1, np.array([100.0, 30.0]), check_cost=5)
    assert task.gains.tolist() == [[95, -5, 0, 0], [25, -5, 0, 0]]


def test_neighbours_are_left_out_of_huge_tables() -> None:
    def names(rows: int) -> set[str]:
        columns = [Column("x", "number")]
        return {c.name for c in make_candidates(columns, "f1", rows=rows, folds=3, seed=0)}

    few, many = names(MAX_ROWS_FOR_NEIGHBOURS), names(MAX_ROWS_FOR_NEIGHBOURS + 1)
    assert few - many == {"γk-NN", "k-NN"}
    assert {"Logistic regression", "Random forest", "Extra trees", "LightGBM"} <= many


def test_figures_are_those_of_the_pooled_tests(result: Audit) -> None:
    comparison, task = result.comparison, result.task
    truth = task.y[comparison.folds.tested]
    for outcome in comparison.outcomes:
        ranks = naive.rank_within_fold(outcome.score.tolist(), comparison.folds.fold_of_tested.tolist())
        np.testing.assert_allclose(outcome.rank, ranks)
        figures = outcome.figures
        assert figures["ap"].estimate == pytest.approx(average_precision_score(truth, outcome.rank))
        assert figures["f1"].estimate == pytest.approx(f1_score(truth, outcome.flagged))
        assert figures["precision"].estimate == pytest.approx(precision_at_k(truth, outcome.rank, 50))
        assert figures["recall"].estimate == pytest.approx(figures["precision"].estimate * 50 / truth.sum())
        assert 0 <= figures["money"].estimate <= 1
        for figure in figures.values():
            assert figure.low <= figure.estimate <= figure.high


def test_the_winner_is_first_and_alone_keeps_its_models(result: Audit) -> None:
    comparison = result.comparison
    values = [o.figures["ap"].estimate for o in comparison.outcomes]
    assert values == sorted(values, reverse=True)
    assert len(values) == 6
    assert [len(o.models) for o in comparison.outcomes] == [len(comparison.folds.splits)] + [0] * 5
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
