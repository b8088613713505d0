"""Money lost by probabilities against slow, obvious twins; and the trials of a local γ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scarce.neighbors import GammaKNN
from scarce.study.stakes import lost_with_any_stakes, lost_with_own_stakes
from scarce.study.trials import DensityGamma, RegionGamma, _best


def gain(y, flagged, tp, fp, tn, fn):
    return (tp if flagged else fn) if y else (fp if flagged else tn)


def lost(y, p, tp, fp, tn, fn):
    """Return what one row loses if it is called positive wherever that is expected to earn more."""
    flagged = p * (tp - fn) + (1 - p) * (fp - tn) > 0
    return max(gain(y, True, tp, fp, tn, fn), gain(y, False, tp, fp, tn, fn)) - gain(y, flagged, tp, fp, tn, fn)


@st.composite
def judged(draw):
    n = draw(st.integers(1, 12))
    of = lambda elements: draw(arrays(float, n, elements=elements))  # noqa: E731
    y = draw(arrays(int, n, elements=st.integers(0, 1)))
    # Right decisions earn at least as much as wrong ones.
    fp, fn = of(st.integers(-9, 0)), of(st.integers(-9, 0))
    tn, tp = fp + of(st.integers(0, 9)), fn + of(st.integers(0, 9))
    # No probability on the very place where both calls earn the same.
    return y, np.column_stack((tp, fp, tn, fn)), of(st.sampled_from([0.013, 0.217, 0.493, 0.771, 0.989]))


@given(judged())
def test_own_stakes_row_by_row(case):
    y, gains, p = case
    expected = []
    for one, (tp, fp, tn, fn), chance in zip(y, gains, p, strict=True):
        prices = (0.25, 0.5, 1, 2, 4)
        each = [lost(one, chance, tp, tn - price * (tn - fp), tn, fn) / price**0.5 for price in prices]
        expected.append(np.mean(each))
    np.testing.assert_allclose(lost_with_own_stakes(y, gains, p), expected, atol=1e-12)


@given(judged())
def test_any_stakes_row_by_row(case):
    y, gains, p = case
    expected = [np.mean([lost(one, chance, *of) for of in gains]) for one, chance in zip(y, p, strict=True)]
    np.testing.assert_allclose(lost_with_any_stakes(y, gains, p), expected, atol=1e-12)


@given(
    arrays(float, st.integers(2, 15), elements=st.integers(-4, 4)),
    st.randoms(use_true_random=False),
)
def test_the_best_threshold_of_a_trial(score, random):
    y = np.array([1, 0, *(random.randint(0, 1) for _ in score[2:])])
    value, threshold = _best(score, y)
    thresholds = [t for t in np.arange(-5, 1, 0.5) if t <= 0]
    f = lambda t: 2 * ((score > t) & (y == 1)).sum() / ((score > t).sum() + y.sum())  # noqa: E731
    assert value == pytest.approx(max(f(t) for t in thresholds))
    assert threshold <= 0
    assert f(threshold) == pytest.approx(value)


def test_one_region_is_one_gamma():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 1.6).astype(int)
    new = rng.normal(size=(100, 2))
    one = RegionGamma(1).fit(X, y).predict(new)
    assert (one == GammaKNN(3, pos_label=1).fit(X, y).predict(new)).mean() > 0.95
    assert 0 < DensityGamma().fit(X, y).predict(new).mean() < 0.5
