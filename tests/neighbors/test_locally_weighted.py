"""The locally weighted nearest neighbour: objective, gradient, ascent and vote against their slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import ClassIndex, LocallyWeightedNN
from scarce.neighbors._locally_weighted import _evaluate, _shares
from scarce.neighbors._search import list_classes
from tests import naive
from tests.small_tables import tables


def evaluate(X, y, log_weight, width=3):
    listed = list_classes(ClassIndex().fit(X, y), X, width, np.arange(len(X)))
    return _evaluate(X, y, _shares(y, None), listed, log_weight)


@given(table=tables(2), seed=st.integers(0, 9))
def test_state_is_that_of_the_twin(table, seed):
    X, y = table
    log_weight = np.random.default_rng(seed).choice(np.log([0.5, 1.0, 2.0]), len(X))
    state = evaluate(X, y, log_weight)
    smooth, gradient, hard = naive.local_state(X, y, np.exp(log_weight))
    assert state.smooth == pytest.approx(smooth)
    assert state.hard == pytest.approx(hard)
    np.testing.assert_allclose(state.gradient, gradient, atol=1e-9)


def test_gradient_is_that_of_small_changes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), (np.arange(40) % 4 == 0).astype(np.intp)
    log_weight = rng.normal(0, 0.3, 40)
    gradient = evaluate(X, y, log_weight).gradient
    for j in range(40):
        change = 1e-6 * (np.arange(40) == j)
        up, down = (evaluate(X, y, log_weight + sign * change).smooth for sign in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_the_twin(seed):
    X, y = make_classification(50, 3, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=seed)
    model = LocallyWeightedNN().fit(X, y)
    expected = naive.local_weights(X, y)
    assert (expected != 1).any()
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-6)


@given(table=tables(2))
def test_predictions_are_the_weighted_nearest_neighbour(table):
    X, y = table
    model = LocallyWeightedNN(pos_label=1).fit(X, y)
    predicted = model.predict(X)
    for i in range(len(X)):
        near = naive.weighted_neighbors(X, X[i], model.weights_, len(X))
        positive, negative = (min(d for d, j in near if y[j] == c) for c in (1, 0))
        if abs(positive - negative) > 1e-12 * negative or positive == negative:
            assert predicted[i] == (positive < negative)


@given(table=tables(2))
def test_learning_never_lowers_the_leave_one_out_g_mean(table):
    X, y = table
    model = LocallyWeightedNN(pos_label=1).fit(X, y)
    assert np.exp(-3) - 1e-12 <= model.weights_.min() <= model.weights_.max() <= np.exp(3) + 1e-12
    before, after = (naive.local_state(X, y, w)[2] for w in (np.ones(len(X)), model.weights_))
    assert after >= before - 1e-12
    if after <= before:
        assert (model.weights_ == 1).all()


def test_one_positive_row_is_the_nearest_neighbour():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.r_[1, np.zeros(29, int)]
    model = LocallyWeightedNN().fit(X, y)
    assert (model.weights_ == 1).all()
    Q = np.random.default_rng(1).normal(size=(20, 2))
    np.testing.assert_array_equal(model.predict(Q), KNeighborsClassifier(1).fit(X, y).predict(Q))


def test_a_negative_row_among_positives_loses_its_region():
    X = np.array([[0.0], [0.4], [0.5], [0.6], [1.0], [5.0], [5.5], [6.0], [6.6], [7.0], [7.7]])
    y = np.array([1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0])
    model = LocallyWeightedNN(pos_label=1).fit(X, y)
    assert model.weights_[2] == model.weights_.max() > 1
    assert KNeighborsClassifier(1).fit(X, y).predict([[0.54]])[0] == 0
    assert model.predict([[0.54]])[0] == 1


def test_explain_names_the_two_rows():
    X, y = make_classification(80, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    model = LocallyWeightedNN().fit(X, y)
    queries = np.vstack((X[:10] + 0.1, X[:10]))  # the last ones are on training rows
    explained = model.explain(queries)
    for i, (row, found) in enumerate(zip(queries, explained.neighbours, strict=True)):
        side = {near.label: near for near in found}
        assert sorted(side) == [0, 1]
        for near in found:
            assert y[near.row] == near.label
            assert near.distance == pytest.approx(np.linalg.norm(row - X[near.row]))
        if i < 10:
            far, near = (side[code].distance * model.weights_[side[code].row] for code in (0, 1))
            assert explained.score[i] == pytest.approx(np.log(far / near))
            parts = [model.weights_[side[c].row] ** 2 * (row - X[side[c].row]) ** 2 for c in (0, 1)]
            expected = (parts[0] - parts[1]) / (parts[0] - parts[1]).sum() * explained.score[i]
            np.testing.assert_allclose(explained.effects[i], expected)
    np.testing.assert_array_equal(explained.base_value, 0)


def test_rows_on_rows_of_both_classes_are_explained_by_the_weights():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([1, 0, 0, 0])
    explained = LocallyWeightedNN().fit(X, y).explain([[0.0], [0.5]])
    assert explained.effects[0] == 0
    np.testing.assert_array_equal(explained.base_value, [explained.score[0], 0])


def test_sample_weights_count_in_the_ascent():
    X, y = make_classification(200, 3, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.2, random_state=1)
    plain = LocallyWeightedNN().fit(X, y)
    same = LocallyWeightedNN().fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    # Weights that are equal within a class leave the means as they are.
    np.testing.assert_allclose(same.weights_, plain.weights_)
    uneven = LocallyWeightedNN().fit(X, y, sample_weight=np.where(X[:, 0] > 0, 5.0, 0.1))
    assert not np.allclose(uneven.weights_, plain.weights_)


def test_a_class_without_weight_is_refused():
    with pytest.raises(ValueError, match="above 0 in each class"):
        LocallyWeightedNN().fit([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=[1, 0, 1])
