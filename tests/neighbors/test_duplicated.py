"""Votes with copies equal votes in a table with copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import DuplicatedKNN
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@given(table=tables(2), k=st.integers(1, 9))
def test_duplicated_vote(table, k):
    X, y = table
    model = DuplicatedKNN(k, pos_label=1).fit(X, y)
    expected = [naive.duplicated_vote(d, y, k) for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    explained = model.explain(X)
    for i, called in enumerate(expected):
        copies = [(model.copies_ if near.label == 1 else 1, near.label) for near in explained.neighbours[i]]
        labels = [label for n, label in copies for _ in range(n)][:k]
        assert len(labels) == min(k, model.copies_ * y.sum() + (y == 0).sum())
        assert (2 * sum(labels) > len(labels)) == called
    there = explained.effects.any(axis=1)
    np.testing.assert_allclose(explained.base_value[there], 0.5, atol=1e-9)


def test_copies_equal_a_table_with_copies():
    X, y = make_classification(300, 4, weights=[0.85], flip_y=0.05, random_state=0)
    model = DuplicatedKNN(5).fit(X[:200], y[:200])
    again = np.repeat(np.arange(200), np.where(y[:200] == 1, model.copies_, 1))
    plain = KNeighborsClassifier(5).fit(X[again], y[again])
    assert model.copies_ == round((y[:200] == 0).sum() / y[:200].sum())
    np.testing.assert_array_equal(model.predict(X[200:]), plain.predict(X[200:]))
