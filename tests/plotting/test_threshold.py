"""The curves over all thresholds: right data, drawn in the right places."""

import importlib
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce.plotting
from scarce import TunedThreshold
from scarce.neighbors import GammaKNN
from scarce.objectives import MCC, Budget, FBeta, PrecisionAtLeast, Profit, RecallAtLeast
from scarce.plotting import GammaPathDisplay, ThresholdCurveDisplay
from tests import naive
from tests.test_objectives import OBJECTIVES, scored


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 5, weights=[0.9], flip_y=0.05, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return GammaKNN().fit(*data)


def value_on(display, at):
    """Read the value off the steps: each holds from its left edge, included, to the right one."""
    (step,) = [
        i
        for i in range(len(display.values))
        if display.edges[i] <= at < display.edges[i + 1] or (i == 0 and at < display.edges[0])
    ]
    return display.values[step]


@given(objective=st.sampled_from(OBJECTIVES), case=scored())
def test_curve_is_the_objective_at_every_threshold(objective, case):
    scores, y, _, gains, *_ = case
    weight = np.ones(len(y))
    extra = {"gains": gains} if isinstance(objective, Profit) else {}
    if getattr(objective, "distinct", False):
        return  # a display has no groups
    tried = naive.every_threshold(scores)
    display = ThresholdCurveDisplay.from_scores(
        scores,
        y,
        objective=objective,
        thresholds={str(i): t for i, t in enumerate(tried)},
        ax=Figure().subplots(),
        **extra,
    )
    assert len(display.values) == len(display.edges) - 1 == len(tried)
    # On a score itself and between two of them; the naive value asks each row whether it is beyond.
    for at in [*tried, *scores]:
        expected = naive.objective_value(objective, scores, y, at, weight, **extra)
        drawn = value_on(display, at)
        assert np.isnan(drawn) if expected is None else drawn == pytest.approx(expected, abs=1e-9)
    for i, t in enumerate(tried):
        mark = display.marks[str(i)]
        assert mark.at == t
        np.testing.assert_equal(mark.value, value_on(display, t))


@pytest.mark.parametrize(
    "objective", ["f1", "f0.5", MCC(), PrecisionAtLeast(0.5), Budget(rows=12), Profit((9, -1, 0, -3))]
)
def test_the_best_threshold_is_the_top_of_the_curve(data, model, objective):
    X, y = data
    scores = model.honest_scores(X, y)
    display = GammaPathDisplay.from_scores(scores, y, objective=objective)
    best = scarce.objectives.get_objective(objective).best_threshold(scores, y)
    assert display.marks["best"].value == np.nanmax(display.values) == best.value
    assert display.marks["best"].at == pytest.approx(best.threshold / (1 - best.threshold))


def test_gamma_in_use_and_plain_neighbours_are_marked(data, model):
    display = GammaPathDisplay.from_training(model, *data)
    used, plain = display.marks["in use"], display.marks["plain k-NN"]
    assert used.at == model.gamma_
    assert plain.at == pytest.approx(1.0)
    allowed = display.edges[:-1] < 1
    assert used.value == display.values[allowed].max() > plain.value
    assert (display.edges[0], display.edges[-1]) == (0, np.inf)


@pytest.mark.filterwarnings("ignore:With n_neighbors")
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=8, max_size=14),
    rare=st.integers(2, 4),
    k=st.integers(1, 4),
    tie=st.sampled_from(["positive", "negative"]),
    gamma=st.sampled_from([0.3, 0.6, 0.9, 1.0, 1.1]),
)
def test_every_gamma_has_the_value_of_the_vote(rows, rare, k, tie, gamma):
    # Whole numbers have equal distances, so that at γ = 1 it matters who wins a tie.
    X, y = np.array(rows, dtype=float), np.repeat([1, 0], (rare, len(rows) - rare))
    model = GammaKNN(k, gamma=gamma, tie=tie).fit(X, y)
    display = GammaPathDisplay.from_training(model, X, y, ax=Figure().subplots())

    def vote_f1(factor):
        called = [naive.gamma_vote(d, y, k, factor, tie, skip=i) for i, d in enumerate(naive.distances(X, X))]
        return f1_score(y, called, zero_division=0.0)

    assert display.marks["in use"].value == pytest.approx(vote_f1(gamma))
    assert display.marks["plain k-NN"].value == pytest.approx(vote_f1(1.0))


