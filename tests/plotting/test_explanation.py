"""The picture of an explanation: bars where the effects are, from the base value to the score."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from scarce.explanation import Explanation
from scarce.plotting import ExplanationDisplay

NAMES = ["amount", "a name that is longer than a label may be", "c", "d"]
VALUES = np.array([[900.0, "FR", None, 1.0], [1.0, "BE", 2.0, 3.0]], dtype=object)
EFFECTS = np.array([[0.2, -0.5, 0.1, 0.0], [1.0, 2.0, 3.0, 4.0]])


def make(**changes):
    known = {"features": NAMES, "label": "fraud", "usual": [35.0, "BE", 1.5, 1.0], "unit": "probability"}
    return Explanation.from_effects(VALUES, EFFECTS, 0.25, **known | changes)


class Model(BaseEstimator):
    def fit(self, X, y):
        raise AssertionError("a display never fits")

    def explain(self, X):
        return make()[: len(X)]


def bars(ax):
    return [(bar.get_x(), bar.get_width()) for bar in ax.patches]


def test_bars_lead_from_the_base_value_to_the_score():
    display = ExplanationDisplay.from_explanation(make())
    np.testing.assert_allclose(bars(display.ax_), [(0.25, -0.5), (-0.25, 0.2), (-0.05, 0.1), (0.05, 0.0)], atol=1e-12)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "a name that is longer t… = FR (usual BE)",
        "amount = 900 (usual 35)",
        "c = missing (usual 1.5)",
        "1 other feature",
    ]
    marks = {line.get_label(): line.get_xdata()[0] for line in display.ax_.lines}
    assert marks == {"base value 0.25": 0.25, "score 0.05": pytest.approx(0.05)}
    assert display.ax_.get_xlabel() == "Probability"
    left, right = display.ax_.get_xlim()
    assert left < -0.25
    assert right > 0.25
    assert display.ax_.yaxis_inverted()
    display.figure_.canvas.draw()


def test_effects_that_do_not_add_up_all_start_at_the_base_value():
    one = Explanation(score=[9.0], label=1, features=NAMES, values=VALUES[:1], effects=EFFECTS[:1], base_value=2.0)
    found = bars(ExplanationDisplay.from_explanation(one).ax_)
    assert [left for left, _ in found] == [2.0] * 4
    assert found[0][1] == -0.5


def test_other_features_share_a_bar():
    ax = make().plot(1, max_features=2)
    assert [width for _, width in bars(ax)] == [4.0, 3.0, 3.0]
    assert ax.get_yticklabels()[-1].get_text() == "2 other features"


def test_of_an_estimator():
    model = Model()
    with pytest.raises(NotFittedError):
        ExplanationDisplay.from_estimator(model, VALUES)
    model.fitted_ = True
    ax = Figure().subplots()
    display = ExplanationDisplay.from_estimator(model, VALUES, row=1, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.row == 1
    assert bars(ax)[0] == (0.25, 4.0)
    assert len(bars(display.plot(max_features=1).ax_)) == 2
