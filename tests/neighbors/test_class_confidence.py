"""CCW k-NN: the vote against its slow twin, and the densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs, make_classification
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import StratifiedKFold

from scarce.neighbors import ClassConfidenceKNN
from scarce.neighbors._class_confidence import _log_densities
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:n_neighbors=")


@QUIET
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@given(table=tables(3), k=st.integers(1, 6))
def test_predictions_are_those_of_the_vote(weights, table, k):
    X, y = table
    two = y.max() == 1
    model = ClassConfidenceKNN(k, weights=weights, pos_label=1 if two else None).fit(X, y)
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
@settings(max_examples=15)
@given(table=tables(2), k=st.integers(1, 6))
def test_honest_scores_are_those_among_all_others_with_densities_of_other_folds(weights, table, k):
    X, y = table
    model = ClassConfidenceKNN(k, weights=weights, pos_label=1)
    if np.bincount(y).min() < 2:
        with pytest.raises(ValueError, match="needs at least two rows of each class"):
            model.honest_scores(X, y)
        return
    found = model.honest_scores(X, y)
    # Rows in the order of their values are dealt into folds.
    by_value = sorted(range(len(X)), key=lambda i: (*X[i], y[i]))
    folds = StratifiedKFold(min(5, np.bincount(y).min()), shuffle=True, random_state=0)
    for learn, score in folds.split(X, y[by_value]):
        learned = sorted(by_value[i] for i in learn)
        log_weight, _ = _log_densities(X.astype(float), y, np.array(learned))
        for i in (by_value[a] for a in score):
            assert i not in learned
            expected = naive.confident_score(X, y, X[i], log_weight, min(k, len(X) - 1), weights == "distance", i)
            assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_honest_scores_do_not_depend_on_the_order():
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    order = np.random.default_rng(0).permutation(200)
    model = ClassConfidenceKNN()
    np.testing.assert_allclose(model.honest_scores(X[order], y[order]), model.honest_scores(X, y)[order])


# Densities


def test_large_classes_have_the_mixture_of_lowest_bic():
    X, y = make_blobs([300, 80], 2, centers=np.array([[0.0, 0.0], [3.0, 3.0]]), random_state=0)
    X[:150] += [8, 0]
    log_density, components = _log_densities(X, y, np.arange(len(X)))
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
    log_density, components = _log_densities(X, y, np.arange(len(X)))
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
    _, components = _log_densities(X, y, np.arange(len(X)))
    assert components[0] == 1
    assert components[1] <= 2


def test_weights_keep_the_classes_comparable():
    X, y = make_classification(300, 4, weights=[0.8], random_state=0)
    model = ClassConfidenceKNN().fit(X, y)
    log_density, _ = _log_densities(X, y, np.arange(len(X)))
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
