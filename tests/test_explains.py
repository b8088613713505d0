"""Explanations of the methods: effects that add up on hard tables, what `fit` keeps for them, and threads."""

import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils import get_tags

import scarce
from scarce.neighbors import CCNND, KENN, GammaKNN
from scarce.trees import APTree, MetaAPForest, ProfitForest, RankingForest
from tests.small_tables import tables

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

# A threshold as a number: one that is chosen needs more rows than the smallest tables have.
EXAMPLES = [
    instance.set_params(threshold=0.0)
    for _, cls in scarce.all_estimators()
    for instance in cls._examples()
    if cls.__name__ not in ("ResampledClassifier", "ResampledGammaKNN", "SDC")  # samplers refuse small classes
]


def additive(estimator):
    X, y = make_classification(60, 4, weights=[0.8], random_state=0)
    with warnings.catch_warnings():  # called while tests are collected, when no filter of theirs holds
        warnings.filterwarnings("ignore", "Without gains")
        return clone(estimator).set_params(threshold="default").fit(X, y).explain(X[:1]).additive


def free(estimator):
    """Return the estimator without what excludes a threshold, and without tuning, which small tables do not allow."""
    given = estimator.get_params(deep=False)
    without = [name for name in ("prune", "n_iter_no_change") if name in given]
    without += ["gamma"] if "gamma_max" in given else []
    return clone(estimator).set_params(**dict.fromkeys(without))


ADDITIVE = [free(estimator) for estimator in EXAMPLES if additive(estimator)]


def test_the_methods_that_say_so_are_found():
    names = {type(estimator).__name__ for estimator in ADDITIVE}
    assert names == {
        "APBoosting", "APTree", "ClassWeightedKNN", "DuplicatedKNN", "GammaKNN", "IMLKNN", "LocallyWeightedNN", "ME2",
        "MLFPKNN", "MetaAP", "MetaAPForest", "ProfitBoosting", "ProfitForest", "ProfitTree", "RankingForest",
        "TreeRank",
    }  # fmt: skip


@pytest.mark.parametrize("estimator", ADDITIVE, ids=lambda estimator: repr(estimator).replace("\n", ""))
@pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
@settings(max_examples=8)
@given(table=tables(2), missing=st.booleans())
def test_effects_add_up(estimator, table, missing):
    """On ties, duplicates, constant columns, float32, classes of one row; on missing values where they are allowed."""
    X, y = table
    X = X.copy()
    if missing and get_tags(estimator).input_tags.allow_nan:
        X[0, 0] = np.nan
    model = clone(estimator).set_params(pos_label=1).fit(X, y)
    queries = np.vstack((X, X[:3] + np.float32(0.375)))
    explained = model.explain(queries)
    assert explained.additive
    score = model.score_samples(queries)
    np.testing.assert_array_equal(explained.score, score)
    added = explained.base_value + explained.effects.sum(axis=1)
    np.testing.assert_allclose(added, score, rtol=1e-9, atol=1e-9)
    json.dumps(explained.to_dicts(), allow_nan=False)


@pytest.mark.parametrize("estimator", [e for e in EXAMPLES if get_tags(e).classifier_tags.multi_class], ids=repr)
@pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=", "ignore:Every model calls all training")
@settings(max_examples=8)
@given(table=tables(3))
def test_several_classes_on_hard_tables(estimator, table):
    X, y = table
    if np.bincount(y).min() < 2 and hasattr(estimator, "validation"):
        return  # folds need two rows of each class
    model = clone(estimator).set_params(threshold="default").fit(X, y)
    explained = model.explain(X)
    assert np.isfinite(explained.effects).all()
    if len(np.unique(y)) > 2:
        np.testing.assert_array_equal(explained.label, model.predict(X))
    for found in explained.neighbours:
        assert all(near.label == y[near.row] for near in found)
    json.dumps(explained.to_dicts(), allow_nan=False)


def test_one_row_of_a_class_has_no_missing_effects():
    X, y = np.arange(12.0).reshape(6, 2), np.array([1, 0, 0, 0, 0, 0])
    for model in (GammaKNN(1, threshold=0.5), KENN(1), APTree()):
        assert np.isfinite(model.fit(X, y).explain(X).effects).all()


