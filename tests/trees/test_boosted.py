"""Short trees that add up, against a slow twin and against scikit-learn's boosting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier

from scarce.trees._base import TreeData
from scarce.trees._boosted import boost
from scarce.trees._engine import encode_columns
from tests import naive_profit_trees as naive


def table(X, y, weight=None, n_categories=None):
    weight = np.ones(len(y)) if weight is None else weight
    n_categories = np.zeros(X.shape[1], dtype=np.int64) if n_categories is None else n_categories
    return TreeData(X, *encode_columns(X, n_categories, 255), np.column_stack((weight, weight * y)))


@st.composite
def problems(draw):
    """Rows of few values, some of them missing, with constant columns, few positives and rows without weight."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 120)), draw(st.integers(1, 4))
    X = rng.integers(0, draw(st.sampled_from([1, 2, 5, 50])), size=(n, d)).astype(draw(st.sampled_from(["f4", "f8"])))
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n) > draw(st.sampled_from([0.5, 3]))).astype(float)
    y[:2] = 0, 1
    weight = draw(st.sampled_from([rng.integers(0, 3, n), np.ones(n), rng.random(n)])).astype(float)
    weight[:2] = 1
    return X, y, weight


@given(problems(), st.integers(1, 8))
@settings(max_examples=40)
def test_leaves_have_the_values_of_the_twin(problem, n_trees):
    X, y, weight = problem
    boosted = boost(table(X, y, weight), n_trees, X.shape[1], seed=0)
    assert len(boosted.trees) == n_trees
    expected = naive.boosted_log_odds(boosted.trees, X, y, weight)
    np.testing.assert_allclose(boosted.log_odds, expected, rtol=1e-9, atol=1e-9)
    total = boosted.start + np.sum([tree.score(X) for tree in boosted.trees], axis=0)
    np.testing.assert_allclose(boosted.log_odds, total, rtol=1e-12, atol=1e-12)


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_neither_the_order_of_rows_nor_rows_without_weight_matter(problem, random):
    X, y, weight = problem
    order = random.sample(range(len(y)), len(y))
    boosted = boost(table(X, y, weight), 5, 1, seed=3)
    permuted = boost(table(X[order], y[order], weight[order]), 5, 1, seed=3)
    np.testing.assert_array_equal(permuted.log_odds, boosted.log_odds[order])
    flipped = boost(table(X, np.where(weight > 0, y, 1 - y), weight), 5, 1, seed=3)
    np.testing.assert_array_equal(flipped.log_odds, boosted.log_odds)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_they_are_those_of_scikit_learn(missing, rate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=4000) > np.quantile(X[:, 2], 1 - rate) + 1).astype(float)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    peer = HistGradientBoostingClassifier(
        learning_rate=0.1, max_iter=40, max_leaf_nodes=None, max_depth=4, min_samples_leaf=20, l2_regularization=5.0,
        early_stopping=False,
    ).fit(X, y)  # fmt: skip
    ours = boost(table(X, y), 40, 6, seed=0)
    # It keeps gradients in single precision.
    np.testing.assert_allclose(ours.log_odds, peer.decision_function(X), atol=1e-4)


def test_categories_are_parted():
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.integers(0, 6, 2000), rng.normal(size=2000))).astype(float)
    y = (np.isin(X[:, 0], [0, 3, 4]) & (rng.random(2000) < 0.5)).astype(float)
    first = boost(table(X, y, n_categories=np.array([6, 0])), 1, 2, seed=0).trees[0]
    assert first.graph.feature[0] == 0
    left = first.score(np.column_stack((np.arange(6.0), np.zeros(6))))
    np.testing.assert_array_equal(left > left.mean(), np.isin(np.arange(6), [0, 3, 4]))
