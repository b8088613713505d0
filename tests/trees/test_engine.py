"""The growing engine against slow, obvious twins: criteria, splits, stopping, missing values, categories, bins."""

from itertools import pairwise
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from scarce.trees._engine import CRITERIA, Rule, columns, count_categories, encode_columns, grow_tree
from scarce.trees._engine._kernels_criteria import split_gain
from tests import naive_trees as naive

MONEY = ("profit", "profit_unweighted", "cost")
NEEDS_SHARE = ("weighted_error", "balanced")


@st.composite
def problems(draw, max_rows=14, max_features=3, missing=True, categories=True, weights="whole", dtype=None):
    """Small tables with few distinct values, so that ties, duplicates and constant columns are common."""
    n = draw(st.integers(2, max_rows))
    d = draw(st.integers(1, max_features))
    values = [0.0, 0.5, 1.0, 2.0, 3.0] + [np.nan] * missing
    X = np.array(draw(st.lists(st.lists(st.sampled_from(values), min_size=d, max_size=d), min_size=n, max_size=n)))
    is_categorical = np.array([categories and draw(st.booleans()) for _ in range(d)])
    X[:, is_categorical] = np.floor(X[:, is_categorical])
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    kinds = {"one": st.just(1.0), "whole": st.integers(1, 3), "parts": st.floats(0.125, 4, width=16)}
    weight = np.array(draw(st.lists(kinds[weights], min_size=n, max_size=n)), dtype=float)
    money = np.array(draw(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=n, max_size=n)))
    stats = np.column_stack((weight, weight * y, weight[:, None] * money)).astype(float)
    return X.astype(dtype or np.float64), stats, is_categorical


def rule(criterion, d, **changes):
    return Rule(CRITERIA[criterion], 3, 1, d, 0.0, False)._replace(**changes)


def grown(X, stats, is_categorical, rule, max_bins=None, **options):
    n_categories = count_categories(X, is_categorical, [str(j) for j in range(X.shape[1])])
    coded, order = encode_columns(X, n_categories, max_bins)
    n_stats = 4 if rule.criterion >= CRITERIA["profit"] else 2
    return grow_tree(coded, order, np.ascontiguousarray(stats[:, :n_stats]), rule, **options)


def rows_of(X, stats):
    return [(tuple(map(float, x)), *map(float, s)) for x, s in zip(X.tolist(), stats.tolist(), strict=True) if s[0] > 0]


def audit(graph, rows, criterion, rule, node=0, depth=0, parameter=0.0, passed_on=None, root=None, threshold=None):
    """Check a node and all below it: the sums, that it is a leaf only if it must be, and that its split is a best one.

    Equally good splits are many, so it is the gain that is compared. Return the rows of each leaf.
    """
    root = naive.weight(rows) if root is None else root
    passed_on = naive.share(rows) if passed_on is None else passed_on
    w, p = naive.weight(rows), naive.positives(rows)
    money = [naive.total(rows, k) for k in (3, 4)] if criterion in MONEY else [0.0, 0.0]
    assert graph.n_rows[node] == len(rows)
    assert graph.sums[node] == pytest.approx([w, p, *money], rel=1e-12, abs=1e-12)
    is_open = depth < rule.max_depth and len(rows) >= max(2, 2 * rule.min_samples_leaf)
    if rule.inherit:
        is_open = is_open and passed_on < 1
    elif criterion not in ("cost", "newton"):
        is_open = is_open and 0 < p < w
    if criterion == "top_k":
        is_open = is_open and 0 < parameter < w
    categorical = graph.n_categories > 0
    best = naive.best_gain(rows, criterion, categorical, parameter, rule.min_samples_leaf) if is_open else -inf
    close = 1e-9 * max(w, *map(abs, money))
    if rule.inherit and best > -inf:
        worth, bound = naive.improvement(rows, best, passed_on, root), 0.0
    else:
        worth, bound = best, rule.min_gain * root
    if graph.feature[node] < 0:
        assert worth <= bound + close
        return {node: rows}
    assert worth >= bound - close
    if not rule.inherit:
        assert worth > 0
    left, right = naive.part(rows, lambda row: naive.goes_left(graph, node, row[0]))
    assert min(len(left), len(right)) >= rule.min_samples_leaf
    assert naive.gain(criterion, left, right, parameter) == pytest.approx(best, rel=1e-9, abs=close)
    if threshold is not None:
        threshold(graph, node, rows)
    parameters = naive.budgets(parameter, left, right) if criterion == "top_k" else (parameter, parameter)
    ap = naive.inherited(left, right)
    leaves = {}
    for side, child, parameter_, ap_ in zip((left, right), (graph.left, graph.right), parameters, ap, strict=True):
        leaves |= audit(graph, side, criterion, rule, child[node], depth + 1, parameter_, ap_, root, threshold)
    return leaves


