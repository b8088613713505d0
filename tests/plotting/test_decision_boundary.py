"""scikit-learn's own display draws the regions of our classifiers, so there is none here."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay

from scarce.neighbors import GammaKNN


@pytest.fixture(params=[2, 3], ids="{} classes".format)
def fitted(request):
    sizes = [40, 8, 12][: request.param]
    X, y = make_blobs(sizes, random_state=0, cluster_std=2.0)
    return GammaKNN().fit(X, y), X


@pytest.mark.parametrize("method", ["auto", "predict", "decision_function", "predict_proba"])
def test_regions(fitted, method):
    model, X = fitted
    display = DecisionBoundaryDisplay.from_estimator(model, X, response_method=method, grid_resolution=20)
    grid = np.column_stack((display.xx0.ravel(), display.xx1.ravel()))
    expected = getattr(model, "decision_function" if method == "auto" else method)(grid)
    if expected.ndim == 2 and len(model.classes_) == 2:
        expected = expected[:, 1]
    np.testing.assert_array_equal(display.response.reshape(expected.shape), expected)
    display.figure_.canvas.draw()


def test_the_positive_region_grows_as_gamma_falls():
    X, y = make_blobs([40, 8], random_state=0, cluster_std=2.0)
    shares = [
        DecisionBoundaryDisplay.from_estimator(
            GammaKNN(gamma=gamma).fit(X, y), X, response_method="predict", grid_resolution=30
        ).response.mean()
        for gamma in (1.0, 0.6, 0.3, 0.1)
    ]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]
