"""Resampling: imbalanced-learn's rows, and where each came from."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imblearn.combine import SMOTEENN, SMOTETomek
from imblearn.over_sampling import ADASYN, SMOTE, SVMSMOTE, BorderlineSMOTE, RandomOverSampler
from imblearn.under_sampling import ClusterCentroids, EditedNearestNeighbours, RandomUnderSampler, TomekLinks
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors

from scarce.sampling import resample
from scarce.sampling._resample import SAMPLERS

NAMED = dict(zip(SAMPLERS, (ADASYN, BorderlineSMOTE, SMOTE, SMOTEENN, SMOTETomek), strict=True))
OBJECTS = [
    SMOTE(sampling_strategy=0.5, k_neighbors=3),
    SMOTE(k_neighbors=NearestNeighbors(n_neighbors=4, metric="manhattan")),
    BorderlineSMOTE(kind="borderline-2", m_neighbors=7),
    ADASYN(n_neighbors=3),
    SMOTEENN(sampling_strategy=0.6),
    SMOTEENN(smote=SMOTE(k_neighbors=3, random_state=8), enn=EditedNearestNeighbours(n_neighbors=5)),
    SMOTETomek(smote=SMOTE(sampling_strategy=0.7, random_state=8), tomek=TomekLinks(sampling_strategy="majority")),
]


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(300, 4, weights=[0.85], flip_y=0.1, random_state=0)
    X[:20] = X[20:40]  # duplicates, of which some synthetic rows cannot be known by their values
    return X, y


def gains_of(X):
    """Gains that are linear in the features, so that they must lie where the features lie."""
    return np.column_stack((X @ [1, 2, 3, 4], X[:, 0], -X[:, 1], 5 * X[:, 2] + 1))


@pytest.mark.parametrize("sampler", [*SAMPLERS, *OBJECTS], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_same_rows_as_imbalanced_learn_and_what_they_carry(sampler, seed, table):
    X, y = table
    weight = 10 + X @ [1.0, 0.5, -0.5, 0.25]
    theirs = NAMED[sampler]() if isinstance(sampler, str) else sampler
    if getattr(theirs, "smote", None) is None:
        theirs.set_params(random_state=seed)
    expected_X, expected_y = theirs.fit_resample(X, y)
    for extra in ({}, {"sample_weight": weight, "gains": gains_of(X)}):
        rows = resample(X, y, sampler, random_state=seed, **extra)
        np.testing.assert_array_equal(rows.X, expected_X)
        np.testing.assert_array_equal(rows.y, expected_y)
        real = rows.origin >= 0
        np.testing.assert_array_equal(real, ~rows.synthetic)
        np.testing.assert_array_equal(rows.X[real], X[rows.origin[real]])
        np.testing.assert_array_equal(rows.y[real], y[rows.origin[real]])
        assert len(np.unique(rows.origin[real])) == real.sum()
        assert 0 < rows.synthetic.sum() < len(rows.X)
        assert (rows.y[rows.synthetic] == 1).all()
        np.testing.assert_array_equal(rows.parents[real], rows.origin[real, None] + [0, 0])
        nearer, other = X[rows.parents[~real].T]
        square = ((other - nearer) ** 2).sum(axis=1)
        share = ((rows.X[~real] - nearer) * (other - nearer)).sum(axis=1) / np.where(square > 0, square, 1)
        assert ((share > 0) == (square > 0)).all()
        assert (share < 0.5).all()
        np.testing.assert_allclose(rows.X[~real], nearer + share[:, None] * (other - nearer), atol=1e-12)
        if not extra:
            assert rows.sample_weight is None
            assert rows.gains is None
            continue
        np.testing.assert_array_equal(rows.sample_weight[real], weight[rows.origin[real]])
        np.testing.assert_allclose(rows.sample_weight, 10 + rows.X @ [1.0, 0.5, -0.5, 0.25])
        np.testing.assert_allclose(rows.gains, gains_of(rows.X), atol=1e-12)


@pytest.mark.parametrize("sampler", SAMPLERS)
@given(
    sizes=st.tuples(st.integers(1, 8), st.integers(8, 14)),
    seed=st.integers(0, 9),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_small_table(sampler, sizes, seed, dtype):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(["rare", "usual"], sizes))
    X = rng.integers(-2, 3, (len(y), 2)).astype(dtype)
    weight = rng.integers(1, 5, len(y)).astype(float)
    rows = resample(X, y, sampler, sample_weight=weight, random_state=seed)
    assert rows.X.dtype == dtype
    real = ~rows.synthetic
    np.testing.assert_array_equal(rows.X[real], X[rows.origin[real]])
    np.testing.assert_array_equal(rows.sample_weight[real], weight[rows.origin[real]])
    assert (rows.origin[rows.synthetic] == -1).all()
    # Among duplicates too, the parents are of the class, and the row and its weight lie between them.
    assert (y[rows.parents[rows.synthetic]] == "rare").all()
    for values, made in ((X, rows.X), (weight[:, None], rows.sample_weight[:, None])):
        ends = np.sort(values[rows.parents[rows.synthetic]], axis=1)
        assert ((made[rows.synthetic] >= ends[:, 0] - 1e-6) & (made[rows.synthetic] <= ends[:, 1] + 1e-6)).all()
    if sizes[0] == 1:
        assert not rows.synthetic.any()
    mine = weight[y == "rare"]
    assert ((rows.sample_weight >= mine.min()) & (rows.sample_weight <= mine.max()))[rows.synthetic].all()


def test_samplers_that_select_rows(table):
    X, y = table
    weight = np.arange(len(y)) + 1.0
    kept = resample(X, y, RandomUnderSampler(), sample_weight=weight, random_state=0)
    assert not kept.synthetic.any()
    assert (kept.y == 1).sum() == (kept.y == 0).sum() == y.sum()
    np.testing.assert_array_equal(kept.sample_weight, weight[kept.origin])
    copied = resample(X, y, RandomOverSampler(), sample_weight=weight, gains=[1, 2, 3, 4], random_state=0)
    np.testing.assert_array_equal(copied.synthetic, np.arange(len(copied.y)) >= len(y))
    np.testing.assert_array_equal(copied.X, X[copied.origin])
    np.testing.assert_array_equal(copied.parents, copied.origin[:, None] + [0, 0])
    np.testing.assert_array_equal(copied.sample_weight, weight[copied.origin])
    np.testing.assert_array_equal(copied.gains, np.tile([1, 2, 3, 4], (len(copied.y), 1)))


def test_samplers_that_do_not_tell(table):
    X, y = table
    rows = resample(X, y, SVMSMOTE(), random_state=0)
    np.testing.assert_array_equal(rows.synthetic, np.arange(len(rows.y)) >= len(y))
    np.testing.assert_array_equal(rows.parents == -1, np.column_stack([rows.synthetic] * 2))
    with pytest.raises(ValueError, match="SVMSMOTE does not report from which rows"):
        resample(X, y, SVMSMOTE(), sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="ClusterCentroids does not report where its rows come from"):
        resample(X, y, ClusterCentroids(), random_state=0)


def test_randomness_of_the_sampler_wins(table):
    X, y = table
    own = resample(X, y, SMOTE(random_state=3), random_state=0)
    np.testing.assert_array_equal(own.X, resample(X, y, "smote", random_state=3).X)
    assert not np.array_equal(own.X, resample(X, y, "smote", random_state=0).X)
    sampler = SMOTE()
    resample(X, y, sampler, random_state=0)
    assert sampler.random_state is None
    assert not hasattr(sampler, "nn_k_")


def test_adasyn_without_a_place_to_add_to():
    X = np.concatenate((np.arange(30.0), 1000 + np.arange(9.0)))[:, None]
    y = np.repeat([0, 1], (30, 9))
    assert not resample(X, y, "adasyn", random_state=0).synthetic.any()
    with pytest.raises(ValueError, match="ratio"):
        resample(X, y, ADASYN(sampling_strategy=0.1), random_state=0)


def test_bad_input(table):
    X, y = table
    with pytest.raises(ValueError, match=r"sampler=.smot. is not known\. Give one of adasyn, borderline-smote"):
        resample(X, y, "smot")
    with pytest.raises(ValueError, match="sample_weight must hold 300 non-negative numbers"):
        resample(X, y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="gains must have four columns"):
        resample(X, y, gains=np.ones((300, 3)))
    with pytest.raises(ValueError, match="NaN"):
        resample(np.full((2, 2), np.nan), [0, 1])


def test_without_imbalanced_learn():
    script = """
import sys
sys.modules["imblearn"] = None
import scarce, scarce.sampling as s
assert {"SDC", "ResampledGammaKNN"} <= set(dict(scarce.all_estimators()))
X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
from sklearn.linear_model import LogisticRegression
for attempt in (
    lambda: s.resample(X, y),
    lambda: s.SDC().fit(X, y),
    lambda: s.ResampledGammaKNN().fit(X, y),
    lambda: s.ResampledClassifier(LogisticRegression()).fit(X, y),
):
    try:
        attempt()
    except ImportError as error:
        assert 'pip install "scarce[sampling]"' in str(error)
    else:
        raise AssertionError("no ImportError")
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=120)
