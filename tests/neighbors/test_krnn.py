"""KRNN against a walk over all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_classification

from scarce.neighbors import KRNN
from scarce.neighbors._growing import Walk
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@given(table=tables(2), k=st.integers(1, 5), confidence=st.sampled_from([0.1, 0.5]))
def test_krnn_is_the_walk(table, k, confidence):
    X, y = table
    model = KRNN(k, confidence=confidence, pos_label=1).fit(X, y)
    called, score = model.predict(X), model.score_samples(X)
    sizes = model.index_.class_sizes
    posterior, adjusted, _ = model._posterior(model._walk(X, sizes), sizes)
    for i, (distance, explained) in enumerate(zip(naive.distances(X, X), model.explain(X), strict=True)):
        p, nn, probability, raised = naive.krnn(distance, y, k, norm.isf(confidence / 2))
        assert explained.rule[0].startswith(f"{p} of the {p + nn} training rows within")
        found = [near.label for near in explained.neighbours[0]]
        assert (found.count(1), found.count(0)) == (min(p, 10), min(nn, 10))
        assert adjusted[i] == raised
        assert posterior[i] == pytest.approx(probability)
        assert called[i] == (posterior[i] > 0.5)
        assert score[i] <= posterior[i]


def test_krnn_on_continuous_rows_is_the_walk():
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1)
    for k in (1, 3):
        model = KRNN(k).fit(X[:300], y[:300])
        walks = [naive.krnn(d, y[:300], k, norm.isf(0.05)) for d in naive.distances(X[:300], X[300:])]
        np.testing.assert_array_equal(model.predict(X[300:]), [probability > 0.5 for _, _, probability, _ in walks])
        assert 0 < sum(raised for *_, raised in walks) < 100
        assert max(p for p, *_ in walks) > k + 1


def test_krnn_extends_over_a_run_of_positives_by_hand():
    # From 0: positive, negative, then three positives in a row up to the negative at 9.
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [9.0], [10.0], [11.0]])
    y = np.array([1, 0, 1, 1, 1, 0, 0, 0])
    model = KRNN(2, pos_label=1).fit(X, y)
    sizes = model.index_.class_sizes
    probability, _, _ = model._posterior(model._walk(np.zeros((1, 1)), sizes), sizes)
    assert probability == pytest.approx((4 + 1 / 8) / (4 + 1 + 2 / 8))
    explained = model.explain([[0.0]])
    assert explained.rule == ("4 of the 5 training rows within 3 are of class 1",)
    assert [near.row for near in explained.neighbours[0]] == [0, 1, 2, 3, 4]


def test_krnn_without_a_positive_row_raises_nothing():
    # The lower limit of a share of 0 comes out a little above 0 with 12 rows.
    honest = KRNN(pos_label=1).honest_scores(np.zeros((13, 1)), np.arange(13) == 12)
    assert honest[12] == pytest.approx((1 / 12) / (12 + 2 / 12))


def test_krnn_falls_as_the_positive_row_moves_away():
    """Between the negative rows that it passes, not only at them."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    scores = []
    for at in np.arange(0.05, 5.5, 0.1):
        model = KRNN().fit(np.r_[X, [[-at]]], [0] * 7 + [1])
        scores.append(model.score_samples([[-0.001]])[0])
    assert (np.diff(scores[1:]) < 0).all()


def test_krnn_between_two_counts_stays_on_its_side():
    # With 13 negative rows the probability is above 1/2, with 14 it is below.
    beyond = np.array([0.0, 0.3, 0.6, 0.99])
    sizes = np.array([2000, 100])

    def scores(negatives):
        walk = Walk(np.full(4, 3), np.full(4, negatives), np.ones(4), beyond)
        return KRNN(3)._posterior(walk, sizes)[2]

    assert scores(13)[0] > 0.5 > scores(14)[0]
    assert (np.diff(scores(13)) < 0).all()
    assert scores(13)[-1] > 0.5
