"""The rows of one class: lists of nearest rows, room, and counts of distance vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from scarce.neighbors import CCNND
from scarce.neighbors._search import cells, class_rows
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


@pytest.fixture
def cells_from_ten_rows(monkeypatch):
    monkeypatch.setattr(cells, "CELLS_PAY", 10)
    monkeypatch.setattr(class_rows, "_MANY", 10)
    monkeypatch.setattr(cells, "number_of_cells", lambda n: -(-n // 3))


@pytest.mark.usefixtures("cells_from_ten_rows")
@given(
    n=st.integers(10, 200),
    m=st.integers(1, 5),
    k=st.integers(1, 4),
    levels=st.integers(2, 50),
    threads=st.integers(1, 2),
)
def test_cells_make_the_same_lists(n, m, k, levels, threads):
    rng = np.random.default_rng(n + levels)
    X = rng.integers(0, levels, (n, m)) * 0.1 + 1e3
    at_once, one_by_one = ClassRows(m, k), ClassRows(m, k)
    at_once.add(X, np.arange(n), np.ones(n), threads)
    for part in (slice(0, 5), slice(5, None)):
        one_by_one.add(X[part], np.arange(n)[part], np.ones(len(X[part])))
    assert one_by_one._cells is None
    np.testing.assert_array_equal(at_once.distance, one_by_one.distance)
    np.testing.assert_array_equal(at_once.neighbor, one_by_one.neighbor)
    queries = rng.integers(0, levels, (30, m)) * 0.1 + 1e3
    for found, expected in zip(at_once.kneighbors(queries, k), one_by_one.kneighbors(queries, k), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_cells_change_no_bit_of_a_model_and_keep_no_forgotten_row(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5_000, 6)).round(2), (np.arange(5_000) % 4 == 0).astype(int)
    models = [CCNND(2, n_jobs=2).fit(X, y)]
    monkeypatch.setattr(cells, "CELLS_PAY", len(X) + 1)
    models.append(CCNND(2).fit(X, y))
    assert [model._stored.classes[0]._cells is None for model in models] == [False, True]
    for change in (lambda _: None, lambda model: model.forget([1, 5])):
        for model in models:
            change(model)
        for method in ("score_samples", "predict_proba"):
            np.testing.assert_array_equal(*(getattr(model, method)(X[:500]) for model in models))
    assert models[0]._stored.classes[0]._cells is None
