"""The calibration error and its display."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from scarce import TunedThreshold
from scarce.metrics import calibration_bins, expected_calibration_error
from scarce.neighbors import GammaKNN
from scarce.plotting import ReliabilityDisplay
from tests import naive_calibration as naive

PROBABILITY = st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0, 1))
ROWS = st.lists(st.tuples(st.integers(0, 1), PROBABILITY, st.integers(0, 3)), min_size=1, max_size=30)


@given(rows=ROWS, n_bins=st.integers(1, 20), seed=st.integers(0, 9))
def test_against_the_slow_twin_in_any_order(rows, n_bins, seed):
    y, p, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if not w.any():
        return
    found = expected_calibration_error(y, p, n_bins, sample_weight=w)
    assert found == pytest.approx(naive.calibration_error(y, p.tolist(), n_bins, w), abs=1e-9)
    order = np.random.default_rng(seed).permutation(len(y))
    assert found == pytest.approx(expected_calibration_error(y[order], p[order], n_bins, sample_weight=w[order]))
    copies = w.astype(int)
    assert found == pytest.approx(expected_calibration_error(np.repeat(y, copies), np.repeat(p, copies), n_bins))


def test_without_ties_the_bins_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.permutation(np.linspace(0.001, 0.4, 300))
    y = (rng.random(300) < p).astype(int)
    share, mean = calibration_curve(y, p, n_bins=15, strategy="quantile")
    bins = calibration_bins(y, p, 15)
    np.testing.assert_allclose(bins.probability, mean)
    np.testing.assert_allclose(bins.share, share)
    assert bins.rows == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 1.2]), "between 0 and 1"),
        (([0, 1], [0.2, 0.3], 0), "n_bins=0"),
        ((["a", "b"], [0.2, 0.3]), "Set pos_label"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(*arguments)


@pytest.fixture(scope="module")
def data():
    return make_classification(3000, 6, weights=[0.9], flip_y=0.05, random_state=0)


class TestDisplay:
    @pytest.mark.parametrize("model", [GammaKNN(), TunedThreshold(LogisticRegression()), LogisticRegression()])
    @pytest.mark.parametrize("log", [False, True])
    def test_points_are_the_bins(self, data, model, log):
        X, y = data
        names = np.array(["ok", "fraud"])[y] if hasattr(model, "pos_label") else y
        model.fit(X[:1500], names[:1500])
        display = ReliabilityDisplay.from_estimator(model, X[1500:], names[1500:], n_bins=12, log=log)
        column = 0 if hasattr(model, "pos_label") else 1
        bins = calibration_bins(y[1500:], model.predict_proba(X[1500:])[:, column], 12)
        line = display.points_.lines[0]
        np.testing.assert_allclose(line.get_xdata(), bins.probability)
        np.testing.assert_allclose(line.get_ydata(), bins.share)
        assert "125 rows" in display.ax_.get_xlabel()
        assert (display.low <= display.share).all()
        assert (display.share <= display.high).all()
        display.figure_.canvas.draw()

    def test_intervals_hold_right_probabilities(self):
        rng = np.random.default_rng(0)
        p = rng.beta(1, 12, 20_000)
        y = (rng.random(len(p)) < p).astype(int)
        display = ReliabilityDisplay.from_predictions(y, p, n_bins=40, confidence=0.95)
        inside = (display.low <= display.probability) & (display.probability <= display.high)
        assert inside.sum() >= 34

    def test_two_classes_only(self, data):
        X, y = data
        model = LogisticRegression().fit(X, np.arange(len(y)) % 3)
        with pytest.raises(ValueError, match="two classes"):
            ReliabilityDisplay.from_estimator(model, X, y)
