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
    for explained, called in zip(model.explain(X), expected, strict=True):
        votes = {c: sum(n["vote"] for n in explained["neighbors"] if n["label"] == c) for c in (0, 1)}
        assert sum(votes.values()) == min(k, model.copies_ * y.sum() + (y == 0).sum())
        assert (votes[1] > votes[0]) == called


def test_copies_equal_a_table_with_copies():
    X, y = make_classification(300, 4, weights=[0.85], flip_y=0.05, random_state=0)
    model = DuplicatedKNN(5).fit(X[:200], y[:200])
    again = np.repeat(np.arange(200), np.where(y[:200] == 1, model.copies_, 1))
    plain = KNeighborsClassifier(5).fit(X[again], y[again])
    assert model.copies_ == round((y[:200] == 0).sum() / y[:200].sum())
    np.testing.assert_array_equal(model.predict(X[200:]), plain.predict(X[200:]))
