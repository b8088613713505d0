"""Cuts that are passed over, histograms, random features, deep trees: the engine against itself and its twin."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.trees import APTree
from scarce.trees._engine import CRITERIA, columns, tree
from scarce.trees._engine._kernels_criteria import split_gain
from scarce.trees._engine._kernels_grow import WORTH_SUBTRACTING
from tests import naive_trees as naive
from tests.trees.test_engine import grown, parameter_for, rows_of, rule


@st.composite
def tables(draw, distinct=6):
    """Larger tables of whole numbers, missing values among them, made from a seed: for fast-to-fast comparisons."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    X = random.integers(0, draw(st.integers(1, distinct)), size=(n, d)).astype(float)
    X[random.random((n, d)) < draw(st.sampled_from([0, 0.1, 0.5]))] = np.nan
    signal = np.nan_to_num(X[:, 0]) + random.normal(size=n) > draw(st.sampled_from([0, 2, 4]))
    y = np.where(random.random(n) < 0.1, random.random(n) < 0.5, signal)
    weight = random.integers(1, 4, size=n) if draw(st.booleans()) else np.ones(n)
    return X, np.column_stack((weight, weight * y, weight * y * 9 - weight, -weight * y * X.shape[1])).astype(float)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "ap_mean", "ap_max", "weighted_error", "balanced"])
@given(table=tables(distinct=40), inherit=st.booleans(), fewest=st.integers(1, 9))
def test_passing_over_runs_of_one_class_never_changes_the_best_gain(criterion, table, inherit, fewest):
    """The same columns as bins, where no split is passed over, lead to the same best gain."""
    X, stats = table
    growing = rule(criterion, X.shape[1], max_depth=1, inherit=inherit and criterion == "ap_mean")
    growing = growing._replace(min_samples_leaf=fewest)
    parameter = parameter_for(criterion, stats)
    numeric = np.zeros(X.shape[1], dtype=bool)
    exact, binned = (grown(X, stats, numeric, growing, max_bins, parameter=parameter) for max_bins in (None, 255))
    assert (exact.feature[0] < 0) == (binned.feature[0] < 0)
    if exact.feature[0] >= 0:
        gains = [
            split_gain(CRITERIA[criterion], parameter, *graph.sums[1], *graph.sums[0]) for graph in (exact, binned)
        ]
        assert gains[0] == pytest.approx(gains[1], rel=1e-12)


@pytest.mark.parametrize("criterion", ["ap_mean", "gini", "top_k", "cost"])
@pytest.mark.parametrize("max_bins", [6, 255])
@given(table=tables(), min_samples_leaf=st.sampled_from([2, 5]))
def test_bins_of_few_values_part_rows_as_exact_splits_do(criterion, max_bins, table, min_samples_leaf):
    """With as many bins as values. Two rows in a leaf at least, so that exact splits try the same splits in turn."""
    X, stats = table
    numeric = np.zeros(X.shape[1], dtype=bool)
    growing = rule(criterion, X.shape[1], max_depth=5, min_samples_leaf=min_samples_leaf)
    parameter = parameter_for(criterion, stats)
    exact, binned = (grown(X, stats, numeric, growing, bins, parameter=parameter) for bins in (None, max_bins))
    for field in ("feature", "left", "right", "n_rows", "sums", "missing_left"):
        np.testing.assert_array_equal(getattr(exact, field), getattr(binned, field))
    np.testing.assert_array_equal(exact.apply(X), binned.apply(X))
    # The edge of a bin is in the middle of two values of the whole column, not of those of the node.
    for node in np.flatnonzero((binned.feature >= 0) & np.isfinite(binned.threshold)):
        values = np.unique(X[:, binned.feature[node]])
        values = values[~np.isnan(values)]
        assert binned.threshold[node] in (values[1:] + values[:-1]) / 2


@pytest.mark.parametrize("slots", [0, 1, 2, 30])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_histograms_of_large_nodes_by_subtraction(monkeypatch, slots, missing):
    """The larger child's histogram is the parent's less the other's, with memory for few nodes or many."""
    random = np.random.default_rng(0)
    X = random.integers(0, 300, size=(6000, 4)).astype(float)
    X[random.random(X.shape) < missing] = np.nan
    X[:, 3] = random.integers(0, 9, size=6000)
    y = np.nansum(X[:, :2] ** 2, axis=1) + 9000 * X[:, 3] + random.normal(scale=5e4, size=6000) > 2e5
    weight = random.integers(1, 4, size=6000)
    stats = np.column_stack((weight, weight * y)).astype(float)
    is_categorical = np.array([False, False, False, True])
    growing = rule("gini", 4, max_depth=9)
    monkeypatch.setattr(tree, "HISTOGRAM_BYTES", slots * 4 * 256 * 5 * 8)
    graph = grown(X, stats, is_categorical, growing, 64)
    assert np.sum(graph.n_rows > WORTH_SUBTRACTING) > 20
    # Weights of .75 and 1.5 are no whole numbers, so that every histogram is filled from its rows.
    refilled = grown(X, stats * 0.75, is_categorical, growing, 64)
    for field in ("feature", "threshold", "left", "right", "n_rows", "missing_left"):
        np.testing.assert_array_equal(getattr(graph, field), getattr(refilled, field))
    np.testing.assert_array_equal(graph.sums * 0.75, refilled.sums)