def is_midpoint(graph, node, rows):
    """Check that the threshold is in the middle of the two values of the node that it parts."""
    j, threshold = graph.feature[node], graph.threshold[node]
    values = sorted({row[0][j] for row in rows if not isnan(row[0][j])})
    if graph.n_categories[j]:
        assert isnan(threshold)
    elif threshold < inf:
        assert threshold in [(low + high) / 2 for low, high in pairwise(values)]
    else:
        assert any(isnan(row[0][j]) for row in rows)


# criteria -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weights", ["whole", "parts"])
@given(data=st.data())
def test_gains_are_those_of_the_formulas(criterion, weights, data):
    _, stats, _ = data.draw(problems(weights=weights))
    if criterion == "newton":  # the second statistic is a slope, of either sign
        stats[:, 1] = stats[:, 2]
    parameter = data.draw(st.floats(0.05, 0.95)) * (stats[:, 0].sum() if criterion == "top_k" else 1)
    at = data.draw(st.integers(1, len(stats) - 1))
    rows = rows_of(np.zeros((len(stats), 1)), stats)
    expected = naive.gain(criterion, rows[:at], rows[at:], parameter)
    whole = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    left = [sum(column) for column in zip(*(row[1:] for row in rows[:at]), strict=True)]
    gain = split_gain(CRITERIA[criterion], parameter, *left, *whole)
    assert gain == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(stats).sum())
    assert split_gain(CRITERIA[criterion], parameter, *whole, *whole) == -inf


@given(problems(weights="parts"), st.integers(0, 13))
def test_average_precision_of_the_twin_is_scikit_learns(problem, at):
    _, stats, _ = problem
    at = 1 + at % (len(stats) - 1)
    if stats[:, 1].any():
        rows = rows_of(np.zeros((len(stats), 1)), stats)
        expected = average_precision_score(stats[:, 1] > 0, np.arange(len(stats)) < at, sample_weight=stats[:, 0])
        assert naive.average_precision([rows[:at], rows[at:]]) == pytest.approx(expected, rel=1e-12)


# growing ------------------------------------------------------------------------------------------------------


def parameter_for(criterion, stats):
    if criterion == "top_k":
        return 0.4 * stats[:, 0].sum()
    if criterion == "newton":
        return 0.75
    return stats[:, 1].sum() / stats[:, 0].sum() if criterion in NEEDS_SHARE else 0.0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_bins", [None, 255])
@given(data=st.data())
def test_every_split_is_a_best_one(criterion, max_bins, data):
    problem = data.draw(problems(weights=data.draw(st.sampled_from(["one", "whole", "parts"]))))
    X, stats, _ = problem
    if criterion == "newton":
        stats[:, 1] = stats[:, 2]
    changes = {
        "max_depth": data.draw(st.sampled_from([1, 2, 3, 50])),
        "min_samples_leaf": data.draw(st.sampled_from([1, 1, 2, 4])),
        "min_gain": data.draw(st.sampled_from([0.0, 0.0, 0.1])),
    }
    growing = rule(criterion, X.shape[1], **changes)
    parameter = parameter_for(criterion, stats)
    graph = grown(*problem, growing, max_bins, parameter=parameter)
    threshold = is_midpoint if max_bins is None else None
    leaves = audit(graph, rows_of(X, stats), criterion, growing, parameter=parameter, threshold=threshold)
    assert list(leaves) == np.flatnonzero(graph.feature < 0).tolist()
    assert [-1 - graph.jump[leaf] for leaf in leaves] == list(range(graph.n_leaves))
    assert graph.leaf_counts().tolist() == [len(rows) for rows in leaves.values()]
    assert graph.apply(X).tolist() == [naive.descend(graph, x)[2] for x in X.tolist()]


