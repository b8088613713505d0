"""The rows of one class: lists of nearest rows, room, and counts of distance vectors."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from scarce.neighbors._search._kernels_class_rows import BLOCK, count_beyond
from scarce.neighbors._search.class_rows import ClassRows


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_counts(k):
    rng = np.random.default_rng(k)
    vectors = np.sort(rng.integers(0, 9, (k, 300)), axis=0).astype(float)
    vectors = vectors[:, np.argsort(vectors[0])]
    queries = np.sort(rng.integers(0, 9, (k, 40)), axis=0).astype(float)
    strict = (vectors[:, None, :] > queries[:, :, None]).all(axis=0).sum(axis=1)
    weak = (vectors[:, None, :] >= queries[:, :, None]).all(axis=0).sum(axis=1)
    np.testing.assert_array_equal(count_beyond(vectors, queries), strict + weak)


@pytest.mark.parametrize("n_features", [1, 3, 4, 6, 9])
def test_lists_of_nearest_rows(n_features):
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(2 * BLOCK + 40, n_features))
    rows = ClassRows(n_features, 2)
    for part in np.array_split(X, 7):
        rows.add(part, rows.n + np.arange(len(part)), np.ones(len(part)))
    distance, neighbor = NearestNeighbors(n_neighbors=3).fit(X).kneighbors()
    np.testing.assert_array_equal(rows.neighbor.T, neighbor)
    np.testing.assert_allclose(rows.distance.T, distance, rtol=1e-12)
    np.testing.assert_array_equal(rows.rows(), X)


def test_room_grows_by_doubling():
    rng = np.random.default_rng(0)
    rows = ClassRows(2, 1)
    buffers = set()
    for number in range(2000):
        rows.add(rng.normal(size=(1, 2)), np.array([number]), np.ones(1))
        buffers.add(len(rows._blocks))
    assert len(buffers) == 5  # 1, 2, 4, 8, 16 blocks
