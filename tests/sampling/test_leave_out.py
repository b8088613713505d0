"""Two γ on one search: every row is measured among the rows left without it and without those made from it."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.combine import SMOTEENN, SMOTETomek
from imblearn.over_sampling import SMOTE, SVMSMOTE, BorderlineSMOTE, RandomOverSampler
from imblearn.under_sampling import (
    EditedNearestNeighbours,
    NearMiss,
    RandomUnderSampler,
    RepeatedEditedNearestNeighbours,
    TomekLinks,
)
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors

from scarce.sampling import ResampledGammaKNN, _leave_out, resample
from scarce.sampling._leave_out import leave_one_out
from scarce.sampling._plane import limit
from tests import naive, naive_sampling

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
# With the step that cleans, as the twin has it.
EDIT, LINKS = naive_sampling.clean_by_editing, naive_sampling.clean_by_links
MODE = EditedNearestNeighbours(sampling_strategy="all", n_neighbors=4, kind_sel="mode")
SAMPLERS = [
    ("smote", None),
    ("borderline-smote", None),
    ("adasyn", None),
    ("smote-enn", partial(EDIT, k=3)),
    ("smote-tomek", LINKS),
    (BorderlineSMOTE(kind="borderline-2", m_neighbors=4), None),
    (RandomOverSampler(), None),
    (SMOTEENN(enn=MODE), partial(EDIT, k=4, kind_sel="mode")),
    (SMOTETomek(tomek=TomekLinks(sampling_strategy="majority")), LINKS),
    (EditedNearestNeighbours(n_neighbors=1), partial(EDIT, k=1)),
    (TomekLinks(sampling_strategy="all"), LINKS),
]


@st.composite
def small(draw):
    """Rows on a coarse grid, with ties and duplicates, and from one positive row on."""
    n = draw(st.integers(7, 18))
    cells = st.lists(st.integers(-2, 2), min_size=2 * n, max_size=2 * n)
    X = np.array(draw(cells), dtype=draw(st.sampled_from([np.float32, np.float64]))).reshape(n, 2)
    y = np.zeros(n, dtype=int)
    y[: draw(st.integers(1, n // 3))] = 1
    return X, np.random.default_rng(draw(st.integers(0, 9))).permutation(y)


def twin(X, y, model, clean):
    """The model's rows before cleaning, and the distances that the twin measures among them."""
    (_, before), (step, last) = model._resample(X, y)[-2:]
    if clean is None:
        return naive_sampling.left_out_near(last, X, model._k)
    clean = partial(clean, before.X, before.y, classes=list(step.sampling_strategy_))
    return naive_sampling.left_out_near(before, X, model._k, clean)


@QUIET
@pytest.mark.parametrize(("sampler", "clean"), SAMPLERS, ids=[str(sampler)[:60] for sampler, _ in SAMPLERS])
@settings(max_examples=12)
@given(table=small(), k=st.integers(1, 5), seed=st.integers(0, 9), common=st.booleans())
def test_every_row_is_measured_among_what_is_left_without_it(sampler, clean, table, k, seed, common):
    X, y = table
    y = 1 - y if common else y  # synthetic rows may be negative as well
    model = ResampledGammaKNN(sampler, n_neighbors=k, pos_label=1, random_state=seed).fit(X, y)
    expected = twin(X, y, model, clean)
    for found, slow in zip(model._honest_near(X, y, model._resample(X, y))[0], expected, strict=True):
        np.testing.assert_allclose(found, slow, rtol=1e-12, atol=0)
    # No pair in the box is worth more on these distances.
    called = limit(*expected, model.gamma_real_) >= model.gamma_synthetic_ * (1 - 1e-12)
    f1 = 2 * (called & (y == 1)).sum() / (called.sum() + (y == 1).sum())
    best = naive.best_f_of_two_gammas(*expected, y, np.ones(len(y)), 1.0, 2.0, 1.0)
    assert f1 == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("sampler", "cleaner"),
    [
        ("smote-enn", EditedNearestNeighbours(sampling_strategy="all")),
        ("smote-tomek", TomekLinks(sampling_strategy="all")),
    ],
)
def test_rows_are_cleaned_anew_as_imbalanced_learn_cleans_them(sampler, cleaner, wide, monkeypatch):
    """Three rows among hundreds that are made from them are left out by looking ever farther, in small blocks."""
    if wide:
        monkeypatch.setattr(_leave_out, "_SPARE", 1)
        monkeypatch.setattr(_leave_out, "_PAIRS", 100)
    X, y = make_classification(80, 3, n_informative=3, n_redundant=0, weights=[0.9], flip_y=0.1, random_state=3)
    model = ResampledGammaKNN(sampler, random_state=0).fit(X, y)
    made = resample(X, y, "smote", random_state=0)
    near = model._honest_near(X, y, model._resample(X, y))[0]
    changed = 0
    for i in range(len(X)):
        left = np.flatnonzero((made.parents != i).all(axis=1))
        cleaner.fit_resample(made.X[left], made.y[left])
        kept = left[cleaner.sample_indices_]
        distance = np.linalg.norm(made.X[kept] - X[i], axis=1)
        for found, kind in ((near.rival[i], made.y == 0), (near.synthetic[i, -1], made.synthetic)):
            assert found == pytest.approx(np.sort(distance[kind[kept]])[1])
        cleaner.fit_resample(made.X, made.y)
        changed += len(np.setxor1d(kept, np.intersect1d(left, cleaner.sample_indices_))) > 0
    # Cleaning once for all would not do.
    assert changed > 10


