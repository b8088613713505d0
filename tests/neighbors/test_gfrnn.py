"""GFRNN: forces, masses, and ties between them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from scarce.neighbors import FRNN, GFRNN
from tests import naive
from tests.small_tables import rare


def test_all_candidates_at_one_distance():
    """The paper's equation 15: positive if the imbalance is greater than that of the candidates."""
    circle = np.c_[np.cos(np.arange(12)), np.sin(np.arange(12))]
    y = np.r_[np.ones(3), np.zeros(9)].astype(int)
    even = GFRNN(radius=1.1).fit(circle, y)
    assert even.score_samples([[0.0, 0.0]])[0] == pytest.approx(0.5)
    assert even.predict([[0.0, 0.0]])[0] == 0  # the forces and the distances are equal: negative wins
    fewer = np.concatenate((circle[:11], [[9.0, 9.0]]))
    assert GFRNN(radius=1.1).fit(fewer, y).predict([[0.0, 0.0]])[0] == 1
    assert FRNN(radius=1.1).fit(fewer, y).predict([[0.0, 0.0]])[0] == 0


def test_equal_forces_go_to_the_nearest():
    # The mass of a positive is 2, so one of them at distance 1 holds the balance with four negatives at √2.
    X = np.array([[1.0, 0.0], [40.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    query = [[0.0, 0.0]]
    model = GFRNN(radius=5).fit(X, y)
    assert model.score_samples(query)[0] == pytest.approx(0.5)
    assert model.predict(query)[0] == 1
    assert GFRNN(radius=5, fallback="negative").fit(X, y).predict(query)[0] == 0


def test_rows_at_the_query_pull_alone_with_their_masses():
    X = np.array([[0.0], [0.0], [0.0], [0.1], [0.1], [0.1], [5.0], [6.0]])
    y = np.array([1, 0, 0, 1, 1, 0, 0, 0])  # the mass of a positive is 5 / 3
    model = GFRNN(radius=1, pos_label=1).fit(X, y)
    assert model.score_samples([[0.0]])[0] == pytest.approx((5 / 3) / (5 / 3 + 2))
    assert model.predict([[0.0]])[0] == 0
    assert FRNN(radius=1, pos_label=1).fit(X, y).predict([[0.05]])[0] == 0  # three of six
    # Noise in the last digits makes no other row.
    noisy = GFRNN(radius=1, pos_label=1).fit(X + 1e-14 * np.arange(8)[:, None], y)
    np.testing.assert_allclose(noisy.score_samples([[0.0]]), model.score_samples([[0.0]]), rtol=1e-8)


def test_more_than_two_classes_fall_back_to_the_largest():
    X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [20.0]], [2, 2, 2, 1, 1, 0]
    assert GFRNN(radius=0.5, fallback="negative").fit(X, y).predict([[19.0]])[0] == 2
    assert GFRNN(radius=0.5).fit(X, y).predict([[19.0]])[0] == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_radius_it_decides_as_simplified_idgc(n_classes):
    X, y = make_blobs([200, 40, 15][:n_classes], 3, centers=np.eye(3)[:n_classes], random_state=0)
    queries = np.random.default_rng(1).normal(size=(300, 3))
    expected = [naive.idgc(distance, y, np.bincount(y)) for distance in naive.distances(X, queries)]
    model = GFRNN(radius=np.inf).fit(X, y)
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert len(set(expected)) == n_classes


@pytest.mark.parametrize("radius", [2.0, 4.0, np.inf])
def test_forces_are_those_of_all_pairs(radius):
    X, y = rare(900, 5, np.float32)
    model = GFRNN(radius=radius).fit(X[:500], y[:500])
    squared = cdist(X[500:].astype(np.float64), X[:500].astype(np.float64), "sqeuclidean")
    pull = np.where(squared < radius**2, 1 / squared, 0)
    mass = (y[:500] == 0).sum() / y[:500].sum()
    positive, negative = mass * pull[:, y[:500] == 1].sum(axis=1), pull[:, y[:500] == 0].sum(axis=1)
    asked = positive + negative > 0
    share = positive[asked] / (positive + negative)[asked]
    np.testing.assert_allclose(model.score_samples(X[500:])[asked], share, atol=2e-9)


def test_far_from_the_origin_no_digit_is_lost():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)).round(6), np.arange(300) % 9 == 0
    queries = np.concatenate((rng.normal(size=(100, 4)).round(6), X[:50]))
    moved = 2.0**20  # the sums are exact
    near = GFRNN("mean").fit(X, y)
    far = GFRNN(near.radius_).fit((X * 2**20).round() / 2**20 + moved, y)
    exact = GFRNN(near.radius_).fit((X * 2**20).round() / 2**20, y)
    grid = (queries * 2**20).round() / 2**20
    np.testing.assert_allclose(far.score_samples(grid + moved), exact.score_samples(grid), rtol=1e-12)
    np.testing.assert_array_equal(far.predict(grid[100:] + moved), y[:50])


