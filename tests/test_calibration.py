"""The curve from scores to probabilities, and the sample of rows it is fitted on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit, logit

from scarce import _calibration
from scarce._calibration import fit_calibrator, sample_by_contents
from tests import naive_calibration as naive

ANY_FLOAT = st.floats(allow_nan=False, allow_infinity=False)
# Ties, wide gaps and the largest numbers there are.
SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5), ANY_FLOAT)


@st.composite
def scored(draw, elements=SCORES, least=2):
    n = draw(st.integers(least, 40))
    score = draw(hnp.arrays(np.float64, n, elements=elements))
    y = draw(hnp.arrays(np.intp, n, elements=st.integers(0, 1)))
    weight = draw(hnp.arrays(np.float64, n, elements=st.integers(0, 3).map(float)))
    return score, y, weight


@pytest.fixture(params=[1e-12, 10**9], ids=["steps", "sigmoid"])
def kind(request, monkeypatch):
    """Small tables for either kind of curve."""
    monkeypatch.setattr(_calibration, "_ROWS_FOR_STEPS", request.param)
    return request.param


def simple(draw_from=(-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0)):
    return scored(st.sampled_from(draw_from))


@given(table=simple())
def test_steps_are_those_of_the_formula(table):
    score, y, weight = table
    weight = weight + 1
    if len(np.unique(y)) < 2:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_calibration, "_ROWS_FOR_STEPS", 1e-12)
        patch.setattr(_calibration, "_LEAST_SLOPE", 0.0)
        curve = fit_calibrator(score, y, weight)
        cells, expected = naive.log_odds_of_steps(score.tolist(), y.tolist(), weight.tolist())
        np.testing.assert_allclose(logit(curve(np.array(cells))), expected, atol=1e-9)


@given(table=simple())
def test_sigmoid_is_that_of_platt(table):
    score, y, weight = table
    weight = weight + 1
    if len(np.unique(y)) < 2 or len(np.unique(score)) < 2:
        return
    curve = fit_calibrator(score, y, weight)
    place = _calibration._place(score, curve.middle, curve.spread)
    slope, intercept = naive.platt(place, y, weight)
    if slope < 0.02:  # against the order of the scores, which stays
        assert np.ptp(curve(score)) < 0.05
    else:
        ends = -np.log(weight[y == 0].sum() + 1), np.log(weight[y == 1].sum() + 1)
        np.testing.assert_allclose(curve(score), expit(np.clip(slope * place + intercept, *ends)), atol=1e-3)


@pytest.mark.usefixtures("kind")
class TestCurve:
    @given(table=scored(), more=hnp.arrays(np.float64, 20, elements=ANY_FLOAT))
    def test_increases_within_zero_and_one_for_any_score(self, table, more):
        curve = fit_calibrator(*table)
        probability = curve(np.sort(np.concatenate((table[0], more, [-1.8e308 / 1.01, 0.0, 1.8e308 / 1.01]))))
        assert np.isfinite(probability).all()
        assert probability.min() > 0
        assert probability.max() < 1
        assert (np.diff(probability) >= 0).all()

    @given(table=scored(st.floats(-5, 5, width=16), least=5))
    def test_keeps_rows_apart(self, table):
        curve = fit_calibrator(*table)
        at = np.unique(np.concatenate((table[0], np.linspace(-20, 20, 41))))
        at = at[np.r_[True, np.diff(at) > 1e-3]]
        assert (np.diff(curve(at)) > 0).all()

    @given(table=scored(st.floats(-5, 5)), seed=st.integers(0, 9))
    def test_row_order(self, table, seed):
        score, y, weight = table
        order = np.random.default_rng(seed).permutation(len(y))
        one, other = fit_calibrator(score, y, weight), fit_calibrator(score[order], y[order], weight[order])
        np.testing.assert_allclose(one(score), other(score), atol=1e-5)

    @given(table=scored(st.floats(-5, 5)))
    def test_weights_are_copies(self, table):
        score, y, weight = table
        if not weight.any():
            return
        times = weight.astype(int)
        copies = fit_calibrator(np.repeat(score, times), np.repeat(y, times))
        np.testing.assert_allclose(fit_calibrator(score, y, weight)(score), copies(score), atol=1e-5)

    def test_scores_far_out_make_nothing_certain(self):
        score = np.r_[np.full(5, -690.0), np.random.default_rng(0).normal(size=500), np.linspace(680, 690, 20)]
        y = (score > 2).astype(int)
        y[100:240] = 1
        probability = fit_calibrator(score, y)(score)
        n = y.sum()
        assert probability.max() < (n + 1.5) / (n + 2)
        assert len(np.unique(probability)) == len(np.unique(score))

    def test_weights_that_add_up_to_one_are_shares(self):
        score, y = np.linspace(-1, 1, 300), (np.arange(300) % 5 == 0).astype(int)
        shares = fit_calibrator(score, y, np.full(300, 1 / 300))
        np.testing.assert_allclose(shares(score), fit_calibrator(score, y)(score), atol=1e-9)

    @pytest.mark.parametrize("score", [np.zeros(200), np.full(200, 1e300), np.r_[np.zeros(199), 1e308]])
    def test_a_score_that_says_nothing_gives_the_share_of_positives(self, score):
        y = (np.arange(200) % 10 == 0).astype(int)
        assert fit_calibrator(score, y)(score).mean() == pytest.approx(0.1, abs=0.01)

    def test_the_mean_is_the_share_of_positives(self):
        rng = np.random.default_rng(0)
        score = rng.standard_t(2, 3000)
        y = (rng.random(3000) < expit(score - 3)).astype(int)
        assert fit_calibrator(score, y)(score).mean() == pytest.approx(y.mean(), rel=0.01)


def test_between_steps_and_sigmoid_by_the_number_of_rows(monkeypatch):
    score, y = np.linspace(-1, 1, 1200), (np.arange(1200) % 4 == 0).astype(int)
    y[:400:4] = 0  # 200 positives
    curves = []
    for rows in (1e-12, 100, 10**9):
        monkeypatch.setattr(_calibration, "_ROWS_FOR_STEPS", rows)
        curves.append(logit(fit_calibrator(score, y)(score)))
    np.testing.assert_allclose(curves[1], (200 * curves[0] + 100 * curves[2]) / 300, atol=1e-6)


def test_one_row_at_the_top_makes_nothing_certain():
    score, y = np.arange(1000.0), (np.arange(1000) % 9 == 0).astype(int)  # the last row is positive
    assert y[-1] == 1
    assert fit_calibrator(score, y)(score).max() < 0.6


@given(
    X=hnp.arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.sampled_from([-0.0, 0.0, 1.5])
    ),
    size=st.integers(1, 30),
    seed=st.integers(0, 9),
)
def test_the_sample_is_the_same_for_any_order(X, size, seed):
    rows = np.arange(len(X))
    order = np.random.default_rng(seed).permutation(len(X))
    one = X[sample_by_contents(X, rows, size)] + 0.0
    other = X[order][sample_by_contents(X[order].astype(np.float32), rows, size)] + 0.0
    assert len(one) == min(size, len(X))
    np.testing.assert_array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])


def test_equal_rows_are_drawn_as_often_as_they_are_there():
    X = np.r_[np.zeros((900, 2)), np.random.default_rng(0).normal(size=(100, 2))]
    drawn = X[sample_by_contents(X, np.arange(1000), 100)]
    assert abs((drawn == 0).all(axis=1).sum() - 90) <= 1
