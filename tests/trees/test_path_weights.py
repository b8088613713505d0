"""The weights of steps on a path against a slow, obvious twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.trees import ProfitTree
from scarce.trees._path_weights import N_SIZES, fit_path_weights, steps_of_leaves
from tests import naive_profit_trees as naive
from tests import naive_trees

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

VALUES = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0])


@st.composite
def problems(draw):
    """Few rows of few values: ties, constant columns, one positive, classes apart, rows without steps or weight."""
    n, d = draw(st.integers(3, 20)), draw(st.integers(6, 7))
    steps = np.array(draw(st.lists(st.lists(VALUES, min_size=d, max_size=d), min_size=n, max_size=n)))
    steps[:, draw(st.lists(st.integers(0, 5), max_size=5))] = draw(VALUES)
    positive = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    weight[:2] = 1
    steps[np.flatnonzero(draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))) + 2] = np.nan
    return steps, positive, weight


@given(problems())
@settings(max_examples=60)
def test_weights_are_the_best(problem):
    steps, positive, weight = problem
    found = fit_path_weights(steps, positive, weight)
    wanted, constant = naive.path_weights(steps, positive, weight)
    known = ~np.isnan(steps[:, 0]) & (weight > 0)
    # Columns may stand for each other, so that only the sum is unique to the last digits.
    np.testing.assert_allclose(
        steps[known] @ found.weight + found.constant, steps[known] @ wanted + constant, atol=1e-3
    )
    varies = np.ptp(steps[known], axis=0) > 0
    assert (found.weight[varies] >= 1e-3 - 1e-12).all()
    np.testing.assert_array_equal(found.weight[~varies], (np.arange(len(varies)) < N_SIZES)[~varies])


@given(problems(), st.randoms(use_true_random=False))
def test_they_depend_neither_on_the_order_of_rows_nor_on_the_unit_of_weights(problem, random):
    steps, positive, weight = problem
    order = random.sample(range(len(weight)), len(weight))
    found = fit_path_weights(steps, positive, weight)
    other = fit_path_weights(steps[order], positive[order], 8 * weight[order])
    np.testing.assert_allclose(other.weight, found.weight, atol=1e-3)


def test_without_evidence_a_step_counts_as_it_is():
    rng = np.random.default_rng(0)
    steps, y = rng.normal(size=(200, N_SIZES)), rng.random(200) < 0.3
    steps[:, 2] = 0.7  # the same for all rows
    weights = fit_path_weights(steps, y, np.ones(200))
    assert weights.weight[2] == 1
    assert (weights.weight[[0, 1, 3, 4, 5]] < 0.5).all()  # noise
    for one_class in (np.zeros(200, dtype=bool), np.ones(200, dtype=bool)):
        np.testing.assert_array_equal(fit_path_weights(steps, one_class, np.ones(200)).weight, 1)
    nowhere = np.full_like(steps, np.nan)
    none = fit_path_weights(nowhere, y, np.ones(200))
    np.testing.assert_array_equal(none.weight, 1)
    assert none.constant == pytest.approx(np.log(y.mean() / (1 - y.mean())))


def test_without_evidence_other_log_odds_do_not_count():
    rng = np.random.default_rng(0)
    columns, y = rng.normal(size=(200, N_SIZES + 2)), rng.random(200) < 0.3
    columns[:, -1] = 0.7
    weights = fit_path_weights(columns, y, np.ones(200)).weight
    assert weights[-1] == 0
    assert weights[-2] < 0.5
    one_class = fit_path_weights(columns, np.zeros(200, dtype=bool), np.ones(200)).weight
    np.testing.assert_array_equal(one_class, [1] * N_SIZES + [0] * 2)


def test_true_weights_are_found():
    rng = np.random.default_rng(0)
    steps, true = rng.normal(size=(200_000, N_SIZES)), np.array([0.0, 0.3, 0.6, 1.0, 1.5, 2.0])
    y = rng.random(len(steps)) < 1 / (1 + np.exp(3 - steps @ true))
    weights = fit_path_weights(steps, y, np.ones(len(y)))
    np.testing.assert_allclose(weights.weight, true, atol=0.05)
    assert weights.constant == pytest.approx(-3, abs=0.05)


@pytest.mark.parametrize("missing", [False, True])
def test_steps_are_those_of_the_path(missing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 3)), rng.integers(0, 2, 700)
    if missing:
        X[::5, 1] = np.nan
    graph = ProfitTree(max_depth=7, random_state=0).fit(X, y).tree_
    value = graph.sums[:, 1] / graph.sums[:, 0]
    steps = steps_of_leaves(graph, value)
    assert (steps != 0).sum(axis=0)[:4].all()  # nodes of all sizes that there can be
    for x in X[:40]:
        _, node, leaf = naive_trees.descend(graph, x)
        np.testing.assert_allclose(steps[leaf], naive.sizes_entered(graph, x, lambda w, p, a, b: p / w), atol=1e-12)
        assert steps[leaf].sum() == pytest.approx(value[node] - value[0], abs=1e-12)


def test_a_tree_of_one_leaf_has_no_steps():
    graph = ProfitTree(min_samples_leaf=5).fit(np.arange(6.0)[:, None], np.arange(6) % 2).tree_
    np.testing.assert_array_equal(steps_of_leaves(graph, np.ones(1)), np.zeros((1, N_SIZES)))
