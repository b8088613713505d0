"""APTree: splits, leaf scores, the budget, missing values and categories."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from scarce.metrics import precision_at_k
from scarce.trees import APTree
from scarce.trees._ap_tree import _half_gaps
from tests import naive_trees as naive


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


@given(st.lists(st.integers(0, 10), min_size=1, max_size=12))
def test_half_gaps_stay_below_the_next_leaf(values):
    value = np.array(values) / 10
    spread = _half_gaps(value)
    assert np.all(spread > 0)
    for low, half in zip(value, spread, strict=True):
        assert np.all(low + half < value[value > low])


def test_ap_max_separates_a_small_group_of_positives_and_ap_mean_does_not():
    # A pure group with less than half of the positives has a negative gain by "ap_mean".
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [960, 40])
    y = np.concatenate([np.repeat([0, 1], [900, 60]), np.ones(40, dtype=int)])
    X = np.column_stack((group, rng.normal(size=1000) * 0))
    assert APTree(criterion="ap_mean").fit(X, y).tree_.n_leaves == 1
    assert APTree(criterion="ap_max").fit(X, y).tree_.n_leaves == 2


@given(st.integers(0, 10_000), st.sampled_from(["gini", "entropy", "ap_max"]))
def test_path_distance_is_the_smallest_distance_to_a_threshold_on_the_way(seed, criterion):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.integers(0, 5, size=60), rng.normal(size=60), rng.integers(0, 3, size=60))).astype(float)
    X[rng.random(60) < 0.1, 0] = np.nan
    y = (rng.random(60) < 0.3).astype(int)
    y[:2] = 0, 1
    model = APTree(criterion=criterion, max_depth=4, categorical_features=[2], leaf_score="path_distance").fit(X, y)
    np.testing.assert_array_equal(model.score_samples(X), [naive.path_distance(model.tree_, x) for x in X])
    with pytest.raises(ValueError, match="has no SQL"):
        model.to_sql()


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

    def test_a_share_and_a_number_mean_the_same(self, rows):
        X, y = rows
        share, number = APTree(top_k=0.1).fit(X, y), APTree(top_k=60).fit(X, y)
        np.testing.assert_array_equal(share.score_samples(X), number.score_samples(X))

    def test_the_default_threshold_flags_the_budget(self, rows):
        X, y = rows
        flagged = APTree(top_k=60).fit(X, y).predict(X).sum()
        assert 0 < flagged <= 60


class TestMissingAndCategories:
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


def test_leaves_have_the_rows_asked_for(rows):
    X, y = rows
    model = APTree(min_samples_leaf=25).fit(X, y)
    assert model.tree_.leaf_counts().min() >= 25


def test_weights_of_zero_for_a_class(rows):
    X, y = rows
    with pytest.raises(ValueError, match="All positive rows have a weight of 0"):
        APTree().fit(X, y, sample_weight=1 - y)
