"""The tests over many sets, against scipy, scikit-posthocs and what the papers print."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scarce.study import load_study
from scarce.study.statistics import (
    bonferroni_dunn,
    bootstrap_mean,
    compare_pairs,
    critical_difference,
    holm,
    mean_interval,
    nemenyi,
    rank_methods,
    splits_interval,
    wilcoxon_p,
    win_tie_loss,
)
from tests import naive_study

figures = st.integers(0, 6).map(lambda n: n / 6)


def tables(least_sets: int = 2) -> st.SearchStrategy[np.ndarray]:
    def make(shape: tuple[int, int]) -> st.SearchStrategy[np.ndarray]:
        row = st.lists(figures, min_size=shape[1], max_size=shape[1])
        return st.lists(row, min_size=shape[0], max_size=shape[0]).map(np.array)

    return st.tuples(st.integers(least_sets, 12), st.integers(2, 6)).flatmap(make)


def printed(name: str, metric: str) -> dict[str, np.ndarray]:
    """Return the paper's columns, sets in the order of the file."""
    block = load_study(name).printed[metric]
    rows = np.array([row for key, row in block.items() if key not in ("columns", "percent")])
    return dict(zip(block["columns"], rows.T, strict=True))


@pytest.mark.parametrize(("k", "q", "cd", "f"), [(5, 2.498, 0.8832, 2.4296), (10, 2.773, 1.8773, 1.9066)])
def test_the_critical_values_that_the_paper_of_gfrnn_prints(k, q, cd, f):
    n = 40
    assert bonferroni_dunn(k) == pytest.approx(q, abs=5e-4)
    # The paper goes on with q as it prints it.
    assert critical_difference(q, k, n) == pytest.approx(cd, abs=5e-5)
    assert critical_difference(bonferroni_dunn(k), k, n) == pytest.approx(cd, abs=5e-4)
    values = np.random.default_rng(0).random((n, k))
    assert rank_methods(values).iman_davenport_critical == pytest.approx(f, abs=5e-5)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_values_of_nemenyi_in_the_table_of_demsar(k, q):
    assert nemenyi(k) == pytest.approx(q, abs=1.1e-3)


def test_the_worked_example_of_demsar():
    # JMLR 2006, section 3.2.2: four methods on 14 sets with these mean ranks.
    ranks, n = np.array([3.143, 2.000, 2.893, 1.964]), 14
    chi2 = 12 * n / (4 * 5) * (np.sum(ranks**2) - 4 * 25 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.01)
    assert critical_difference(nemenyi(4), 4, n) == pytest.approx(1.25, abs=0.01)
    assert critical_difference(bonferroni_dunn(4), 4, n) == pytest.approx(1.16, abs=0.015)


def test_the_seven_methods_of_the_paper_of_gamma_do_not_differ_on_its_own_figures():
    table = printed("gamma/table2", "f1")
    ranking = rank_methods(np.column_stack(list(table.values())))
    assert stats.friedmanchisquare(*table.values()).pvalue == pytest.approx(0.28, abs=0.01)
    assert ranking.friedman_p > 0.2
    assert wilcoxon_p(table["γk-NN"], table["dupk-NN"]) == pytest.approx(0.11, abs=0.01)
    assert wilcoxon_p(table["γk-NN"], table["LMNN"]) == pytest.approx(0.18, abs=0.01)
    assert {name: round(column.mean(), 3) for name, column in table.items()} == {
        "3-NN": 0.543,
        "dupk-NN": 0.575,
        "wk-NN": 0.544,
        "cwk-NN": 0.559,
        "kRNN": 0.55,
        "LMNN": 0.56,
        "γk-NN": 0.607,
    }


def test_what_the_paper_of_metaap_says_of_its_lead_over_treerank():
    table = printed("metaap/fig3", "ap")
    record = win_tie_loss(table["MetaAP"], table["TreeRank, leaves alone"])
    assert (record.wins, record.losses) == (20, 8)
    assert wilcoxon_p(table["MetaAP"], table["TreeRank, leaves alone"]) == pytest.approx(0.045, abs=0.002)


def test_the_mean_ranks_that_the_thesis_prints_for_its_ellipsoids():
    table = printed("me2/table3.2", "f1")
    ranks = rank_methods(np.column_stack(list(table.values()))).ranks
    assert list(table)[int(ranks.argmin())] == "ME²"


@given(tables())
def test_ranks_are_those_of_the_obvious_count(values):
    ranking = rank_methods(values)
    np.testing.assert_allclose(ranking.ranks, naive_study.mean_ranks(values))
    np.testing.assert_allclose(rank_methods(-values, lower_is_better=True).ranks, ranking.ranks)
    assert 0 <= ranking.friedman_p <= 1
    assert 0 <= ranking.iman_davenport_p <= 1


