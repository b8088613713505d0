"""Precision and recall at every threshold, and precision among the first k rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import precision_score, recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce.metrics import precision_at_k
from scarce.neighbors import GammaKNN
from scarce.plotting import PrecisionAtKDisplay, PrecisionRecallThresholdDisplay
from tests import naive


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 5, weights=[0.85], flip_y=0.05, random_state=0)


@st.composite
def scored(draw):
    """Scores with ties, all equal ones too, a truth with at least one positive, and weights."""
    n = draw(st.integers(1, 12))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    scores = np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)), dtype=dtype) / 4
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[draw(st.integers(0, n - 1))] = 1
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return scores, y, weight


@given(scored(), st.booleans())
def test_precision_and_recall_at_every_threshold(case, weighted):
    scores, y, weight = case
    weight = weight if weighted else np.ones(len(y))
    display = PrecisionRecallThresholdDisplay.from_predictions(
        y, scores, sample_weight=weight if weighted else None, ax=Figure().subplots()
    )
    for threshold in [*naive.every_threshold(scores), *scores.tolist()]:
        called = scores > threshold
        precision, recall = display.at(threshold)
        assert recall == pytest.approx(weight[called & (y == 1)].sum() / weight[y == 1].sum())
        if called.any():
            assert precision == pytest.approx(weight[called & (y == 1)].sum() / weight[called].sum())
        else:
            assert np.isnan(precision)


@given(scored())
def test_precision_at_every_k(case):
    scores, y, _ = case
    display = PrecisionAtKDisplay.from_predictions(y, scores, ax=Figure().subplots())
    assert display.k.tolist() == list(range(1, len(y) + 1))
    np.testing.assert_allclose(display.precision, [precision_at_k(y, scores, int(k)) for k in display.k])
    assert display.rate == pytest.approx(y.mean())


@pytest.mark.parametrize("model", [GammaKNN(), LogisticRegression(), RidgeClassifier()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("of_pipeline", [False, True])
def test_of_test_rows(data, model, of_pipeline, monkeypatch):
    X, y = data
    labels = np.where(y == 1, "bad", "good")  # the positive class comes first
    if not isinstance(model, GammaKNN):
        labels = np.where(y == 1, "fraud", "clean")
    model = make_pipeline(StandardScaler(), model) if of_pipeline else model
    model.fit(X[:200], labels[:200])
    positive = labels[y == 1][0]
    last = model[-1] if of_pipeline else model
    monkeypatch.setattr(type(last), "fit", None)
    test, truth = X[200:], labels[200:]
    called = model.predict(test)

    display = PrecisionRecallThresholdDisplay.from_estimator(model, test, truth, ax=Figure().subplots())
    precision, recall = display.at(display.threshold)
    assert precision == pytest.approx(precision_score(truth, called, pos_label=positive))
    assert recall == pytest.approx(recall_score(truth, called, pos_label=positive))

    display = PrecisionAtKDisplay.from_estimator(model, test, truth, ax=Figure().subplots())
    assert display.marked == (called == positive).sum()
    assert display.precision[display.marked - 1] == pytest.approx(precision)
    assert PrecisionAtKDisplay.from_estimator(model, test, truth, k=7, ax=Figure().subplots()).marked == 7


def test_the_picture_of_precision_and_recall(data):
    X, y = data
    model = GammaKNN().fit(X[:200], y[:200])
    display = PrecisionRecallThresholdDisplay.from_estimator(model, X[200:], y[200:], linewidth=3)
    for line, values in zip(display.lines_, (display.precision, display.recall), strict=True):
        drawn, edges, _ = line.get_data()
        n = len(values) - np.isnan(values).sum()  # the precision ends with the highest score
        np.testing.assert_array_equal(drawn, values[:n])
        np.testing.assert_array_equal(edges[1:n], display.edges[: n - 1])
        assert line.get_linewidth() == 3
    precision, recall = display.at(model.threshold_)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == [
        f"Precision: {precision:.1%}",
        f"Recall: {recall:.1%}",
        f"Threshold in use: {model.threshold_:.3g}",
    ]
    points = [line.get_xydata()[0].tolist() for line in display.ax_.lines if line.get_marker() in ("o", "s")]
    assert points == [[model.threshold_, precision], [model.threshold_, recall]]
    ax = Figure().subplots()
    assert display.plot(ax).ax_ is ax
    display.threshold = 99.0  # beyond all scores
    display.plot(Figure().subplots()).figure_.canvas.draw()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()[:2]] == ["Precision: none", "Recall: 0.0%"]


def test_the_picture_of_precision_at_k(data):
    X, y = data
    models = {"γk-NN": GammaKNN(), "logistic": LogisticRegression()}
    ax = Figure().subplots()
    found = [
        PrecisionAtKDisplay.from_estimator(model.fit(X[:200], y[:200]), X[200:], y[200:], k=20, ax=ax, label=name)
        for name, model in models.items()
    ]
    np.testing.assert_array_equal(found[0].line_.get_ydata(), found[0].precision)
    assert found[0].line_.get_color() != found[1].line_.get_color()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.split(":")[0] for text in texts] == ["All rows", "γk-NN, first 20", "logistic, first 20"]
    assert f"{found[0].precision[19]:.1%}" in texts[1]
    assert ax.get_xscale() == "log"
    ax.figure.canvas.draw()


def test_wrong_input_is_refused(data):
    X, y = data
    for display in (PrecisionAtKDisplay, PrecisionRecallThresholdDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(GammaKNN(), X, y)
        with pytest.raises(ValueError, match="no positive row"):
            display.from_predictions([0, 0], [0.1, 0.2])
        with pytest.raises(ValueError, match="Set pos_label"):
            display.from_predictions(["a", "b"], [0.1, 0.2])
        with pytest.raises(ValueError, match="two classes; GammaKNN has 3"):
            display.from_estimator(GammaKNN().fit(X, np.arange(len(y)) % 3), X, y)
    for k in (0, 3):
        with pytest.raises(ValueError, match="1 to 2"):
            PrecisionAtKDisplay.from_predictions([0, 1], [0.1, 0.2], k=k)
