"""The gains of ProfitTree and ProfitForest."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce.metrics import profit_score, profit_scorer
from scarce.trees import ProfitForest, ProfitTree


@pytest.mark.parametrize("estimator", [ProfitTree(), ProfitForest(5, random_state=0)], ids=["tree", "forest"])
class TestGains:
    def test_they_find_their_way_through_a_pipeline(self, payments, estimator):
        X, y, gains = payments
        with config_context(enable_metadata_routing=True):
            model = make_pipeline(StandardScaler(), estimator.set_fit_request(gains=True))
            result = cross_validate(model, X, y, params={"gains": gains}, cv=3, scoring=profit_scorer())
        nothing = profit_score(y, 0 * y, gains)
        assert result["test_score"].sum() > nothing

    @pytest.mark.parametrize(
        ("gains", "message"),
        [
            (np.zeros((5, 3)), "four columns"),
            (np.tile([1.0, 0, 1, 0], (7, 1)), "got shape"),
            ([np.nan, 0, 1, 0], "gain tp is missing or infinite"),
            ([np.inf, 0, 1, 0], "gain tp is missing or infinite"),
            ([0, 1, 0, 1], "No correct decision earns more"),
            ([1, 1, 1, 1], "do not depend on the decision"),
        ],
    )
    def test_bad_ones(self, payments, estimator, gains, message):
        X, y, _ = payments
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, gains=gains)
