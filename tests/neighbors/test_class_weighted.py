"""Class-weighted k-NN is γk-NN with a fixed γ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from scarce.neighbors import ClassWeightedKNN, GammaKNN
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


@QUIET
@given(table=tables(2), k=st.integers(1, 6))
def test_class_weights_are_a_fixed_gamma(table, k):
    X, y = table
    gamma = (y.sum() / (y == 0).sum()) ** (1 / X.shape[1])
    model = ClassWeightedKNN(k, pos_label=1).fit(X, y)
    expected = [naive.gamma_vote(d, y, k, gamma, "positive") for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.gamma_ == pytest.approx(gamma)
    np.testing.assert_array_equal(
        model.score_samples(X), GammaKNN(k, gamma="class_ratio", pos_label=1).fit(X, y).score_samples(X)
    )


def test_class_weights_of_several_classes():
    X, y = make_blobs([60, 30, 10], 3, random_state=0)
    ours, theirs = ClassWeightedKNN().fit(X, y), GammaKNN(gamma="class_ratio").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_params().keys() == GammaKNN().get_params().keys() - {"gamma", "gamma_max", "metric_transform"}
