"""APTree, MetaAP and TreeRank: what they say beyond the engine, which has tests of its own."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from scarce.metrics import precision_at_k
from scarce.trees import APTree, MetaAP, MetaAPForest, TreeRank
from scarce.trees._ap_tree import _half_gaps


@pytest.fixture
def rows():
    return make_classification(600, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_usual_criteria_give_the_usual_tree(rows, criterion):
    # float32 rows, since scikit-learn rounds to them.
    X, y = rows[0].astype(np.float32), rows[1]
    ours = APTree(criterion=criterion, max_depth=4, tie_break=None).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.score_samples(X), theirs.predict_proba(X)[:, 1])


@pytest.mark.parametrize("model", [APTree(max_depth=4), MetaAP(3), TreeRank(3)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("tie_break", ["path", "boundary"])
def test_the_tie_break_never_reorders_leaves(rows, model, tie_break):
    X, y = rows
    with_ties = model.set_params(tie_break=None).fit(X, y).score_samples(X)
    without = model.set_params(tie_break=tie_break).fit(X, y).score_samples(X)
    order = np.argsort(with_ties)
    leaf, score = with_ties[order], without[order]
    edges = np.flatnonzero(np.diff(leaf) > 0)
    for edge in edges:
        assert score[: edge + 1].max() < score[edge + 1 :].min()
    assert len(np.unique(without)) > len(np.unique(with_ties))


@given(st.lists(st.integers(0, 10), min_size=1, max_size=12))
def test_half_gaps_stay_below_the_next_leaf(values):
    value = np.array(values) / 10
    spread = _half_gaps(value)
    assert np.all(spread > 0)
    for low, half in zip(value, spread, strict=True):
        assert np.all(low + half < value[value > low])


def test_scores_of_a_tree_of_trees_are_steps_from_one(rows):
    X, y = rows
    model = MetaAP(3, tie_break=None).fit(X, y)
    n = model.tree_.n_leaves
    assert set(model.score_samples(X)) == {(n - i) / n for i in range(n)}


def test_ap_max_separates_a_small_group_of_positives_and_ap_mean_does_not():
    # A pure group with less than half of the positives has a negative gain by "ap_mean".
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [960, 40])
    y = np.concatenate([np.repeat([0, 1], [900, 60]), np.ones(40, dtype=int)])
    X = np.column_stack((group, rng.normal(size=1000) * 0))
    assert APTree(criterion="ap_mean").fit(X, y).tree_.n_leaves == 1
    assert APTree(criterion="ap_max").fit(X, y).tree_.n_leaves == 2


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


class TestBudget:
    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10_000), st.integers(1, 80))
    def test_no_node_outside_the_budget_is_split(self, seed, budget):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 6, size=(80, 3)).astype(float)
        y = (rng.random(80) < 0.3).astype(int)
        y[:2] = 0, 1
        model = APTree(top_k=budget, tie_break=None, pos_label=1).fit(X, y)
        tree = model.tree_
        inner = tree.feature >= 0
        if inner.any():
            # Each split finds positives earlier than reading the node's rows in any order would.
            assert precision_at_k(y, model.score_samples(X), budget) > y.mean()
            # Of two nodes side by side at most one lies across the end of the budget, so at most one is split.
            assert not np.any(inner[tree.left[inner]] & inner[tree.right[inner]])

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10_000), st.integers(1, 79), st.sampled_from([None, 16]))
    def test_a_tree_of_trees_is_not_grown_outside_the_budget(self, seed, budget, max_bins):
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

    def test_a_forest_with_a_budget_flags_it(self, rows):
        X, y = rows
        forest = MetaAPForest(20, max_depth=2, top_k=30, random_state=0).fit(X, y)
        assert 15 <= np.sum(forest.honest_scores(X, y) > forest.threshold_) <= 30

    def test_a_share_and_a_number_mean_the_same(self, rows):
        X, y = rows
        share, number = APTree(top_k=0.1).fit(X, y), APTree(top_k=60).fit(X, y)
        np.testing.assert_array_equal(share.score_samples(X), number.score_samples(X))

    def test_the_default_threshold_flags_the_budget(self, rows):
        X, y = rows
        flagged = APTree(top_k=60).fit(X, y).predict(X).sum()
        assert 0 < flagged <= 60


class TestMissingAndCategories:
    def test_missing_values_in_new_rows_only(self, rows):
        X, y = rows
        new = X.copy()
        new[:, 2] = np.nan
        for model in (APTree(max_depth=5), MetaAP(2), TreeRank(2)):
            assert np.isfinite(model.fit(X, y).score_samples(new)).all()

    def test_missing_values_that_mean_something_are_found(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 2))
        y = (rng.random(500) < 0.1).astype(int)
        X[y == 1, 1] = np.nan
        for max_bins in (None, 16):
            model = APTree(max_bins=max_bins, max_depth=1, tie_break=None).fit(X, y)
            np.testing.assert_array_equal(model.predict(X), y)

    def test_categories_by_name_by_number_and_by_mask(self):
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 20, size=1000).astype(float)
        y = np.isin(codes, [3, 7, 12]).astype(int)
        frame = pd.DataFrame({"noise": rng.normal(size=1000), "shop": codes})
        for given_as in (["shop"], [1], [False, True]):
            model = APTree(criterion="gini", max_depth=1, categorical_features=given_as, tie_break=None).fit(frame, y)
            np.testing.assert_array_equal(model.predict(frame), y)
        unknown = frame.iloc[:3].assign(shop=[99.0, np.nan, 2.5])
        assert np.isfinite(model.score_samples(unknown)).all()

    @pytest.mark.parametrize(
        ("features", "message"),
        [(["shop"], "not a feature"), ([7], "numbered 0 to 1"), ([True], "one for each"), ([0], "must hold codes")],
    )
    def test_wrong_categories(self, features, message):
        frame = pd.DataFrame({"a": [0.5, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
        with pytest.raises(ValueError, match=message):
            APTree(categorical_features=features).fit(frame, [0, 1, 0, 1])


class TestHardTables:
    @pytest.mark.parametrize("max_bins", [None, 8])
    @pytest.mark.parametrize("model", [APTree(), MetaAP(), TreeRank()], ids=lambda m: type(m).__name__)
    def test_constant_features_give_one_leaf(self, model, max_bins):
        model.set_params(max_bins=max_bins).fit(np.ones((10, 3)), [0] * 8 + [1] * 2)
        assert model.tree_.n_leaves == 1
        assert len(set(model.score_samples(np.ones((4, 3))))) == 1

    @pytest.mark.parametrize("model", [APTree(min_samples_leaf=6), MetaAP(min_samples_leaf=6)], ids=str)
    def test_fewer_rows_than_two_leaves_need(self, model):
        X = np.arange(10.0)[:, None]
        assert model.fit(X, X[:, 0] > 7).tree_.n_leaves == 1

    def test_leaves_have_the_rows_asked_for(self, rows):
        X, y = rows
        model = APTree(min_samples_leaf=25).fit(X, y)
        assert model.tree_.leaf_counts().min() >= 25

    def test_weights_of_zero_for_a_class(self, rows):
        X, y = rows
        with pytest.raises(ValueError, match="All positive rows have a weight of 0"):
            APTree().fit(X, y, sample_weight=1 - y)

    def test_inputs_are_left_as_they_are(self, rows):
        X, y = rows
        before = X.copy()
        MetaAP(2).fit(X, y).score_samples(X)
        np.testing.assert_array_equal(X, before)

    def test_bins_equal_exact_splits_on_few_values(self, rows):
        X, y = np.round(rows[0]), rows[1]
        exact, binned = (MetaAP(3, max_bins=b, tie_break=None).fit(X, y).score_samples(X) for b in (None, 255))
        np.testing.assert_array_equal(exact, binned)
