"""CCW k-NN: the vote against its slow twin, and the densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs, make_classification
from sklearn.mixture import GaussianMixture

from scarce.neighbors import ClassConfidenceKNN
from scarce.neighbors._class_densities import ClassDensities
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:n_neighbors=")


@QUIET
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@given(table=tables(3), k=st.integers(1, 6))
def test_predictions_are_those_of_the_vote(weights, table, k):
    X, y = table
    two = y.max() == 1
    model = ClassConfidenceKNN(k, weights=weights, calibration=None, pos_label=1 if two else None).fit(X, y)
    predicted = model.predict(X)
    share = model.predict_proba(X)
    for i in range(len(X)):
        sums = naive.confident_votes(X, y, X[i], np.exp(model.log_weights_), k, weights == "distance")
        ordered = sorted(sums)
        if ordered[-1] - ordered[-2] > 1e-9 * ordered[-1]:
            assert predicted[i] == np.argmax(sums)
        if two and min(sums) > 0:
            np.testing.assert_allclose(share[i], np.array(sums) / sum(sums), rtol=1e-9, atol=1e-12)


def test_votes_by_hand():
    # Two negatives are nearest, but far out in their class; the positive is in the midst of its own.
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 1)), rng.normal(5, 0.1, (6, 1)), [[4.0], [4.1]]]
    y = np.r_[np.zeros(60, int), np.ones(6, int), 0, 0]
    model = ClassConfidenceKNN(3).fit(X, y)
    explained = model.explain([[4.4]])
    (found,) = explained.neighbours
    assert [near.label for near in found] == [0, 0, 1]
    shares = [near.effect for near in found]
    assert shares[0] < 0 < 0.5 < shares[2]
    assert np.abs(shares).sum() == pytest.approx(1)
    assert explained.score[0] == pytest.approx(np.log(shares[2] / -(shares[0] + shares[1])))
    assert model.predict([[4.4]])[0] == 1


def test_rows_on_whose_class_all_agree_are_ordered_by_the_other_class():
    X = np.r_[np.arange(10.0), 20.0, 21.0, 22.0][:, None]
    y = np.r_[np.zeros(10, int), 1, 1, 1]
    model = ClassConfidenceKNN(2).fit(X, y)
    score = model.score_samples([[0.5], [6.5]])
    assert score[0] < 0
    assert score[1] < 0
    near, _, sums = model._votes_at(np.array([[0.5], [6.5]]))
    assert (near.code == 0).all()
    assert sums[0, 1] < sums[1, 1] < model.log_weights_.min()


@QUIET
@given(table=tables(2), k=st.integers(1, 4), weights=st.sampled_from(["uniform", "distance"]))
def test_a_class_without_a_neighbour_never_wins(table, k, weights):
    X, y = table
    model = ClassConfidenceKNN(k, weights=weights, pos_label=1).fit(X, y)
    near, vote, _ = model._votes_at(X)
    for i, score in enumerate(model.score_samples(X)):
        speaking = {int(c) for c, v in zip(near.code[i], vote[i], strict=True) if v > -np.inf}
        if len(speaking) == 1:
            assert (score > 0) == (speaking == {1})


# Honest


@QUIET
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@settings(max_examples=25)
@given(table=tables(2), k=st.integers(1, 6))
def test_honest_scores_are_those_among_all_others_with_the_own_class_without_the_row(weights, table, k):
    X, y = table
    model = ClassConfidenceKNN(k, weights=weights, pos_label=1)
    if np.bincount(y).min() < 2:
        with pytest.raises(ValueError, match="needs at least two rows of each class"):
            model.honest_scores(X, y)
        return
    found = model.honest_scores(X, y)
    model.fit(X, y)
    scaled = model._densities.scale(X.astype(float))
    for i in range(len(X)):
        log_weight = model.log_weights_.copy()
        lightest = np.delete(log_weight, i).min()
        for j in np.flatnonzero(y == y[i]):
            if j != i:
                density = model._densities.classes[y[i]]
                log_weight[j] = naive.log_density_without(density, scaled[i], scaled[j]) - model._heaviest
        k_of_others = min(k, len(X) - 1)
        expected = naive.confident_score(X, y, X[i], log_weight, k_of_others, weights == "distance", i, lightest)
        assert found[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("size", [2, 4, 9])
def test_one_gaussian_without_a_row_is_what_the_other_rows_give(size):
    rng = np.random.default_rng(size)
    X, y = rng.normal(size=(60, 3)) * [1, 2, 3], np.repeat([0, 1], [60 - size, size])
    densities = ClassDensities().fit(X, y)
    assert densities.classes[1].n_components == (0 if size < 5 else 1)
    scaled, others = densities.scale(X), np.arange(60) != 59
    found = densities.classes[1].log_density_without(scaled[59:], scaled[None, 60 - size : 59])[0]

    mine = scaled[60 - size : 59]
    if size < 5:
        within = [scaled[: 60 - size] - scaled[: 60 - size].mean(axis=0), mine - mine.mean(axis=0)]
        variance = np.mean((np.concatenate(within) ** 2).sum(axis=0) / (others.sum() - 2)) + 1e-3
        expected = multivariate_normal(mine.mean(axis=0), variance * np.eye(3)).logpdf(mine)
    else:
        expected = GaussianMixture(1, covariance_type="diag", reg_covar=1e-3).fit(mine).score_samples(mine)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_component_that_one_row_makes_goes_with_it():
    X = np.r_[np.random.default_rng(0).normal(size=(30, 1)), [[40.0]], [[5.0], [6.0]]]
    y = np.repeat([0, 1], [31, 2])
    densities = ClassDensities().fit(X, y)
    scaled = densities.scale(X)
    found = densities.classes[0].log_density_without(scaled[30:31], scaled[None, :30])[0]
    with_it = densities.classes[0].log_density(scaled[:30])
    assert densities.classes[0].n_components > 1
    np.testing.assert_allclose(found - with_it, np.log(31 / 30), atol=1e-6)


def test_honest_scores_are_on_the_scale_of_scores_of_new_rows():
    # Neighbours in the fold of a row used to have densities learned without them, which are lower in a rare class.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [540, 60])
    X = rng.normal(size=(1200, 6)) + np.tile(y, 2)[:, None]
    honest = ClassConfidenceKNN().honest_scores(X[:600], y)
    new = ClassConfidenceKNN().fit(X[:600], y).score_samples(X[600:])
    for code in (0, 1):
        assert abs(np.median(honest[y == code]) - np.median(new[y == code])) < 0.5


def test_honest_scores_do_not_depend_on_the_order():
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    order = np.random.default_rng(0).permutation(200)
    model = ClassConfidenceKNN()
    np.testing.assert_allclose(model.honest_scores(X[order], y[order]), model.honest_scores(X, y)[order])


# Densities


def learned(X, y):
    densities = ClassDensities().fit(X, y)
    return densities.log_density(X, y), [density.n_components for density in densities.classes]


def test_large_classes_have_the_mixture_of_lowest_bic():
    X, y = make_blobs([300, 80], 2, centers=np.array([[0.0, 0.0], [3.0, 3.0]]), random_state=0)
    X[:150] += [8, 0]
    log_density, components = learned(X, y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert components[0] > 1
    for code in (0, 1):
        mine = scaled[y == code]
        fits = [GaussianMixture(n, covariance_type="diag", reg_covar=1e-3, random_state=0).fit(mine) for n in (1, 2, 3)]
        best = min(fits, key=lambda fit: fit.bic(mine))
        assert components[code] == best.n_components
        # EM may end elsewhere from another order of the rows; the likelihood it reaches is the same.
        assert log_density[y == code].mean() == pytest.approx(best.score(mine), abs=0.02)


def test_small_classes_have_one_round_gaussian_of_the_pooled_variance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(44, 3)) * [1, 5, 0.2], np.r_[np.zeros(40, int), np.ones(4, int)]
    log_density, components = learned(X, y)
    assert components[1] == 0
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    within = np.r_[scaled[:40] - scaled[:40].mean(axis=0), scaled[40:] - scaled[40:].mean(axis=0)]
    variance = np.mean((within**2).sum(axis=0) / 42) + 1e-3
    expected = multivariate_normal(scaled[40:].mean(axis=0), variance * np.eye(3)).logpdf(scaled[40:])
    np.testing.assert_allclose(log_density[40:], expected)


def test_at_least_five_rows_for_each_component():
    X, y = make_blobs([9, 14], 2, centers=np.array([[0.0, 0], [50.0, 50]]), random_state=0)
    X[:4] += 1000
    X[9:12] -= 2000
    _, components = learned(X, y)
    assert components[0] == 1
    assert components[1] <= 2


def test_weights_keep_the_classes_comparable():
    X, y = make_classification(300, 4, weights=[0.8], random_state=0)
    model = ClassConfidenceKNN().fit(X, y)
    log_density, _ = learned(X, y)
    np.testing.assert_allclose(np.diff(model.log_weights_), np.diff(log_density))
    tempered = ClassConfidenceKNN(temper=True).fit(X, y)
    np.testing.assert_allclose(tempered.log_weights_, model.log_weights_ / 4)


def test_units_do_not_matter():
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    a, b = (ClassConfidenceKNN().fit(X * scale, y).score_samples(X * scale) for scale in (1.0, 1e6))
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_many_features_do_not_underflow():
    X, y = make_classification(200, 400, n_informative=200, weights=[0.8], random_state=0)
    X[::7] *= 5
    model = ClassConfidenceKNN().fit(X, y)
    assert np.exp(model.log_weights_).min() < 1e-100
    assert np.isfinite(model.score_samples(X)).all()
    assert len(np.unique(model.score_samples(X))) > 190


def test_bad_parameters():
    with pytest.raises(ValueError, match="'weights' parameter"):
        ClassConfidenceKNN(weights="linear").fit([[0.0], [1.0]], [0, 1])
    with pytest.warns(UserWarning, match="more than the 2 training rows"):
        ClassConfidenceKNN().fit([[0.0], [1.0]], [0, 1])
