"""Splits at random thresholds against their slow twin."""

from itertools import pairwise
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.trees import MetaAPForest
from scarce.trees._engine import count_categories, encode_columns, grow_tree
from tests import naive_trees as naive
from tests.trees.test_engine import problems, rows_of, rule


def columns_of(X, is_categorical, max_bins=None):
    n_categories = count_categories(X, is_categorical, [str(j) for j in range(X.shape[1])])
    coded, order = encode_columns(X, n_categories, max_bins)
    return coded.with_rows(), order


def audit(graph, rows, growing, numbers, edges, node=0, depth=0):
    """Check a node and all below it, with the numbers that the nodes before have left."""
    w, p = naive.weight(rows), naive.positives(rows)
    assert graph.n_rows[node] == len(rows)
    assert graph.sums[node, :2] == pytest.approx([w, p], rel=1e-12)
    is_open = depth < growing.max_depth and len(rows) >= max(2, 2 * growing.min_samples_leaf) and 0 < p < w
    found = []
    if is_open:
        drawn = [next(numbers) for _ in graph.n_categories]
        for j, number in enumerate(drawn):
            for left, right, threshold in naive.drawn_splits(rows, j, graph.n_categories[j] > 0, number, edges[j]):
                if min(len(left), len(right)) >= growing.min_samples_leaf:
                    found.append((naive.gain("entropy", left, right), j, threshold, sorted(map(str, left))))
    best = max((gain for gain, *_ in found), default=-inf)
    if graph.feature[node] < 0:
        assert best <= 1e-9 * w
        return
    left, right = naive.part(rows, lambda row: naive.goes_left(graph, node, row[0]))
    threshold = None if isnan(graph.threshold[node]) else graph.threshold[node]
    same = [gain for gain, *split in found if split == [graph.feature[node], threshold, sorted(map(str, left))]]
    assert same
    assert same[0] == pytest.approx(best, rel=1e-9, abs=1e-9 * w)
    for side, child in ((left, graph.left), (right, graph.right)):
        audit(graph, side, growing, numbers, edges, child[node], depth + 1)


@pytest.mark.parametrize("max_bins", [None, 2, 3, 255])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weights", ["whole", "parts"])
@given(data=st.data())
def test_random_splits_are_those_of_the_twin(max_bins, dtype, weights, data):
    X, stats, is_categorical = data.draw(problems(weights=weights, dtype=dtype))
    if max_bins is None:
        X = X + data.draw(st.sampled_from([0.0, 1e6])) * ~is_categorical
    fewest, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2**31))
    growing = rule("entropy", X.shape[1], random=True, min_samples_leaf=fewest)
    coded, order = columns_of(X, is_categorical, max_bins)
    graph = grow_tree(coded, order, np.ascontiguousarray(stats[:, :2]), growing, seed=seed)
    at = np.append(coded.offsets, len(coded.values))
    edges = [None if max_bins is None else coded.values[a:b].tolist() for a, b in pairwise(at)]
    audit(graph, rows_of(X, stats), growing, naive.random_numbers(seed), edges)


@given(problem=problems(weights="whole"), seed=st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(problem, seed):
    X, stats, is_categorical = problem
    growing = rule("entropy", X.shape[1], random=True)
    turned = np.random.default_rng(seed).permutation(len(X))
    graphs = []
    for rows in (np.arange(len(X)), turned):
        if np.isnan(X).all(axis=0).any():
            return
        coded, order = columns_of(np.ascontiguousarray(X[rows]), is_categorical)
        graphs.append(grow_tree(coded, order, np.ascontiguousarray(stats[rows, :2]), growing, seed=seed))
    for field in ("feature", "threshold", "left", "sums", "n_rows", "missing_left", "subset"):
        np.testing.assert_array_equal(*(getattr(graph, field) for graph in graphs))


def test_thresholds_are_uniform_between_the_smallest_and_the_largest_value():
    X = np.array([[0.0], [1.0], [10.0], [10.0]])
    stats = np.column_stack((np.ones(4), [0, 1, 0, 1])).astype(float)
    coded, order = columns_of(X, np.array([False]))
    growing = rule("gini", 1, random=True, max_depth=1)
    graphs = [grow_tree(coded, order, stats, growing, seed=seed) for seed in range(2000)]
    drawn = np.array([graph.threshold[0] for graph in graphs if graph.feature[0] == 0])
    assert np.all((drawn >= 0) & (drawn < 10))
    # Thresholds from 1 on separate nothing, since half of each side is positive.
    assert len(drawn) / 2000 == pytest.approx(0.1, abs=0.03)
    assert drawn.mean() == pytest.approx(0.5, abs=0.1)


def test_large_values_and_their_neighbours_do_not_overflow():
    X = np.array([[-1.7e308], [1.7e308], [np.nextafter(1.7e308, 0)]])
    stats = np.column_stack((np.ones(3), [0, 1, 1])).astype(float)
    coded, order = columns_of(X, np.array([False]))
    graph = grow_tree(coded, order, stats, rule("gini", 1, random=True), seed=3)
    assert np.isfinite(graph.threshold[graph.feature >= 0]).all()
    assert graph.apply(X).tolist() == [0, 1, 1]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("max_bins", [None, 64])
def test_a_mixed_forest_with_categories_and_missing_values_is_the_same_for_any_threads_and_batch(merge, max_bins):
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.integers(0, 9, 600), rng.normal(size=(600, 3)).round(1)))
    y = ((X[:, 0] % 4 == 1) & (X[:, 1] > 0.3)) | (rng.random(600) < 0.03)
    X[rng.random(X.shape) < 0.1] = np.nan
    forest = MetaAPForest(12, merge=merge, max_bins=max_bins, categorical_features=[0], max_depth=4, random_state=0)
    forest.fit(X, y)
    score = forest.score_samples(X)
    np.testing.assert_array_equal(forest.set_params(n_jobs=2).fit(X, y).score_samples(X), score)
    np.testing.assert_array_equal(np.concatenate([forest.score_samples(part) for part in np.split(X, 100)]), score)
    # The packed nodes find what the trees find.
    np.testing.assert_array_equal(sum(tree.score(X) for tree in forest.trees_) / 12, score)
    unknown = np.array([[20.0, 0, 0, 0], [-1, 0, 0, 0], [0.5, 0, 0, 0], [np.nan] * 4])
    np.testing.assert_array_equal(
        sum(tree.score(unknown) for tree in forest.trees_) / 12, forest.score_samples(unknown)
    )
