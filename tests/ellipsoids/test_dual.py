"""The dual of one ellipsoid: solved exactly, whatever the rows are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.ellipsoids import ME2
from scarce.ellipsoids._kernels import solve_dual, squared_gram
from tests import naive_ellipsoids as naive


def fit(V, mu, lam):
    """Fit one ellipsoid around 0 and return R and M, with the farthest row at distance 1, and the rows so scaled."""
    X = np.vstack((np.zeros(V.shape[1]), V))
    model = ME2(len(V), mu=mu, lam=lam, tune=None, pos_label=1).fit(X, np.arange(len(X)) == 0)
    reach = (V**2).sum(axis=1).max()
    return model.radii_[0] / reach, model.metric(0), V / np.sqrt(reach)


@pytest.mark.parametrize("seed", range(50))
def test_against_a_convex_solver(seed):
    pytest.importorskip("cvxpy", reason="cvxpy solves the problem independently; it comes with the extra dev")
    rng = np.random.default_rng(seed)
    n, m = rng.integers(5, 31), rng.integers(1, 6)
    mu, lam = 10 ** rng.uniform(-1.3, 1), 10 ** rng.uniform(-6, 2)
    V = rng.normal(size=(n, m)) * rng.uniform(0.3, 3, m) + rng.normal(size=m)
    R, M, V = fit(V, mu, lam)
    expected_R, expected_M = naive.convex_program(V, mu, lam)
    assert abs(R - expected_R) < 1e-6
    np.testing.assert_allclose(M, expected_M, atol=1e-6 * max(1, abs(expected_M).max()))
    value = naive.objective(V, M, R, mu, lam)
    assert value == pytest.approx(naive.objective(V, expected_M, min(max(expected_R, 0), 1), mu, lam), abs=1e-9)


def stationary(V, M, R, mu, lam):
    """Whether R and M satisfy the optimality conditions of problem 3.4 for some multipliers in their box."""
    from scipy.optimize import lsq_linear

    n, m = V.shape
    margin = np.einsum("ij,jk,ik->i", V, M, V) - R
    tight = 1e-7 * max(1.0, abs(M).max())
    low = np.where(margin < -tight, 1 / n, 0.0)
    high = np.where(margin > tight, 1e-300, 1 / n)
    # M - I = Σ α vv' / 2λ, and 2μ (1 - R) = Σ α where R > 0.
    rows = [np.array([np.outer(v, v).ravel() for v in V]).T / (2 * lam), np.ones((1, n))]
    right = np.concatenate(((M - np.eye(m)).ravel(), [2 * mu * (1 - R)]))
    if R == 0:
        rows, right = rows[:1], right[:-1]
    free = low < high * 0.5
    A = np.vstack(rows)
    rest = right - A[:, ~free] @ low[~free]
    if not free.any():
        return abs(rest).max() < 1e-6 * max(1.0, abs(M).max())
    found = lsq_linear(A[:, free], rest, (0, 1 / n), tol=1e-14)
    return abs(A[:, free] @ found.x - rest).max() < 1e-6 * max(1.0, abs(M).max())


@given(
    cells=st.lists(st.integers(-2, 2), min_size=12, max_size=48),
    m=st.integers(1, 4),
    mu=st.sampled_from([0.01, 0.2, 0.5, 0.75, 2.0, 10.0]),
    lam=st.sampled_from([1e-6, 1e-3, 0.1, 100.0]),
)
def test_optimal_with_duplicates_ties_and_rows_on_the_centre(cells, m, mu, lam):
    V = np.array(cells[: len(cells) // m * m], dtype=float).reshape(-1, m)
    if not V.any():
        return  # see test_a_centre_among_its_own_kind
    R, M, V = fit(V, mu, lam)
    assert 0 <= R <= 1
    assert np.linalg.eigvalsh(M).min() >= 1 - 1e-9
    assert stationary(V, M, R, mu, lam)


def test_the_limits_of_mu_and_lam():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(40, 3))
    round_, small = fit(V, 1.0, 1e6), fit(V, 0.01, 1.0)
    np.testing.assert_allclose(round_[1], np.eye(3), atol=1e-5)
    assert small[0] < fit(V, 0.1, 1.0)[0] < fit(V, 1.0, 1.0)[0] < fit(V, 10.0, 1.0)[0] <= 1
    # Where shapes cost nothing, all negatives are kept out of a ball of the largest size.
    R, M, V = fit(V, 10.0, 1e-9)
    assert R > 0.999
    assert (np.einsum("ij,jk,ik->i", V, M, V) > R - 1e-3).all()


def test_r_may_be_zero():
    """Where negatives are on the centre and mu is tiny, it is better to give the radius up than to let them in."""
    V = np.array([[0.0], [0.0], [1.0]])
    R, M, _ = fit(V, 1e-3, 100.0)
    assert R == 0
    expected = naive.objective(V, M, 0.0, 1e-3, 100.0)
    assert expected <= min(naive.objective(V, M, r, 1e-3, 100.0) for r in (1e-4, 1e-3, 0.1, 1.0))


def test_the_metric_may_be_implicit():
    """With more features than local negatives M is not written down, and gives the same."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 6 == 0
    queries = rng.normal(size=(200, 6))
    wide, padded = np.zeros((60, 50)), np.zeros((200, 50))
    wide[:, :6], padded[:, :6] = X, queries
    few = ME2(20, lam=1e-3, tune=None).fit(X, y)
    many = ME2(20, lam=1e-3, tune=None).fit(wide, y)
    assert few._ellipsoids.metric.shape[1:] == (6, 6)
    assert many._ellipsoids.metric.shape[1:] == (0, 0)
    np.testing.assert_allclose(few.score_samples(queries), many.score_samples(padded), atol=1e-9)
    np.testing.assert_allclose(few.metric(3), many.metric(3)[:6, :6], atol=1e-9)


@pytest.mark.parametrize("kind", ["usual", "grid", "scales", "plane"])
def test_the_solver_reaches_the_optimum_from_any_start(kind):
    """Extreme costs, features of very different size, rows in a plane, and the solution of another problem to start."""
    rng = np.random.default_rng(0)
    for _ in range(15):
        n, m = rng.integers(2, 80), rng.integers(1, 20)
        rows = rng.normal(size=(n + 1, m))
        if kind == "grid":
            rows = rng.integers(-1, 2, (n + 1, m)).astype(float)
            rows[1, 0] = rows[0, 0] + 1
        elif kind == "scales":
            rows *= 10.0 ** rng.uniform(-8, 8, m)
        elif kind == "plane":
            rows = rng.normal(size=(n + 1, 2)) @ rng.normal(size=(2, m))
        local, reach = np.arange(1, n + 1), ((rows[1:] - rows[0]) ** 2).sum(axis=1).max()
        gram, work = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
        squared_gram(rows, 0, local, np.sqrt(reach), gram)
        x, free = np.zeros(n + 1), np.empty(n + 1, dtype=np.intp)
        for mu in (1e-3, 0.4, 1.0, 1e6):
            for lam in (1e9, 1.0, 1e-6, 1e-15):
                R, violation = solve_dual(gram, mu, lam, x, np.empty(n + 1), free, work, np.empty(n + 1))
                assert violation < 1e-9
                assert 0 <= R <= 1
                assert (x >= 0).all()
                assert (x[:n] <= 1 / n).all()
