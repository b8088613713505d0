"""FRNN, FRkNN and GFRNN: the rules of the paper, the radius, and the kernel below them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs, make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import FRKNN, FRNN, GFRNN, _radius, _tiles
from tests import naive
from tests.neighbors.test_index import tables

RADII = st.sampled_from(["eq7", "mean", "rms", 0.5, 1.0, 1.5, 2.0, np.inf])
FALLBACKS = st.sampled_from(["nearest", "negative"])
RULES = {"frnn": FRNN, "gfrnn": GFRNN, "frknn": lambda **params: FRKNN(3, **params)}


def rare(n=700, m=13, dtype=np.float64, seed=0):
    X, y = make_classification(n, m, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.05, random_state=seed)
    return X.astype(dtype), y


def one_label(n_classes):
    """The parameters that two and more classes allow."""
    return {"pos_label": 1} if n_classes == 2 else {}


# The rules


@pytest.mark.filterwarnings("ignore:n_neighbors=")
@pytest.mark.parametrize("rule", RULES)
@given(table=tables(3), radius=RADII, fallback=FALLBACKS)
def test_predictions_are_those_of_the_rule(rule, table, radius, fallback):
    X, y = table
    sizes = np.bincount(y)
    model = RULES[rule](radius=radius, fallback=fallback, **one_label(len(sizes))).fit(X, y)
    queries = np.concatenate((X, X + 0.5, [X[0] + 40]))
    score = model.score_samples(queries)
    for i, distance in enumerate(naive.distances(X, queries)):
        winner, shares = naive.fixed_radius_rule(rule, distance, y, model.radius_, fallback, sizes, k=3)
        assert model.predict(queries[i : i + 1])[0] == winner
        if shares is not None:
            found = score[i] if len(sizes) > 2 else [1 - score[i], score[i]]
            np.testing.assert_allclose(found, shares, atol=2e-9)


@pytest.mark.filterwarnings("ignore:n_neighbors=")
@pytest.mark.parametrize("rule", RULES)
@given(table=tables(2), radius=RADII, fallback=FALLBACKS)
def test_honest_scores_leave_the_row_out_but_not_its_duplicates(rule, table, radius, fallback):
    X, y = table
    model = RULES[rule](radius=radius, fallback=fallback, pos_label=1).fit(X, y)
    called = model.honest_scores(X, y) > 0.5
    for i, distance in enumerate(naive.distances(X, X)):
        k = min(3, len(X))
        winner, _ = naive.fixed_radius_rule(rule, distance, y, model.radius_, fallback, np.bincount(y), k=k, skip=i)
        assert called[i] == winner


def test_all_candidates_at_one_distance():
    """The paper's equation 15: positive if the imbalance is greater than that of the candidates."""
    circle = np.c_[np.cos(np.arange(12)), np.sin(np.arange(12))]
    y = np.r_[np.ones(3), np.zeros(9)].astype(int)
    even = GFRNN(radius=1.1).fit(circle, y)
    assert even.score_samples([[0.0, 0.0]])[0] == pytest.approx(0.5)
    assert even.predict([[0.0, 0.0]])[0] == 0  # the forces and the distances are equal: nothing speaks for positive
    fewer = np.concatenate((circle[:11], [[9.0, 9.0]]))
    assert GFRNN(radius=1.1).fit(fewer, y).predict([[0.0, 0.0]])[0] == 1
    assert FRNN(radius=1.1).fit(fewer, y).predict([[0.0, 0.0]])[0] == 0


