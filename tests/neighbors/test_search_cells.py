"""Searches in cells find the nearest of all rows, and decisions by them are those of the full scores."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from scarce.neighbors import GammaKNN
from scarce.neighbors._search import ClassIndex, RowCells, cells
from tests import naive

KINDS = ("normal", "grid", "duplicates", "offset", "tiny", "huge", "constant column", "far row", "clusters")


def rows_of(kind, n, m, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    if kind == "grid":
        X = rng.integers(0, 3, (n, m)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 5), n)]
    elif kind == "offset":
        X = X + rng.choice([1e7, 1e9, 1e12]) * rng.normal(size=m)
    elif kind in ("tiny", "huge"):
        X = X * {"tiny": 1e-30, "huge": 1e15}[kind]
    elif kind == "constant column":
        X[:, 0] = 7.5
    elif kind == "far row":
        X[rng.integers(n)] *= 1e12
    elif kind == "clusters":  # the cells of which are as good as random in single precision
        X = rng.choice([1e-7, 1e-6]) * X + 10.0 * rng.integers(0, 3, (n, 1))
    return X.astype(dtype)


@pytest.fixture
def cells_from_two_rows(monkeypatch):
    monkeypatch.setattr(cells, "CELLS_PAY", 2)


@pytest.fixture
def small_cells(monkeypatch):
    """More cells than are looked into without a bound."""
    monkeypatch.setattr(cells, "number_of_cells", lambda n: -(-n // 3))


cases = {
    "kind": st.sampled_from(KINDS),
    "n": st.integers(2, 150),
    "m": st.integers(1, 6),
    "k": st.integers(1, 4),
    "seed": st.integers(0, 2**16),
    "dtype": st.sampled_from([np.float64, np.float32]),
}


@pytest.mark.usefixtures("cells_from_two_rows", "small_cells")
@given(**cases)
def test_the_nearest_are_those_of_all_rows(kind, n, m, k, seed, dtype):
    X = rows_of(kind, n, m, seed, dtype)
    if not RowCells.suits(X):  # all rows are the same
        return
    queries = np.concatenate((X[:4], (X[:4] + X[-4:][: len(X[:4])]) / 2))
    skip = np.where(np.arange(len(queries)) < min(2, n), np.arange(len(queries)), -1)
    distance, number = RowCells(X).kneighbors(queries, k, skip)
    for i, query in enumerate(queries):
        expected = naive.nearest_by_differences(X, query, k, skip[i])
        found = list(zip(distance[i].tolist(), number[i].tolist(), strict=True))
        assert found == expected + [(np.inf, -1)] * (k - len(expected))


@pytest.mark.usefixtures("cells_from_two_rows", "small_cells")
@given(**cases, low=st.floats(0, 2), high=st.floats(0, 2))
def test_what_is_near_enough_or_too_far_is_only_bounded(kind, n, m, k, seed, dtype, low, high):
    X = rows_of(kind, n, m, seed, dtype)
    if not RowCells.suits(X):
        return
    made = RowCells(X)
    queries = (X[:5] + X[-5:][: len(X[:5])]) / 2
    exact = made.kneighbors(queries, k)[0][:, k - 1]
    scale = np.where(np.isfinite(exact), exact, 1.0)
    enough, most = low * scale, high * scale
    found = made.kneighbors(queries, k, None, enough, most)[0][:, k - 1]
    stopped, beyond = found < enough, exact > most
    assert (found[stopped] >= exact[stopped]).all()
    np.testing.assert_array_equal(found[~stopped & ~beyond], exact[~stopped & ~beyond])
    assert (np.isinf(found) | (found == exact) | stopped)[beyond].all()


def test_many_dimensions_and_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 25))
    queries = np.concatenate((X[:50], rng.normal(size=(50, 25)) * 1e3))
    distance, number = RowCells(X).kneighbors(queries, 3)
    every = np.sqrt(((queries[:, None, :] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_array_equal(number, np.argsort(every, axis=1)[:, :3])
    np.testing.assert_allclose(distance, np.sort(every, axis=1)[:, :3], rtol=1e-14)


@pytest.mark.usefixtures("cells_from_two_rows", "small_cells")
@pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(4, 60),
    n_positive=st.integers(1, 6),
    k=st.integers(1, 70),
    gamma=st.sampled_from([0.3, 0.5, 0.8, 1.0, 1.5, None]),
    tie=st.sampled_from(["positive", "negative"]),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_labels_are_those_of_the_full_scores(kind, n, n_positive, k, gamma, tie, seed, dtype):
    X = rows_of(kind, n, 3, seed, dtype)
    y = (np.random.default_rng(seed).permutation(n) < min(n_positive, n - 1)).astype(int)
    model = GammaKNN(k, gamma=gamma, tie=tie, pos_label=1).fit(X, y)
    queries = np.concatenate((X[:10], X[:10] / 2 + X[-10:][: len(X[:10])] / 2))
    labels = model.predict(queries)
    np.testing.assert_array_equal(labels, (model.score_samples(queries) > model.threshold_).astype(int))
    expected = [naive.gamma_score(X, y, query, k, tie) > model.threshold_ for query in queries]
    np.testing.assert_array_equal(labels, np.array(expected).astype(int))

    order = np.random.default_rng(seed + 1).permutation(n)
    moved = GammaKNN(k, gamma=gamma, tie=tie, pos_label=1).fit(X[order], y[order])
    assert moved.threshold_ == model.threshold_
    np.testing.assert_array_equal(moved.predict(queries), labels)


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 1e-9, 0.45, 0.9995, 1.0, 2.0])
def test_labels_at_any_threshold(threshold):
    X, y = make_classification(4_000, 8, weights=[0.9], random_state=0)
    model = GammaKNN(threshold=threshold, calibration=None, pos_label=0).fit(X, y)
    queries = np.concatenate((X[:50], X[:50] + 0.1))
    expected = np.where(model.score_samples(queries) > threshold, 0, 1)
    np.testing.assert_array_equal(model.predict(queries), expected)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_cells_change_no_bit(algorithm):
    X, y = make_classification(6_000, 10, n_informative=6, weights=[0.95], random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    ours, other = (GammaKNN(algorithm=a).fit(X[:5_000], y[:5_000], weight[:5_000]) for a in ("auto", algorithm))
    assert isinstance(ours.index_._engine(0), RowCells)
    assert ours.gamma_ == other.gamma_
    for method in ("predict", "score_samples", "predict_proba"):
        np.testing.assert_array_equal(getattr(ours, method)(X[5_000:]), getattr(other, method)(X[5_000:]))


def test_threads_and_files_change_nothing():
    X, y = make_classification(6_000, 10, weights=[0.95], random_state=0)
    with threadpool_limits(1):
        model = GammaKNN().fit(X[:5_000], y[:5_000])
        expected = model.predict(X[5_000:]), model.score_samples(X[5_000:])
    stored = pickle.dumps(model)
    with threadpool_limits(2):
        again, read = GammaKNN().fit(X[:5_000], y[:5_000]), pickle.loads(stored)
        for other in (again, read):
            np.testing.assert_array_equal(other.predict(X[5_000:]), expected[0])
            np.testing.assert_array_equal(other.score_samples(X[5_000:]), expected[1])
    # Cells are made anew from the rows.
    assert len(stored) < 1.2 * X[:5_000].nbytes + 100_000


def test_more_neighbours_than_cells_list():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_500, 3))
    distance, number = ClassIndex().fit(X, np.zeros(len(X), dtype=int)).kneighbors(X[:20], 0, 200)
    every = np.sqrt(((X[:20, None, :] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_array_equal(number, np.argsort(every, axis=1)[:, :200])
    np.testing.assert_allclose(distance, np.sort(every, axis=1)[:, :200], rtol=1e-14)


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("m", [3, 8])
def test_rows_in_cells_that_single_precision_got_wrong(m):
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(300, m)) + 1e6 * rng.integers(0, 2, (300, 1))
    distance, _ = RowCells(X).kneighbors(X, 2, np.arange(300))
    every = np.sqrt(((X[:, None, :] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(every, np.inf)
    np.testing.assert_allclose(distance, np.sort(every, axis=1)[:, :2], rtol=1e-14)
