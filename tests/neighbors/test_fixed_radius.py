"""The promises of FRNN, FRkNN and GFRNN together: rules, radius, fallback, batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs

from scarce.neighbors import FRKNN, FRNN, GFRNN, _fixed_radius
from scarce.neighbors._search import tiles
from tests import naive
from tests.small_tables import rare, tables

RADII = st.sampled_from(["half_mean", "mean", "rms", 0.5, 1.0, 1.5, 2.0, np.inf])
FALLBACKS = st.sampled_from(["nearest", "negative"])
RULES = {"frnn": FRNN, "gfrnn": GFRNN, "frknn": lambda **params: FRKNN(3, **params)}


def one_label(n_classes):
    """The parameters that two and more classes allow."""
    return {"pos_label": 1} if n_classes == 2 else {}


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


def test_scores_have_few_ties():
    X, y = rare()
    for model in (FRNN(), FRKNN(), GFRNN()):
        assert len(np.unique(model.honest_scores(X, y))) > 0.97 * len(X)


@given(table=tables(3), word=st.sampled_from(["half_mean", "mean", "rms"]))
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
    assert FRKNN(radius="half_mean").fit(X, y).radius_ == pytest.approx(expected / 2, rel=1e-13)


def test_a_sampled_radius_has_an_error(monkeypatch):
    X, y = rare(1000, 7)
    exact = GFRNN(radius="mean").fit(X, y).radius_
    monkeypatch.setattr(_fixed_radius, "_EXACT_ROWS", 999)
    sampled = GFRNN(radius="mean").fit(X, y)
    assert 0 < abs(sampled.radius_ - exact) < 4 * sampled.radius_error_
    assert sampled.radius_error_ == pytest.approx(pdist(X).std() / 2e6**0.5, rel=0.01)
    half = FRNN().fit(X, y)
    assert (2 * half.radius_, 2 * half.radius_error_) == (sampled.radius_, sampled.radius_error_)
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert GFRNN(radius="mean").fit(X[shuffled], y[shuffled]).radius_ == sampled.radius_
    assert GFRNN(radius="rms").fit(X, y).radius_error_ == 0


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
    monkeypatch.setattr(tiles, "_in_threads", lambda kernel, calls: [kernel(*call) for call in calls])
    np.testing.assert_array_equal(model.fit(X[:800], y[:800]).score_samples(X), score)


@pytest.mark.parametrize("rule", RULES)
def test_explains_several_classes(rule):
    X, y = make_blobs(30, random_state=0)
    model = RULES[rule](radius="mean").fit(X, y)
    explained = model.explain(X)
    np.testing.assert_array_equal(explained.label, model.predict(X))
    for i, found in enumerate(explained.neighbours):
        assert all(near.label == y[near.row] for near in found)
        assert {near.label for near in found if near.effect} <= {explained.label[i]}


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


def test_numbers_too_large_to_be_squared():
    with pytest.raises(ValueError, match="Scale the features"):
        GFRNN().fit([[0.0], [1e200]], [0, 1])
    score = GFRNN(np.inf).fit([[0.0], [1.0], [2.0]], [1, 0, 0]).score_samples([[1e200]])
    assert np.isfinite(score).all()
