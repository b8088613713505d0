"""The simulated oil well: three states, drawn from a seed."""

import numpy as np
import pytest

from scarce.datasets import OIL_STATES, make_oil_rows, simulate_oil_flow


def test_the_same_seed_gives_the_same_flow_and_a_generator_goes_on():
    rng = np.random.default_rng(3)
    first, second = simulate_oil_flow("churn", 100, rng), simulate_oil_flow("churn", 100, rng)
    np.testing.assert_array_equal(first, simulate_oil_flow("churn", 100, 3))
    assert not np.array_equal(first, second)


def test_oscillations_grow_from_normal_to_churn_to_slugging():
    spread = {state: simulate_oil_flow(state, 5_000).std() for state in OIL_STATES}
    assert spread["normal"] < spread["churn"] < spread["slugging"]


def test_rows_are_the_flow_with_its_past_and_its_power():
    sizes = {"slugging": 30, "normal": 50}
    X, y = make_oil_rows(sizes, 1)
    assert X.shape == (80, 7)
    assert {state: int((y == state).sum()) for state in sizes} == sizes
    flow = simulate_oil_flow("slugging", 4 * 30 + 500, 1)
    for row in X[:30]:
        [now] = np.flatnonzero(flow == row[0])
        np.testing.assert_array_equal(row[:6], flow[now - 4 * np.arange(6)])
        assert row[6] == pytest.approx(np.mean(flow[now - 16 : now] ** 2))


def test_an_unknown_state_is_an_error():
    with pytest.raises(ValueError, match="state must be one of normal, slugging, churn; it is 'calm'"):
        simulate_oil_flow("calm", 10)