@pytest.mark.parametrize("max_bins", [None, 255])
@given(table=tables(), max_features=st.integers(1, 3))
def test_random_features(max_bins, table, max_features):
    """The same seed gives the same tree; each split is the best of enough of the features that are not constant."""
    X, stats = table
    numeric = np.zeros(X.shape[1], dtype=bool)
    growing = rule("gini", X.shape[1], max_features=max_features, max_depth=1)
    graphs = [grown(X, stats, numeric, growing, max_bins, seed=seed) for seed in (0, 0, 1, 2, 3, 4, 5, 6, 7)]
    np.testing.assert_array_equal(graphs[0].feature, graphs[1].feature)
    np.testing.assert_array_equal(graphs[0].threshold, graphs[1].threshold)
    rows = rows_of(X, stats)
    by_feature = sorted(naive.best_gain(rows, "gini", numeric, features=[j]) for j in range(X.shape[1]))
    varying = [gain for gain in by_feature if gain > -inf]
    if not 0 < stats[:, 1].sum() < stats[:, 0].sum() or not varying:
        return
    for graph in graphs:
        # The best of k features is at least the k-th smallest gain of all.
        least = varying[min(max_features, len(varying)) - 1]
        if graph.feature[0] >= 0:
            left, right = naive.part(rows, lambda row, graph=graph: naive.goes_left(graph, 0, row[0]))
            assert naive.gain("gini", left, right) >= least - 1e-9 * len(X)
        else:
            assert least <= 1e-9 * len(X)


def test_every_feature_has_its_turn():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 5))
    stats = np.column_stack((np.ones(50), random.random(50) < 0.3))
    first = [grown(X, stats, np.zeros(5, bool), rule("gini", 5, max_features=1), seed=s).feature[0] for s in range(60)]
    assert set(first) == set(range(5))


def test_a_chain_as_deep_as_rows():
    """Classes in turn, and a criterion that always splits the first row off: the deepest tree there is."""
    n = 400
    X = np.arange(n, dtype=float)[:, None]
    stats = np.column_stack((np.ones(n), np.arange(n) % 2))
    graph = grown(X, stats, np.array([False]), rule("ap_max", 1, max_depth=10**9))
    assert graph.n_leaves == n
    assert np.unique(graph.apply(X)).tolist() == list(range(n))


@given(
    values=st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0, 7.5, 100.0, 1e6, -3.0]), min_size=1, max_size=60),
    extra=st.integers(0, 200),
    max_bins=st.integers(2, 20),
    seed=st.integers(0, 50),
)
def test_edges_of_bins(values, extra, max_bins, seed):
    """Few distinct values have a bin each; of many, bins are full in number, and few rows share one with many."""
    random = np.random.default_rng(seed)
    column = np.concatenate((values, random.normal(size=extra).round(2)))
    positive = random.random(len(column)) < 0.1
    edges = columns._edges(column, column[positive], max_bins)
    distinct = np.unique(column)
    assert np.all(np.diff(edges) > 0)
    assert len(edges) <= min(max_bins, len(distinct)) - 1
    bins = np.searchsorted(edges, column)
    assert len(np.unique(bins)) == len(edges) + 1  # no bin is empty
    if len(distinct) <= max_bins:
        assert len(edges) == len(distinct) - 1


@given(
    counts=st.lists(st.integers(1, 50), min_size=2, max_size=30),
    n_edges=st.integers(1, 12),
)
def test_a_value_with_many_rows_takes_one_bin(counts, n_edges):
    after = columns._even_places(np.arange(len(counts), dtype=float), np.array(counts), n_edges)
    assert len(after) == len(np.unique(after)) <= min(n_edges, len(counts) - 1)
    size = naive.bin_size(counts, n_edges + 1)
    for group in np.split(np.array(counts), after.astype(int) + 1):
        # A bin ends as soon as it is full, so that at most one value goes beyond.
        assert sum(min(count, size) for count in group[:-1]) < size * (2 - 1e-9)


def test_repeated_values_leave_bins_to_others():
    """Nearly all rows have the value 0, as with a count of earlier frauds; the few others keep bins of their own."""
    column = np.concatenate((np.zeros(20_000), np.arange(1, 345).repeat(3))).astype(float)
    assert len(columns._edges(column, np.empty(0), 255)) > 240


def test_half_of_the_edges_follow_the_positive_rows():
    random = np.random.default_rng(0)
    column = np.concatenate((random.normal(size=20_000), random.normal(6, 0.1, size=300)))
    positive = np.arange(len(column)) >= 20_000
    near = [np.sum(columns._edges(column, known, 64) > 5.5) for known in (column[positive], np.empty(0))]
    assert near[0] >= 31
    assert near[1] <= 2


def test_more_categories_than_bins_are_refused():
    X = np.column_stack((np.arange(40) % 20, np.arange(40.0)))
    message = r"^The categorical feature 'x0' has 20 categories, more than max_bins=16: [^.]*\.$"
    with pytest.raises(ValueError, match=message):
        APTree(max_bins=16, categorical_features=[0]).fit(X, np.arange(40) % 3 == 0)
