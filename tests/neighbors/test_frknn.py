"""FRkNN: the vote of the nearest rows inside, and its ties."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import FRKNN, FRNN
from tests import naive
from tests.small_tables import rare


def test_a_tie_does_not_hang_on_the_last_bit():
    """The same differences in another order: equally far, but for rounding."""
    step = np.array([0.1, 0.2, 0.7, 0.3, 0.9])
    rows = np.array([np.roll(step, i) for i in range(5)])
    distance = naive.distances(rows, np.zeros((1, 5)))[0]
    assert 0 < np.ptp(distance) < 1e-15
    nearer, farther = rows[distance.argmin()], rows[distance.argmax()]
    for radius in (2.0, "rms"):
        model = FRKNN(1, radius).fit([nearer, farther, 9 * step], [1, 0, 0])
        assert model.predict(np.zeros((1, 5)))[0] == 0
    two = FRKNN(2, 2.0, pos_label=1).fit([nearer, farther, farther], [1, 0, 0])
    assert [near.label for near in two.explain(np.zeros((1, 5))).neighbours[0]] == [0, 0]


@pytest.mark.parametrize("k", [1, 3, 5])
def test_frknn_without_a_radius_is_k_nearest_neighbours(k):
    X, y = rare(400, 6, seed=k)
    ours = FRKNN(k, np.inf).fit(X[:300], y[:300]).predict(X[300:])
    np.testing.assert_array_equal(ours, KNeighborsClassifier(k).fit(X[:300], y[:300]).predict(X[300:]))


def test_frknn_with_all_neighbours_is_frnn():
    X, y = rare(200, 4)
    np.testing.assert_array_equal(
        FRKNN(150, 2.0).fit(X[:150], y[:150]).predict(X), FRNN(2.0).fit(X[:150], y[:150]).predict(X)
    )


def test_equal_shares_are_ordered_and_different_ones_are_not_changed():
    X, y = rare()
    model = FRKNN(5, np.inf).fit(X, y)
    votes = np.array([sum(near.label == 1 for near in found) for found in model.explain(X).neighbours])
    score = model.score_samples(X)
    levels = [score[votes == v] for v in range(6) if (votes == v).any()]
    assert all(low.max() < high.min() for low, high in pairwise(levels))


def test_explain_names_the_rows_that_voted():
    X, y = rare(200, 4)
    for explained in FRKNN(5, "mean").fit(X, y).explain(X):
        (found,) = explained.neighbours
        votes = [near.label for near in found].count(1)
        assert explained.rule[0].startswith(f"{votes} of the {len(found)} nearest training rows within ")
        assert [near.effect for near in found] == [near.label / len(found) for near in found]
        assert explained.score[0] == pytest.approx(votes / len(found), abs=1e-6)


def test_bad_number_of_neighbours():
    with pytest.raises(ValueError, match="'n_neighbors' parameter"):
        FRKNN(0).fit([[0.0], [1.0]], [0, 1])
    with pytest.warns(UserWarning, match="more than the 3 training rows"):
        FRKNN(4, pos_label=1).fit([[0.0], [1.0], [2.0]], [1, 0, 1])
