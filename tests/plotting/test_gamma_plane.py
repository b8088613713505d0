"""The map over two γ: right values, drawn in the right places."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce.neighbors import GammaKNN
from scarce.objectives import Budget, RecallAtLeast
from scarce.plotting import GammaPlaneDisplay
from scarce.sampling import ResampledGammaKNN


@pytest.fixture(scope="module")
def data():
    return make_classification(250, 4, weights=[0.88], flip_y=0.05, random_state=2)


@pytest.fixture(scope="module")
def model(data):
    return ResampledGammaKNN(gamma_synthetic_max=3.0, random_state=0).fit(*data)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_the_cells(data, model, weighted):
    X, y = data
    weight = np.arange(len(y)) % 3 + 1.0 if weighted else None
    display = GammaPlaneDisplay.from_training(model, X, y, objective="f2", sample_weight=weight, resolution=7)
    assert display.values.shape == (7, 7)
    middles = [e[:-1] + np.diff(e) / 2 for e in (display.gamma_real, display.gamma_synthetic)]
    expected = model.plane(X, y, *middles, objective="f2", sample_weight=weight)
    np.testing.assert_allclose(display.values, expected)
    assert (display.gamma_real[-1], display.gamma_synthetic[-1]) == (1.0, 3.0)
    plain = model.plane(X, y, [1.0], [1.0], objective="f2", sample_weight=weight)[0, 0]
    assert display.marks["plain k-NN"] == (1.0, 1.0, pytest.approx(plain))


@pytest.mark.parametrize("of_pipeline", [False, True])
def test_of_test_rows(data, of_pipeline, never_fits):
    X, y = data
    labels = np.where(y == 1, "bad", "good")
    model = ResampledGammaKNN(random_state=0)
    estimator = make_pipeline(StandardScaler(), model) if of_pipeline else model
    estimator.fit(X[:150], labels[:150])
    weight = np.arange(100) % 3 + 1.0
    with never_fits():
        display = GammaPlaneDisplay.from_estimator(
            estimator, X[150:], labels[150:], sample_weight=weight, resolution=5, ax=Figure().subplots()
        )
    for i in range(5):
        for j in range(5):
            middle = (display.gamma_real[i : i + 2].mean(), display.gamma_synthetic[j : j + 2].mean())
            fixed = clone(model).set_params(gamma=middle)  # refitted with the same random numbers
            fixed = make_pipeline(StandardScaler(), fixed) if of_pipeline else fixed
            called = fixed.fit(X[:150], labels[:150]).predict(X[150:]) == "bad"
            assert display.values[i, j] == pytest.approx(f1_score(y[150:], called, sample_weight=weight))
    used = f1_score(y[150:], estimator.predict(X[150:]) == "bad", sample_weight=weight)
    assert display.marks["in use"].value == pytest.approx(used)
    assert display.figure_.axes[1].get_ylabel() == "F1"


def test_the_pair_in_use_is_the_top_of_the_map(data, model):
    display = GammaPlaneDisplay.from_training(model, *data)
    used = display.marks["in use"]
    assert used[:2] == (model.gamma_real_, model.gamma_synthetic_)
    assert used.value >= display.values.max()
    assert used.value > display.marks["plain k-NN"].value


def test_the_picture_shows_the_data(data, model):
    display = GammaPlaneDisplay.from_training(model, *data, resolution=9, cmap="magma")
    shown = display.mesh_.get_array().reshape(9, 9)
    np.testing.assert_array_equal(shown, display.values.T)  # rows of a mesh are up, so the second γ is up
    assert display.mesh_.get_cmap().name == "magma"
    assert "real" in display.ax_.get_xlabel()
    assert "synthetic" in display.ax_.get_ylabel()
    points = [line.get_xydata()[0] for line in display.ax_.lines]
    np.testing.assert_allclose(points, [mark[:2] for mark in display.marks.values()])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{model.gamma_real_:.3g}, {model.gamma_synthetic_:.3g} (in use)" in texts[0]
    assert display.figure_.axes[1].get_ylabel() == "F1 on honest predictions"
    display.figure_.canvas.draw()
    ax = Figure().subplots()
    assert display.plot(ax=ax).ax_ is ax


@pytest.mark.parametrize("threshold", [1.5, -1.0, Budget(share=1.0)])
def test_thresholds_beyond_the_axis_are_named(data, threshold):
    X, y = data
    model = ResampledGammaKNN(threshold=threshold, random_state=0).fit(X, y)
    display = GammaPlaneDisplay.from_training(model, X, y, objective=RecallAtLeast(0.9), resolution=5)
    assert np.isnan(display.marks["in use"].value) == (threshold == 1.5)
    display.figure_.canvas.draw()


def test_wrong_estimators_are_refused(data):
    with pytest.raises(TypeError, match="draws a ResampledGammaKNN; got a GammaKNN"):
        GammaPlaneDisplay.from_estimator(GammaKNN().fit(*data), *data)
    with pytest.raises(NotFittedError):
        GammaPlaneDisplay.from_estimator(ResampledGammaKNN(), *data)
