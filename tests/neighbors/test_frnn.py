"""FRNN: rows on the circle are outside."""

import numpy as np

from scarce.neighbors import FRNN


def test_a_row_on_the_circle_is_outside():
    X, y = [[3.0, 4.0], [9.0, 9.0], [9.0, 9.5]], [1, 0, 0]
    inside = FRNN(np.nextafter(5, 6) * (1 + 1e-11), fallback="negative").fit(X, y)
    outside = FRNN(5, fallback="negative").fit(X, y)
    assert inside.predict([[0, 0]])[0] == 1
    assert outside.predict([[0, 0]])[0] == 0


def test_equal_distances_are_outside_their_own_mean():
    # The corners of a simplex: each is as far from the others as the mean, but for rounding.
    X = np.eye(11) * 0.1
    y = np.arange(11) % 3 == 0
    explained = FRNN("mean").fit(X, y).explain(X)
    assert [len(found) for found in explained.neighbours] == [1] * 11
