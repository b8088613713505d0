"""The search under weighted distances, against measuring every row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scarce.neighbors import ClassIndex
from scarce.neighbors._search import list_classes, merge_by_number, nearest_by_class, search_classes
from tests import naive
from tests.small_tables import tables


@given(
    table=tables(),
    k=st.integers(1, 5),
    spare=st.integers(1, 4),
    weighted=st.booleans(),
    loo=st.booleans(),
    seed=st.integers(0, 9),
)
def test_weighted_search_is_exact_and_breaks_ties_by_row(table, k, spare, weighted, loo, seed):
    X, y = table
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.25, 0.5, 1.0, 2.0], len(X)) if weighted else np.ones(len(X))
    index = ClassIndex().fit(X, y)
    listed = list_classes(index, X, k + spare, np.arange(len(X)) if loo else None)
    distance, number = search_classes(X, listed, weight if weighted else None, k)
    near = merge_by_number(distance, number)
    for i in range(len(X)):
        expected = naive.weighted_neighbors(X, X[i], weight, k, skip=i if loo else None)
        found = near.number[i] >= 0
        assert near.number[i, found].tolist() == [j for _, j in expected]
        np.testing.assert_allclose(near.distance[i, found], [d for d, _ in expected], atol=1e-290)
        assert (near.code[i, found] == y[near.number[i, found]]).all()
        assert np.isinf(near.distance[i, ~found]).all()


def test_weighted_search_on_continuous_rows():
    rng = np.random.default_rng(0)
    X, Q, y = rng.normal(size=(300, 6)), rng.normal(size=(40, 6)), np.arange(300) % 3 == 0
    weight = np.exp(rng.normal(size=300))
    near = merge_by_number(*nearest_by_class(ClassIndex().fit(X, y.astype(np.intp)), Q, 4, weight))
    for i, query in enumerate(Q):
        assert near.number[i].tolist() == [j for _, j in naive.weighted_neighbors(X, query, weight, 4)]
