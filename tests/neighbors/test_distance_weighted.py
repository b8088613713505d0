"""Distance-weighted votes: the weights, ties, more than two classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import DistanceWeightedKNN
from scarce.neighbors._search.class_gammas import precedence as class_order
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@pytest.mark.parametrize("weights", ["inverse", "linear"])
@given(table=tables(2), k=st.integers(1, 6))
def test_distance_weighted_vote(weights, table, k):
    X, y = table
    model = DistanceWeightedKNN(k, weights=weights, pos_label=1).fit(X, y)
    sums = [naive.distance_weighted_sums(d, y, k, weights) for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), [s[1] > s[0] + 1e-12 for s in sums])
    for explained, expected in zip(model.explain(X), sums, strict=True):
        effects = {c: sum(near.effect for near in explained.neighbours[0] if near.label == c) for c in (0, 1)}
        assert effects[0] <= 0 <= effects[1]
        assert effects[0] + effects[1] == pytest.approx(explained.score[0], abs=1e-9)
        assert effects[1] * expected[0] == pytest.approx(-effects[0] * expected[1])  # in proportion to the votes


@QUIET
@pytest.mark.parametrize("weights", ["inverse", "linear"])
@given(table=tables(3), k=st.integers(1, 6))
def test_distance_weighted_vote_of_several_classes(weights, table, k):
    X, y = table
    if y.max() < 2:
        return
    model = DistanceWeightedKNN(k, weights=weights).fit(X, y)
    precedence = class_order(model.index_.class_sizes, "positive").tolist()
    for distance, score in zip(naive.distances(X, X), model.score_samples(X), strict=True):
        sums = naive.distance_weighted_sums(distance, y, k, weights, precedence)
        np.testing.assert_allclose(score, np.array([sums[c] for c in range(3)]) / sum(sums.values()), atol=1e-12)


def test_distance_weights_by_hand():
    # At 1.5 the positive row is 1.5 away, the negative ones 0.5 and 1.5.
    X, y = [[0.0], [2.0], [3.0]], [1, 0, 0]
    s = 1 / 1.5 - 1 / 0.5 - 1 / 1.5
    assert DistanceWeightedKNN(3).fit(X, y).score_samples([[1.5]]) == pytest.approx(s / (1 - s))
    # Linear: 1 for the nearest, 0 for the farthest.
    linear = DistanceWeightedKNN(3, weights="linear").fit(X, y)
    np.testing.assert_allclose(linear.score_samples([[1.5], [0.5]]), [-1.0, 1 - 1 / 2])


def test_only_rows_at_the_query_vote():
    X, y = [[0.0], [0.0], [0.0], [1e-9], [5.0]], [1, 1, 0, 0, 0]
    model = DistanceWeightedKNN(4).fit(X, y)
    assert model.score_samples([[0.0]])[0] == 1.0
    assert [near[:2] for near in model.explain([[0.0]]).neighbours[0]] == [(0, 1), (1, 1), (2, 0)]
    even = DistanceWeightedKNN(3).fit(X[1:], y[1:])
    assert even.score_samples([[0.0]])[0] == 0.0
    assert even.predict([[0.0]])[0] == 0


def test_a_tie_does_not_hang_on_rounding():
    # 1 / 0.6 = 1 / 1 + 1 / 1.5, but not in the last bit.
    assert 1 / 0.6 > 1 / 1.0 + 1 / 1.5
    model = DistanceWeightedKNN(3).fit([[0.6], [-1.0], [-1.5]], [1, 0, 0])
    assert model.score_samples([[0.0]])[0] == 0.0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_inverse_weights_are_those_of_scikit_learn(metric):
    X, y = make_classification(500, 5, weights=[0.8], flip_y=0.1, random_state=0)
    theirs = KNeighborsClassifier(4, weights="distance", metric=metric).fit(X[:400], y[:400]).predict(X[400:])
    ours = DistanceWeightedKNN(4, metric=metric).fit(X[:400], y[:400]).predict(X[400:])
    np.testing.assert_array_equal(ours, theirs)