def test_labels_weights_gains_and_periods_reach_the_objective(data):
    X, y = data
    labels = np.where(y == 1, "bad", "good")
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    gains = np.random.default_rng(1).normal(size=(len(y), 4))
    day = np.arange(len(y)) % 3
    for objective, extra in ((FBeta(2), {}), (Profit(), {"gains": gains}), (Budget(rows=9), {"period": day})):
        model = TunedThreshold(LogisticRegression(), threshold=objective)
        model.fit(X, labels, sample_weight=weight, **extra)
        display = ThresholdCurveDisplay.from_training(
            model, X, labels, objective=objective, sample_weight=weight, **extra
        )
        best = objective.best_threshold(model.honest_scores(X, labels, weight), y, weight, **extra)
        assert display.marks["in use"] == (model.threshold_, pytest.approx(best.value))
        assert np.nanmax(display.values) == pytest.approx(best.value)


@pytest.mark.parametrize("of_pipeline", [False, True])
@pytest.mark.parametrize("display", [ThresholdCurveDisplay, GammaPathDisplay])
def test_of_test_rows(data, display, of_pipeline, never_fits):
    X, y = data
    labels = np.where(y == 1, "bad", "good")
    model = make_pipeline(StandardScaler(), GammaKNN()) if of_pipeline else GammaKNN()
    model.fit(X[:150], labels[:150])
    last = model[-1] if of_pipeline else model
    weight = np.arange(150) % 3 + 1.0
    with never_fits():
        drawn = display.from_estimator(model, X[150:], labels[150:], sample_weight=weight, ax=Figure().subplots())
    scores = model.score_samples(X[150:])
    expected = display.from_scores(scores, y[150:], sample_weight=weight, ax=Figure().subplots())
    np.testing.assert_array_equal(drawn.edges, expected.edges)
    np.testing.assert_array_equal(drawn.values, expected.values)
    found = f1_score(y[150:], scores > last.threshold_, sample_weight=weight)
    assert drawn.marks["in use"].value == pytest.approx(found)
    assert drawn.ax_.get_ylabel() == "F1"
    if display is GammaPathDisplay:
        assert drawn.marks["plain k-NN"].at == pytest.approx(1.0)


def test_the_picture_shows_the_data(data, model):
    display = GammaPathDisplay.from_training(model, *data, objective="f2", color="red", label="γk-NN")
    values, edges, _ = display.line_.get_data()
    np.testing.assert_array_equal(values, display.values)
    shown = display.edges <= display.ax_.get_xlim()[1]
    np.testing.assert_array_equal(edges[shown], display.edges[shown])
    assert display.line_.get_edgecolor()[:3] == (1, 0, 0)
    assert display.ax_.get_ylabel() == "F2 on honest scores"
    assert "γ" in display.ax_.get_xlabel()
    assert display.ax_.get_xlim()[0] == 0
    assert display.ax_.get_ylim()[0] == 0
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == "γk-NN"
    assert f"γ = {model.gamma_:.3g}" in texts[1]
    assert "plain k-NN" in texts[2]
    points = [line.get_xydata()[0] for line in display.ax_.lines if line.get_marker() in ("o", "s")]
    np.testing.assert_array_equal(points, list(display.marks.values()))
    display.figure_.canvas.draw()


def test_plot_again_on_given_axes(data, model):
    display = GammaPathDisplay.from_training(model, *data)
    first, ax = display.ax_, Figure().subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax is not first
    assert display.figure_ is ax.figure