@pytest.mark.parametrize("max_bins", [None, 255])
@given(problem=problems(categories=False), max_depth=st.sampled_from([1, 2, 3, 50]))
def test_the_inherited_stop_rule(max_bins, problem, max_depth):
    """A node is compared with the AP of its side in the parent's split, so that pure nodes are split once more."""
    X, stats, _ = problem
    growing = rule("ap_mean", X.shape[1], max_depth=max_depth, inherit=True)
    audit(grown(*problem, growing, max_bins), rows_of(X, stats), "ap_mean", growing)


def test_the_inherited_rule_splits_a_pure_node_once_more():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    stats = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    numeric = np.array([False])
    assert grown(X, stats, numeric, rule("ap_mean", 1)).n_leaves == 2
    assert grown(X, stats, numeric, rule("ap_mean", 1, inherit=True)).n_leaves == 3


@pytest.mark.parametrize("criterion", ["gini", "entropy", "ap_max", "balanced", "cost"])
@pytest.mark.parametrize("max_bins", [None, 4])
@given(data=st.data())
def test_no_set_of_categories_is_better(criterion, max_bins, data):
    """The best prefix by share of positives (by money for "cost") is the best of all sets where the gain is convex."""
    X, stats, _ = data.draw(problems(max_features=2))
    stats[:2, 1] = 0, stats[1, 0]  # the shares by which "balanced" weighs are those of a node with both classes
    X, is_categorical = np.floor(X), np.ones(X.shape[1], dtype=bool)
    parameter = parameter_for(criterion, stats)
    graph = grown(X, stats, is_categorical, rule(criterion, X.shape[1], max_depth=1), max_bins, parameter=parameter)
    rows = rows_of(X, stats)
    best = naive.best_gain(rows, criterion, is_categorical, parameter, all_subsets=True)
    if graph.feature[0] >= 0:
        left, right = naive.part(rows, lambda row: naive.goes_left(graph, 0, row[0]))
        assert naive.gain(criterion, left, right, parameter) == pytest.approx(best, rel=1e-9, abs=1e-9)
    else:
        assert best <= 1e-9 * np.abs(stats).sum()


def test_money_parts_rows_of_one_class_for_cost_alone():
    """Among frauds those of small amounts may be cheaper to let go: a pure node is still worth a split."""
    X, amount = np.array([[1.0], [2.0], [50.0], [60.0]]), np.array([1.0, 2.0, 50.0, 60.0])
    stats = np.column_stack((np.ones(4), np.ones(4), np.full(4, -10.0), -amount))
    assert grown(X, stats, np.array([False]), rule("cost", 1)).threshold[0] == 26
    assert grown(X, stats, np.array([False]), rule("profit", 1)).n_leaves == 1


def test_more_categories_than_bins():
    X = np.arange(40.0).repeat(2)[:, None]
    X[-2:] = np.nan
    positive = np.isin(X[:, 0], [4, 5, 16, 33])
    stats = np.column_stack((np.ones(80), positive))
    graph = grown(X, stats, np.array([True]), rule("gini", 1), max_bins=4)
    assert graph.n_leaves == 2
    np.testing.assert_array_equal(graph.apply(X) == graph.apply(X)[8], positive)


# equivalent tables --------------------------------------------------------------------------------------------


def leaves_of(graph, X):
    """The rows of each leaf, whatever the leaf is called."""
    leaf = graph.apply(X)
    return sorted(np.flatnonzero(leaf == k).tolist() for k in np.unique(leaf))


@pytest.mark.parametrize("criterion", ["ap_mean", "ap_max", "gini", "entropy", "cost"])
@pytest.mark.parametrize("max_bins", [None, 255])
@given(problem=problems(weights="whole"), data=st.data())
def test_weights_repeat_rows_and_zero_leaves_them_out(criterion, max_bins, problem, data):
    X, stats, is_categorical = problem
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    times[0] += not times.any()
    X[0, is_categorical] = 3  # the number of categories is that of all rows
    times[0] = max(times[0], 1)
    growing = rule(criterion, X.shape[1])
    by_weight = grown(X, stats * times[:, None], is_categorical, growing, max_bins)
    by_rows = grown(X.repeat(times, 0), stats.repeat(times, 0), is_categorical, growing, max_bins)
    np.testing.assert_allclose(by_weight.sums, by_rows.sums, rtol=1e-12)
    np.testing.assert_array_equal(by_weight.feature, by_rows.feature)
    kept = times > 0
    assert leaves_of(by_weight, X[kept]) == leaves_of(by_rows, X[kept])
    if max_bins is None:
        np.testing.assert_array_equal(by_weight.threshold, by_rows.threshold)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(problem=problems(weights="whole"), data=st.data())