def test_equal_forces_go_to_the_nearest():
    # The mass of a positive is 2, so one of them at distance 1 holds the balance with four negatives at √2.
    X = np.array([[1.0, 0.0], [40.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    query = [[0.0, 0.0]]
    model = GFRNN(radius=5).fit(X, y)
    assert model.explain(query)[0]["decided_by"] == "nearest"
    assert model.score_samples(query)[0] == pytest.approx(0.5)
    assert model.predict(query)[0] == 1
    assert GFRNN(radius=5, fallback="negative").fit(X, y).predict(query)[0] == 0


def test_a_row_on_the_circle_is_outside():
    X, y = [[3.0, 4.0], [9.0, 9.0], [9.0, 9.5]], [1, 0, 0]
    inside = FRNN(np.nextafter(5, 6) * (1 + 1e-11), fallback="negative").fit(X, y)
    outside = FRNN(5, fallback="negative").fit(X, y)
    assert inside.predict([[0, 0]])[0] == 1
    assert outside.predict([[0, 0]])[0] == 0


def test_rows_at_the_query_speak_alone_with_their_masses():
    X = np.array([[0.0], [0.0], [0.0], [0.1], [0.1], [0.1], [5.0], [6.0]])
    y = np.array([1, 0, 0, 1, 1, 0, 0, 0])  # the mass of a positive is 5 / 3
    model = GFRNN(radius=1, pos_label=1).fit(X, y)
    assert model.score_samples([[0.0]])[0] == pytest.approx((5 / 3) / (5 / 3 + 2))
    assert model.predict([[0.0]])[0] == 0
    assert FRNN(radius=1, pos_label=1).fit(X, y).predict([[0.05]])[0] == 0  # three of six
    # Noise in the last digits makes no other row.
    noisy = GFRNN(radius=1, pos_label=1).fit(X + 1e-14 * np.arange(8)[:, None], y)
    np.testing.assert_allclose(noisy.score_samples([[0.0]]), model.score_samples([[0.0]]), rtol=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_where_nobody_is_inside(rule):
    X, y = [[0.0], [1.0], [2.0], [8.0]], [0, 0, 0, 1]
    near = RULES[rule](radius=1.5).fit(X, y)
    np.testing.assert_array_equal(near.predict([[20.0], [-20.0], [4.9], [5.1]]), [1, 0, 0, 1])
    # As if the nearest rows alone pulled, without masses.
    np.testing.assert_allclose(near.score_samples([[4.0], [6.0], [20.0]]), [1 / 5, 4 / 5, 18**2 / (18**2 + 12**2)])
    negative = RULES[rule](radius=1.5, fallback="negative").fit(X, y)
    assert not negative.predict([[20.0], [-20.0], [5.1]]).any()
    assert len(np.unique(negative.score_samples([[20.0], [-20.0], [5.1]]))) == 3


def test_more_than_two_classes_fall_back_to_the_largest():
    X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [20.0]], [2, 2, 2, 1, 1, 0]
    assert GFRNN(radius=0.5, fallback="negative").fit(X, y).predict([[19.0]])[0] == 2
    assert GFRNN(radius=0.5).fit(X, y).predict([[19.0]])[0] == 0


def test_a_tie_does_not_hang_on_the_last_bit():
    """The same differences in another order: equally far, but for rounding."""
    step = np.array([0.1, 0.2, 0.7, 0.3, 0.9])
    rows = np.array([np.roll(step, i) for i in range(5)])
    distance = naive.distances(rows, np.zeros((1, 5)))[0]
    assert 0 < np.ptp(distance) < 1e-15
    nearer, farther = rows[distance.argmin()], rows[distance.argmax()]
    for radius in (2.0, "rms"):
        model = FRKNN(1, radius).fit([nearer, farther, 9 * step], [1, 0, 0])
        assert model.predict(np.zeros((1, 5)))[0] == 0
    two = FRKNN(2, 2.0, pos_label=1).fit([nearer, farther, farther], [1, 0, 0])
    assert two.explain(np.zeros((1, 5)))[0]["positive_votes"] == 0


@pytest.mark.parametrize("k", [1, 3, 5])
def test_frknn_without_a_radius_is_k_nearest_neighbours(k):
    X, y = rare(400, 6, seed=k)
    ours = FRKNN(k, np.inf).fit(X[:300], y[:300]).predict(X[300:])
    np.testing.assert_array_equal(ours, KNeighborsClassifier(k).fit(X[:300], y[:300]).predict(X[300:]))


def test_frknn_with_all_neighbours_is_frnn():
    X, y = rare(200, 4)
    np.testing.assert_array_equal(
        FRKNN(150, 2.0).fit(X[:150], y[:150]).predict(X), FRNN(2.0).fit(X[:150], y[:150]).predict(X)
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_radius_it_decides_as_simplified_idgc(n_classes):
    X, y = make_blobs([200, 40, 15][:n_classes], 3, centers=np.eye(3)[:n_classes], random_state=0)
    queries = np.random.default_rng(1).normal(size=(300, 3))
    expected = [naive.idgc(distance, y, np.bincount(y)) for distance in naive.distances(X, queries)]
    model = GFRNN(radius=np.inf).fit(X, y)
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert len(set(expected)) == n_classes


def test_scores_have_few_ties():
    X, y = rare()
    for model in (FRNN(), FRKNN(), GFRNN()):
        assert len(np.unique(model.honest_scores(X, y))) > 0.97 * len(X)


def test_equal_shares_are_ordered_and_different_ones_are_not_changed():
    X, y = rare()
    model = FRKNN(5, np.inf).fit(X, y)
    votes = np.array([told["positive_votes"] for told in model.explain(X)])
    score = model.score_samples(X)
    levels = [score[votes == v] for v in range(6) if (votes == v).any()]
    assert all(low.max() < high.min() for low, high in pairwise(levels))


# The radius


@given(table=tables(3), word=st.sampled_from(["eq7", "mean", "rms"]))
def test_the_words_for_the_radius(table, word):
    X, y = table
    model = GFRNN(radius=word).fit(X, y)
    assert model.radius_ == pytest.approx(naive.fixed_radius(X, word), abs=1e-12)
    assert model.radius_error_ == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_distance_over_many_tiles(dtype):
    X, y = rare(1000, 7, dtype)
    expected = pdist(X.astype(np.float64)).mean()
    assert GFRNN(radius="mean").fit(X, y).radius_ == pytest.approx(expected, rel=1e-13)
    assert FRKNN(radius="eq7").fit(X, y).radius_ == pytest.approx(expected / 2, rel=1e-13)


def test_a_sampled_radius_says_its_error(monkeypatch):
    X, y = rare(1000, 7)
    exact = GFRNN(radius="mean").fit(X, y).radius_
    monkeypatch.setattr(_radius, "_EXACT_ROWS", 999)
    sampled = GFRNN(radius="mean").fit(X, y)
    assert 0 < abs(sampled.radius_ - exact) < 4 * sampled.radius_error_
    assert sampled.radius_error_ == pytest.approx(pdist(X).std() / 2e6**0.5, rel=0.01)
    half = FRNN().fit(X, y)
    assert (2 * half.radius_, 2 * half.radius_error_) == (sampled.radius_, sampled.radius_error_)
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert GFRNN(radius="mean").fit(X[shuffled], y[shuffled]).radius_ == sampled.radius_
    assert GFRNN(radius="rms").fit(X, y).radius_error_ == 0


def test_equal_distances_are_outside_their_own_mean():
    # The corners of a simplex: each is as far from the others as the mean says, but for rounding.
    X = np.eye(11) * 0.1
    y = np.arange(11) % 3 == 0
    told = FRNN("mean").fit(X, y).explain(X)
    assert all(row["positive_votes"] + row["negative_votes"] == 1 for row in told)


# The kernel


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", [GFRNN(), GFRNN(np.inf), FRNN("mean"), FRKNN()])
def test_scores_depend_on_neither_batch_nor_threads_nor_the_order_of_rows(model, dtype, monkeypatch):
    X, y = rare(1500, 13, dtype)
    score = model.fit(X[:800], y[:800]).score_samples(X)
    for size in (1, 5, 64, 200, 300):
        starts = range(0, 300, size)
        parts = [model.score_samples(X[s : s + size]) for s in starts]
        np.testing.assert_array_equal(np.concatenate(parts)[:300], score[:300])
    shuffled = np.random.default_rng(0).permutation(800)
    np.testing.assert_array_equal(model.fit(X[shuffled], y[shuffled]).score_samples(X), score)
    monkeypatch.setattr(_tiles, "_in_threads", lambda kernel, calls: [kernel(*call) for call in calls])
    np.testing.assert_array_equal(model.fit(X[:800], y[:800]).score_samples(X), score)


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


# Explanations, weights, bad input


def test_explain_names_the_rows_that_pulled():
    X, y = [[0.0], [2.0], [5.0], [0.5]], [1, 0, 0, 0]
    told = GFRNN(radius=3).fit(X, y).explain([[1.0], [20.0]])
    assert told[0]["decided_by"] == "forces"
    assert (told[0]["positive_votes"], told[0]["negative_votes"]) == (1, 2)
    assert told[0]["positives"] == [{"row": 0, "distance": 1.0, "share": 3 / 8}]
    assert [row["row"] for row in told[0]["negatives"]] == [3, 1]
    assert [row["share"] for row in told[0]["negatives"]] == pytest.approx([4 / 8, 1 / 8])
    assert told[0]["score"] == pytest.approx(3 / 8)
    assert told[1]["decided_by"] == "nearest"
    assert told[1]["negatives"] == [{"row": 2, "distance": 15.0, "share": 0.0}]


def test_explain_names_the_rows_that_voted():
    X, y = rare(200, 4)
    for told in FRKNN(5, "mean").fit(X, y).explain(X):
        assert told["positive_votes"] == len(told["positives"])
        assert told["negative_votes"] == len(told["negatives"])
        assert sum(row["share"] for row in told["positives"] + told["negatives"]) == pytest.approx(1)
        assert round(told["score"], 6) == pytest.approx(sum(row["share"] for row in told["positives"]), abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_explain_is_for_two_classes(rule):
    X, y = make_blobs(30, random_state=0)
    with pytest.raises(ValueError, match="two classes"):
        RULES[rule](radius="mean").fit(X, y).explain(X)


@pytest.mark.parametrize("rule", RULES)
def test_weights_count_in_the_objective_only(rule):
    X, y = rare()
    weight = np.where(y == 1, 50.0, 1.0)
    plain, weighted = (RULES[rule](threshold="f1").fit(X, y, sample_weight=w) for w in (None, weight))
    np.testing.assert_array_equal(plain.score_samples(X), weighted.score_samples(X))
    assert weighted.threshold_ < plain.threshold_


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, "median", None])
@pytest.mark.parametrize("rule", RULES)
def test_bad_radius(rule, radius):
    with pytest.raises(ValueError, match="'radius' parameter"):
        RULES[rule](radius=radius).fit([[0.0], [1.0]], [0, 1])


def test_bad_number_of_neighbours():
    with pytest.raises(ValueError, match="'n_neighbors' parameter"):
        FRKNN(0).fit([[0.0], [1.0]], [0, 1])
    with pytest.warns(UserWarning, match="more than the 3 training rows"):
        FRKNN(4, pos_label=1).fit([[0.0], [1.0], [2.0]], [1, 0, 1])


def test_bad_fallback():
    with pytest.raises(ValueError, match="'fallback' parameter"):
        GFRNN(fallback="positive").fit([[0.0], [1.0]], [0, 1])


def test_numbers_too_large_to_be_squared():
    with pytest.raises(ValueError, match="Scale the columns"):
        GFRNN().fit([[0.0], [1e200]], [0, 1])
    score = GFRNN(np.inf).fit([[0.0], [1.0], [2.0]], [1, 0, 0]).score_samples([[1e200]])
    assert np.isfinite(score).all()
