"""The displays of profit: right data, drawn in the right places."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from scarce.boosting import ProfitBoosting
from scarce.neighbors import GammaKNN
from scarce.objectives import Profit
from scarce.plotting import ProfitCurveDisplay, ProfitMenuDisplay, ThresholdCurveDisplay
from scarce.profit import BayesProfitClassifier, Gains, profit_menu
from tests import naive, naive_profit

COSTS = Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, weights=[0.85], random_state=3)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y, COSTS(X)


def test_the_curve_is_the_profit_at_every_threshold(data):
    _, y, gains = data
    scores = np.random.default_rng(1).integers(0, 9, len(y)).astype(float)
    display = ProfitCurveDisplay.from_scores(scores, y, gains, ax=Figure().subplots())
    for threshold in naive.every_threshold(scores):
        step = np.searchsorted(display.curve.edges, threshold, side="right") - 1
        assert display.curve.values[step] == pytest.approx(naive_profit.profit(y, scores > threshold, gains))
    assert display.references == {"perfect decisions": pytest.approx(naive_profit.profit(y, y, gains))}
    (line,) = display.lines_
    assert line.get_ydata()[0] == display.references["perfect decisions"]
    bottom, top = display.ax_.get_ylim()
    assert bottom < display.curve.values.min() < display.references["perfect decisions"] < top


@pytest.mark.parametrize(
    "model",
    [BayesProfitClassifier(LogisticRegression()), ProfitBoosting(n_estimators=10, random_state=0), GammaKNN()],
    ids=lambda model: type(model).__name__,
)
def test_of_an_estimator(data, model):
    X, y, gains = data
    learned = {} if isinstance(model, GammaKNN) else {"gains": gains}
    model.fit(X, y, **learned)
    display = ProfitCurveDisplay.from_training(model, X, y, COSTS, ax=Figure().subplots())
    honest = model.honest_scores(X, y, **learned)
    assert display.curve.marks["in use"].at == model.threshold_
    assert display.curve.marks["in use"].value == pytest.approx(
        naive_profit.profit(y, honest > model.threshold_, gains)
    )
    assert ("row by row" in display.references) == isinstance(model, BayesProfitClassifier)
    if isinstance(model, BayesProfitClassifier):
        by_row = naive_profit.profit(y, naive_profit.best_decisions(honest, gains), gains)
        assert display.references["row by row"] == pytest.approx(by_row)
    again = display.plot(Figure().subplots())
    assert len(again.lines_) == len(display.references)


def test_of_test_rows(data, never_fits):
    X, y, gains = data
    model = BayesProfitClassifier(LogisticRegression()).fit(X[:200], y[:200], gains=gains[:200])
    with never_fits():
        display = ProfitCurveDisplay.from_estimator(model, X[200:], y[200:], COSTS, ax=Figure().subplots())
    score, gains, y = model.score_samples(X[200:]), gains[200:], y[200:]
    called = score > model.threshold_
    assert display.curve.marks["in use"].value == pytest.approx(naive_profit.profit(y, called, gains))
    by_row = naive_profit.profit(y, naive_profit.best_decisions(score, gains), gains)
    assert display.references["row by row"] == pytest.approx(by_row)


def test_anything_else_is_refused(data):
    X, y, gains = data
    with pytest.raises(TypeError, match="from_scores"):
        ProfitCurveDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, gains)


def test_the_menu(data):
    X, y, _ = data
    model = BayesProfitClassifier(LogisticRegression())
    menu = profit_menu(model, X, y, COSTS, [5, 20], cv=2)
    display = ProfitMenuDisplay.from_training(model, X, y, COSTS, [5, 20], cv=2, axes=Figure().subplots(2, 1))
    assert display.menu == menu
    above, below = display.axes_
    assert above.lines[0].get_ydata().tolist() == [entry.profit for entry in menu]
    for line, rate in zip(below.lines, ("precision", "recall", "f1"), strict=True):
        assert line.get_ydata().tolist() == [getattr(entry, rate) for entry in menu]
    assert "ζ" in below.get_xlabel()
    assert f"{menu[0].gap:.2%}" in above.texts[0].get_text()
    assert ProfitMenuDisplay(menu, "price").plot(Figure().subplots(2, 1)).axes_[1].get_xlabel().startswith("price")


def test_the_curve_of_any_objective_learns_from_the_gains(data):
    X, y, gains = data
    model = ProfitBoosting(n_estimators=10, random_state=0).fit(X, y, gains=gains)
    display = ThresholdCurveDisplay.from_training(model, X, y, objective=Profit(), gains=gains, ax=Figure().subplots())
    honest = np.unique(model.honest_scores(X, y, gains=gains))
    np.testing.assert_array_equal(display.edges[1:-1], honest)
