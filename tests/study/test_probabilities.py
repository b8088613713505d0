"""The measure of probabilities, and the rows with known ones."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.pipeline import make_pipeline

from scarce.metrics import expected_calibration_error
from scarce.neighbors import GammaKNN
from scarce.study.data import Rows
from scarce.study.measures import MEASURES, lower_is_better
from scarce.study.probabilities import LABELS_OF_PROBABILITIES, draw_probabilities


@pytest.mark.parametrize("shape", ["linear", "islands", "floor"])
def test_drawn_rows_are_rare_and_of_the_split_alone(shape):
    one, again, other = (draw_probabilities(seed, shape=shape, test=3000) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one[0], again[0])
    assert (one[0] != other[0]).any()
    assert len(one[1]) == 5000
    assert len(one[3]) == 3000
    assert 0.03 < np.concatenate((one[1], one[3])).mean() < 0.08


def test_figures_are_those_of_scikit_learn():
    X, y, X_test, y_test = draw_probabilities(0, shape="islands", rows=1500, test=1500)
    model = make_pipeline(GammaKNN())
    model.steps[0] = ("model", model.steps[0][1])
    model.fit(X, y)
    measure = MEASURES["probabilities"]
    rows = Rows(X, y, X_test, y_test)
    found = measure.figures(None, rows, measure.call(model, rows))
    probability = model.predict_proba(X_test)[:, 1]
    peer = CalibratedClassifierCV(GammaKNN(), cv=5).fit(X, y).predict_proba(X_test)[:, 1]
    assert found["ece"] == expected_calibration_error(y_test, probability)
    assert found["ece beyond"] == pytest.approx(found["ece"] - expected_calibration_error(y_test, peer))
    assert found["brier ratio"] == pytest.approx(brier_score_loss(y_test, probability) / brier_score_loss(y_test, peer))
    assert found["ap lost"] == pytest.approx(
        average_precision_score(y_test, model.score_samples(X_test)) - average_precision_score(y_test, probability)
    )
    assert all(lower_is_better(name) for name in LABELS_OF_PROBABILITIES)
