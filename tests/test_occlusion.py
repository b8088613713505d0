"""The contributions of features, beside the slow ones."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from scarce.occlusion import contributions, occlusion
from tests import naive


@pytest.mark.parametrize("max_rows", [1, 7, 1000])
def test_occlusion(max_rows):
    rng = np.random.default_rng(0)
    X, background = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))

    def score(rows):
        return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2])

    got = occlusion(score, X, background, max_rows=max_rows)
    np.testing.assert_allclose(got, naive.occlusion(score, X, background))


def values_of(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def product(rows):
    rows = values_of(rows)
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2])


KINDS = {
    "matrix": sparse.csr_matrix,
    "sparse array": sparse.csr_array,
    "pandas": lambda rows: pd.DataFrame(rows, columns=list("abc"), index=np.arange(len(rows)) + 10),
    "polars": lambda rows: pl.DataFrame(rows, schema=list("abc")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_occlusion_is_the_same_for_every_kind_of_rows(kind):
    rng = np.random.default_rng(1)
    X, background = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    X[rng.random(X.shape) < 0.3] = background[rng.random(background.shape) < 0.3] = 0.0
    make = KINDS[kind]
    rows = make(X)
    expected = occlusion(product, X, background)
    np.testing.assert_array_equal(occlusion(product, rows, make(background), max_rows=12), expected)
    np.testing.assert_array_equal(values_of(rows), X)


@pytest.mark.parametrize("max_rows", [1, 7, 1000])
def test_weighted_values_of_different_number(max_rows):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(6, 3)), columns=list("abc"))
    usual = {"a": ([1.0, 2.0], [0.25, 0.75]), "b": ([0.5], [1.0]), "c": ([-1.0, 0.0, 3.0], [0.2, 0.3, 0.5])}
    expected = np.zeros((6, 3))
    for j, (name, (values, weights)) in enumerate(usual.items()):
        for value, weight in zip(values, weights, strict=True):
            expected[:, j] += weight * (product(frame) - product(frame.assign(**{name: value})))
    as_series = [(pd.Series(values), weights) for values, weights in usual.values()]
    as_arrays = [(np.array(values), weights) for values, weights in usual.values()]
    np.testing.assert_allclose(contributions(product, frame, as_series, max_rows=max_rows), expected)
    np.testing.assert_allclose(contributions(product, frame.to_numpy(), as_arrays, max_rows=max_rows), expected)
