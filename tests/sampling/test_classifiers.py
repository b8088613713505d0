"""Classifiers on resampled rows: their probabilities, their costs, their honest scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from scarce.sampling import SDC, ResampledClassifier, correct_prior, resample
from tests.sampling.test_gamma import Recorder

SHARE = st.floats(0.01, 0.99)


@pytest.fixture(scope="module")
def data():
    return make_classification(600, 5, weights=[0.93], flip_y=0.02, class_sep=0.7, random_state=1)


# The share of the classes


@given(train=SHARE, true=SHARE)
def test_correction_is_bayes_rule(train, true):
    at = np.linspace(-2, 3, 9)

    def posterior(prior):
        positive, negative = prior * norm.pdf(at, 1), (1 - prior) * norm.pdf(at, 0)
        return positive / (positive + negative)

    corrected = correct_prior(posterior(train), train, true)
    np.testing.assert_allclose(corrected, posterior(true))
    np.testing.assert_allclose(correct_prior(corrected, true, train), posterior(train))
    both = np.column_stack((1 - posterior(train), posterior(train)))
    table = correct_prior(both, [1 - train, train], [1 - true, true])
    np.testing.assert_allclose(table, np.column_stack((1 - corrected, corrected)))


def test_correction_of_three_classes():
    likelihood = np.random.default_rng(0).random((5, 3))
    train, true = np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.2, 0.1])
    before, after = (likelihood * p / (likelihood * p).sum(axis=1, keepdims=True) for p in (train, true))
    np.testing.assert_allclose(correct_prior(before, train, true), after)


@pytest.mark.parametrize(
    ("train", "true", "message"),
    [
        (0.0, 0.5, "above 0 and add up to 1"),
        (0.5, 1.0, "above 0 and add up to 1"),
        ([0.5, 0.5], [0.5, 0.5], "got shapes"),
        (0.5, [0.5, 0.5], "got shapes"),
    ],
)
def test_correction_refuses(train, true, message):
    with pytest.raises(ValueError, match=message):
        correct_prior([0.5, 0.1], train, true)


# Any classifier


def test_scores_are_corrected_probabilities(data):
    X, y = data
    weight = np.where(y == 1, 2.0, 1.0)
    for sample_weight in (None, weight):
        model = ResampledClassifier(LogisticRegression(), random_state=0).fit(X, y, sample_weight=sample_weight)
        rows = resample(X, y, "smote", sample_weight=sample_weight, random_state=0)
        inner = LogisticRegression().fit(rows.X, rows.y, sample_weight=rows.sample_weight)
        true, made = np.average(y, weights=sample_weight), np.average(rows.y, weights=rows.sample_weight)
        expected = correct_prior(inner.predict_proba(X)[:, 1], made, true)
        np.testing.assert_allclose(model.score_samples(X), expected)
        assert abs(model.score_samples(X).mean() - true) < abs(inner.predict_proba(X)[:, 1].mean() - true) / 2
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected)


def test_other_classifiers(data):
    X, y = data
    margins = ResampledClassifier(LinearSVC(), "smote-tomek", random_state=0).fit(X, y)
    np.testing.assert_array_equal(margins.score_samples(X), margins.estimator_.decision_function(X))
    assert np.isfinite(margins.predict_proba(X)).all()
    forest = RandomForestClassifier(60, bootstrap=True, oob_score=True, random_state=0)
    honest = ResampledClassifier(forest, random_state=0).honest_scores(X, y)
    assert honest.shape == y.shape


def test_rows_are_resampled_inside_the_folds():
    X, y = make_classification(60, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    X[:, 0] = np.arange(60)
    recorder = Recorder([])
    ResampledClassifier(LogisticRegression(max_iter=1000), recorder, cv=4).fit(X, y)
    whole, *folds = recorder.seen
    assert len(folds) == 4
    left_out = np.concatenate([np.setdiff1d(whole, fold) for fold in folds])
    np.testing.assert_array_equal(np.sort(left_out), np.arange(60))


def test_a_sampler_that_removes_a_class_is_refused():
    X, y = np.ones((40, 2)), np.arange(40) % 4 == 0
    with pytest.raises(ValueError, match="left rows of one class only"):
        ResampledClassifier(LogisticRegression(), "smote-enn", random_state=0).fit(X, y)


# SMOTE with different costs


def test_costs_follow_the_counts(data):
    X, y = data
    n_positive, n_negative = y.sum(), (y == 0).sum()
    after, before, plain = (
        SDC(growth=growth, ratio=ratio, random_state=0).fit(X, y)
        for growth, ratio in ((2.0, "after"), (2.0, "before"), (1.0, "after"))
    )
    np.testing.assert_allclose(after.estimator_.class_weight_, [1, n_negative / (2 * n_positive)])
    np.testing.assert_allclose(before.estimator_.class_weight_, [1, n_negative / n_positive])
    assert after.estimator_.shape_fit_[0] == len(y) + n_positive
    expected = SVC(class_weight={0: 1, 1: n_negative / n_positive}).fit(X, y)
    np.testing.assert_array_equal(plain.score_samples(X), expected.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), expected.predict(X))


def test_positives_do_not_outgrow_negatives(data):
    X, y = data
    model = SDC(growth=1000.0, random_state=0).fit(X, y)
    assert model.estimator_.shape_fit_[0] == 2 * (y == 0).sum()
    np.testing.assert_array_equal(model.estimator_.class_weight_, [1, 1])
    flipped = SDC(growth=5.0, pos_label=0, random_state=0).fit(X, y)
    assert flipped.estimator_.shape_fit_[0] == len(y)


def test_more_is_found_than_without_costs(data):
    X, y = data
    train, test = slice(0, 400), slice(400, None)
    plain = SVC().fit(X[train], y[train]).predict(X[test])
    costly = SDC(random_state=0).fit(X[train], y[train]).predict(X[test])
    found, found_costly = (p[y[test] == 1].mean() for p in (plain, costly))
    assert found_costly > found


def test_one_positive_gets_no_synthetic_rows():
    X, y = np.arange(10.0)[:, None], np.arange(10) == 9
    model = SDC(random_state=0).fit(X, y)
    assert model.estimator_.shape_fit_[0] == 10


def test_explanation_adds_up_for_a_linear_machine(data):
    X, y = data
    model = SDC(kernel="linear", random_state=0).fit(X, y)
    explained = model.explain(X[:3])
    expected = model.estimator_.coef_[0] * (X[:3] - model._background.mean(axis=0))
    np.testing.assert_allclose(explained.effects, expected, atol=1e-9)
    np.testing.assert_allclose(explained.base_value + explained.effects.sum(axis=1), explained.score)


def test_sdc_ends_on_columns_of_very_different_sizes():
    rng = np.random.default_rng(0)
    X, y = rng.choice([0.0, 1.0, 2.0, 0.1, 1e-8, 1e8], (60, 3)), rng.random(60) < 0.3
    model = SDC(4.0, kernel="linear", growth=1.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Consider pre-processing your data"):
        model.fit(X, y)
    assert np.isfinite(model.score_samples(X)).all()
