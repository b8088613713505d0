"""Fixtures of the tests of trees."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from scarce.profit import Gains


@pytest.fixture(scope="module")
def payments():
    X, y = make_classification(1500, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=2)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y, Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)(X)
