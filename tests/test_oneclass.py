"""One-class baselines: the detector's own rule, the rows it sees, and SVDD against a convex program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from scarce.objectives import Budget
from scarce.oneclass import SVDD, OneClassClassifier

DETECTORS = [
    OneClassSVM(nu=0.1),
    OneClassSVM(kernel="linear", nu=0.1),
    SVDD(0.1),
    IsolationForest(n_estimators=20, random_state=0),
    LocalOutlierFactor(novelty=True),
]


@pytest.fixture(scope="module")
def rows():
    return make_classification(300, 4, n_redundant=0, weights=[0.9], random_state=1)


@pytest.mark.parametrize("fit_on", ["negatives", "positives", "all"])
@pytest.mark.parametrize("detector", DETECTORS, ids=repr)
def test_the_rule_is_the_detectors_own(rows, detector, fit_on):
    X, y = rows
    model = OneClassClassifier(detector, fit_on=fit_on).fit(X, y)
    seen = {"negatives": X[y == 0], "positives": X[y == 1], "all": X}[fit_on]
    called = clone(detector).fit(seen).predict(X)
    np.testing.assert_array_equal(model.predict(X), called == (1 if fit_on == "positives" else -1))
    assert 0 < model.predict(X).sum() < len(X)
    with_budget = clone(model).set_params(threshold=Budget(rows=15)).fit(X, y)
    assert (with_budget.honest_scores(X, y) > with_budget.threshold_).sum() <= 15


def test_outliers_are_found_where_positives_are_outliers():
    inliers, _ = make_blobs(200, 3, centers=1, random_state=0)
    X = np.vstack((inliers, inliers[:10] + 20))
    y = np.arange(210) >= 200
    for detector in DETECTORS[:1] + DETECTORS[2:]:  # a plane through the origin keeps the far side
        model = OneClassClassifier(detector).fit(X, y)
        assert model.predict(X)[y].all()
        explained = model.explain(X[-1:])
        assert explained.score[0] > model.threshold_
        assert explained.score[0] > explained.base_value[0]


def test_a_detector_without_answers_for_new_rows_is_refused(rows):
    with pytest.raises(ValueError, match="'estimator' parameter"):
        OneClassClassifier(LocalOutlierFactor()).fit(*rows)


# SVDD


@parametrize_with_checks([SVDD(), SVDD(0.5)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(8))
def test_svdd_against_a_convex_solver(seed):
    cp = pytest.importorskip("cvxpy", reason="cvxpy solves the problem independently; it comes with the extra dev")
    rng = np.random.default_rng(seed)
    n, m = rng.integers(10, 60), rng.integers(1, 5)
    unit, nu, size = rng.normal(size=(n, m)), rng.uniform(0.05, 0.6), 10.0 ** rng.integers(-2, 3)
    X = size * unit + 5
    center, squared, slack = cp.Variable(m), cp.Variable(), cp.Variable(n, nonneg=True)
    inside = [cp.sum_squares(x - center) <= squared + slack[i] for i, x in enumerate(unit)]
    cp.Problem(cp.Minimize(squared + cp.sum(slack) / (nu * n)), inside).solve(solver=cp.CLARABEL)
    model = SVDD(nu).fit(X)
    own_center, own_squared = (model.center_ - 5) / size, -model.offset_ / size**2
    np.testing.assert_allclose(own_center, center.value, atol=1e-4)

    def cost(a, r):
        return r + np.maximum(((unit - a) ** 2).sum(axis=1) - r, 0).sum() / (nu * n)

    assert cost(own_center, own_squared) == pytest.approx(cost(center.value, squared.value), rel=1e-6)
    assert (model.predict(X) == -1).mean() <= nu


@given(
    cells=st.lists(st.integers(-2, 2), min_size=4, max_size=30),
    m=st.integers(1, 3),
    nu=st.sampled_from([0.01, 0.3, 0.9]),
)
def test_svdd_with_ties_and_duplicates(cells, m, nu):
    """No ball around another row or a little beside it is better."""
    X = np.array(cells[: len(cells) // m * m], dtype=float).reshape(-1, m)
    model = SVDD(nu).fit(X)

    def cost(a, r):
        return r + np.maximum(((X - a) ** 2).sum(axis=1) - r, 0).sum() / (nu * len(X))

    own = cost(model.center_, -model.offset_)
    for other in (*X, *(model.center_ + 1e-2 * step for step in np.vstack((np.eye(m), -np.eye(m))))):
        for r in (-model.offset_, *((X - other) ** 2).sum(axis=1)):
            assert own <= cost(other, r) + 1e-5


def test_svdd_is_no_linear_one_class_svm_but_finds_the_ball():
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    X = np.column_stack((np.cos(angle), np.sin(angle))) * 3 + [7, -2]
    model = SVDD(0.01).fit(X)
    np.testing.assert_allclose(model.center_, [7, -2], atol=1e-5)
    assert -model.offset_ == pytest.approx(9, rel=1e-5)
    assert model.predict([[7, -2], [7, 2]]).tolist() == [1, -1]
