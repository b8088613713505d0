"""The probabilities of an audit are those that a user of the method would get."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from scarce.audit.compare import _probability
from scarce.base import RareEventClassifier
from scarce.neighbors import GammaKNN
from scarce.profit import BayesProfitClassifier
from scarce.trees import APTree, ProfitTree


@pytest.mark.parametrize(
    "method",
    [ProfitTree(), APTree(), GammaKNN(), BayesProfitClassifier(LogisticRegression())],
    ids=lambda method: type(method).__name__,
)
def test_probabilities_are_those_of_predict_proba(method: RareEventClassifier) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 1.2).astype(int)
    amount = rng.uniform(5, 50, 300)
    gains = np.column_stack((amount, -np.ones(300), np.zeros(300), -amount))
    params = {"gains": gains} if "Profit" in type(method).__name__ else {}
    fitted = clone(method).fit(X, y, **params)
    got = _probability(fitted, X, fitted.score_samples(X))
    np.testing.assert_array_equal(got, fitted.predict_proba(X)[:, 1])
