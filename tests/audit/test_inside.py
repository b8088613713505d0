"""The inside of a model, and its calibration by tenths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.audit.inside import make_deciles


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=60))
def test_tenths_hold_every_row_once_and_keep_ties_together(rows):
    probability, y = np.array([p for p, _ in rows]), np.array([int(o) for _, o in rows])
    deciles = make_deciles(probability, y)
    assert len(deciles) <= 10
    assert sum(d.rows for d in deciles) == len(rows)
    assert sum(d.positives for d in deciles) == y.sum()
    assert [d.expected for d in deciles] == sorted(d.expected for d in deciles)
    assert sum(d.rows * d.expected for d in deciles) == pytest.approx(probability.sum())
    for d in deciles:
        assert d.low <= d.observed <= d.high


def test_right_probabilities_lie_within_the_intervals():
    rng = np.random.default_rng(0)
    probability = rng.beta(0.5, 5, 5_000)
    y = (rng.random(5_000) < probability).astype(int)
    deciles = make_deciles(probability, y)
    assert [d.rows for d in deciles] == [500] * 10
    assert sum(d.low <= d.expected <= d.high for d in deciles) >= 8
    wrong = make_deciles(np.sqrt(probability), y)
    assert sum(d.low <= d.expected <= d.high for d in wrong) <= 2
