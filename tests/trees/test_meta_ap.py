"""MetaAP: the order and the merging of leaves, and the budget; the engine has tests of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score

from scarce.trees import MetaAP


@pytest.fixture
def rows():
    return make_classification(600, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


def test_scores_of_a_tree_of_trees_are_steps_from_one(rows):
    X, y = rows
    model = MetaAP(3, tie_break=None).fit(X, y)
    n = model.tree_.n_leaves
    assert set(model.score_samples(X)) == {(n - i) / n for i in range(n)}


def test_the_order_by_precision_puts_the_purer_leaf_first():
    # Leaves (9+, 1-) and (100+, 100-): the slope puts the second first, which is worse than no split at all.
    X = np.repeat([0.0, 1.0], [10, 200])[:, None]
    y = np.concatenate([np.repeat([1, 0], [9, 1]), np.repeat([1, 0], [100, 100])])
    slope, precision = (
        MetaAP(1, 1, criterion="gini", order=order, tie_break=None, pos_label=1).fit(X, y)
        for order in ("slope", "precision")
    )
    ap = [average_precision_score(y, model.score_samples(X)) for model in (slope, precision)]
    np.testing.assert_allclose(ap, [109 / 210, 9 / 109 * 9 / 10 + 100 / 109 * 109 / 210])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["slope", "precision"]))
def test_refined_leaves_are_ordered_within_the_merged_ones(seed, order):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(60, 3)).astype(float)
    y = (rng.random(60) < 0.3).astype(int)
    y[:2] = 0, 1
    merged, refined = (
        MetaAP(3, 3, order=order, refine=refine, tie_break=None, pos_label=1).fit(X, y).score_samples(X)
        for refine in (False, True)
    )
    for a, b in zip(*np.triu_indices(60, 1), strict=True):
        if merged[a] != merged[b]:
            assert (merged[a] > merged[b]) == (refined[a] > refined[b])


def test_a_refined_leaf_has_the_leaves_of_one_share(rows):
    X, y = rows
    merged, refined = (MetaAP(2, 4, order="precision", refine=refine).fit(X, y).tree_ for refine in (False, True))
    ends = np.flatnonzero((merged.feature < 0) & (merged.jump < 0))
    prior = y.mean()
    seen = {}
    for node in ends:
        share = (merged.sums[node, 1] + prior) / (merged.sums[node, 0] + 1)
        seen.setdefault((-1 - merged.jump[node], -share), set()).add(-1 - refined.jump[node])
    assert [seen[key] for key in sorted(seen)] == [{number} for number in range(len(seen))]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 79), st.sampled_from([None, 16]))
def test_a_tree_of_trees_is_not_grown_outside_the_budget(seed, budget, max_bins):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(80, 3)).astype(float)
    y = (rng.random(80) < 0.3).astype(int)
    y[:2] = 0, 1
    whole, smaller = (
        MetaAP(4, 2, top_k=k, max_bins=max_bins, tie_break=None, pos_label=1).fit(X, y) for k in (None, budget)
    )
    scores, fewer = whole.score_samples(X), smaller.score_samples(X)
    assert smaller.tree_.n_leaves <= whole.tree_.n_leaves
    # The rows that the budget reaches are the same, but for the order before its end and behind it.
    ahead = np.array([np.sum(fewer > s) for s in fewer])
    behind = np.array([np.sum(fewer >= s) for s in fewer])
    crossing = (ahead < budget) & (behind > budget)
    for level in np.unique(fewer[~crossing]):
        inside = fewer == level
        assert np.all(scores[inside].max() < scores[fewer > level]) if np.any(fewer > level) else True
    assert len(np.unique(fewer[crossing])) <= 1
    if crossing.any():
        assert len(np.unique(scores[crossing])) == 1


def test_inputs_are_left_as_they_are(rows):
    X, y = rows
    before = X.copy()
    MetaAP(2).fit(X, y).score_samples(X)
    np.testing.assert_array_equal(X, before)


def test_bins_equal_exact_splits_on_few_values(rows):
    X, y = np.round(rows[0]), rows[1]
    exact, binned = (MetaAP(3, max_bins=b, tie_break=None).fit(X, y).score_samples(X) for b in (None, 255))
    np.testing.assert_array_equal(exact, binned)
