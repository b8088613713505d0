"""The inverted file: exact where all cells are looked into, of the recall that was asked for where they are not."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score

import scarce
from scarce.neighbors import ClassIndex, ClassWeightedKNN, DistanceWeightedKNN, DuplicatedKNN, GammaKNN
from scarce.neighbors._search.inverted_file import InvertedFile, choose_probes, make_cells
from scarce.neighbors._search.nearest_tiles import NearestTiles
from scarce.objectives import FBeta
from tests import naive

pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(6_000, 8, n_informative=6, weights=[0.97], flip_y=0, random_state=0)
    return X[:5_000], y[:5_000], X[5_000:], y[5_000:]


def test_cells_are_those_of_the_nearest_centre():
    X = np.random.default_rng(0).normal(1e6, 1, (3_000, 4))
    centroids, cell = make_cells(X)
    assert len(centroids) == 64
    squared = ((X[:, None] - centroids) ** 2).sum(axis=2)
    # faiss rounds to single precision.
    np.testing.assert_allclose(squared[np.arange(len(X)), cell], squared.min(axis=1), rtol=1e-3, atol=1e-3)


@given(seed=st.integers(0, 99), n=st.integers(1, 300), k=st.integers(1, 4), probes=st.integers(1, 5), loo=st.booleans())
def test_the_nearest_of_the_cells_looked_into(seed, n, k, probes, loo):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(np.float64)  # many ties
    centroids = rng.normal(size=(5, 2))
    cell = rng.integers(5, size=n)  # rows need not be in the nearest cell
    skip = np.arange(n) if loo else np.full(n, -1)
    distance, position = InvertedFile(X, (centroids, cell), probes).kneighbors(X, k, skip)
    for i in range(min(n, 20)):
        probed = {c for _, c in naive.nearest_at_any_scale(centroids, X[i], probes)}
        held = [row for row in range(n) if cell[row] in probed]
        expected = naive.kneighbors(X[held], held, X[i], k, skip[i])
        assert position[i].tolist() == [row for _, row in expected] + [-1] * (k - len(expected))
        np.testing.assert_allclose(distance[i, : len(expected)], [d for d, _ in expected])


@pytest.mark.parametrize("recall", [0.8, 0.95, 0.99])
def test_recall_is_reached_on_new_rows(rows, recall):
    X, y, queries, _ = rows
    index = ClassIndex(algorithm="ivf", recall=recall, n_neighbors=3).fit(X, y)
    exact = ClassIndex().fit(X, y)
    right = index.kth_distance(queries, 0, 3) == exact.kth_distance(queries, 0, 3)
    assert right.mean() > recall - 0.02
    assert index.recall_ == pytest.approx(right.mean(), abs=0.03)
    assert index.recall_ < 1 or recall > 0.9
    np.testing.assert_array_equal(index.kth_distance(queries, 1, 3), exact.kth_distance(queries, 1, 3))


def test_probes_are_the_fewest_that_reach_the_recall():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(2_000, 5)), rng.normal(size=(600, 5))
    cells, own = make_cells(X), np.full(600, -1)
    n_probes, achieved = choose_probes(X, cells, queries, own, 2, 0.9)
    exact = NearestTiles(X).kneighbors(queries, 2, own)[0][:, 1]

    def right(n):
        return InvertedFile(X, cells, n).kneighbors(queries, 2, own)[0][:, 1] == exact

    assert achieved == right(n_probes)[1::2].mean()
    aim = 0.9 + 2 * np.sqrt(0.9 * 0.1 / 300)
    assert right(n_probes)[::2].mean() >= aim > right(n_probes - 1)[::2].mean()


METHODS = [GammaKNN(), ClassWeightedKNN(), DistanceWeightedKNN(5), DuplicatedKNN()]


@pytest.mark.parametrize("exact", METHODS, ids=lambda e: type(e).__name__)
def test_methods(exact, rows):
    X, y, queries, truth = rows
    model = type(exact)(**{**exact.get_params(), "algorithm": "ivf"}).fit(X, y)
    exact.fit(X, y)
    assert exact.recall_ == 1
    assert 0.97 < model.recall_ <= 1
    score, expected = model.score_samples(queries), exact.score_samples(queries)
    assert (score == expected).mean() > 0.97
    found, best = (average_precision_score(truth, s) for s in (score, expected))
    assert found == pytest.approx(best, abs=0.01)
    again = type(exact)(**model.get_params()).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.score_samples(queries), score)
    one_by_one = np.concatenate([model.score_samples(queries[i : i + 1]) for i in range(30)])
    np.testing.assert_array_equal(one_by_one, score[:30])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).score_samples(queries), score)


def test_model_files_need_no_faiss(rows, monkeypatch):
    skops = pytest.importorskip("skops.io")
    X, y, queries, _ = rows
    model = GammaKNN(algorithm="ivf").fit(X, y)
    expected, file = model.score_samples(queries), skops.dumps(model)
    monkeypatch.setitem(sys.modules, "faiss", None)
    loaded = skops.loads(file, trusted=scarce.trusted_types())
    np.testing.assert_array_equal(loaded.score_samples(queries), expected)


def test_several_classes(rows):
    X, y, queries, _ = rows
    labels = np.where(X[:, 0] > 2, 2, y)
    exact, model = GammaKNN().fit(X, labels), GammaKNN(algorithm="ivf").fit(X, labels)
    assert (model.predict(queries) == exact.predict(queries)).mean() > 0.97


def test_bad_input(rows, monkeypatch):
    X, y, *_ = rows
    with pytest.raises(ValueError, match="needs at least 64 rows in the largest class, which has 40; use algorithm"):
        GammaKNN(algorithm="ivf").fit(X[:50], np.arange(50) < 10)
    noise = np.random.default_rng(0).normal(size=(3_000, 40))
    with pytest.raises(ValueError, match="No search of up to 32 of the 64 cells reaches recall=1; it needs"):
        GammaKNN(algorithm="ivf", recall=1).fit(noise, np.arange(3_000) % 20 == 0)
    with pytest.raises(ValueError, match="is for Euclidean distances"):
        GammaKNN(algorithm="ivf", metric="manhattan").fit(X, y)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r'needs faiss-cpu, which is not installed: pip install "scarce\[ann\]"'):
        GammaKNN(algorithm="ivf").fit(X, y)


@pytest.mark.parametrize("threshold", ["default", "f1"])
def test_threshold_is_that_of_all_honest_scores(threshold):
    """Approximate distances among fewer rows are no bounds on those among all."""
    X, y = make_classification(12_000, 20, n_informative=11, weights=[0.8], flip_y=0.1, random_state=0)
    model = GammaKNN(threshold=threshold, algorithm="ivf", recall=0.1, calibration=None).fit(X, y)
    between = model._threshold_range if threshold == "default" else (-np.inf, np.inf)
    assert model.threshold_ == FBeta(1).best_threshold(model.honest_scores(X, y), y, between=between).threshold
