"""Boosting for the average precision."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeRegressor

from scarce.boosting import APBoosting
from scarce.boosting._ap_boosting import _leaf_values
from scarce.boosting._losses import ap_loss


@pytest.fixture(scope="module")
def data():
    return make_classification(1500, 6, n_informative=4, n_redundant=0, weights=[0.95], flip_y=0.02, random_state=4)


@pytest.mark.parametrize(
    "params", [{"loss": "log"}, {"loss": "linear"}, {"loss": "log", "subsample": 0.5}, {"alpha": 3.0}]
)
def test_ranks_new_rows(data, params):
    X, y = data
    model = APBoosting(threshold=0.0, random_state=0, **params).fit(X[:1000], y[:1000])
    assert average_precision_score(y[1000:], model.score_samples(X[1000:])) > 5 * y.mean()


@pytest.mark.parametrize("loss", ["log", "linear"])
def test_each_tree_raises_the_surrogate(data, loss):
    X, y = data
    worse = 1.0
    for n in (1, 3, 10, 30):
        score = APBoosting(loss, n_estimators=n, threshold=0.0, random_state=0).fit(X, y).score_samples(X)
        value = float(ap_loss(score, y == 1, 1.0, np.ones(len(y))).value)
        assert value < worse
        worse = value


def test_explanations_add_up(data):
    X, y = data
    model = APBoosting(threshold=0.0, random_state=0).fit(X, y)
    explained = model.explain(X[:5])
    np.testing.assert_allclose(explained.base_value + explained.effects.sum(axis=1), model.score_samples(X[:5]))
    assert explained.additive
    variant = APBoosting(variant="mean_of_trees", n_estimators=3, threshold=0.0, random_state=0).fit(X, y)
    assert not variant.explain(X[:5]).additive


def test_a_rare_value_can_be_split_where_leaves_may_be_small():
    """LightGBM leaves out features that no split of 20 rows can use, unless it is asked not to."""
    X = np.zeros((600, 2))
    X[:12, 0] = 1
    y = (np.arange(600) < 12).astype(int)
    y[200:230] = 1
    few = APBoosting(min_child_samples=1, colsample_bytree=1.0, threshold=0.0, random_state=0).fit(X, y)
    assert few.booster_.feature_importance()[0] > 0
    assert (few.score_samples(X[:12]) > few.score_samples(X[12:]).max()).all()
    many = clone(few).set_params(min_child_samples=20).fit(X, y)
    assert many.booster_ is None
    assert np.ptp(many.score_samples(X)) == 0


def test_more_bins_find_a_narrow_interval():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1))
    y = ((X[:, 0] > 0.5) & (X[:, 0] < 0.502)).astype(int)  # half of one of 255 bins
    fine, coarse = (
        APBoosting(max_bin=bins, colsample_bytree=1.0, threshold=0.0, random_state=0).fit(X, y) for bins in (2047, 63)
    )
    ours, theirs = (average_precision_score(y, model.score_samples(X)) for model in (fine, coarse))
    assert ours > 0.9 > 0.5 > theirs
    with pytest.raises(ValueError, match="max_bin"):
        APBoosting(max_bin=1).fit(X, y)


def test_trees_as_arrays_are_those_of_scikit_learn(data):
    X, y = data
    tree = DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, y)
    grown = tree.tree_
    arrays = {
        "feature": grown.feature,
        "threshold": grown.threshold,
        "children": np.column_stack((grown.children_left, grown.children_right)),
        "value": grown.value[:, 0, 0],
    }
    edges = np.repeat(X[:1], len(grown.threshold), axis=0)
    edges[np.arange(len(edges)), np.maximum(grown.feature, 0)] = grown.threshold
    for rows in (X, edges):
        np.testing.assert_array_equal(_leaf_values(arrays, rows), tree.predict(rows))


def test_the_program_of_2022(golden):
    """Equal where its trees have no ties, which it breaks at random; else nearly so."""
    close = []
    for name, depth, rate in (("pima", 3, 0.1), ("wine4", 5, 0.5), ("glass", 3, 0.1), ("yeast6", 3, 0.1)):
        stored = np.load(golden / f"metaap_{name}_split1.npz")
        X, y, train = stored["X"], stored["y"], stored["train_idx"]
        model = APBoosting(
            variant="mean_of_trees",
            n_estimators=100,
            max_depth=depth,
            learning_rate=rate,
            random_state=0,
            threshold=0.5,
        ).fit(X[train], y[train])
        theirs = stored[f"SGBAP_d{depth}_lr{rate}_train"]
        ours = model.score_samples(X[train])
        close.append(np.abs(ours - theirs).max() < 1e-12)
        assert np.corrcoef(ours, theirs)[0, 1] > 0.98
        assert np.median(np.abs(ours - theirs)) < 1e-5
    assert sum(close) >= 2


def test_the_learning_rate_of_2022_scales_no_tree(data):
    X, y = data
    model = APBoosting(variant="mean_of_trees", n_estimators=1, max_depth=3, random_state=0, threshold=0.5)
    slow, fast = (clone(model).set_params(learning_rate=rate).fit(X, y) for rate in (0.01, 1.0))
    np.testing.assert_array_equal(slow.score_samples(X), fast.score_samples(X))
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    assert len(np.unique(slow.score_samples(X))) == tree.get_n_leaves()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y)
