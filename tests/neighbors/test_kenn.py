"""KENN against a vote over the surfaces of all balls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_classification

from scarce.neighbors import KENN
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@given(table=tables(2), k=st.integers(1, 5), confidence=st.sampled_from([0.1, 0.4]))
def test_kenn_is_the_vote_over_surfaces(table, k, confidence):
    X, y = table
    z = norm.isf(confidence)
    model = KENN(k, confidence=confidence, pos_label=1).fit(X, y)
    expected = np.array(naive.kenn_radii(X, y, z))
    np.testing.assert_allclose(model.radii_, expected[y == 1], atol=1e-12)
    k = min(k, len(X))
    for row, called, explained in zip(X, model.predict(X), model.explain(X), strict=True):
        votes = naive.kenn_votes(X, y, row, k, z)
        assert called == (2 * votes > k)
        assert votes - 0.5 < explained.score[0] * k < votes + 0.5
        assert sum(near.label == 1 for near in explained.neighbours[0]) == votes
        assert sum(near.effect for near in explained.neighbours[0]) == pytest.approx(votes / k)
        assert len(explained.neighbours[0]) == k
        for near in explained.neighbours[0]:
            assert near.distance == pytest.approx(np.linalg.norm(X[near.row] - row), abs=1e-6)


def test_kenn_on_continuous_rows():
    X, y = make_classification(260, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1)
    model = KENN().fit(X[:200], y[:200])
    votes = [naive.kenn_votes(X[:200], y[:200], row, 3, norm.isf(0.1)) for row in X[200:]]
    np.testing.assert_array_equal(model.predict(X[200:]), np.array(votes) >= 2)
    assert 0 < (model.radii_ == 0).sum() < len(model.radii_)


def test_kenn_by_hand():
    # The balls of 0 and 2 reach to each other. That of 20 would hold six negative rows.
    X = np.array([[0.0], [2.0], [20.0], [4.0], [12.0], [14.0], [16.0], [17.0], [18.0], [21.0]])
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    model = KENN(1, confidence=0.1).fit(X, y)
    np.testing.assert_array_equal(model.radii_, [2, 2, 0])
    # At 3.5 the negative row is 0.5 away, and the query is inside the ball of 2, by 0.5.
    explained = model.explain([[3.5]])
    assert explained.neighbours == (((1, 1, 1.5, 1.0),),)
    assert explained.score[0] > model.threshold_
    # A lone positive row has no ball.
    assert KENN(1).fit(X[2:], y[2:]).radii_.tolist() == [0]


def test_kenn_warns_of_too_few_positives():
    with pytest.warns(UserWarning, match="than the 1 there are"):
        KENN(3).fit([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])
