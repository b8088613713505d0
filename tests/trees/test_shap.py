"""The effects of features on trees, beside Shapley's formula over all subsets of features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from scarce.trees import APTree, MetaAP, MetaAPForest, ProfitTree, RankingForest, TreeRank
from scarce.trees._engine import shap
from scarce.trees._engine._kernels_shap import sizes_unrolled
from scarce.trees._engine.shap import forest_effects, tree_effects
from tests import naive_shap
from tests.trees.growing import grow, kinds

WAYS = {
    "the cheaper": {},
    "by paths": {"ALWAYS_EXACT": 0, "MAX_STEPS": 0, "LEAST": 0.0},
    "by subsets": {"MAX_STEPS": 2**40, "sizes_unrolled": lambda graph: (sizes_unrolled(graph)[0], np.inf)},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(shap, name, value)


def check(graph, value, rows):
    """Compare with the twin, and see that the effects add up."""
    effects, base_value = tree_effects(graph, value, rows)
    assert base_value == pytest.approx(naive_shap.mean_value(graph, value, rows[0], frozenset()), abs=1e-12)
    np.testing.assert_allclose(effects.sum(axis=1), value[graph.apply(rows)] - base_value, atol=1e-12)
    expected = [naive_shap.shapley_values(graph, value, x) for x in rows.tolist()]
    np.testing.assert_allclose(effects, expected, atol=1e-9)


@pytest.mark.usefixtures("way")
@given(kind=kinds, value_seed=st.integers(0, 99))
@settings(max_examples=25)
def test_effects_are_those_of_the_twin(kind, value_seed):
    """Trees and trees of trees, missing values, categories, float32, weights, rows on thresholds."""
    grown = grow(**kind | {"depth": min(kind["depth"], 3)}, meta_depth=2)
    check(grown.graph, grown.scores.value, grown.new[:3])
    value = np.random.default_rng(value_seed).normal(size=grown.graph.n_leaves)
    check(grown.graph, value, np.concatenate((grown.X[:1], grown.new[3:5])))


def test_the_engine_draws_features_twice_on_a_path_and_leaves_twice():
    """What the test above rests on."""
    grown = grow(3, n=80, d=2, depth=3, meta_depth=2)
    graph = grown.graph
    assert len(graph.first) > 1
    assert sizes_unrolled(graph)[0] > 2  # tests on a path, of two features
    assert (graph.jump[graph.feature < 0] < 0).sum() > graph.n_leaves


MODELS = [
    APTree(max_depth=5),
    MetaAP(3, 2),
    MetaAP(2, refine=True, criterion="ap_max"),
    TreeRank(3),
    ProfitTree(max_depth=4),
    ProfitTree(prune=0.3, max_depth=4),
]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.filterwarnings("ignore:.*gains")
def test_effects_of_the_estimators(model):
    X, y = make_classification(300, 6, n_informative=4, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=4)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model.fit(X, y, sample_weight=weight)
    check(model.tree_, model.leaf_scores_.value, X[:2])
    mean = np.average(model.leaf_scores_.value[model.tree_.apply(X)], weights=weight)
    assert tree_effects(model.tree_, model.leaf_scores_.value, X[:0]).base_value == pytest.approx(mean)


def test_a_stump():
    """Three rows of four left, where the value is 0: a row on the right is above the mean by three quarters."""
    X = np.array([[0.0, 5.0], [0.0, 5.0], [0.0, 5.0], [1.0, 5.0]])
    model = APTree(tie_break=None).fit(X, [0, 0, 0, 1])
    effects, base_value = tree_effects(model.tree_, model.leaf_scores_.value, X)
    assert base_value == 0.25
    np.testing.assert_allclose(effects, [[-0.25, 0], [-0.25, 0], [-0.25, 0], [0.75, 0]], atol=1e-15)


def test_and_of_two_features():
    """Both features matter only together, and share alike."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = APTree(criterion="gini", tie_break=None).fit(X, [0, 0, 0, 1])
    effects, base_value = tree_effects(model.tree_, model.leaf_scores_.value, X)
    assert base_value == 0.25
    np.testing.assert_allclose(effects[[0, 3]], [[-0.125, -0.125], [0.375, 0.375]], atol=1e-15)


