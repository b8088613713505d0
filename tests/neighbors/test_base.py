"""The pieces that neighbour methods share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.neighbors._base import upper_limit
from tests import naive


@given(n=st.integers(1, 60), share=st.floats(0, 1), z=st.sampled_from([0.0, 0.84, 1.28, 1.645]))
def test_upper_limit(n, share, z):
    rate = round(share * n) / n
    assert upper_limit(rate, n, z) == pytest.approx(naive.wilson(rate * n, n, z)[1])
    assert 1 - upper_limit(1 - rate, n, z) == pytest.approx(naive.wilson(rate * n, n, z)[0], abs=1e-12)
