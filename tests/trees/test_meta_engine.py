"""The tree of trees against its slow twin: the order of leaves, their merging, every internal tree, the numbering."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.trees._engine import (
    BY_PRECISION,
    BY_SLOPE,
    MERGE_AP,
    MERGE_AUC,
    count_categories,
    encode_columns,
    grow_meta_tree,
    grow_tree,
)
from scarce.trees._engine._kernels_meta import best_prefix, order_leaves
from tests import naive_trees as naive
from tests.trees.test_engine import audit, parameter_for, problems, rows_of, rule

ORDERS = {"slope": BY_SLOPE, "precision": BY_PRECISION}
MERGES = {"ap": MERGE_AP, "auc": MERGE_AUC}


@st.composite
def leaf_counts(draw):
    leaves = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=8))
    leaves = [(p + n, p) for p, n in leaves if p + n > 0]
    return [*leaves, (2, 1)]


def chosen(leaves, by, merge):
    """The order of the leaves and the number of those on the better side, by the engine."""
    sums = np.zeros((len(leaves), 4))
    sums[:, :2] = leaves
    order = np.arange(len(leaves))
    order_leaves(order, len(leaves), sums, ORDERS[by])
    w, p = sums[:, :2].sum(axis=0)
    return [leaves[k] for k in order], best_prefix(order, len(leaves), sums, w, p, MERGES[merge])


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("merge", MERGES)
@given(leaves=leaf_counts())
def test_leaves_are_ordered_and_merged_as_by_fractions(by, merge, leaves):
    order, n_better = chosen(leaves, by, merge)
    assert order == naive.ordered_leaves(leaves, by)
    assert n_better == naive.merged(order, merge)


@given(leaf_counts(), st.randoms())
def test_the_order_of_leaves_does_not_depend_on_where_they_stand(leaves, random):
    shuffled = random.sample(leaves, len(leaves))
    assert chosen(leaves, "slope", "ap") == chosen(shuffled, "slope", "ap")


def test_the_slope_order_loses_average_precision_on_the_known_example():
    """9 of 10 against 100 of 200: the slope puts the second first, the precision does not."""
    leaves = [(10, 9), (200, 100)]
    assert chosen(leaves, "slope", "ap")[0] == [(200, 100), (10, 9)]
    assert chosen(leaves, "precision", "ap")[0] == leaves


def meta_grown(X, stats, is_categorical, growing, max_bins=None, **options):
    n_categories = count_categories(X, is_categorical, [str(j) for j in range(X.shape[1])])
    coded, order = encode_columns(X, n_categories, max_bins)
    options = {"max_depth": 3, "min_split": 2, "by": BY_SLOPE, "merge": MERGE_AP} | options
    return grow_meta_tree(coded, order, np.ascontiguousarray(stats[:, :2]), growing, **options)


def audit_meta(graph, rows, criterion, growing, by, merge, max_depth, min_split, max_bins, jump=0, depth=1):
    """Check a block and all it leads to; return the rows of the final leaves, the best first."""
    p, w = naive.positives(rows), naive.weight(rows)
    may_split = depth <= max_depth and 0 < p < w and len(rows) >= min_split
    if jump < 0:
        if may_split:  # the same rows, grown alone, are not parted in two sides
            X, stats = np.array([row[0] for row in rows]), np.array([row[1:] for row in rows])
            parameter = parameter_for(criterion, stats)
            coded, order = encode_columns(X, graph.n_categories, max_bins)
            alone = grow_tree(coded, order, np.ascontiguousarray(stats[:, :2]), growing, parameter=parameter)
            ends = [tuple(alone.sums[k, :2]) for k in np.flatnonzero(alone.feature < 0)]
            assert naive.merged(naive.ordered_leaves(ends, by), merge) == len(ends)
        return [(jump, rows)]
    assert may_split
    parameter = p / w if criterion in ("weighted_error", "balanced") else 0.0
    leaves = audit(graph, rows, criterion, growing, graph.first[jump], parameter=parameter)
    assert set(leaves) == {k for k in range(graph.first[jump], graph.end[jump]) if graph.feature[k] < 0}
    counts = {leaf: (naive.weight(members), naive.positives(members)) for leaf, members in leaves.items()}
    order = naive.ordered_leaves(list(counts.values()), by)
    n_better = naive.merged(order, merge)
    better = [leaf for leaf in leaves if graph.jump[leaf] == graph.side[jump, 0]]
    # Leaves of equal counts are interchangeable.
    assert sorted(counts[leaf] for leaf in better) == sorted(order[:n_better])
    assert 0 < len(better) < len(leaves)
    assert all(graph.jump[leaf] == graph.side[jump, 1] for leaf in set(leaves) - set(better))
    ends = []
    for side in (0, 1):
        members = [row for leaf in leaves if (leaf in better) == (side == 0) for row in leaves[leaf]]
        ends += audit_meta(
            graph,
            members,
            criterion,
            growing,
            by,
            merge,
            max_depth,
            min_split,
            max_bins,
            graph.side[jump, side],
            depth + 1,
        )
    return ends


@pytest.mark.parametrize("criterion", ["ap_mean", "ap_max", "gini", "weighted_error", "balanced"])
@pytest.mark.parametrize("max_bins", [None, 255])
@given(data=st.data())
def test_the_tree_of_trees_is_that_of_the_twin(criterion, max_bins, data):
    problem = data.draw(problems(max_rows=18, max_features=2))
    X, stats, _ = problem
    by, merge = data.draw(st.sampled_from(sorted(ORDERS))), data.draw(st.sampled_from(sorted(MERGES)))
    max_depth, min_split = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([2, 5]))
    growing = rule(criterion, X.shape[1], max_depth=data.draw(st.integers(1, 3)))
    growing = growing._replace(inherit=criterion == "ap_mean" and data.draw(st.booleans()))
    graph = meta_grown(
        *problem, growing, max_bins, max_depth=max_depth, min_split=min_split, by=ORDERS[by], merge=MERGES[merge]
    )
    jump = -1 if graph.n_leaves == 1 else 0
    ends = audit_meta(graph, rows_of(X, stats), criterion, growing, by, merge, max_depth, min_split, max_bins, jump)
    assert [-1 - k for k, _ in ends] == list(range(graph.n_leaves))
    assert graph.leaf_counts().tolist() == [len(rows) for _, rows in ends]
    for sums, (_, rows) in zip(graph.leaf_sums(), ends, strict=True):
        assert sums[:2] == pytest.approx([naive.weight(rows), naive.positives(rows)], rel=1e-12)
    assert graph.apply(X).tolist() == [naive.descend(graph, x)[2] for x in X.tolist()]


@given(problem=problems(max_rows=18), data=st.data())
def test_rows_of_weight_zero_are_absent(problem, data):
    """Categories too, whose codes have no order of their own to be filtered."""
    X, stats, is_categorical = problem
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    keep[0] = True
    X[0, is_categorical] = 3
    growing = rule("ap_mean", X.shape[1])
    weighted = meta_grown(X, stats * keep[:, None], is_categorical, growing)
    absent = meta_grown(X[keep], stats[keep], is_categorical, growing)
    for field in ("feature", "threshold", "sums", "n_rows", "side"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(absent, field))


def test_random_features_are_those_of_the_seed():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 6))
    stats = np.column_stack((np.ones(200), X[:, 0] + random.normal(size=200) > 1))
    growing = rule("ap_max", 6, max_features=2)
    first, again, other = (meta_grown(X, stats, np.zeros(6, bool), growing, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.feature, again.feature)
    np.testing.assert_array_equal(first.threshold, again.threshold)
    assert first.feature.tolist() != other.feature.tolist()


@pytest.mark.parametrize("y", [[0] * 6, [1] * 6, [0, 1] * 3])
def test_nothing_to_part_gives_one_final_leaf(y):
    """One class, or features that are constant."""
    X = np.ones((6, 2)) if len(set(y)) == 2 else np.arange(12.0).reshape(6, 2)
    graph = meta_grown(X, np.column_stack((np.ones(6), y)), np.zeros(2, bool), rule("ap_mean", 2))
    assert graph.n_leaves == 1
    assert graph.apply(X).tolist() == [0] * 6