def test_permuted_rows_and_features(criterion, problem, data):
    X, stats, is_categorical = problem
    growing, parameter = rule(criterion, X.shape[1]), parameter_for(criterion, stats)
    graph = grown(*problem, growing, parameter=parameter)
    rows = np.array(data.draw(st.permutations(range(len(X)))))
    other = grown(X[rows], stats[rows], is_categorical, growing, parameter=parameter)
    np.testing.assert_array_equal(graph.sums, other.sums)
    np.testing.assert_array_equal(graph.threshold, other.threshold)
    # A copy of every feature, and features in another order: the first split is as good, and the twin judges the rest.
    features = np.array(data.draw(st.permutations([*range(X.shape[1])] * 2)))
    wide = rule(criterion, len(features))
    audit(
        grown(X[:, features], stats, is_categorical[features], wide, parameter=parameter),
        rows_of(X[:, features], stats), criterion, wide, parameter=parameter,
    )  # fmt: skip


@pytest.mark.parametrize("max_bins", [None, 255])
@given(problem=problems(dtype=np.float32))
def test_float32(max_bins, problem):
    X, stats, is_categorical = problem
    growing = rule("gini", X.shape[1])
    narrow, wide = (grown(A, stats, is_categorical, growing, max_bins) for A in (X, X.astype(np.float64)))
    for field in ("feature", "threshold", "sums", "jump"):
        leaf = narrow.feature < 0 if field == "jump" else slice(None)
        np.testing.assert_array_equal(getattr(narrow, field)[leaf], getattr(wide, field)[leaf])
    np.testing.assert_array_equal(narrow.apply(X), wide.apply(X.astype(np.float64)))


@pytest.mark.parametrize("low", [1.0, 0.0, -1.0, 1e308, -1.7e308])
def test_neighbouring_and_far_values_are_parted(low):
    """The middle of two values can be rounded to the upper one, and the difference of two values can be too large."""
    for high in (np.nextafter(low, np.inf), 1.7e308):
        X = np.array([[low], [high]])
        graph = grown(X, np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([False]), rule("gini", 1))
        assert graph.apply(X).tolist() == [0, 1]


def test_a_feature_whose_sample_is_all_missing_has_bins(monkeypatch):
    """Edges of bins come from a sample of many rows, which may miss the few known values of a feature."""
    monkeypatch.setattr(columns, "MAX_SAMPLE", 50)
    X = np.full((4000, 2), np.nan)
    X[3000, 0] = 7.0
    encoded, _ = encode_columns(X, np.zeros(2, np.int64), 16)
    assert np.flatnonzero(encoded.bins[0] != columns.MISSING_BIN).tolist() == [3000]
    assert np.all(encoded.bins[1] == columns.MISSING_BIN)


def test_all_missing_or_constant_features_give_one_leaf():
    X = np.column_stack((np.full(6, np.nan), np.full(6, 3.0)))
    stats = np.column_stack((np.ones(6), [0, 1, 0, 1, 0, 1]))
    for max_bins in (None, 255):
        graph = grown(X, stats, np.array([False, False]), rule("gini", 2), max_bins)
        assert graph.n_leaves == 1
        assert graph.apply(np.zeros((2, 2))).tolist() == [0, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "ap_mean", "ap_max", "balanced", "profit", "cost", "top_k"])
def test_a_split_that_separates_nothing_is_none(criterion):
    """Both sides have the node's share of positives and of money, in thirds that floats cannot hold."""
    X = np.repeat([[0.0], [1.0]], [30, 60], axis=0)
    y = np.tile([1.0, 0.0, 0.0], 30)
    stats = np.column_stack((np.ones(90), y, 0.1 * y, 0.1 - 0.1 * y))
    assert grown(X, stats, np.array([False]), rule(criterion, 1), parameter=1 / 3).n_leaves == 1