@pytest.mark.parametrize("forest", [MetaAPForest(4, random_state=0), ProfitForest(4, n_boosted=3, random_state=0)])
def test_threads_do_not_change_an_explanation(forest):
    X, y = make_classification(300, 6, weights=[0.9], random_state=0)
    one, two = (clone(forest).set_params(n_jobs=n).fit(X, y).explain(X[:40]) for n in (1, 2))
    np.testing.assert_array_equal(one.effects, two.effects)
    np.testing.assert_array_equal(one.base_value, two.base_value)


def test_the_place_within_a_leaf_is_in_the_base_value():
    X, y = make_classification(300, 4, weights=[0.8], random_state=0)
    tied, ranked = (APTree(max_depth=2, tie_break=how).fit(X, y).explain(X) for how in (None, "path"))
    np.testing.assert_array_equal(tied.effects, ranked.effects)
    assert len(np.unique(tied.base_value.round(12))) == 1
    np.testing.assert_allclose(ranked.base_value - tied.base_value, ranked.score - tied.score, atol=1e-12)
    assert (ranked.base_value >= tied.base_value).all()
    assert tied.base_value[0] == pytest.approx(y.mean())


@pytest.mark.parametrize(
    ("aggregate", "adds_up"), [("mean_score", 1), ("mean_rank", 1), ("median_rank", 0), ("kemeny", 0)]
)
def test_only_means_of_trees_add_up(aggregate, adds_up):
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    model = RankingForest(3, max_depth=2, aggregate=aggregate, random_state=0).fit(X, y)
    assert model.explain(X[:2]).additive == adds_up
    assert hasattr(model, "_background") == (not adds_up)


def test_trees_keep_no_rows():
    X, y = make_classification(300, 4, weights=[0.8], random_state=0)
    model = APTree(max_depth=2).fit(X, y)
    assert not hasattr(model, "_background")
    np.testing.assert_allclose(model.explain(X[:1]).usual, np.median(X, axis=0))


@pytest.mark.parametrize("estimator", [CCNND(), CCNND(max_per_class=5)], ids=repr)
def test_a_forgotten_row_is_in_no_file(estimator):
    X, y = make_classification(60, 4, weights=[0.8], random_state=0)
    model = clone(estimator).fit(X, y)
    gone = int(model.rows_[0])
    stored = pickle.dumps(model.forget([gone]))
    assert not any(value.tobytes() in stored for value in X[gone])
    assert model.explain(X[:1]).usual is None


def test_rules_of_trees_are_those_of_rules():
    X, y = make_classification(400, 4, weights=[0.8], random_state=0)
    model = APTree(max_depth=3).fit(X, y)
    found = {rule.number: rule for rule in model.rules()}
    for row, one in zip(X[:20], model.explain(X[:20]), strict=True):
        number = int(one.rule[0].split("(rule ")[1].split(":")[0])
        assert found[number].holds(row[None])[0]
        assert one.rule[0].endswith(f"{found[number].share:.1%} of {found[number].rows} training rows positive)")


def test_categories_are_shown_by_name():
    """A rule and the values name what the codes stand for; a code without a name stays."""
    rng = np.random.default_rng(0)
    country = np.tile([0.0, 1.0, 2.0, -1.0], 50)
    X, y = np.column_stack((country, rng.normal(size=200))), np.isin(country, [1, 2]).astype(int)
    names = {"x0": ["Austria", "Belgium", "Chile"]}
    for model in (APTree(max_depth=2, pos_label=1), GammaKNN(1, pos_label=1)):
        plain, named = model.fit(X, y).explain(X[:4]), model.explain(X[:4], categories=names)
        assert [row[0] for row in named.values.tolist()] == ["Austria", "Belgium", "Chile", -1.0]
        np.testing.assert_array_equal(named.effects, plain.effects)
        np.testing.assert_array_equal(named.values[:, 1].astype(float), X[:4, 1])
        assert "Belgium" in str(named[1])
        with pytest.raises(ValueError, match="'x9', which is not a feature"):
            model.explain(X, categories={"x9": []})
    codes = np.abs(X)
    tree = APTree(max_depth=2, pos_label=1, categorical_features=[0]).fit(codes, y)
    assert "Austria" in tree.explain(codes[:1], categories=names).rule[0]
