"""The picture of ME²: outlines where the ellipsoids end."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from scarce.ellipsoids import ME2
from scarce.plotting import EllipsoidDisplay


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, np.where(np.arange(200) % 20 == 0, "theft", "fine")


def outline(display, center):
    return display.outlines_.get_segments()[center]


def test_two_features_are_drawn_as_they_are(rows):
    X, y = rows
    model = ME2(30, tune=None, lam=1e-3).fit(X[:, :2], y)
    display = EllipsoidDisplay.from_estimator(model, X[:, :2], y, linewidth=2, label="ME²")
    for c, center in enumerate(model.centers_):
        z = outline(display, c) - center
        np.testing.assert_allclose(np.einsum("ij,jk,ik->i", z, model.metric(c), z), model.radii_[c])
    np.testing.assert_array_equal(display.positives_.get_offsets(), X[y == "theft", :2])
    assert len(display.negatives_.get_offsets()) == (y == "fine").sum()
    assert display.outlines_.get_linewidth() == [2]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["ME²"]


def test_more_features_cast_a_shadow(rows):
    """The outline is the farthest that the ellipsoid reaches, whatever the other features are."""
    X, y = rows
    model = ME2(60, tune=None, lam=1e-3).fit(X, y)
    display = EllipsoidDisplay.from_estimator(model, X, y, features=("x3", 1))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x3", "x1")
    M, R, center = model.metric(2), model.radii_[2], model.centers_[2]
    for angle in np.linspace(0, 6, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        # The reach of {z'Mz <= R} along a direction d is sqrt(R d'M⁻¹d).
        wide = np.zeros(4)
        wide[[3, 1]] = direction
        reach = np.sqrt(R * wide @ np.linalg.inv(M) @ wide)
        drawn = ((outline(display, 2) - center[[3, 1]]) @ direction).max()
        assert drawn == pytest.approx(reach, rel=1e-3)
        assert drawn <= reach * (1 + 1e-12)


def test_two_models_share_axes(rows):
    X, y = rows
    first = EllipsoidDisplay.from_estimator(ME2(30, tune=None).fit(X, y), X, y)
    second = EllipsoidDisplay.from_estimator(ME2(30, tune=None, mu=10.0).fit(X, y), X, y, ax=first.ax_, color="black")
    assert second.ax_ is first.ax_
    assert len(first.ax_.collections) == 6
    first.figure_.canvas.draw()


def test_an_ellipsoid_of_size_0_is_a_point():
    X, y = np.zeros((10, 2)), np.arange(10) < 2
    display = EllipsoidDisplay.from_estimator(ME2().fit(X, y), X, y)
    np.testing.assert_allclose(outline(display, 0), 0, atol=1e-100)


def test_bad_input(rows):
    X, y = rows
    with pytest.raises(TypeError, match="draws an ME2; got a LogisticRegression"):
        EllipsoidDisplay.from_estimator(LogisticRegression(), X, y)
    with pytest.raises(NotFittedError):
        EllipsoidDisplay.from_estimator(ME2(), X, y)
    model = ME2(30, tune=None).fit(X, y)
    for features in ((0, 4), ("x0", "x9"), (-1, 0)):
        with pytest.raises(ValueError, match="There is no feature"):
            EllipsoidDisplay.from_estimator(model, X, y, features=features)
    with pytest.raises(ValueError, match="the model has one"):
        EllipsoidDisplay.from_estimator(ME2(30, tune=None).fit(X[:, :1], y), X[:, :1], y)
