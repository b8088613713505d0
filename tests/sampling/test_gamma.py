"""γk-NN with two γ: the vote of the paper, the best pair of all, honest distances, the authors' own outputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification

from scarce.neighbors import GammaKNN
from scarce.objectives import FBeta, GMean
from scarce.sampling import ResampledGammaKNN, resample
from scarce.sampling._plane import Near, best_pair, critical, limit, plane
from tests import naive

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
GAMMAS = st.sampled_from([0.25, 0.5, 0.8, 1.0, 1.5, 2.0])


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 5, weights=[0.9], flip_y=0.08, random_state=0)


@st.composite
def small(draw):
    n = draw(st.integers(7, 24))
    X = np.array(draw(st.lists(st.integers(-2, 2), min_size=2 * n, max_size=2 * n)), dtype=float).reshape(n, 2)
    y = np.zeros(n, dtype=int)
    y[: draw(st.integers(2, n // 3))] = 1
    return X, np.random.default_rng(draw(st.integers(0, 9))).permutation(y)


@QUIET
@given(
    table=small(),
    k=st.integers(1, 5),
    gammas=st.tuples(GAMMAS, GAMMAS),
    sampler=st.sampled_from(["smote", "borderline-smote", "smote-tomek", "smote-enn"]),
)
def test_predictions_are_those_of_the_vote(table, k, gammas, sampler):
    X, y = table
    model = ResampledGammaKNN(sampler, n_neighbors=k, gamma=gammas, pos_label=1, random_state=0).fit(X, y)
    rows = resample(X, y, sampler, random_state=0)
    kind = np.where(rows.y == 1, 1 + rows.synthetic, 0)
    expected = [naive.two_gamma_vote(d, kind, k, *gammas) for d in naive.distances(rows.X, X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert (model.gamma_real_, model.gamma_synthetic_) == pytest.approx(gammas)


# The best pair

DISTANCES = st.sampled_from([1e-300, 1.0, 1.5, 2.0, 2.2, 2.7, 3.0, 3.3, 3.9, 5.0, 6.1, np.inf])


@st.composite
def measured(draw):
    n, needed = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    rival = np.array(draw(st.lists(DISTANCES, min_size=n, max_size=n)))
    real, made = (
        np.sort(np.array(draw(st.lists(DISTANCES, min_size=n * needed, max_size=n * needed))).reshape(n, needed))
        for _ in range(2)
    )
    y = np.array([1, 0, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    weight = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    return Near(rival, real, made), y, weight


def f_at(near, y, weight, pair, beta):
    called = limit(near.rival, near.real, near.synthetic, pair[0]) >= pair[1] * (1 - 1e-15)
    tp, all_called, all_true = (weight @ np.asarray(a, dtype=float) for a in (called & (y == 1), called, y == 1))
    return (1 + beta**2) * tp / (all_called + beta**2 * all_true)


@given(case=measured(), tops=st.tuples(GAMMAS, GAMMAS), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_no_pair_is_better(case, tops, beta):
    near, y, weight = case
    pair = best_pair(near, y, weight, *tops, beta)
    assert 0 < pair[0] <= tops[0]
    assert 0 < pair[1] <= tops[1]
    best = naive.best_f_of_two_gammas(*near, y, weight, *tops, beta)
    assert f_at(near, y, weight, pair, beta) == pytest.approx(best, abs=1e-12)


@given(case=measured(), gammas=st.tuples(GAMMAS, GAMMAS))
def test_score_and_limits_tell_the_same_side(case, gammas):
    near, _, _ = case
    real, synthetic = gammas
    by_score = critical(near, synthetic / real) > real / (1 + real) * (1 - 1e-14)
    np.testing.assert_array_equal(by_score, limit(near.rival, near.real, near.synthetic, real) >= synthetic)
    np.testing.assert_array_equal(by_score, limit(near.rival, near.synthetic, near.real, synthetic) >= real)


@pytest.mark.parametrize("seed", range(6))
def test_best_pair_on_many_rows(seed):
    rng = np.random.default_rng(seed)
    n, needed = 120, 1 + seed % 3
    y = (rng.random(n) < 0.3).astype(int)
    rival = rng.gamma(4, 1, n) + 2 * y
    real, made = (np.sort(rng.gamma(4, 1.3, (n, needed))) for _ in range(2))
    near = Near(rival, real, made)
    pair = best_pair(near, y, None, 1.0, 2.0)
    # For one γ in each stretch of the first, all of the second by an exact sweep.
    ends = np.unique(np.clip([0, *(rival[:, None] / real).ravel()], 0, 1.0))
    best = 0.0
    for gamma in (ends[:-1] + ends[1:]) / 2:
        upto = limit(rival, real, made, gamma)
        score = np.where(np.isinf(upto), 1.0, upto / (1 + np.where(np.isinf(upto), 1.0, upto)))
        best = max(best, FBeta(1).best_threshold(score, y, between=(0, 2 / 3)).value)
    chosen = f_at(near, y, np.ones(n), pair, 1.0)
    assert chosen == pytest.approx(best, abs=1e-12)
    assert plane(near, y, None, FBeta(1), np.array(pair[:1]), np.array(pair[1:]))[0, 0] == pytest.approx(chosen)


@given(case=measured(), tops=st.tuples(GAMMAS, GAMMAS))
def test_best_pair_is_not_on_an_edge(case, tops):
    near, y, weight = case
    real, synthetic = best_pair(near, y, weight, *tops)
    upto = limit(near.rival, near.real, near.synthetic, real)
    called = upto >= synthetic
    for lax, strict in ((0.9999, 1), (1, 0.9999), (1, 1.0001), (1.0001, 1)):
        moved = limit(near.rival, near.real, near.synthetic, real * lax) >= synthetic * strict
        np.testing.assert_array_equal(moved, called)


# Honest


def test_chosen_pair_is_the_best_of_the_plane(data):
    X, y = data
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    for sample_weight in (None, weight):
        model = ResampledGammaKNN(random_state=0).fit(X, y, sample_weight=sample_weight)
        pair = [model.gamma_real_], [model.gamma_synthetic_]
        used = model.plane(X, y, *pair, sample_weight=sample_weight)[0, 0]
        grid = np.linspace(0.05, 1, 20), np.linspace(0.1, 2, 20)
        assert used >= model.plane(X, y, *grid, sample_weight=sample_weight).max()
        honest = model.honest_scores(X, y, sample_weight)
        found = FBeta(1).best_threshold(honest, y, sample_weight, between=(0, 0.5))
        called = honest > model.threshold_
        assert found.value == pytest.approx(used)
        assert (called & (y == 1)).any()


def test_two_gammas_are_worth_more_than_one(data):
    X, y = data
    model = ResampledGammaKNN(random_state=0).fit(X, y)
    used = model.plane(X, y, [model.gamma_real_], [model.gamma_synthetic_])[0, 0]
    for one in np.linspace(0.05, 1, 20):
        assert used >= model.plane(X, y, [one], [one])[0, 0]


def test_an_f_measure_asks_for_its_own_pair(data):
    X, y = data
    strict, lax = (ResampledGammaKNN(threshold=b, random_state=0).fit(X, y) for b in ("f0.5", FBeta(4)))
    assert lax.predict(X).sum() > strict.predict(X).sum()
    pair = [lax.gamma_real_], [lax.gamma_synthetic_]
    grid = np.linspace(0.05, 1, 20), np.linspace(0.1, 2, 20)
    assert lax.plane(X, y, *pair, objective="f4") >= lax.plane(X, y, *grid, objective="f4").max()
    assert ResampledGammaKNN(threshold=GMean(), random_state=0).fit(X, y)._beta() == 1.0


class Recorder(BaseEstimator):
    """Appends the mean positive, and remembers the rows that it was given."""

    seen: list

    def __init__(self, seen=None):
        self.seen = seen

    def __sklearn_clone__(self):
        return self

    def fit_resample(self, X, y):
        self.seen.append(X[:, 0].astype(int))
        return np.vstack((X, X[y == 1].mean(axis=0))), np.append(y, 1)


def test_a_sampler_that_does_not_tell_is_fitted_without_the_rows_that_it_scores():
    X, y = make_classification(60, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    X[:, 0] = np.arange(60)
    recorder = Recorder([])
    ResampledGammaKNN(recorder).fit(X, y)
    whole, *folds = recorder.seen
    assert len(folds) == 5
    assert len(whole) == 60
    left_out = np.concatenate([np.setdiff1d(whole, fold) for fold in folds])
    np.testing.assert_array_equal(np.sort(left_out), np.arange(60))


def test_without_synthetic_rows_it_is_gamma_knn(data):
    from imblearn.under_sampling import RandomUnderSampler

    X, y = data
    nothing = RandomUnderSampler(sampling_strategy={0: int((y == 0).sum())})
    ours = ResampledGammaKNN(nothing, gamma=(0.6, 1.0), random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.score_samples(X), GammaKNN(gamma=0.6).fit(X, y).score_samples(X))


def test_gamma_is_in_the_box(data):
    X, y = data
    model = ResampledGammaKNN(gamma_real_max=0.3, gamma_synthetic_max=0.4, random_state=0).fit(X, y)
    assert 0 < model.gamma_real_ <= 0.3 + 1e-12
    assert 0 < model.gamma_synthetic_ <= 0.4 + 1e-12
    with pytest.raises(AttributeError, match="once the model is fitted"):
        _ = ResampledGammaKNN().gamma_real_


def test_explain_names_the_rows_that_spoke():
    X = np.array([[0.0], [2.0], [10.0], [11.0], [12.0], [13.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    model = ResampledGammaKNN(n_neighbors=1, gamma=(0.5, 1.0), random_state=0).fit(X, y)
    made = resample(X, y, random_state=0).X[6:, 0]
    explained = model.explain([[-1.0]])
    assert explained.neighbours == (
        ((0, 1, 1.0, None), (None, 1, pytest.approx(made.min() + 1), None), (2, 0, 11.0, None)),
    )
    nearest = min(1.0, 2 * (made.min() + 1))
    assert explained.score == pytest.approx(11 / (11 + nearest))
    assert explained.effects == pytest.approx(11 / (11 + nearest) - 0.5)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_effects_share_out_the_score(data, metric):
    """Wherever the positive row that decides is synthetic, its distance counts as γ scales it."""
    X, y = data
    model = ResampledGammaKNN(gamma=(0.5, 0.1), metric=metric, random_state=0).fit(X, y)
    explained = model.explain(X)
    np.testing.assert_allclose(explained.base_value, 0.5, atol=1e-9)
    np.testing.assert_allclose(explained.base_value + explained.effects.sum(axis=1), model.score_samples(X))


def test_other_metrics_are_explained_by_occlusion(data):
    X, y = data
    explained = ResampledGammaKNN(gamma=(0.5, 0.5), metric="chebyshev", random_state=0).fit(X, y).explain(X[:2])
    assert not explained.additive
    assert explained.effects.any()


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match="both fix the threshold"):
        ResampledGammaKNN(gamma=(1, 1), threshold="f1").fit(X, y)
    for gamma in ([1.0], (1, 0), (np.inf, 1)):
        with pytest.raises(ValueError, match="must be two numbers above 0"):
            ResampledGammaKNN(gamma=gamma).fit(X, y)
    with pytest.raises(ValueError, match="'sampler' parameter"):
        ResampledGammaKNN("smot").fit(X, y)
    with pytest.raises(ValueError, match="at least two rows of each class"):
        ResampledGammaKNN(Recorder([])).fit(X[:9], np.arange(9) == 0)
    with pytest.raises(ValueError, match="must be above 0"):
        ResampledGammaKNN().plane(X, y, [0.0], [1.0])
    with pytest.warns(UserWarning, match="needs 2 positive neighbours"):
        ResampledGammaKNN(gamma=(1, 1), random_state=0).fit(X[:9], np.arange(9) == 0)
    with pytest.warns(UserWarning, match="more than the 9 training rows"):
        ResampledGammaKNN(gamma=(1, 1), n_neighbors=10, random_state=0).fit(X[:9], np.arange(9) < 4)


# The authors' program


class Given(BaseEstimator):
    """The sample that the authors' program drew."""

    def __init__(self, X=None, y=None):
        self.X = X
        self.y = y

    def fit_resample(self, X, y):
        return self.X, self.y