@pytest.mark.parametrize("threshold", [1.0, 1.5])
def test_thresholds_beyond_the_axis_are_named(data, threshold):
    X, y = data
    model = GammaKNN(threshold=threshold).fit(X, y)  # nothing is positive: γ is infinite
    display = GammaPathDisplay.from_estimator(model, X, y, objective=RecallAtLeast(0.9))
    assert display.marks["in use"].at == np.inf
    assert np.isnan(display.marks["in use"].value)
    text = display.ax_.get_legend().get_texts()[0].get_text()
    assert text == "γ = inf (in use): not allowed"
    assert np.isfinite(display.ax_.get_xlim()).all()
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        ("f1", "F1"),
        (FBeta(0.5), "F0.5"),
        (MCC(), "MCC"),
        (PrecisionAtLeast(0.5), "Recall at a precision ≥ 0.5"),
        (RecallAtLeast(0.9), "Precision at a recall ≥ 0.9"),
        (Budget(rows=20), "Recall within a budget of 20 rows"),
        (Profit((1, -1, 0, 0)), "Profit"),
    ],
)
def test_values_are_named(objective, name):
    display = ThresholdCurveDisplay.from_scores([0.1, 0.2, 0.7, 0.6], [0, 0, 1, 1], objective=objective)
    assert display.objective_name == name


def test_nothing_to_mark():
    display = ThresholdCurveDisplay.from_scores([0.1, 0.2, 0.7], [0, 0, 1], thresholds={})
    assert display.marks == {}
    assert display.ax_.get_legend() is None


def test_scores_that_are_all_equal():
    display = ThresholdCurveDisplay.from_scores([2.0, 2.0, 2.0], [0, 1, 0])
    np.testing.assert_allclose(display.values, [0.5, 0.0])
    left, right = display.ax_.get_xlim()
    assert left < 2 < right
    display.figure_.canvas.draw()


def test_wrong_estimators_are_refused(data, model):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), GammaKNN()).fit(X, y)
    with pytest.raises(TypeError, match=r"draws a GammaKNN; got a Pipeline.*pipeline\[:-1\]"):
        GammaPathDisplay.from_training(pipeline, X, y)
    display = GammaPathDisplay.from_training(pipeline[-1], pipeline[:-1].transform(X), y)
    assert display.marks["in use"].at == pipeline[-1].gamma_
    with pytest.raises(TypeError, match="draws a GammaKNN; got a TunedThreshold"):
        GammaPathDisplay.from_estimator(TunedThreshold(LogisticRegression()).fit(X, y), X, y)
    with pytest.raises(TypeError, match="draws a RareEventClassifier; got a LogisticRegression"):
        ThresholdCurveDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        GammaPathDisplay.from_estimator(GammaKNN(), X, y)
    with pytest.raises(ValueError, match="needs scores between 0 and 1"):
        GammaPathDisplay.from_scores([-1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="'accuracy' is not an objective"):
        GammaPathDisplay.from_estimator(model, X, y, objective="accuracy")


def test_without_matplotlib(data, model, monkeypatch):
    X, y = data
    display = GammaPathDisplay.from_estimator(model, X, y)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(scarce, "plotting", scarce.plotting)
    for name in [name for name in sys.modules if name.startswith("scarce.plotting")]:
        monkeypatch.delitem(sys.modules, name)

    fresh = importlib.import_module("scarce.plotting")

    assert fresh.GammaPathDisplay is not GammaPathDisplay
    for attempt in (
        display.plot,
        lambda: fresh.GammaPathDisplay.from_estimator(model, X, y),
        lambda: fresh.ThresholdCurveDisplay.from_scores([0.1, 0.9], [0, 1]),
    ):
        with pytest.raises(ImportError, match=r'pip install "scarce\[audit\]"'):
            attempt()