def test_a_single_leaf_has_no_effects():
    grown = grow(0, n=2, depth=1, meta=False)
    model = APTree(max_depth=1, min_samples_leaf=2).fit([[0.0], [1.0], [1.0]], [0, 1, 1])
    assert model.tree_.n_leaves == 1
    effects, base_value = tree_effects(model.tree_, model.leaf_scores_.value, grown.new[:, :1])
    assert base_value == model.leaf_scores_.value[0]
    assert not effects.any()


@given(kind=kinds)
def test_effects_add_up_where_blocks_are_opened_once(kind):
    """The bounded way is exact for single trees, adds up for all, and is near to the exact one."""
    grown = grow(**kind)
    graph, value, rows = grown.graph, grown.scores.value, grown.new[:5]
    exact = tree_effects(graph, value, rows).effects
    with pytest.MonkeyPatch.context() as patch:
        for name, setting in {"ALWAYS_EXACT": 0, "MAX_STEPS": 0}.items():
            patch.setattr(shap, name, setting)
        near, base_value = tree_effects(graph, value, rows)
        np.testing.assert_allclose(near.sum(axis=1), value[graph.apply(rows)] - base_value, atol=1e-9)
        np.testing.assert_allclose(near, exact, atol=0.01 if len(graph.first) > 1 else 1e-12)
        patch.setattr(shap, "LEAST", np.inf)
        once, _ = tree_effects(graph, value, rows)
        np.testing.assert_allclose(once.sum(axis=1), value[graph.apply(rows)] - base_value, atol=1e-9)


def test_a_deep_tree_of_trees_takes_bounded_time_and_adds_up():
    """Of more paths than can be followed."""
    X, y = make_classification(4000, 20, n_informative=8, n_redundant=0, weights=[0.8], flip_y=0.2, random_state=0)
    model = TreeRank(max_bins=32, tie_break=None).fit(X, y)
    assert sizes_unrolled(model.tree_)[1] > 1e7
    effects, base_value = tree_effects(model.tree_, model.leaf_scores_.value, X[:20])
    np.testing.assert_allclose(effects.sum(axis=1) + base_value, model.score_samples(X[:20]), atol=1e-9)


@given(kind=kinds, order=st.randoms())
def test_a_row_does_not_depend_on_the_others(kind, order):
    grown = grow(**kind)
    rows = grown.new[:6]
    together = tree_effects(grown.graph, grown.scores.value, rows).effects
    for i in order.sample(range(len(rows)), len(rows)):
        alone = tree_effects(grown.graph, grown.scores.value, rows[i : i + 1]).effects
        np.testing.assert_array_equal(alone[0], together[i])


@pytest.mark.parametrize("forest", [MetaAPForest, RankingForest])
def test_the_effects_of_a_forest_are_the_mean_of_its_trees(forest):
    X, y = make_classification(300, 6, weights=[0.8], random_state=4)
    model = forest(7, max_depth=2, tie_break=None, random_state=0).fit(X, y)
    trees = [(tree.graph, tree.scores.value) for tree in model.trees_]
    effects, base_value = forest_effects(trees, X[:9])
    np.testing.assert_allclose(effects.sum(axis=1) + base_value, model.score_samples(X[:9]), atol=1e-12)
    single = [tree_effects(graph, value, X[:9]) for graph, value in trees]
    np.testing.assert_allclose(effects, np.mean([one.effects for one in single], axis=0), atol=1e-12)
    weighted = forest_effects(trees, X[:9], weights=np.arange(7.0))
    np.testing.assert_allclose(weighted.effects, sum(k * one.effects for k, one in enumerate(single)), atol=1e-12)
    assert weighted.base_value == pytest.approx(sum(k * one.base_value for k, one in enumerate(single)))
