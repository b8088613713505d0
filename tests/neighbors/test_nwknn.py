"""Neighbour-weighted votes: similarities, weights of classes, explanations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from scarce.neighbors import NWKNN
from scarce.neighbors._search.class_gammas import precedence as class_order
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


def cosines(X, query):
    """The cosine with each row, 0 if negative; rows of zeros are like each other only."""
    lengths, length = np.linalg.norm(X, axis=1), np.linalg.norm(query)
    if length == 0:
        return (lengths == 0).astype(float)
    return np.maximum(0, np.where(lengths > 0, X @ query / np.where(lengths > 0, lengths, 1) / length, 0))


def similarity(name, X, i):
    """The similarity of query i to a row, given the distance of the last neighbour; and all distances."""
    distance = naive.distances(X, X[i : i + 1])[0]
    if name == "inverse":
        return (lambda j, _: 1 / (1 + distance[j])), distance
    if name == "rbf":
        return (lambda j, last: np.exp(-((distance[j] / last) ** 2) / 2) if last > 1e-300 else 1.0), distance
    cosine = cosines(X.astype(float), X[i].astype(float))
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    unit = np.column_stack((X / lengths, ~X.any(axis=1)))
    # Rounded, so that equal angles are equal.
    return (lambda j, _: cosine[j]), naive.distances(unit, unit[i : i + 1])[0].round(12)


@QUIET
@pytest.mark.parametrize("name", ["inverse", "rbf", "cosine"])
@given(table=tables(3), k=st.integers(1, 8), c=st.sampled_from([1.0, 2.5, 7.0]))
def test_neighbor_weighted_vote(name, table, k, c):
    X, y = table
    if name == "cosine":
        X = X.astype(np.float64)
    model = NWKNN(k, c=c, similarity=name, pos_label=1 if y.max() == 1 else None).fit(X, y)
    classes = y.max() + 1
    precedence = [1, 0] if classes == 2 else class_order(model.index_.class_sizes, "positive").tolist()
    for i, score in enumerate(model.score_samples(X)):
        sim, distance = similarity(name, X, i)
        if name == "cosine" and len(X) > k and _tied(distance, k):
            continue  # which of equal angles comes first hangs on rounding
        sums = naive.neighbor_weighted_sums(sim, distance, y, k, c, precedence)
        if classes == 2:
            assert score == pytest.approx(sums[1] - sums[0], abs=1e-7)
        elif any(sums.values()):
            np.testing.assert_allclose(score, [sums[c] for c in range(classes)], atol=1e-7)


def _tied(distance, k):
    near = np.sort(distance)
    return near[k] - near[k - 1] < 1e-9


def test_neighbor_weights_by_hand():
    X, y = [[0.0], [1.0], [3.0], [9.0], [9.0]], [1, 0, 0, 0, 0]
    model = NWKNN(3, c=2).fit(X, y)
    np.testing.assert_allclose(model.class_weight_, [0.5, 1.0])
    assert model.score_samples([[0.0]])[0] == pytest.approx(1 - 0.5 * (1 / 2 + 1 / 4))
    np.testing.assert_allclose(NWKNN(3, c=2).fit(X, np.where(y, "a", "b")).class_weight_, [1.0, 0.5])
    assert NWKNN(3, c=2, pos_label=0).fit(X, y).score_samples([[0.0]])[0] == pytest.approx(0.5 * (1 / 2 + 1 / 4) - 1)


def test_explains_several_classes():
    model = NWKNN(2, c=1).fit([[0.0], [1.0], [4.0], [5.0]], ["c", "a", "b", "b"])
    explained = model.explain([[0.0]])
    assert (explained.score, explained.label) == (1, "c")
    assert explained.neighbours == (((0, "c", 0.0, 1.0), (1, "a", 1.0, 0.0)),)


def test_votes_add_up_to_the_score():
    X, y = make_classification(100, 4, weights=[0.8], random_state=0)
    for similarity in ("inverse", "cosine", "rbf"):
        explained = NWKNN(6, similarity=similarity).fit(X, y).explain(X[:20])
        assert [sum(near.effect for near in found) for found in explained.neighbours] == pytest.approx(explained.score)


def test_rows_of_zeros_have_no_angle():
    X, y = [[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]], [1, 0, 0, 0]
    model = NWKNN(1, c=1, similarity="cosine").fit(X, y)
    assert model.score_samples([[0.0, 0.0]])[0] == pytest.approx(1.0)
    assert model.score_samples([[0.0, 5.0]])[0] == pytest.approx(-1 / 3)
