"""The neighbour index, compared with measuring every distance."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.neighbors import ClassIndex
from scarce.neighbors._search.index import choose_algorithm
from tests import naive
from tests.small_tables import tables


@given(table=tables(), k=st.integers(1, 6), algorithm=st.sampled_from(["auto", "brute", "kd_tree"]), loo=st.booleans())
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_nearest(metric, table, k, algorithm, loo):
    X, y = table
    index = ClassIndex(metric, algorithm=algorithm).fit(X, y)
    skip = np.arange(len(X)) if loo else None
    power = 2 if metric == "euclidean" else 1
    for code in range(y.max() + 1):
        mine = np.flatnonzero(y == code)
        distance, number = index.kneighbors(X, code, k, skip)
        for i in range(len(X)):
            expected = naive.kneighbors(X[mine], mine, X[i], k, skip=i if loo else None, power=power)
            found = number[i] >= 0
            assert found.sum() == len(expected)
            np.testing.assert_allclose(distance[i, found], [d for d, _ in expected], rtol=1e-6, atol=1e-7)
            # Which of several equally far rows is found is the engine's choice; each must be as far as its distance.
            for d, row in zip(distance[i, found], number[i, found], strict=True):
                assert y[row] == code
                assert row != (i if loo else None)
                assert naive.kneighbors(X[[row]], [row], X[i], 1, power=power)[0][0] == pytest.approx(d, abs=1e-6)
            assert np.isinf(distance[i, ~found]).all()
        np.testing.assert_array_equal(distance[:, k - 1], index.kth_distance(X, code, k, skip))


def test_equal_rows_are_exactly_zero_apart():
    # The expansion of the squared distance, as fast engines compute it, loses this at large coordinates.
    rng = np.random.default_rng(0)
    X = rng.normal(1e4, 1, (400, 20))
    X[200:] = X[:200]
    index = ClassIndex(algorithm="brute").fit(X, np.repeat([0, 1], 200))
    assert (index.kth_distance(X[:200], 1, 1) == 0).all()
    assert (index.kth_distance(X[:200], 0, 1, skip=np.arange(200)) > 0).all()


@given(table=tables())
def test_a_row_is_known_by_its_number(table):
    X, y = table
    index = ClassIndex().fit(X, y)
    np.testing.assert_array_equal(index.class_sizes, np.bincount(y))
    for number in range(len(X)):
        np.testing.assert_array_equal(index.row(number), X[number])
        assert index.positions(y[number], np.array([number])) == (y[:number] == y[number]).sum()
        assert index.positions(1 - min(y[number], 1), np.array([number])) == -1


def test_row_that_is_not_there():
    with pytest.raises(IndexError, match="no row 7"):
        ClassIndex().fit(np.zeros((2, 1)), np.array([0, 1])).row(7)


@pytest.mark.parametrize(
    ("metric", "algorithm", "message"),
    [("furlong", "auto", "'furlong' is not a metric. Use one of"), ("cosine", "kd_tree", "cosine")],
)
def test_a_metric_that_cannot_be_served_is_refused_at_once(metric, algorithm, message):
    with pytest.raises(ValueError, match=message):
        ClassIndex(metric, algorithm=algorithm).fit(np.zeros((2, 1)), np.array([0, 1]))


def test_engine_follows_the_measurements():
    assert choose_algorithm(100_000, 3) == "kd_tree"
    assert choose_algorithm(100_000, 20) == "brute"
    assert choose_algorithm(100, 3) == "brute"
    assert choose_algorithm(10**9, 3, "cosine") == "auto"


def test_no_array_of_queries_times_rows(monkeypatch):
    # 30,000 x 30,000 distances would be 7.2 GB; a search may hold a few blocks.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = (np.arange(30_000) % 50 == 0).astype(np.intp)
    index = ClassIndex(algorithm="brute").fit(X, y)
    index.kth_distance(X[:10], 0, 2)
    tracemalloc.start()
    try:
        index.kth_distance(X, 0, 2, skip=np.arange(len(X)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120e6
