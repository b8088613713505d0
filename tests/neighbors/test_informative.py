"""Informative k-NN against its slow twin."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics import f1_score
from sklearn.neighbors import NearestNeighbors

from scarce.neighbors import InformativeKNN
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:n_neighbors=")


def score_of(near, y, n_informative):
    """The score of the twin, or None where rows of both classes tie for the last place among the voters."""
    voters = near[:n_informative]
    edge = [y[j] for p, _, j in near if abs(p - voters[-1][0]) <= 1e-9 * voters[-1][0]]
    if len(set(edge)) > 1:
        return None
    margin = sum(2 * y[j] - 1 for _, _, j in voters)
    surprise = sum((2 * y[j] - 1) * min(i, 1e300) for _, i, j in voters)
    return margin + 0.5 * surprise / (1 + sum(min(i, 1e300) for _, i, _ in voters))


@QUIET
@given(
    table=tables(2), k=st.integers(1, 6), n_informative=st.integers(1, 3), gamma=st.sampled_from([0.5, 1.0, 3.0, 20.0])
)
def test_scores_are_those_of_the_paper(table, k, n_informative, gamma):
    X, y = table
    n_informative = min(k, n_informative)
    model = InformativeKNN(k, n_informative=n_informative, gamma=gamma, pos_label=1).fit(X, y)
    k = min(k, len(X))
    for honest, score in ((False, model.score_samples(X)), (True, model.honest_scores(X, y))):
        for i in range(len(X)):
            near = naive.informative_neighbors(X, y, X[i], k, model.gamma_, skip=i if honest else None)
            expected = score_of(near, y, n_informative)
            if expected is not None:
                assert score[i] == pytest.approx(expected, rel=1e-6)


@QUIET
@given(table=tables(3), k=st.integers(1, 5), n_informative=st.integers(1, 3))
def test_more_than_two_classes(table, k, n_informative):
    X, y = table
    if y.max() < 2:
        return
    n_informative = min(k, n_informative)
    model = InformativeKNN(k, n_informative=n_informative, gamma=2.0).fit(X, y)
    predicted = model.predict(X)
    for i in range(len(X)):
        near = naive.informative_neighbors(X, y, X[i], min(k, len(X)), model.gamma_)
        voters = near[:n_informative]
        if sum(abs(p - voters[-1][0]) <= 1e-9 * voters[-1][0] for p, _, _ in near) > 1:
            continue
        rank = {c: (sum(y[j] == c for _, _, j in voters), sum(s for _, s, j in voters if y[j] == c)) for c in range(3)}
        assert rank[predicted[i]][0] == max(rank.values())[0]
        assert rank[predicted[i]][1] == pytest.approx(max(rank.values())[1])


def test_a_row_among_the_other_class_is_not_informative():
    # The query's nearest row is positive but sits on a negative one; the next, a negative, is by itself.
    X = np.array([[0.0], [0.05], [1.2], [9.0]])
    y = np.array([1, 0, 0, 0])
    model = InformativeKNN(3, gamma=0.1).fit(X, y)
    assert [near.row for near in model.explain([[-0.1]]).neighbours[0] if near.effect] != [0]
    assert model.predict([[-0.1]])[0] == 0
    alone = InformativeKNN(3, gamma=0.1).fit([[0.0], [1.05], [2.2], [9.0]], y)
    assert alone.predict([[-0.1]])[0] == 1


def test_gamma_is_a_multiple_of_the_mean_squared_gap():
    X, y = make_classification(200, 5, random_state=0)
    gap = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)[0][:, 1]
    model = InformativeKNN(gamma=0.5).fit(X, y)
    assert model.gamma_ == pytest.approx(0.5 * np.mean(gap**2))
    twice = InformativeKNN(gamma=0.5).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.gamma_ == pytest.approx(model.gamma_)


def test_scale_does_not_matter():
    X, y = make_classification(200, 5, weights=[0.8], random_state=0)
    a, b = (InformativeKNN().fit(X * scale, y).score_samples(X * scale) for scale in (1.0, 1e-3))
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_scores_have_few_ties():
    X, y = make_classification(500, 5, weights=[0.9], random_state=0)
    assert len(np.unique(InformativeKNN().fit(X, y).honest_scores(X, y))) > 450


def test_explain_adds_up():
    X, y = make_classification(100, 4, weights=[0.8], random_state=0)
    names = np.array(["theft", "fine"])[1 - y]
    for labels in (names, np.where(X[:, 0] > 1, "loss", names)):
        for one in InformativeKNN(5, n_informative=3).fit(X, labels).explain(X[:10]):
            assert len(one.neighbours[0]) == 5
            assert all(near.label == labels[near.row] for near in one.neighbours[0])
            assert sum(near.effect for near in one.neighbours[0]) == pytest.approx(one.score[0])
            against = [near.effect for near in one.neighbours[0] if near.label != one.label[0]]
            assert max(against, default=0) <= 0


def test_global_mode_follows_our_reading():
    """Factors grow where rows voted for the wrong class, and F1 decides how long it goes on."""
    X, y = make_blobs([60, 20], 2, centers=np.array([[0, 0], [1.5, 0]]), random_state=1)
    model = InformativeKNN(5, n_informative=2, mode="global").fit(X, y)

    def twin_round(factors):
        uses, wrong, called = np.zeros(80), np.zeros(80), []
        for i in range(80):
            near = naive.informative_neighbors(X, y, X[i], 5, model.gamma_, factors, skip=i)
            called.append(score_of(near, y, 2) > 0)
            for _, _, j in near[:2]:
                uses[j] += 1
                wrong[j] += y[j] != y[i]
        return f1_score(y, called), factors * np.exp(0.5 * (2 * wrong - uses) / np.maximum(uses, 1))

    factors = np.ones(80)
    best, kept = -1.0, factors
    for _ in range(11):
        value, new = twin_round(factors)
        if value <= best:
            break
        best, kept, factors = value, factors, new
    assert (kept != 1).any()
    np.testing.assert_allclose(model.factors_, kept)


def test_global_mode_never_lowers_the_leave_one_out_f1():
    X, y = make_classification(300, 4, weights=[0.85], flip_y=0.1, random_state=2)
    local = InformativeKNN(7, n_informative=3).fit(X, y)
    model = InformativeKNN(7, n_informative=3, mode="global").fit(X, y)
    itself = np.arange(len(X))
    assert f1_score(y, model._scores(X, itself) > 0) >= f1_score(y, local._scores(X, itself) > 0)
    assert (local.factors_ == 1).all()


def test_bad_parameters():
    X, y = [[0.0], [1.0], [2.0]], [1, 0, 0]
    with pytest.raises(ValueError, match="n_informative=3 rows are chosen among n_neighbors=2"):
        InformativeKNN(2, n_informative=3).fit(X, y)
    with pytest.warns(UserWarning, match="more than the 3 training rows"):
        InformativeKNN(4).fit(X, y)
    for bad in ({"gamma": 0.0}, {"n_neighbors": 0}, {"mode": "both"}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter"):
            InformativeKNN(**bad).fit(X, y)


def test_no_array_of_rows_times_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12_000, 3)), (np.arange(12_000) % 10 == 0).astype(int)
    InformativeKNN().fit(X[:100], y[:100])
    tracemalloc.start()
    try:
        InformativeKNN().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6  # 12,000 x 10,800 distances would be 1 GB
