"""Figures of groups, and intervals from whole groups and periods, against slow twins and known distributions."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scarce import metrics as m


def naive(y, score, groups, period, k):
    """Walk through the days, cards in order of their score, and share a tied place at the end of the budget."""
    left = dict.fromkeys(groups, 1.0)
    days = []
    for day in sorted(set(period)):
        rows = [i for i in range(len(y)) if period[i] == day]
        cards = {card: [i for i in rows if groups[i] == card] for card in {groups[i] for i in rows}}
        best = {card: max(score[i] for i in own) for card, own in cards.items()}
        budget, found = float(k), 0.0
        for level in sorted(set(best.values()), reverse=True):
            tied = [card for card in cards if best[card] == level]
            mass = sum(left[card] for card in tied)
            share = 0.0 if mass == 0 else min(1.0, budget / mass)
            budget -= share * mass
            for card in tied:
                if any(y[i] for i in cards[card]):
                    found += share * left[card]
                    left[card] -= share * left[card]
        days.append(found / k)
    return sum(days) / len(days)


def handbook(y, score, customers, days, k):
    """Return the Fraud Detection Handbook's card precision top-k, where no scores are tied, day by day."""
    detected, precision = set(), []
    for day in sorted(set(days)):
        rows = [i for i in range(len(y)) if days[i] == day and customers[i] not in detected]
        cards = {c: (max(score[i] for i in rows if customers[i] == c)) for c in {customers[i] for i in rows}}
        first = sorted(cards, key=lambda c: -cards[c])[:k]
        compromised = {c for c in first if any(y[i] for i in rows if customers[i] == c)}
        precision.append(len(compromised) / k)
        detected |= compromised
    return sum(precision) / len(precision)


@st.composite
def payments(draw, *, ties=True):
    n = draw(st.integers(1, 30))
    columns = [st.integers(0, 1), st.integers(0, 3), st.integers(0, 6), st.integers(0, 3)]
    y, score, cards, days = (draw(st.lists(column, min_size=n, max_size=n)) for column in columns)
    if not ties:
        score = draw(st.permutations(range(n)))
    return y, list(score), cards, days


@pytest.mark.filterwarnings("ignore:k=")
@settings(max_examples=200, deadline=None)
@given(payments(), st.integers(1, 5))
def test_group_precision_is_the_slow_twin(case, k):
    y, score, cards, days = case
    assert m.group_precision_at_k(y, score, cards, days, k) == pytest.approx(naive(y, score, cards, days, k))


@pytest.mark.filterwarnings("ignore:k=")
@settings(max_examples=100, deadline=None)
@given(payments(ties=False), st.integers(1, 5))
def test_without_ties_it_is_that_of_the_handbook(case, k):
    y, score, cards, days = case
    assert m.group_precision_at_k(y, score, cards, days, k) == pytest.approx(handbook(y, score, cards, days, k))


@pytest.mark.filterwarnings("ignore:k=")
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=5), st.integers(1, 5))
def test_one_period_is_the_mean_over_all_orders_of_ties(cards, k):
    y, score = zip(*cards, strict=True)
    names = range(len(y))
    orders = [sorted(order, key=lambda i: -score[i])[:k] for order in permutations(names)]
    expected = np.mean([sum(y[i] for i in order) / k for order in orders])
    assert m.group_precision_at_k(y, score, list(names), k=k) == pytest.approx(expected)


def test_row_order_and_names_do_not_matter():
    rng = np.random.default_rng(0)
    y, score, cards, days = (
        rng.integers(0, 2, 200),
        rng.integers(0, 9, 200),
        rng.integers(0, 30, 200),
        rng.integers(0, 5, 200),
    )
    figure = m.group_precision_at_k(y, score, cards, days, k=4)
    order = rng.permutation(200)
    labels = np.array([f"card {c}" for c in cards])
    dates = np.datetime64("2018-04-01") + days
    again = m.group_precision_at_k(y[order], score[order], labels[order], dates[order], k=4)
    assert again == pytest.approx(figure, abs=1e-12)


def test_fewer_groups_than_k_warn_and_bad_k_is_refused():
    with pytest.warns(UserWarning, match="k=3 is more than the 2 groups"):
        assert m.group_precision_at_k([1, 0], [1, 0], ["a", "b"], k=3) == pytest.approx(1 / 3)
    for k in (0, 0.5, "2"):
        with pytest.raises(ValueError, match="k must be a whole number"):
            m.group_precision_at_k([1, 0], [1, 0], ["a", "b"], k=k)


# intervals ----------------------------------------------------------------------------------------------------


def mean_score(y_true, y_score):
    return float(np.mean(y_score))


@pytest.mark.parametrize("size", [1, 4])
def test_the_interval_of_a_mean_is_that_of_the_means_of_clusters(size):
    """The mean over clusters of equal size has the standard error of the clusters' means."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(100), size)
    score = np.repeat(rng.normal(size=100), size)
    y = np.arange(100 * size) % 2
    found = m.bootstrap_interval(mean_score, y, score, clusters=clusters, n_resamples=4000)
    error = score[::size].std() / np.sqrt(100)
    low, high = stats.norm.interval(0.95, score.mean(), error)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * error)


def test_clusters_cover_the_truth_where_rows_do_not():
    """95 % intervals from 40 customers with 10 rows each, all alike, over 150 draws of the customers."""
    rng = np.random.default_rng(2)
    covered = {"rows": 0, "clusters": 0}
    clusters = np.repeat(np.arange(40), 10)
    y = np.arange(400) % 2
    for _ in range(150):
        score = np.repeat(rng.normal(size=40), 10)
        for name, given_clusters in (("rows", None), ("clusters", clusters)):
            found = m.bootstrap_interval(mean_score, y, score, clusters=given_clusters, n_resamples=200)
            covered[name] += found.low <= 0 <= found.high
    assert covered["clusters"] >= 0.88 * 150
    assert covered["rows"] <= 0.65 * 150


@pytest.mark.parametrize("metric", [m.average_precision, partial(m.recall_at_k, k=20)])
def test_single_rows_as_clusters_are_rows(metric):
    rng = np.random.default_rng(3)
    y = np.r_[np.ones(20, int), np.zeros(180, int)]
    score = rng.normal(size=200) + y
    rows = m.bootstrap_interval(metric, y, score, stratified=False, n_resamples=1500)
    clusters = m.bootstrap_interval(metric, y, score, clusters=np.arange(200), n_resamples=1500)
    assert clusters == pytest.approx(rows, abs=0.03)


@pytest.mark.parametrize("by", ["groups", "period"])
def test_a_cluster_drawn_twice_counts_twice(by):
    """Every card is positive and every card fits into the budget, so the figure counts distinct cards or days."""
    seen = []

    def distinct(y_true, y_score, groups, period):
        seen.append(len(np.unique(groups if by == "groups" else period)))
        return float(seen[-1])

    cards, days = np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10)
    y = np.arange(60) % 2
    clusters = cards if by == "groups" else days
    found = m.bootstrap_interval(distinct, y, y, clusters=clusters, groups=cards, period=days, n_resamples=50)
    assert found == (len(np.unique(clusters)),) * 3
    assert set(seen) == {len(np.unique(clusters))}


def test_one_cluster_is_refused():
    with pytest.raises(ValueError, match="needs two clusters"):
        m.bootstrap_interval(m.average_precision, [0, 1], [0, 1], clusters=["a", "a"])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        m.bootstrap_interval(m.average_precision, [0, 1], [0, 1], clusters=["a"])