def test_a_row_does_not_see_what_was_made_from_it():
    """A positive among negatives, whose only kin are far: its synthetic rows lie on top of it, and do not count."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(9, 0.1, (5, 2)), [[0.0, 0.0]]]
    y = np.r_[np.zeros(60, int), np.ones(6, int)]
    model = ResampledGammaKNN(random_state=0, n_neighbors=1).fit(X, y)
    assert model.score_samples(X)[-1] > 0.9
    assert model.honest_scores(X, y)[-1] < 0.2


def test_rows_that_were_cleaned_away_have_scores_as_well():
    X, y = make_classification(300, 4, weights=[0.8], flip_y=0.2, random_state=0)
    model = ResampledGammaKNN("smote-enn", random_state=0).fit(X, y)
    removed = np.setdiff1d(np.arange(300), model.origin_)
    assert len(removed) > 50
    honest = model.honest_scores(X, y)
    assert np.isfinite(honest).all()
    assert len(np.unique(honest[removed])) > 0.9 * len(removed)


@pytest.mark.parametrize(
    "sampler", [EditedNearestNeighbours(), TomekLinks(), RandomUnderSampler(sampling_strategy={0: 59})]
)
def test_the_order_of_rows_does_not_matter(sampler):
    """Where a sampler does not draw."""
    X, y = make_classification(72, 3, n_informative=3, n_redundant=0, weights=[0.83], flip_y=0, random_state=1)
    order = np.random.default_rng(0).permutation(72)
    model = ResampledGammaKNN(sampler, pos_label=1)
    np.testing.assert_allclose(model.honest_scores(X[order], y[order]), model.honest_scores(X, y)[order])


def test_threads_do_not_matter():
    X, y = make_classification(500, 3, n_informative=3, n_redundant=0, weights=[0.9], random_state=1)
    one, two = (ResampledGammaKNN("smote-enn", n_jobs=j, random_state=0).honest_scores(X, y) for j in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "sampler",
    [
        SVMSMOTE(),
        NearMiss(),
        RepeatedEditedNearestNeighbours(),
        EditedNearestNeighbours(n_neighbors=NearestNeighbors(n_neighbors=4, metric="manhattan")),
    ],
    ids=str,
)
def test_samplers_that_do_not_tell_have_folds(sampler, monkeypatch):
    X, y = make_classification(200, 3, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1)
    model = ResampledGammaKNN(sampler, random_state=0)
    assert leave_one_out(model._resample(X, y), None) is None
    sizes = []
    monkeypatch.setattr(ResampledGammaKNN, "_resample", _counting(sizes))
    model.fit(X, y)
    assert sizes == [200, 160, 160, 160, 160, 160]
    del sizes[:]
    ResampledGammaKNN(SMOTE(), random_state=0).fit(X, y)
    assert sizes == [200]


def _counting(sizes, resample_rows=ResampledGammaKNN._resample):
    def counted(self, X, y):
        sizes.append(len(X))
        return resample_rows(self, X, y)

    return counted


def test_no_array_of_rows_times_rows(monkeypatch):
    monkeypatch.setattr(_leave_out, "_PAIRS", 20_000)
    X, y = make_classification(2500, 3, n_informative=3, n_redundant=0, weights=[0.9], random_state=1)
    model = ResampledGammaKNN("smote-enn", random_state=0).fit(X, y)  # compiles, which takes memory too
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < len(X) ** 2


@QUIET
def test_nothing_may_be_left():
    X, y = np.ones((40, 2)), np.arange(40) % 4 == 0
    assert np.isfinite(ResampledGammaKNN("smote-enn", random_state=0).honest_scores(X, y)).all()
