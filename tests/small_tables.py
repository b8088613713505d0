"""Small tables that tests of several rooms share: drawn by hypothesis, or random with few positives."""

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import make_classification


@st.composite
def tables(draw, max_classes=3):
    """Small tables on a coarse grid: duplicates, ties, zero distances, constant columns, one-row classes."""
    n_classes = draw(st.integers(2, max_classes))
    n = draw(st.integers(n_classes, 16))
    m = draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    cells = draw(st.lists(st.integers(-2, 2), min_size=n * m, max_size=n * m))
    X = np.array(cells, dtype=dtype).reshape(n, m)
    rest = draw(st.lists(st.integers(0, n_classes - 1), min_size=n - n_classes, max_size=n - n_classes))
    y = np.array([*range(n_classes), *rest])
    return X, np.random.default_rng(draw(st.integers(0, 9))).permutation(y)


def rare(n=700, m=13, dtype=np.float64, seed=0):
    X, y = make_classification(n, m, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.05, random_state=seed)
    return X.astype(dtype), y
