"""LMNN, MLFP and IML: their losses against the formulas, and their promises as transformers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from scarce.metric_learning import IML, LMNN, MLFP
from scarce.metric_learning._kernels import nearest_rivals, project
from scarce.metric_learning._linear import neighbours_within, rivals_within
from tests import naive_metric as naive
from tests.small_tables import tables

LEARNERS = [LMNN(), LMNN(1, n_components=1), MLFP(), MLFP(1, margin=0.0, mu=0.01), IML(), IML(1, margin=10.0, lam=0.1)]


@parametrize_with_checks([LMNN(), LMNN(1, n_components=1), MLFP(), IML()])
def test_scikit_learn(estimator, check):
    check(estimator)


@st.composite
def problems(draw):
    """Rows class by class, some of them twice, with a factor: no two rows are equally far but copies."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, m = draw(st.integers(3, 14)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, m))
    X[:, draw(st.integers(0, m - 1))] *= draw(st.sampled_from([0.0, 1.0]))  # a constant feature
    if draw(st.booleans()):
        X = np.repeat(X, 2, axis=0)
    # One positive row at the least, and often no more.
    n_positive = draw(st.integers(1, max(1, len(X) // 3)))
    y = np.sort(np.arange(len(X)) < n_positive).astype(np.intp)
    return X[rng.permutation(len(X))], y, rng.normal(size=(m, m))


# The losses


@given(problem=problems(), k=st.integers(1, 4), mu=st.sampled_from([0.0, 0.3, 1.0]))
def test_lmnn_loss(problem, k, mu):
    X, y, factor = problem
    targets = neighbours_within(X, y, k)
    rivals = rivals_within(X @ factor.T, y, np.full(len(X), np.inf), len(X))
    value, gradient = LMNN(k, mu=mu)._loss(X, targets, rivals)(factor)
    assert value == pytest.approx(naive.lmnn_loss(factor, X, y, k, mu), rel=1e-9, abs=1e-12)
    assert_gradient(lambda f: naive.lmnn_loss(f, X, y, k, mu), factor, gradient)


@given(problem=problems(), k=st.integers(1, 4), margin=st.sampled_from([0.0, 0.5, 1.0]), mu=st.sampled_from([0, 0.1]))
def test_mlfp_loss(problem, k, margin, mu):
    X, y, factor = problem
    weights = factor[0]
    value, gradient = MLFP(k, margin=margin, mu=mu)._loss(X, y)(weights)
    assert value == pytest.approx(naive.mlfp_loss(weights, X, y, k, margin, mu), rel=1e-9, abs=1e-12)
    assert_gradient(lambda w: naive.mlfp_loss(w, X, y, k, margin, mu), weights, gradient)


@given(problem=problems(), k=st.integers(1, 4), margin=st.sampled_from([0.0, 1.0, 10.0]), lam=st.sampled_from([0, 1]))
def test_iml_loss(problem, k, margin, lam):
    X, y, factor = problem
    loss = IML(k, margin=margin, lam=lam)._loss(X, y)
    for tried in (np.eye(len(factor)), factor, 0.7 * factor):  # the memory of one step must not mislead the next
        value, gradient = loss(tried)
        assert value == pytest.approx(naive.iml_loss(tried, X, y, k, margin, lam), rel=1e-9, abs=1e-9)
    assert_gradient(lambda f: naive.iml_loss(f, X, y, k, margin, lam), 0.7 * factor, gradient)


def assert_gradient(loss, at, gradient):
    """Compare with differences of the slow loss, away from its kinks: there the two one-sided ones differ."""

    def flat(parameters):
        return loss(parameters.reshape(at.shape))

    right = approx_fprime(at.ravel(), flat, 1e-6)
    left = approx_fprime(at.ravel(), flat, -1e-6)
    smooth = np.abs(right - left) < 1e-3 * (1 + np.abs(right))
    np.testing.assert_allclose(gradient.ravel()[smooth], (right + left)[smooth] / 2, rtol=1e-4, atol=1e-4)


# The kernels


@given(table=tables(), k=st.integers(1, 5), reach=st.sampled_from([0.5, 2.5, np.inf]))
def test_nearest_rivals(table, k, reach):
    X, y = table
    order = np.argsort(y, kind="stable")
    X, y = X[order].astype(float), y[order].astype(np.intp)
    for found in (nearest_rivals(X, y, np.full(len(X), reach), k), rivals_within(X, y, np.full(len(X), reach), k)):
        for i in range(len(X)):
            expected = sorted(naive.square(X[i], X[j]) for j in range(len(X)) if y[j] != y[i])
            expected = [d for d in expected if d < reach][:k]
            rows = found[i][found[i] >= 0]
            assert (y[rows] != y[i]).all()
            np.testing.assert_allclose([naive.square(X[i], X[j]) for j in rows], expected, atol=1e-12)
            assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projection_does_not_depend_on_the_batch(dtype):
    rng = np.random.default_rng(0)
    X, factor = rng.normal(size=(50, 7)).astype(dtype), rng.normal(size=(3, 7))
    whole = project(X, factor)
    np.testing.assert_allclose(whole, X.astype(float) @ factor.T)
    np.testing.assert_array_equal(whole, np.concatenate([project(X[i : i + 1], factor) for i in range(50)]))


# The learners


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(150, 6, n_informative=3, n_redundant=0, weights=[0.8], random_state=2)
    return X, y


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_order_of_rows_does_not_matter(learner, rows):
    X, y = rows
    order = np.random.default_rng(1).permutation(len(X))
    expected = clone(learner).fit(X, y).components_
    np.testing.assert_array_equal(clone(learner).fit(X[order], y[order]).components_, expected)


@pytest.mark.parametrize(
    ("learner", "loss"),
    [
        (LMNN(), lambda factor, X, y: naive.lmnn_loss(factor, X, y, 3, 0.5)),
        (MLFP(), lambda factor, X, y: naive.mlfp_loss(factor.diagonal(), X, y, 3, 1.0, 0.1)),
        (IML(), lambda factor, X, y: naive.iml_loss(factor, X, y, 3, 1.0, 1.0)),
    ],
)
def test_the_loss_falls_to_where_no_small_change_lowers_it(learner, loss, rows):
    X, y = rows[0][:60], rows[1][:60]
    if isinstance(learner, LMNN):
        targets = neighbours_within(X, y, 3)
        X = X / np.sqrt(np.mean([naive.square(X[i], X[j]) for i in range(60) for j in targets[i]]))
        learner = LMNN(max_iter=500, tol=0.0)
    learned = learner.fit(X, y).components_
    reached = loss(learned, X, y)
    assert reached < loss(np.eye(6), X, y)
    rng = np.random.default_rng(0)
    for _ in range(20):
        change = np.diag(rng.normal(size=6)) if isinstance(learner, MLFP) else rng.normal(size=(6, 6))
        assert loss(learned + 1e-2 * change, X, y) > reached * (1 - 1e-3)


def test_lmnn_does_not_depend_on_the_unit(rows):
    X, y = rows
    # By a power of 2 all roundings are the same.
    np.testing.assert_array_equal(LMNN().fit(1024 * X, y).components_ * 1024, LMNN().fit(X, y).components_)


@pytest.mark.parametrize("n_components", [None, 2])
def test_lmnn_helps_neighbours(n_components):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])  # three classes, ten features of noise
    learned = LMNN(n_components=n_components).fit(X[:200], y[:200])
    assert learned.transform(X).shape == (400, n_components or 12)
    plain = KNeighborsClassifier(3).fit(X[:200], y[:200]).score(X[200:], y[200:])
    after = KNeighborsClassifier(3).fit(learned.transform(X[:200]), y[:200])
    assert after.score(learned.transform(X[200:]), y[200:]) > plain + 0.05


@pytest.mark.parametrize("learner", [MLFP(), IML()], ids=repr)
def test_which_class_is_positive(learner, rows):
    X, y = rows
    names = np.where(y == 1, "fraud", "ok")
    model = clone(learner).fit(X, names)
    assert model.pos_label_ == "fraud"
    np.testing.assert_array_equal(model.components_, clone(learner).fit(X, y).components_)
    other = clone(learner).set_params(pos_label="ok").fit(X, names)
    assert other.pos_label_ == "ok"
    with pytest.raises(ValueError, match="pos_label='theft' is not in y"):
        clone(learner).set_params(pos_label="theft").fit(X, names)
    with pytest.raises(ValueError, match="LMNN takes more classes"):
        clone(learner).fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("learner", [LMNN(), MLFP(), IML()], ids=repr)
def test_frames_in_and_out(learner, rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X)) + 7)
    model = clone(learner).set_output(transform="pandas")
    out = model.fit(frame, y).transform(frame)
    name = type(learner).__name__.lower()
    assert list(out.columns) == [f"{name}{i}" for i in range(6)] == list(model.get_feature_names_out())
    assert out.index.equals(frame.index)
    np.testing.assert_array_equal(out.to_numpy(), clone(learner).fit(X, y).transform(X))


# Hard tables


@pytest.mark.parametrize("learner", [LMNN(), MLFP(), IML()], ids=repr)
@pytest.mark.parametrize(
    "table", ["one positive", "more features than rows", "copies", "constant feature", "all equal"]
)
def test_hard_tables(learner, table):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 5 == 0
    if table == "one positive":
        y = np.arange(30) == 3
    elif table == "more features than rows":
        X = rng.normal(size=(30, 50))
    elif table == "copies":
        X = np.repeat(X[:10], 3, axis=0)  # every positive row lies on negative ones
    elif table == "constant feature":
        X[:, 1] = 5.0
    else:
        X = np.ones((30, 4))
    model = clone(learner).fit(X, y)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(X)).all()


def test_lmnn_refuses_bad_input():
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match="a class of at least two rows"):
        LMNN().fit(X, [0, 1, 2, 3])
    with pytest.raises(ValueError, match="n_components=3 is more than the 2"):
        LMNN(n_components=3).fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="only one class"):
        LMNN().fit(X, [1, 1, 1, 1])
    lone = LMNN().fit(X, [0, 0, 0, 1])  # a class of one row has no targets, and is pushed away all the same
    assert lone.components_.shape == (2, 2)
