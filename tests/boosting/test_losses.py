"""Losses: the formulas of the papers, with derivatives that finite differences confirm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from scarce.boosting._losses import (
    ap_loss,
    cross_entropy,
    exponential_loss,
    log_ap_loss,
    logistic_loss,
    sigmoid_ap_gradient,
)
from scarce.profit import bayes_threshold
from scarce.profit._gains import gain_of_flagging
from tests import naive_profit


@st.composite
def scored(draw, most_score=4.0):
    """Scores, classes and gains under which right decisions pay."""
    n = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    score = rng.uniform(-most_score, most_score, n)
    y = np.r_[1, 0, rng.integers(0, 2, n - 2)]
    fp, fn = -rng.lognormal(1, 1, (2, n))
    tp, tn = fn + rng.lognormal(3, 1, n), fp + rng.lognormal(1, 1, n)
    return score, y, np.column_stack((tp, fp, tn, fn))


def in_rows(gains, y):
    worth = gain_of_flagging(gains, y)
    return np.where(worth > 0, 1.0, -1.0), np.abs(worth)


@given(scored())
def test_losses_are_those_of_the_papers(case):
    score, y, gains = case
    sign, weight = in_rows(gains, y)
    np.testing.assert_allclose(exponential_loss(score, sign, weight).value, naive_profit.thesis_loss(score, y, gains))
    np.testing.assert_allclose(logistic_loss(score, sign, weight).value, naive_profit.csboost_loss(score, y, gains))


@given(scored())
def test_the_exponential_loss_bounds_the_profit_that_is_missed(case):
    score, y, gains = case
    sign, weight = in_rows(gains, y)
    missed = naive_profit.profit(y, y, gains) - naive_profit.profit(y, score > 0, gains)
    assert exponential_loss(score, sign, weight).value.sum() >= missed - 1e-9


@pytest.mark.parametrize("loss", [exponential_loss, logistic_loss])
@given(case=scored())
def test_derivatives_of_the_profit_losses(loss, case):
    score, y, gains = case
    sign, weight = in_rows(gains, y)
    found = loss(score, sign, weight)
    p = expit(score)
    second = found.hessian if loss is exponential_loss else found.gradient * (1 - 2 * p)
    for row in range(len(y)):
        slope = naive_profit.slope(lambda f, i=row: loss(f, sign, weight).value[i], score, row)
        assert found.gradient[row] == pytest.approx(slope, rel=1e-6)
        curve = naive_profit.slope(lambda f, i=row: loss(f, sign, weight).gradient[i], score, row)
        assert second[row] == pytest.approx(curve, rel=1e-6, abs=1e-9 * weight[row])
    assert (found.hessian >= np.abs(second) * (1 - 1e-12)).all()


@given(scored(), st.booleans())
def test_derivatives_of_the_cross_entropy(case, soft):
    score, y, gains = case
    weight = np.abs(gains[:, 0]) + 0.1
    share = bayes_threshold(gains) if soft else y.astype(float)
    found = cross_entropy(score, share, weight)
    np.testing.assert_allclose(found.value, naive_profit.cross_entropy(score, share, weight))
    for row in range(len(y)):
        slope = naive_profit.slope(lambda f, i=row: cross_entropy(f, share, weight).value[i], score, row)
        assert found.gradient[row] == pytest.approx(slope, rel=1e-6, abs=1e-8 * weight[row])
        curve = naive_profit.slope(lambda f, i=row: cross_entropy(f, share, weight).gradient[i], score, row)
        assert found.hessian[row] == pytest.approx(curve, rel=1e-6)


def test_derivatives_are_clipped():
    for loss in (exponential_loss, logistic_loss):
        score = np.array([-800.0, 800.0, 15.0, -15.0])
        found = loss(score, np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4))
        assert np.isfinite(found.gradient).all()
        assert (found.hessian > 0).all()
        assert found.gradient[1] == found.gradient[2]
    found = cross_entropy(np.array([-800.0, 800.0, 15.0]), np.array([1.0, 0.0, 0.0]), np.ones(3))
    assert np.isfinite(found).all()
    assert (found.hessian > 0).all()
    assert found.gradient[1] == found.gradient[2]


@pytest.mark.parametrize("loss", [ap_loss, log_ap_loss])
@given(case=scored(), alpha=st.sampled_from([0.5, 1.0, 3.0]), weighted=st.booleans())
def test_derivatives_of_the_smooth_average_precision(loss, case, alpha, weighted):
    score, y, gains = case
    positive = y == 1
    weight = np.abs(gains[:, 0]) + 0.1 if weighted else np.ones(len(y))
    found = loss(score, positive, alpha, weight)
    second = found.hessian
    if loss is log_ap_loss:
        share = np.where(positive, weight * np.exp(alpha * score), 0)
        share /= share.sum()
        second = second - alpha**2 * share * (1 - share)
    for row in range(len(y)):
        slope = naive_profit.slope(lambda f: loss(f, positive, alpha, weight).value, score, row)
        assert found.gradient[row] == pytest.approx(slope, rel=1e-6, abs=1e-9)
        curve = naive_profit.slope(lambda f, i=row: loss(f, positive, alpha, weight).gradient[i], score, row)
        assert second[row] == pytest.approx(curve, rel=1e-6, abs=1e-9)


@given(scored(), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_smooth_average_precision_is_that_of_the_paper(case, alpha):
    score, y, _ = case
    smooth = naive_profit.smooth_ap(score, y, alpha)
    assert ap_loss(score, y == 1, alpha, np.ones(len(y))).value == pytest.approx(1 - smooth, abs=1e-12)
    assert log_ap_loss(score, y == 1, alpha, np.ones(len(y))).value == pytest.approx(-np.log(smooth), abs=1e-9)


def test_large_scores_do_not_overflow():
    score, y = np.array([3000.0, -3000.0, 2999.0]), np.array([True, True, False])
    for loss in (ap_loss, log_ap_loss):
        found = loss(score, y, 1.0, np.ones(3))
        assert all(np.isfinite(part).all() for part in found)


@given(scored())
def test_weights_are_copies(case):
    score, y, _ = case
    times = np.arange(len(y)) % 3
    times[:2] = 2, 1
    repeated = np.repeat(np.arange(len(y)), times)
    for loss in (ap_loss, log_ap_loss):
        weighted = loss(score, y == 1, 1.0, times.astype(float))
        copied = loss(score[repeated], y[repeated] == 1, 1.0, np.ones(len(repeated)))
        assert weighted.value == pytest.approx(copied.value)
        for row in np.flatnonzero(times):
            assert weighted.gradient[row] == pytest.approx(copied.gradient[repeated == row].sum(), abs=1e-12)
    step = sigmoid_ap_gradient(score, y == 1, times.astype(float))
    of_copies = sigmoid_ap_gradient(score[repeated], y[repeated] == 1, np.ones(len(repeated)))
    np.testing.assert_allclose(step[repeated], of_copies)


@given(scored())
def test_the_link_agrees_with_the_sign(case):
    score, _, gains = case
    s = bayes_threshold(gains)
    p = 1 / (1 + (1 - s) / s * np.exp(-2 * score))
    clear = np.abs(score) > 1e-9
    np.testing.assert_array_equal((p > s)[clear], (score > 0)[clear])
