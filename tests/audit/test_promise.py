"""The prediction interval of a queue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, poisson_binom

from scarce.audit._kernels_hits import hits_chances
from scarce.audit.promise import Block, predict_hits
from tests import naive_audit

probabilities = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=7).map(np.array)


@given(probabilities)
def test_chances_of_a_number_of_positives(p):
    np.testing.assert_allclose(hits_chances(p[None])[0], naive_audit.hits_chances(p), atol=1e-12)


@pytest.mark.parametrize("n", [1, 300, 3_000])
def test_chances_of_many_rows_are_those_of_scipy(n):
    p = np.random.default_rng(n).beta(0.1, 1, n)
    np.testing.assert_allclose(hits_chances(p[None])[0], poisson_binom(p).pmf(np.arange(n + 1)), atol=1e-10)


def test_without_shifts_the_interval_is_close_to_the_binomial_one():
    p = np.full(400, 0.3)
    calm = [Block(p, 120) for _ in range(40)]  # forty queues exactly as expected
    promise = predict_hits(p, calm)
    low, high = binom.interval(0.9, 400, 0.3)
    assert promise.low <= low
    assert high <= promise.high
    assert promise.high - promise.low < 1.2 * (high - low)


def test_the_interval_is_that_of_drawn_worlds():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.6, 12)
    blocks = [(rng.uniform(0.2, 0.6, 10), 7), (rng.uniform(0.2, 0.6, 10), 6)]
    drawn = naive_audit.drawn_hits(p, blocks, 60_000, 1)
    promise = predict_hits(p, [Block(*block) for block in blocks])
    assert len(drawn) > 300
    assert promise.expected == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(drawn)))
    assert (drawn < promise.low).mean() <= 0.07
    assert (drawn > promise.high).mean() <= 0.07
    assert ((promise.low <= drawn) & (drawn <= promise.high)).mean() >= 0.88


def test_the_interval_covers_what_it_promises():
    """Queues whose log-odds move by more than usual from period to period."""
    covered, widths = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)

        def queue(rng=rng):
            p = rng.beta(1, 2, 100)
            return p, int((rng.random(100) < expit(logit(p) + rng.normal(0.2, 0.4))).sum())

        promise = predict_hits((coming := queue())[0], [Block(*queue()) for _ in range(8)])
        covered += promise.low <= coming[1] <= promise.high
        widths.append(promise.high - promise.low)
    assert 170 <= covered <= 195, covered
    assert np.mean(widths) < 2.5 * np.ptp(binom.interval(0.9, 100, 1 / 3))


def test_restless_periods_widen_the_interval_and_a_lasting_error_moves_it():
    p = np.full(100, 0.5)
    calm, restless = [Block(p, 50)] * 6, [Block(p, 30), Block(p, 70)] * 3
    one, other = predict_hits(p, calm), predict_hits(p, restless)
    assert other.high - other.low > 1.5 * (one.high - one.low)
    assert other.spread > one.spread
    more = predict_hits(p, [Block(p, 70)] * 6)
    assert more.expected > one.expected + 10
    assert more.shift > 0.3


@given(st.permutations(range(5)), st.permutations(range(6)))
def test_order_does_not_matter(order, places):
    p = np.array([0.1, 0.2, 0.2, 0.7, 0.9, 0.01])
    blocks = [Block(p, hits) for hits in (1, 2, 2, 3, 0)]
    one = predict_hits(p, blocks)
    other = predict_hits(p[list(places)], [blocks[i] for i in order])
    assert (one.low, one.high) == (other.low, other.high)
    assert one.expected == pytest.approx(other.expected)


def test_certain_rows_and_no_past():
    promise = predict_hits(np.array([1.0, 1.0, 0.0]), [])
    assert (promise.low, promise.high) == (2, 2)
    assert str(promise) == "between 2 and 2 of these 3 (90% of the time)"
    assert predict_hits(np.array([]), []).high == 0
    wide, narrow = (predict_hits(np.full(50, 0.5), [], level=level) for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_more_positives_than_rows_are_refused():
    with pytest.raises(ValueError, match="A block of 2 queued rows cannot hold 3 positives"):
        Block(np.array([0.5, 0.5]), 3)
