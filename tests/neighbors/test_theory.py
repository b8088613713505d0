"""The error probabilities of γk-NN: a naive twin, and simulations of the rule itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.neighbors import GammaKNN
from scarce.neighbors.theory import gamma_errors
from tests import naive


@given(st.integers(0, 10_000), st.booleans())
def test_naive(seed, whole):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(25, 2)).astype(float) if whole else rng.normal(size=(25, 2))
    y = (rng.random(25) < 0.3).astype(int)
    y[:4] = 0, 1, 0, 1
    gammas = [0.3, 0.7, 1.0, 1.4]
    errors = gamma_errors(X, y, gammas, n_positive=3)
    expected = [naive.gamma_errors(X.tolist(), y.tolist(), gamma, 3, int((y == 0).sum())) for gamma in gammas]
    np.testing.assert_allclose(np.column_stack(errors[1:]), expected, atol=1e-12)


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(600, 2)), rng.normal(1.0, 1.0, size=(600, 2))])
    return X, np.repeat([0, 1], 600), rng


@pytest.mark.parametrize("gamma", [0.5, 1.0, 1.5])
def test_false_negatives_of_the_rule(overlapping, gamma):
    """Draw a few positive training rows anew, many times, and classify the other positive rows by the rule."""
    X, y, rng = overlapping
    negative, positive = X[y == 0], X[y == 1]
    missed = []
    for _ in range(60):
        drawn = rng.permutation(len(positive))
        train = np.concatenate([negative, positive[drawn[:8]]])
        model = GammaKNN(1, gamma=gamma, pos_label=1, calibration=None).fit(
            train, np.repeat([0, 1], [len(negative), 8])
        )
        missed.append((model.predict(positive[drawn[8:]]) == 0).mean())
    expected = gamma_errors(X, y, [gamma], n_positive=8).false_negative[0]
    assert np.mean(missed) == pytest.approx(expected, abs=4 * np.std(missed) / np.sqrt(len(missed)))


@pytest.mark.parametrize("gamma", [0.5, 1.0, 1.5])
def test_false_positives_of_the_rule(overlapping, gamma):
    X, y, rng = overlapping
    negative, positive = X[y == 0], X[y == 1]
    wrong = []
    for _ in range(60):
        drawn = rng.permutation(len(negative))
        train = np.concatenate([negative[drawn[:20]], positive])
        labels = np.repeat([0, 1], [20, len(positive)])
        model = GammaKNN(1, gamma=gamma, pos_label=1, calibration=None).fit(train, labels)
        wrong.append((model.predict(negative[drawn[20:]]) == 1).mean())
    expected = gamma_errors(X, y, [gamma], n_negative=20).false_positive[0]
    assert np.mean(wrong) == pytest.approx(expected, abs=4 * np.std(wrong) / np.sqrt(len(wrong)))


def test_bad_input(overlapping):
    X, y, _ = overlapping
    with pytest.raises(ValueError, match="`gamma` holds numbers above 0"):
        gamma_errors(X, y, [0.0, 1.0])
    with pytest.raises(ValueError, match="at least 2 rows of each class"):
        gamma_errors(X[:601], y[:601])
