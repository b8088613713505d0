"""The prediction interval of a queue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, poisson_binom

from scarce.audit import promise as promise_module
from scarce.audit._kernels_hits import hits_chances
from scarce.audit.promise import Block, Queue, _given, _Seen, predict_hits
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
    calm = [Block(Queue(p), 120) for _ in range(40)]  # forty queues exactly as expected
    promise = predict_hits(Queue(p), calm)
    low, high = binom.interval(0.9, 400, 0.3)
    assert promise.low <= low
    assert high <= promise.high
    assert promise.high - promise.low < 1.2 * (high - low)


def test_the_interval_is_that_of_drawn_worlds():
    rng = np.random.default_rng(0)

    def queue(size, ahead, move):
        return Queue(rng.uniform(0.2, 0.6, size), np.array(ahead), move)

    past = [Block(queue(9, [0.4, 0.6, 0.0, 0.0], 0.3), 6), Block(queue(9, [0.3, 0.5, 0.6, 0.0], -0.2), 5)]
    coming = queue(12, [0.3, 0.4, 0.5, 1.0], 0.4)
    drawn = naive_audit.drawn_hits(coming, past, 40_000, 1, period=0.25)
    promise = predict_hits(coming, past, period=0.25)
    assert len(drawn) > 250
    assert promise.expected == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(drawn)))
    assert (drawn < promise.low).mean() <= 0.07
    assert (drawn > promise.high).mean() <= 0.07
    assert ((promise.low <= drawn) & (drawn <= promise.high)).mean() >= 0.88


@given(
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=12).map(np.array),
    st.floats(0, 1),
    st.floats(0.05, 0.6),
    st.floats(-1, 1),
)
def test_the_shift_after_one_queue_is_that_of_numeric_integration(p, share, scale, correlation):
    covariance = scale**2 * np.array([[1, correlation], [correlation, 1.5]])
    hits = round(share * len(p))
    found = _given(_Seen.of([Block(Queue(p), hits)]), covariance[None])[:, 0]
    evidence, mean, variance = naive_audit.shift_after_one_queue(p, hits, covariance)
    assert found[0] == pytest.approx(evidence, abs=0.02)
    assert found[1] == pytest.approx(mean, abs=0.05 * scale)
    assert found[2] == pytest.approx(variance, rel=0.05)


def world(seed, trend, walk, noise):
    """Eight past queues in four test parts of a table, and the coming one, in a world whose log-odds move."""
    rng = np.random.default_rng(seed)
    starts = np.arange(60) / 60
    level = trend * starts + walk * np.cumsum(rng.normal(0, 60**-0.5, 60))

    def queue(first, last, learned):
        later = [
            ((starts >= a) & (starts < b)) / (round(60 * b) - round(60 * a)) for a, b in ((first, last), (0, learned))
        ]
        course = later[0] - later[1]
        p = rng.beta(1, 2, 100)
        hits = (rng.random(100) < expit(logit(p) + course @ level + rng.normal(0, noise))).sum()
        return Queue(p, np.cumsum(course[::-1])[::-1]), int(hits)

    past = [Block(*queue(f / 12, (f + 1) / 12, f // 2 / 6)) for f in range(3, 11)]
    return *queue(11 / 12, 1, 11 / 12), past


def covered(seeds, level=0.9, **how):
    """Return the share of worlds in which the number of positives lies in the interval, and the mean width."""
    hits, widths = [], []
    for seed in seeds:
        coming, true, past = world(seed, **how)
        promise = predict_hits(coming, past, period=1 / 60, level=level)
        hits.append(promise.low <= true <= promise.high)
        widths.append(promise.high - promise.low)
    return np.mean(hits), np.mean(widths)


@pytest.mark.parametrize(
    "how",
    [
        {"trend": 0.0, "walk": 0.0, "noise": 0.0},
        {"trend": 0.0, "walk": 0.0, "noise": 0.4},
        {"trend": 1.0, "walk": 0.0, "noise": 0.1},
        {"trend": -1.5, "walk": 0.0, "noise": 0.1},
        {"trend": 0.0, "walk": 0.7, "noise": 0.1},
    ],
    ids=["calm", "restless", "rising", "falling", "wandering"],
)
def test_the_interval_covers_what_it_promises(how):
    share, width = covered(range(60), **how)
    assert 0.82 <= share <= 0.99, share
    assert width < 2 * np.ptp(binom.interval(0.9, 100, 1 / 3))


def test_an_interval_that_does_not_follow_the_trend_is_found_out(monkeypatch):
    """The test above can fail: with queues that might come in any order, a rising world leaves the interval."""
    monkeypatch.setattr(promise_module, "_WANDER", 1e-9)
    assert covered(range(60), trend=2.0, walk=0.0, noise=0.1)[0] < 0.8


def test_the_trend_of_past_queues_goes_on_and_further_ahead_is_less_certain():
    p, ahead = np.full(100, 0.5), np.tri(9)[:, 1:]
    past = [Block(Queue(p, ahead[i]), 50 + 5 * i) for i in range(8)]
    near, far = (predict_hits(Queue(p, scale * ahead[8]), past, period=1 / 8) for scale in (1, 3))
    still = predict_hits(Queue(p, ahead[8]), [Block(Queue(p, ahead[i]), 50) for i in range(8)], period=1 / 8)
    assert near.expected > still.expected + 20
    assert far.expected > near.expected
    assert far.spread > 1.5 * near.spread


def test_a_move_of_the_scores_widens_the_interval_and_past_moves_tell_what_it_is_worth():
    p = np.full(100, 0.5)
    usual, moved = Queue(p), Queue(p, move=1.0)
    quiet = [Block(usual, 50)] * 6
    assert predict_hits(moved, quiet).spread > 1.5 * predict_hits(usual, quiet).spread
    misled = [Block(moved, 38), Block(Queue(p, move=-1.0), 62)] * 3  # scores that went too far, both ways
    assert predict_hits(moved, misled).expected < 45
    assert predict_hits(Queue(p, move=-1.0), misled).expected > 55


def test_restless_periods_widen_the_interval_and_a_lasting_error_moves_it():
    p = Queue(np.full(100, 0.5))
    calm, restless = [Block(p, 50)] * 6, [Block(p, 30), Block(p, 70)] * 3
    one, other = predict_hits(p, calm), predict_hits(p, restless)
    assert other.high - other.low > 1.5 * (one.high - one.low)
    assert other.spread > one.spread
    more = predict_hits(p, [Block(p, 70)] * 6)
    assert more.expected > one.expected + 10
    assert more.shift > 0.3


@given(st.permutations(range(5)), st.permutations(range(6)))
def test_order_does_not_matter_without_time(order, places):
    p = np.array([0.1, 0.2, 0.2, 0.7, 0.9, 0.01])
    blocks = [Block(Queue(p), hits) for hits in (1, 2, 2, 3, 0)]
    one = predict_hits(Queue(p), blocks)
    other = predict_hits(Queue(p[list(places)]), [blocks[i] for i in order])
    assert (one.low, one.high) == (other.low, other.high)
    assert one.expected == pytest.approx(other.expected)


def test_certain_rows_and_no_past():
    promise = predict_hits(Queue(np.array([1.0, 1.0, 0.0])), [])
    assert (promise.low, promise.high) == (2, 2)
    assert str(promise) == "between 2 and 2 of these 3 (90% of the time)"
    assert predict_hits(Queue(np.array([])), []).high == 0
    wide, narrow = (predict_hits(Queue(np.full(50, 0.5)), [], level=level) for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_past_queues_without_rows_and_of_certain_rows_tell_nothing():
    p = Queue(np.full(50, 0.5))
    empty = [Block(Queue(np.array([])), 0), Block(Queue(np.array([1.0, 0.0])), 1)]
    assert predict_hits(p, empty).expected == pytest.approx(predict_hits(p, []).expected)


def test_more_positives_than_rows_are_refused():
    with pytest.raises(ValueError, match="A block of 2 queued rows cannot hold 3 positives"):
        Block(Queue(np.array([0.5, 0.5])), 3)
