"""The cones and the path: right values, drawn in the right places."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from scarce.fmeasure import ConeClassifier
from scarce.fmeasure.bounds import ErrorProfile, certified_bound, cones, parambath_cones, pooled, upper_envelope
from scarce.plotting import ConeDisplay, FMeasureBoundDisplay, FMeasurePathDisplay


@pytest.fixture(scope="module")
def model():
    X, y = make_classification(300, 5, weights=[0.85], flip_y=0.05, class_sep=0.7, random_state=0)
    return ConeClassifier(LinearSVC(random_state=0), search="grid", n_models=6).fit(X, y)


def test_zone_points_and_bound(model):
    display = ConeDisplay.from_estimator(model, color="0.7")
    np.testing.assert_array_equal(display.points_.get_xydata(), np.c_[model.path_["t"], model.path_["f_fit"]])
    np.testing.assert_allclose(display.bound_.get_xydata(), [[model.f_upper_bound_] * 2])
    envelope = upper_envelope(display.cones)
    corners = display.zone_.get_paths()[0].vertices
    for t, f in zip(envelope.t, envelope.f, strict=True):
        assert np.isclose(corners, [t, f]).all(axis=1).any()
    assert corners[:, 1].max() == 1
    assert tuple(display.zone_.get_facecolor()[0]) == (0.7, 0.7, 0.7, 1.0)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"F ≤ {model.f_upper_bound_:.3f}" in texts
    assert f"chosen: F = {model.f_fit_:.3f}" in texts
    display.figure_.canvas.draw()
    ax = Figure().subplots()
    assert display.plot(ax=ax).ax_ is ax


def test_other_cones(model):
    path = model.path_
    wide = parambath_cones(path["t"], ErrorProfile(path["fn"], path["fp"], path["positives"]))
    display = ConeDisplay(wide).plot()
    np.testing.assert_array_equal(display.points_.get_ydata(), wide.height)
    assert not [t for t in display.ax_.get_legend().get_texts() if "chosen" in t.get_text()]


def test_the_path_goes_up_and_the_bound_is_above(model):
    display = FMeasurePathDisplay.from_estimator(model)
    fitted, judged, bound = (line.get_ydata() for line in display.lines_)
    np.testing.assert_array_equal(fitted, np.maximum.accumulate(model.path_["f_fit"]))
    np.testing.assert_array_equal(judged, np.maximum.accumulate(model.path_["f"]))
    np.testing.assert_array_equal(bound, model.path_["bound"])
    assert (bound >= fitted - 1e-12).all()
    assert display.lines_[0].get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    display.figure_.canvas.draw()


def test_the_bound_rises_with_epsilon(model):
    display = FMeasureBoundDisplay.from_estimator(model, linewidth=3)
    path = model.path_
    profile = pooled(path["t"], ErrorProfile(path["fn"], path["fp"], path["positives"]))
    for line, of in zip(display.lines_, (cones, parambath_cones), strict=True):
        epsilon, bound = line.get_xdata(), line.get_ydata()
        np.testing.assert_array_equal(bound, [certified_bound(of(path["t"], profile, 1.0, e)) for e in epsilon])
        assert (np.diff(bound) >= 0).all()
        assert line.get_linewidth() == 3
    ours, theirs = (line.get_ydata() for line in display.lines_)
    assert ours[0] == pytest.approx(model.f_upper_bound_)
    assert ours[-1] > ours[0]
    assert (ours <= theirs + 1e-12).all()
    assert display.f == path["f_fit"].max()
    assert epsilon[-1] == path["positives"][0]
    display.figure_.canvas.draw()
    ax = Figure().subplots()
    assert display.plot(ax=ax).ax_ is ax


def test_models_that_failed_are_gaps(model):
    f = np.array([np.nan, 0.2, np.nan, 0.1, 0.4])
    line = FMeasurePathDisplay({"F": f}).plot().lines_[0]
    np.testing.assert_array_equal(line.get_ydata(), [np.nan, 0.2, 0.2, 0.2, 0.4])


@pytest.mark.parametrize("display", [ConeDisplay, FMeasureBoundDisplay, FMeasurePathDisplay])
def test_wrong_estimators_are_refused(display):
    with pytest.raises(TypeError, match="draws a ConeClassifier; got a Pipeline"):
        display.from_estimator(make_pipeline(LogisticRegression()))
    with pytest.raises(NotFittedError):
        display.from_estimator(ConeClassifier(LogisticRegression()))
