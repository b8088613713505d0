"""The statistics of the comparison on KEEL's sets: tables of the literature, and scipy."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

pytest.importorskip("rich", reason="the benchmarks print with rich, of the extra audit")
from benchmarks.keel_quality import bonferroni_dunn, compare


@pytest.mark.parametrize(("n_methods", "difference"), [(5, 0.8832), (10, 1.8773)])
def test_critical_differences_are_those_printed_in_the_paper_of_gfrnn(n_methods, difference):
    # The paper rounds the quantile before it multiplies.
    assert bonferroni_dunn(40, n_methods) == pytest.approx(difference, abs=2e-4)


def test_friedman_is_scipys_where_there_are_no_ties():
    values = np.random.default_rng(0).normal(size=(20, 4)) + np.array([0, 0.3, 0.6, 0.9])
    ranking = compare(values)
    statistic, p = friedmanchisquare(*values.T)
    assert ranking.friedman == pytest.approx(statistic)
    assert ranking.friedman_p == pytest.approx(p)
    assert ranking.iman_davenport == pytest.approx(19 * statistic / (20 * 3 - statistic))
    assert ranking.ranks.sum() == pytest.approx(10)
    assert ranking.ranks[3] == ranking.ranks.min()  # the highest value has rank 1


def test_ties_share_their_ranks_and_unanimity_is_certain():
    assert compare(np.array([[0.5, 0.5, 0.1]] * 3)).ranks.tolist() == [1.5, 1.5, 3.0]
    certain = compare(np.array([[0.3, 0.2, 0.1]] * 9))
    assert certain.iman_davenport == np.inf
    assert certain.iman_davenport_p == 0.0
