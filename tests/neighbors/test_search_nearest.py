"""The exact search in tiles, compared with measuring every distance."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scarce.neighbors import ClassIndex
from scarce.neighbors._search import nearest_tiles
from scarce.neighbors._search.nearest_tiles import NearestTiles
from tests import naive
from tests.small_tables import tables


def check(rows, queries, k, skip=None):
    """Compare distances and positions with those of all pairs by differences, ties by position."""
    own = np.full(len(queries), -1) if skip is None else skip
    tiles = NearestTiles(rows)
    distance, position = tiles.kneighbors(queries, k, own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_tiles, "_FEW_ROWS", 0)  # the compiled loops
        for looped, measured in zip(tiles.kneighbors(queries, k, own), (distance, position), strict=True):
            np.testing.assert_array_equal(looped, measured)
    for i, query in enumerate(queries):
        expected = naive.nearest_at_any_scale(rows, query, k, own[i])
        assert position[i].tolist() == [row for _, row in expected] + [-1] * (k - len(expected))
        np.testing.assert_allclose(distance[i, : len(expected)], [d for d, _ in expected], rtol=1e-12)
        assert np.isinf(distance[i, len(expected) :]).all()


@given(
    table=tables(),
    k=st.integers(1, 6),
    offset=st.sampled_from([0, 1e6, -1e7, 1e12]),
    scale=st.sampled_from([1e-300, 1e-150, 1e-20, 1, 1e20, 1e150, 1e290]),
    loo=st.booleans(),
)
def test_grid(table, k, offset, scale, loo):
    # On a grid whose steps are powers of two no difference is rounded, so that ties are ties at every offset.
    X = (table[0].astype(np.float64) + offset) * 2.0 ** round(math.log2(scale))
    check(X, X, k, np.arange(len(X)) if loo else None)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 400),
    m=st.integers(1, 9),
    k=st.integers(1, 4),
    offset=st.sampled_from([0, 1e4, 1e7, 1e12]),
    scale=st.sampled_from([1e-150, 1, 1e150]),
    kind=st.sampled_from(["normal", "heavy", "sorted", "equal", "two clusters"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@example(seed=0, n=600, m=5, k=3, offset=1e12, scale=1, kind="heavy", dtype=np.float64)
@example(seed=0, n=600, m=5, k=3, offset=0, scale=1, kind="two clusters", dtype=np.float64)
@example(seed=0, n=600, m=5, k=3, offset=1e4, scale=1e150, kind="sorted", dtype=np.float64)
def test_reals(seed, n, m, k, offset, scale, kind, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    if kind == "heavy":
        X = np.sinh(6 * X)
    elif kind == "sorted":
        X = np.sort(X, axis=0)
    elif kind == "equal":
        X[:] = X[0]
    elif kind == "two clusters":
        X[::2] += 1e7  # single precision rounds these by about as much as they are apart
    if dtype == np.float64:
        X = (X + offset) * scale
    X = X.astype(dtype)
    queries = np.concatenate((X[:12], rng.permutation(X.ravel())[:m][None], X[-1:] * 2))
    check(X, queries, k)


@pytest.mark.parametrize("offset", [0, 1e6, 1e7, 1e12])
def test_no_error_at_large_offsets(offset):
    """scikit-learn's expansion of the squares gives 35 of 8,000 queries a farther neighbour at 1e6, a third at 1e7."""
    rng = np.random.default_rng(0)
    X = rng.normal(offset, 1, (1_000, 10))
    queries = rng.normal(offset, 1, (8_000, 10))
    _, number = ClassIndex(algorithm="brute").fit(X, np.zeros(len(X), dtype=np.intp)).kneighbors(queries, 0, 2)
    for part in np.array_split(np.arange(len(queries)), 40):
        squared = sum((queries[part, None, f] - X[:, f]) ** 2 for f in range(10))
        np.testing.assert_array_equal(number[part, 0], squared.argmin(axis=1))
        squared[np.arange(len(part)), number[part, 0]] = np.inf
        np.testing.assert_array_equal(number[part, 1], squared.argmin(axis=1))


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1, 1e160, 1e300])
def test_every_engine_at_any_scale(algorithm, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    far = rng.normal(size=(5, 3)) * 1e5
    expected = ClassIndex(algorithm="brute").fit(X, np.arange(400) % 2).kneighbors(np.r_[X, far], 1, 3)
    factor = 2.0 ** round(math.log2(scale))
    index = ClassIndex(algorithm=algorithm).fit(X * factor, np.arange(400) % 2)
    distance, number = index.kneighbors(np.r_[X, far] * factor, 1, 3)
    np.testing.assert_array_equal(number, expected[1])
    np.testing.assert_array_equal(distance, expected[0] * factor)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_queries_far_beyond_the_rows(algorithm):
    rows = np.arange(60.0)[:, None] * [1, 1]
    index = ClassIndex(algorithm=algorithm).fit(rows, np.zeros(60, dtype=np.intp))
    distance, number = index.kneighbors(np.array([[1e200, 0.0], [-1e300, 0.0]]), 0, 2)
    assert np.isfinite(distance).all()
    np.testing.assert_allclose(distance[:, 0], [1e200, 1e300])
    assert (number >= 0).all()


def test_values_without_finite_distances_are_refused():
    y = np.zeros(2, dtype=np.intp)
    with pytest.raises(ValueError, match=r"as large as 1.0e\+308 have no finite distances; divide the features"):
        ClassIndex().fit(np.array([[1e308], [0.0]]), y)
    with pytest.raises(ValueError, match="have no finite distances"):
        ClassIndex().fit(np.array([[1.0], [0.0]]), y).kneighbors(np.array([[-1e308]]), 0, 1)


def test_the_same_for_any_batch_and_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(1_000, 6)), rng.normal(size=(700, 6))
    own = np.full(len(queries), -1)
    tiles = NearestTiles(X)
    monkeypatch.setattr(nearest_tiles, "_FEW_ROWS", 0)
    expected = tiles.kneighbors(queries, 3, own)
    monkeypatch.setattr("scarce.neighbors._search.nearest_tiles.openmp_threads", lambda: 3)
    for found, want in zip(tiles.kneighbors(queries, 3, own), expected, strict=True):
        np.testing.assert_array_equal(found, want)
    for size in (1, 2, 3, 5, 63):
        found = tiles.kneighbors(queries[:size], 3, own[:size])
        np.testing.assert_array_equal(found[0], expected[0][:size])
        np.testing.assert_array_equal(found[1], expected[1][:size])
