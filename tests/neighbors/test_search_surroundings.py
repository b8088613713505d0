"""Counts of the rows closer than a radius, against measuring one at a time."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.neighbors._search.surroundings import RowBoxes
from tests import naive
from tests.small_tables import tables


def counted(rows, query, radius, skip=None):
    """Rows closer than the radius, and the distances on either side of it, by differences one at a time."""
    below, above, closer = 0.0, np.inf, 0
    for i, row in enumerate(rows):
        if i != skip:
            total = 0.0
            for a, b in zip(query, row, strict=True):
                total += (float(a) - float(b)) * (float(a) - float(b))
            distance = math.sqrt(total)
            closer += distance < radius
            below = max(below, distance) if distance < radius else below
            above = min(above, distance) if distance >= radius else above
    return closer, below, above


@given(table=tables(), radius=st.sampled_from([0.0, 1.0, 2**0.5, 1.5, 2.0, 5**0.5, 9.0, np.inf]), loo=st.booleans())
def test_rows_closer_than_a_radius(table, radius, loo):
    X, _ = table
    found = RowBoxes(X).around(X, np.full(len(X), radius), np.arange(len(X)) if loo else None)
    for i, row in enumerate(X):
        assert (found.closer[i], found.below[i], found.above[i]) == counted(X, row, radius, i if loo else None)


@pytest.mark.parametrize("n_features", [1, 2, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counting_in_many_boxes(n_features, dtype):
    """With enough rows for many boxes, radii on the very distances of rows, clusters and duplicates."""
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(1500, n_features)) + rng.integers(0, 3, (1500, 1)) * 4
    X[::7] = X[1::7][: len(X[::7])]
    X = X.astype(dtype)
    queries = np.concatenate((X[:40], rng.normal(2, 4, (20, n_features)).astype(dtype)))
    boxes = RowBoxes(X)
    assert len(boxes._starts) > 5
    distance = naive.distances(X, queries)
    for rank in (0, 3, 400, 1499):
        radius = np.sort(distance, axis=1)[:, rank]
        radius[radius <= 1e-300] = 0.0
        for skip in (None, np.arange(60)):
            found = boxes.around(queries, radius, skip)
            for i in range(0, 60, 6):
                expected = counted(X, queries[i], radius[i], None if skip is None else i)
                assert (found.closer[i], found.below[i], found.above[i]) == expected


def test_a_count_does_not_depend_on_threads_or_batches():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(3000, 6)), rng.normal(size=(5000, 6))
    radius = rng.uniform(0, 4, len(queries))
    one, two = RowBoxes(X, 1).around(queries, radius), RowBoxes(X, 2).around(queries, radius)
    alone = RowBoxes(X).around(queries[-7:], radius[-7:])
    for a, b, c in zip(one, two, alone, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[-7:], c)


def test_counting_lists_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    boxes = RowBoxes(X)
    boxes.around(X[:5], np.ones(5))
    tracemalloc.start()
    try:
        closer = boxes.around(X, np.full(len(X), 1.5)).closer
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert closer.sum() > 5e6  # rows, of at least 8 bytes each if they were listed
    assert peak < 5e6