def test_without_ties_friedman_is_that_of_scipy():
    values = np.random.default_rng(3).random((17, 5))
    expected = stats.friedmanchisquare(*values.T)
    ranking = rank_methods(values)
    assert ranking.friedman == pytest.approx(expected.statistic)
    assert ranking.friedman_p == pytest.approx(expected.pvalue)
    assert ranking.iman_davenport == pytest.approx(16 * expected.statistic / (17 * 4 - expected.statistic))


def test_a_rank_difference_of_nemenyi_is_the_p_value_of_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs", reason="it comes with the extra study")
    values = np.random.default_rng(5).random((20, 6)) + np.arange(6) * 0.12
    p = posthocs.posthoc_nemenyi_friedman(pd.DataFrame(values)).to_numpy()
    apart = np.abs(np.subtract.outer(*[rank_methods(values).ranks] * 2)) > critical_difference(nemenyi(6), 6, 20)
    np.testing.assert_array_equal(apart, p < 0.05)
    assert apart.any()
    assert not apart.all()


def test_when_all_sets_agree_the_methods_differ():
    ranking = rank_methods(np.tile([0.9, 0.5, 0.1], (6, 1)))
    assert ranking.ranks.tolist() == [1, 2, 3]
    assert ranking.iman_davenport == np.inf
    assert ranking.iman_davenport_p == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_obvious_step_down(p):
    np.testing.assert_allclose(holm(p), naive_study.holm(p))


@given(tables(6))
def test_comparisons_do_not_depend_on_who_comes_first(values):
    a, b = values[:, 0], values[:, 1]
    assert wilcoxon_p(a, b) == pytest.approx(wilcoxon_p(b, a))
    assert win_tie_loss(a, b) == win_tie_loss(b, a)[::-1]
    columns = {str(j): values[:, j] for j in range(values.shape[1])}
    everyone, few = compare_pairs(columns), compare_pairs(columns, "0")
    assert len(everyone) == len(columns) * (len(columns) - 1) / 2
    assert [pair["b"] for pair in few] == list(columns)[1:]
    for pair in (*everyone, *few):
        assert pair["holm"] >= pair["p"]


def test_wilcoxon_counts_zeros_for_both_signs():
    ours, theirs = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.3]), np.array([0.5, 0.6, 0.6, 0.6, 0.6, 0.2])
    expected = stats.wilcoxon(ours - theirs, zero_method="zsplit", method="asymptotic").pvalue
    assert wilcoxon_p(ours, theirs) == pytest.approx(expected)
    assert wilcoxon_p(ours, ours) == 1


def test_intervals_hold_the_mean_and_shrink_with_more_values():
    values = np.random.default_rng(0).random(200)
    few, many = bootstrap_mean(values[:10]), bootstrap_mean(values)
    assert few.low < values[:10].mean() < few.high
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize("values", [[[0.1, 0.2]], [[0.1], [0.2]], [[0.1, np.nan], [0.2, 0.3]]])
def test_too_little_to_rank_is_an_error(values):
    with pytest.raises(ValueError, match="at least two methods on at least two sets"):
        rank_methods(values)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12).filter(lambda values: np.ptp(values) > 1e-6))
def test_an_interval_over_sets_ends_where_the_t_test_turns(values):
    found = mean_interval(values)
    for end in (found.low, found.high):
        assert stats.ttest_1samp(values, end).pvalue == pytest.approx(0.05, abs=1e-6)
    assert splits_interval([values], [0.0]) == pytest.approx(found)


def test_splits_that_share_training_rows_are_not_taken_for_independent():
    """The mean accuracy of repeated splits of one table, against its accuracy on all rows of the world."""
    rng = np.random.default_rng(0)
    inside = {0.0: 0, 1 / 2: 0}
    for _ in range(300):
        # The figure of a split is that of the table, which all splits share, and a part of its own.
        rho = 1 / 3  # what Nadeau and Bengio take for a third of the rows for testing
        shared = rng.normal(0, np.sqrt(rho))
        figures = shared + rng.normal(0, np.sqrt(1 - rho), 15)
        for overlap in inside:
            found = splits_interval([figures], [overlap])
            inside[overlap] += found.low < 0 < found.high
    assert inside[0.0] < 0.75 * 300
    assert inside[1 / 2] > 0.93 * 300


def test_the_interval_of_several_sets_is_that_of_their_mean():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        # The splits of the second vary ten times as much, and there are fewer.
        found = splits_interval([rng.normal(1, 0.1, 8), rng.normal(3, 1, 4)], [0.0, 0.0])
        covered += found.low < 2 < found.high
    assert 0.91 * 300 < covered < 0.99 * 300


def test_splits_without_a_difference_have_no_width():
    assert splits_interval([[0.0, 0.0], [0.0, 0.0]], [0.25, 0.25]) == (0.0, 0.0, 0.0)
