"""The promises of all methods in which neighbours vote: honest scores, order of rows, ties, bad parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from scarce.neighbors import KENN, KRNN, NWKNN, PNN, ClassWeightedKNN, DistanceWeightedKNN, DuplicatedKNN
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
ALL = [ClassWeightedKNN, DistanceWeightedKNN, DuplicatedKNN, KENN, KRNN, NWKNN, PNN]


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
@settings(max_examples=25)
@given(table=tables(2), k=st.integers(1, 5))
def test_honest_scores_are_those_of_a_fit_without_the_row(rule, table, k):
    X, y = table
    model = rule(k, pos_label=1)
    honest = model.honest_scores(X, y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        if len(set(y[rest])) < 2 or (rule is ClassWeightedKNN and k > rest.sum()):
            continue
        refit = clone(model).fit(X[rest], y[rest]).score_samples(X[i : i + 1])[0]
        assert honest[i] == pytest.approx(refit, abs=1e-12), i


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
@given(table=tables(2), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(rule, table, k, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(len(X))
    model, permuted = rule(k, pos_label=1).fit(X, y), rule(k, pos_label=1).fit(X[order], y[order])
    np.testing.assert_array_equal(model.score_samples(X), permuted.score_samples(X))
    np.testing.assert_array_equal(model.honest_scores(X, y)[order], permuted.honest_scores(X[order], y[order]))


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
def test_scores_hardly_tie(rule):
    X, y = make_classification(1000, 8, n_informative=6, weights=[0.95], flip_y=0.02, random_state=0)
    honest = rule().honest_scores(X, y)
    assert len(np.unique(honest)) >= 0.99 * len(honest)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
def test_nothing_is_explained_before_the_fit(rule):
    with pytest.raises(NotFittedError):
        rule().explain([[0.0]])


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
def test_bad_parameters(rule):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 0]
    with pytest.raises(ValueError, match="n_neighbors"):
        rule(0).fit(X, y)
    if "metric" in rule().get_params():
        with pytest.raises(ValueError, match="nonsense"):
            rule(1, metric="nonsense").fit(X, y).predict(X)
    if not rule._multi_class:
        with pytest.raises(ValueError, match="OneVsRestClassifier"):
            rule(1).fit(X, [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DistanceWeightedKNN(weights="distance"), "'weights' parameter"),
        (NWKNN(c=0.5), "'c' parameter"),
        (NWKNN(similarity="euclidean"), "'similarity' parameter"),
        (KRNN(confidence=0), "'confidence' parameter"),
        (PNN(confidence=0.6), "'confidence' parameter"),
        (KENN(confidence=-1), "'confidence' parameter"),
    ],
    ids=repr,
)
def test_bad_options(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


def test_too_many_neighbors_cause_a_warning():
    X, y = [[0.0], [1.0], [2.0]], [1, 0, 0]
    for rule in (DistanceWeightedKNN, NWKNN, DuplicatedKNN):
        with pytest.warns(UserWarning, match="n_neighbors=4 is more than the 3 training rows"):
            rule(4).fit(X, y)