def test_queries_of_another_precision():
    X, y = rare(300, 5, np.float32)
    model = GFRNN().fit(X, y)
    np.testing.assert_array_equal(model.score_samples(X.astype(np.float64)), model.score_samples(X))


def test_explain_names_the_rows_that_pulled():
    X, y = [[0.0], [2.0], [5.0], [0.5]], [1, 0, 0, 0]
    model = GFRNN(radius=3).fit(X, y)
    explained = model.explain([[1.0], [20.0]])
    assert explained.neighbours[0] == ((3, 0, 0.5, 0.0), (1, 0, 1.0, 0.0), (0, 1, 1.0, 3 / 8))
    assert explained.neighbours[1] == ((2, 0, 15.0, 0.0), (0, 1, 20.0, 0.0))
    assert explained.rule[0] == "1 of the 3 training rows nearer than 3 are of class 1"
    assert explained.rule[1] == "no training row is nearer than 3, so that the nearest one decides"
    assert explained.score[0] == pytest.approx(3 / 8)
    assert explained.effects[0] == pytest.approx((0.25 - 1) / (0.25 + 1))  # the squared distances to the two nearest
    negative = GFRNN(radius=3, fallback="negative").fit(X, np.array(["ok", "theft"])[y]).explain([[20.0]])
    assert negative.rule == ("no training row is nearer than 3, so that the class is ok",)


def test_explains_several_classes():
    X, y = [[0.0], [1.0], [2.5], [5.0], [6.0]], ["a", "b", "b", "c", "c"]
    explained = GFRNN(radius=3).fit(X, y).explain([[1.5]])
    assert explained.label == "b"
    assert [(near.row, near.label) for near in explained.neighbours[0]] == [(1, "b"), (2, "b"), (0, "a")]
    forces = {0: 5 / 1.5**2, 1: 2.5 / 0.5**2, 2: 2.5}
    assert [near.effect for near in explained.neighbours[0]] == pytest.approx(
        [forces[1] / sum(forces.values()), forces[2] / sum(forces.values()), 0]
    )
    assert explained.rule == ("2 of the 3 training rows nearer than 3 are of class b",)


def test_bad_fallback():
    with pytest.raises(ValueError, match="'fallback' parameter"):
        GFRNN(fallback="positive").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 3, 10])
def test_one_row_scores_as_among_many(m, dtype):
    rng = np.random.default_rng(m)
    X, y = rng.normal(size=(501, m)).astype(dtype), (np.arange(501) % 9 == 0).astype(int)
    model = GFRNN(calibration=None).fit(X, y)
    queries = np.concatenate((X[:20], rng.normal(size=(20, m)).astype(dtype)))
    alone = np.concatenate([model.score_samples(query[None]) for query in queries])
    np.testing.assert_array_equal(alone, model.score_samples(queries))
