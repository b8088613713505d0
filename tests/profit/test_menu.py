"""The menu of profit against precision."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from scarce.boosting import ProfitBoosting
from scarce.profit import BayesProfitClassifier, Gains, profit_menu
from tests import naive_profit

COSTS = Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1200, 5, n_informative=3, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=2)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y


@pytest.mark.parametrize("labels", [(0, 1), ("ok", "fraud")])
@pytest.mark.parametrize(
    "model",
    [BayesProfitClassifier(LogisticRegression()), ProfitBoosting(n_estimators=60, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_entries_are_judged_by_the_gains_as_they_are(data, model, labels):
    X, y = data
    menu = profit_menu(model, X, np.array(labels)[y], COSTS, [5, 25], cv=StratifiedKFold(2))
    assert [entry.value for entry in menu] == [5, 25]
    real = COSTS(X)
    most = naive_profit.profit(y, y, real)
    for entry in menu:
        offered = Gains(**COSTS.outcomes, zeta=entry.value)(X)
        called = np.empty(len(y), dtype=bool)
        for train, test in StratifiedKFold(2).split(X, y):
            model.fit(X[train], y[train], gains=offered[train])
            by_row = {"gains": offered[test]} if isinstance(model, BayesProfitClassifier) else {}
            called[test] = model.predict(X[test], **by_row) == 1
        assert entry.profit == pytest.approx(naive_profit.profit(y, called, real))
        assert entry.gap == pytest.approx((most - entry.profit) / most)
        assert entry.flagged == called.sum()
        assert entry.precision == pytest.approx(y[called].mean())
        assert entry.recall == pytest.approx(called[y == 1].mean())
    assert min(entry.given_up for entry in menu) == 0
    low, high = menu
    assert high.flagged < low.flagged
    assert high.precision > low.precision
    assert low.given_up - high.given_up == pytest.approx(high.profit - low.profit)


def test_one_split_by_time_will_do(data):
    X, y = data
    split = [(np.arange(800), np.arange(800, 1200))]
    (entry,) = profit_menu(BayesProfitClassifier(LogisticRegression()), X, y, COSTS, [5], cv=split)
    model = BayesProfitClassifier(LogisticRegression()).fit(X[:800], y[:800], gains=COSTS)
    assert entry.profit == model.score(X[800:], y[800:], gains=COSTS)


def test_another_constant_and_no_profit_at_all(data):
    X, y = data
    gains = Gains(fn=-80, fp="-price", price=5)
    (entry,) = profit_menu(BayesProfitClassifier(LogisticRegression()), X, y, gains, [5], constant="price", cv=2)
    assert np.isnan(entry.gap)
    with pytest.raises(ValueError, match="zeta is not a constant"):
        profit_menu(BayesProfitClassifier(LogisticRegression()), X, y, gains, [5])
