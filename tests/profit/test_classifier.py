"""What all classifiers that learn from gains share."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

import scarce
from scarce.profit import ProfitClassifier

EXAMPLES = [
    example for _, cls in scarce.all_estimators() if issubclass(cls, ProfitClassifier) for example in cls._examples()
]


@pytest.fixture(scope="module")
def rows():
    return make_classification(200, 5, weights=[0.8], random_state=0)


def of_gains(caught):
    return [warning for warning in caught if "maximises accuracy" in str(warning.message)]


@pytest.mark.parametrize("threshold", ["default", "f1", 0.5])
@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_without_gains_a_fit_warns_once(model, threshold, rows):
    X, y = rows
    model = clone(model).set_params(threshold=threshold)
    for learn in (model.fit, model.honest_scores):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learn(X, y)
        [warning] = of_gains(caught)
        assert str(warning.message).startswith(f"Without gains {type(model).__name__} maximises accuracy")
        assert "fit(X, y, gains=" in str(warning.message)
        assert warning.filename == __file__  # it points at the call
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, gains=np.tile([10.0, -1, 0, -10], (len(y), 1)))
        model.predict(X)
    assert not of_gains(caught)
