"""PNN against a walk over all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import PNN
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@given(table=tables(2), k=st.integers(1, 6), confidence=st.sampled_from([0.05, 0.2, 0.5]))
def test_pnn_is_the_walk(table, k, confidence):
    X, y = table
    model = PNN(k, confidence=confidence, pos_label=1).fit(X, y)
    called, score = model.predict(X), model.score_samples(X)
    sizes = model.index_.class_sizes
    posterior = model._posterior(model._walk(X, sizes), sizes)[0]
    for i, (distance, explained) in enumerate(zip(naive.distances(X, X), model.explain(X), strict=True)):
        p, nn, probability, positive = naive.pnn(distance, y, k, norm.isf(confidence))
        assert explained.rule[0].startswith(f"{p} of the {p + nn} training rows within")
        found = [near.label for near in explained.neighbours[0]]
        assert (found.count(1), found.count(0)) == (min(p, 10), min(nn, 10))
        assert posterior[i] == pytest.approx(probability)
        assert called[i] == positive
        assert p / (p + nn + 1) - 1e-12 <= score[i] - positive <= p / (p + nn) + 1e-12


def test_pnn_on_continuous_rows_is_the_walk():
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1)
    model = PNN().fit(X[:300], y[:300])
    walks = [naive.pnn(d, y[:300], 3, norm.isf(0.2)) for d in naive.distances(X[:300], X[300:])]
    np.testing.assert_array_equal(model.predict(X[300:]), [positive for *_, positive in walks])
    # The bias adds to the rows that the nearest neighbours call positive, and takes nothing away.
    plain = KNeighborsClassifier(3).fit(X[:300], y[:300]).predict(X[300:])
    assert (model.predict(X[300:]) >= plain).all()
    assert model.predict(X[300:]).sum() > plain.sum()


def test_pnn_by_hand():
    # From 0: two positives among the three nearest; from 6: the second positive is the sixth row of nine.
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]])
    y = np.array([1, 0, 1, 0, 0, 0, 0, 0, 0])
    model = PNN(3).fit(X, y)
    queries, sizes = np.array([[0.0], [6.1]]), model.index_.class_sizes
    probability, adjusted, _ = model._posterior(model._walk(queries, sizes), sizes)
    assert probability == pytest.approx([2 / 3, 2 / 9])
    assert not adjusted.any()
    explained = model.explain(queries)
    assert explained.rule == (
        "2 of the 3 training rows within 3 are of class 1",
        "2 of the 9 training rows within 5.1 are of class 1",
    )
    assert [near[:3] for near in explained.neighbours[0]] == [(0, 1, 1.0), (1, 0, 2.0), (2, 1, 3.0)]
    assert len(explained.neighbours[1]) == 9
    assert explained.score[0] > 1 > explained.score[1]
