"""KRNN, PNN and KENN against walks over all rows, and the counting that they rest on."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import KENN, KRNN, PNN
from scarce.neighbors._rare import _Walk, upper_limit
from scarce.neighbors._surroundings import RowBoxes
from tests import naive
from tests.neighbors.test_index import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


# Counting


def counted(rows, query, radius, skip=None):
    """Rows closer than the radius, and the distances on either side of it, by differences one at a time."""
    below, above, closer = 0.0, np.inf, 0
    for i, row in enumerate(rows):
        if i != skip:
            total = 0.0
            for a, b in zip(query, row, strict=True):
                total += (float(a) - float(b)) * (float(a) - float(b))
            distance = math.sqrt(total)
            closer += distance < radius
            below = max(below, distance) if distance < radius else below
            above = min(above, distance) if distance >= radius else above
    return closer, below, above


@given(table=tables(), radius=st.sampled_from([0.0, 1.0, 2**0.5, 1.5, 2.0, 5**0.5, 9.0, np.inf]), loo=st.booleans())
def test_rows_closer_than_a_radius(table, radius, loo):
    X, _ = table
    found = RowBoxes(X).around(X, np.full(len(X), radius), np.arange(len(X)) if loo else None)
    for i, row in enumerate(X):
        assert (found.closer[i], found.below[i], found.above[i]) == counted(X, row, radius, i if loo else None)


@pytest.mark.parametrize("n_features", [1, 2, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counting_in_many_boxes(n_features, dtype):
    """With enough rows for many boxes, radii on the very distances of rows, clusters and duplicates."""
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(1500, n_features)) + rng.integers(0, 3, (1500, 1)) * 4
    X[::7] = X[1::7][: len(X[::7])]
    X = X.astype(dtype)
    queries = np.concatenate((X[:40], rng.normal(2, 4, (20, n_features)).astype(dtype)))
    boxes = RowBoxes(X)
    assert len(boxes._starts) > 5
    distance = naive.distances(X, queries)
    for rank in (0, 3, 400, 1499):
        radius = np.sort(distance, axis=1)[:, rank]
        radius[radius <= 1e-300] = 0.0
        for skip in (None, np.arange(60)):
            found = boxes.around(queries, radius, skip)
            for i in range(0, 60, 6):
                expected = counted(X, queries[i], radius[i], None if skip is None else i)
                assert (found.closer[i], found.below[i], found.above[i]) == expected


def test_a_count_does_not_depend_on_threads_or_batches():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(3000, 6)), rng.normal(size=(5000, 6))
    radius = rng.uniform(0, 4, len(queries))
    one, two = RowBoxes(X, 1).around(queries, radius), RowBoxes(X, 2).around(queries, radius)
    alone = RowBoxes(X).around(queries[-7:], radius[-7:])
    for a, b, c in zip(one, two, alone, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[-7:], c)


def test_counting_lists_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    boxes = RowBoxes(X)
    boxes.around(X[:5], np.ones(5))
    tracemalloc.start()
    try:
        closer = boxes.around(X, np.full(len(X), 1.5)).closer
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert closer.sum() > 5e6  # rows, of at least 8 bytes each if they were listed
    assert peak < 5e6


@given(n=st.integers(1, 60), share=st.floats(0, 1), z=st.sampled_from([0.0, 0.84, 1.28, 1.645]))
def test_upper_limit(n, share, z):
    rate = round(share * n) / n
    assert upper_limit(rate, n, z) == pytest.approx(naive.wilson(rate * n, n, z)[1])
    assert 1 - upper_limit(1 - rate, n, z) == pytest.approx(naive.wilson(rate * n, n, z)[0], abs=1e-12)


# KRNN


@QUIET
@given(table=tables(2), k=st.integers(1, 5), confidence=st.sampled_from([0.1, 0.5]))
def test_krnn_is_the_walk(table, k, confidence):
    X, y = table
    model = KRNN(k, confidence=confidence, pos_label=1).fit(X, y)
    called, score = model.predict(X), model.score_samples(X)
    for i, (distance, told) in enumerate(zip(naive.distances(X, X), model.explain(X), strict=True)):
        p, nn, probability, raised = naive.krnn(distance, y, k, norm.isf(confidence / 2))
        assert (told["n_positives"], told["n_negatives"], told["adjusted"]) == (p, nn, raised)
        assert told["probability"] == pytest.approx(probability)
        assert called[i] == (told["probability"] > 0.5)
        assert score[i] <= told["probability"]


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
    (told,) = KRNN(2, pos_label=1).fit(X, y).explain([[0.0]])
    assert (told["n_positives"], told["n_negatives"], told["radius"]) == (4, 1, 3.0)
    assert told["probability"] == pytest.approx((4 + 1 / 8) / (4 + 1 + 2 / 8))
    assert told["positives"] == [{"row": 0, "distance": 1.0}, {"row": 2, "distance": 3.0}]


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
        walk = _Walk(np.full(4, 3), np.full(4, negatives), np.ones(4), beyond)
        return KRNN(3)._posterior(walk, sizes)[2]

    assert scores(13)[0] > 0.5 > scores(14)[0]
    assert (np.diff(scores(13)) < 0).all()
    assert scores(13)[-1] > 0.5


# PNN


@QUIET
@given(table=tables(2), k=st.integers(1, 6), confidence=st.sampled_from([0.05, 0.2, 0.5]))
def test_pnn_is_the_walk(table, k, confidence):
    X, y = table
    model = PNN(k, confidence=confidence, pos_label=1).fit(X, y)
    called, score = model.predict(X), model.score_samples(X)
    for i, (distance, told) in enumerate(zip(naive.distances(X, X), model.explain(X), strict=True)):
        p, nn, probability, positive = naive.pnn(distance, y, k, norm.isf(confidence))
        assert (told["n_positives"], told["n_negatives"]) == (p, nn)
        assert told["probability"] == pytest.approx(probability)
        assert called[i] == positive
        assert p / (p + nn + 1) - 1e-12 <= score[i] - positive <= p / (p + nn) + 1e-12


def test_pnn_on_continuous_rows_is_the_walk():
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1)
    model = PNN().fit(X[:300], y[:300])
    walks = [naive.pnn(d, y[:300], 3, norm.isf(0.2)) for d in naive.distances(X[:300], X[300:])]
    np.testing.assert_array_equal(model.predict(X[300:]), [positive for *_, positive in walks])
    # The bias adds to what the nearest neighbours call positive, and takes nothing away.
    plain = KNeighborsClassifier(3).fit(X[:300], y[:300]).predict(X[300:])
    assert (model.predict(X[300:]) >= plain).all()
    assert model.predict(X[300:]).sum() > plain.sum()


def test_pnn_by_hand():
    # From 0: two positives among the three nearest; from 6: the second positive is the sixth row of nine.
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]])
    y = np.array([1, 0, 1, 0, 0, 0, 0, 0, 0])
    near, far = PNN(3).fit(X, y).explain([[0.0], [6.1]])
    assert (near["n_positives"], near["n_negatives"], near["probability"]) == (2, 1, pytest.approx(2 / 3))
    assert not near["adjusted"]
    assert near["score"] > 1
    assert far["n_negatives"] == 7
    assert far["probability"] == pytest.approx(2 / 9)
    assert far["score"] < 1


# KENN


@QUIET
@given(table=tables(2), k=st.integers(1, 5), confidence=st.sampled_from([0.1, 0.4]))
def test_kenn_is_the_vote_over_surfaces(table, k, confidence):
    X, y = table
    z = norm.isf(confidence)
    model = KENN(k, confidence=confidence, pos_label=1).fit(X, y)
    expected = np.array(naive.kenn_radii(X, y, z))
    np.testing.assert_allclose(model.radii_, expected[y == 1], atol=1e-12)
    k = min(k, len(X))
    for row, called, told in zip(X, model.predict(X), model.explain(X), strict=True):
        votes = naive.kenn_votes(X, y, row, k, z)
        assert called == (2 * votes > k)
        assert votes - 0.5 < told["score"] * k < votes + 0.5
        assert sum(n["label"] == 1 for n in told["neighbors"]) == votes
        assert len(told["neighbors"]) == k
        for neighbor in told["neighbors"]:
            assert neighbor["distance"] == pytest.approx(np.linalg.norm(X[neighbor["row"]] - row), abs=1e-6)


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
    (told,) = model.explain([[3.5]])
    assert told["neighbors"] == [{"row": 1, "distance": 1.5, "radius": 2.0, "label": 1}]
    assert told["score"] > model.threshold_
    # A lone positive row has no ball.
    assert KENN(1).fit(X[2:], y[2:]).radii_.tolist() == [0]


def test_kenn_says_that_positives_are_too_few():
    with pytest.warns(UserWarning, match="than the 1 there are"):
        KENN(3).fit([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])


def test_growing_says_that_positives_are_too_few():
    for rule in (KRNN(2), PNN(3)):
        with pytest.warns(UserWarning, match="needs 2 positive rows, and there are 1"):
            rule.fit([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])


@settings(max_examples=10)
@given(offset=st.sampled_from([0.0, 1e4, -1e6]), scale=st.sampled_from([1e-6, 1.0, 1e6]))
@pytest.mark.parametrize("rule", [KRNN, PNN, KENN], ids=lambda rule: rule.__name__)
def test_decisions_do_not_depend_on_where_and_how_large_the_table_is(rule, offset, scale):
    # Whole numbers, so that moving and scaling by powers of two is exact.
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 50, (120, 3)).astype(float), (np.arange(120) % 6 == 0).astype(int)
    moved = (X + np.round(offset)) * 2.0 ** np.round(np.log2(scale))
    np.testing.assert_array_equal(rule().fit(moved, y).predict(moved), rule().fit(X, y).predict(X))