@pytest.mark.parametrize("name", ["glass", "libras", "yeast6"])
def test_same_predictions_as_the_authors(golden, name):
    data, theirs = np.load(golden / f"gammaknn_{name}.npz"), np.load(golden / "gammaknn_separated.npz")
    X, y = data["X"], (data["y"] == 1).astype(int)
    train, test = data["train_0"], data["test_0"]
    sample = Given(theirs[f"{name}_Xos"], (theirs[f"{name}_yos"] == 1).astype(int))
    pairs = [key for key in theirs.files if key.startswith(f"{name}_gr")]
    assert len(pairs) == 5
    for key in pairs:
        real, synthetic = (float(part[2:]) for part in key.split("_")[1:])
        model = ResampledGammaKNN(sample, gamma=(real, synthetic), pos_label=1).fit(X[train], y[train])
        np.testing.assert_array_equal(model.predict(X[test]), theirs[key] == 1)


@pytest.mark.filterwarnings("ignore")  # of neighbours that are not there
def test_where_a_sampler_removes_all_rows_every_score_is_the_same():
    X = np.array([[1, 2], [0, -1], [1, 0.1], [0, 0], [1, -1], [0, 0.1], [-1, 1], [0, 1], [-1, -1]])
    model = ResampledGammaKNN("smote-enn", random_state=0).fit(X, [1, 0, 0, 1, 0, 0, 0, 0, 1])
    assert not len(model.origin_)
    assert len(set(model.score_samples(X).tolist())) == 1
    assert model.explain(X)[0].score == model.score_samples(X)[0]


@pytest.mark.filterwarnings("ignore:n_neighbors=3 is more than")
def test_more_neighbours_than_rows_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"EditedNearestNeighbours looks for more neighbours .* of which 2 are left"):
        ResampledGammaKNN("smote-enn", random_state=0).fit([[1e8, 2.0], [-1.0, 0.0], [0.0, 1.0]], [1, 0, 0])
