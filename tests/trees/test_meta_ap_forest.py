"""MetaAPForest."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score

from scarce.objectives import FBeta
from scarce.trees import MetaAP, MetaAPForest
from tests import naive_trees as naive

PAPER = {
    "splits": "best",
    "aggregate": "mean_score",
    "criterion": "ap_mean",
    "order": "slope",
    "min_samples_leaf": 1,
    "max_features": None,
    "tie_break": "path",
}


@pytest.fixture
def rows():
    return make_classification(400, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


def test_a_tree_of_the_papers_forest_is_meta_ap_on_its_bag(rows):
    X, y = rows
    forest = MetaAPForest(3, max_depth=2, random_state=0, **PAPER).fit(X, y)
    scores = []
    for seed in forest._tree_seeds:
        bag = np.repeat(np.arange(len(y)), forest._in_bag(len(y), seed).astype(int))
        scores.append(MetaAP(2).fit(X[bag], y[bag]).score_samples(X))
    np.testing.assert_allclose(forest.score_samples(X), np.mean(scores, axis=0), rtol=1e-12)


# Scores of the first version of the forest, when these arguments were its defaults.
EARLIER = [
    ({}, [0.3442664344074417, 0.2379904178540909, 0.2431619777377597, 0.5331852541559615], 102.93669305449532),
    (
        {"criterion": "ap_max", "order": "precision", "max_features": 0.5, "min_samples_leaf": 3, "tie_break": None},
        [0.2687890812890813, 0.12295574795574797, 0.1381072631072631, 0.2300986050986051],
        68.83080808080808,
    ),
    (
        {"criterion": "ap_mean_inherited", "max_features": "sqrt", "top_k": 0.2, "max_leaf_depth": 3},
        [0.5844588411300502, 0.33786026995010504, 0.28835002949597216, 0.3075895912995646],
        124.42284364047548,
    ),
]


@pytest.mark.parametrize(("changed", "first", "total"), EARLIER)
def test_the_arguments_of_the_paper_give_the_scores_they_always_gave(changed, first, total):
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)
    X[::17, 1] = np.nan
    score = MetaAPForest(6, max_depth=4, random_state=0, **{**PAPER, **changed}).fit(X, y).score_samples(X)
    np.testing.assert_allclose(score[:4], first, rtol=1e-14)
    assert score.sum() == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_score_is_the_mean_precision_of_the_leaves_that_trees_ended_in(rows, merge, weighted):
    X, y = rows
    X[::7, 2] = np.nan
    weight = np.random.default_rng(0).random(len(y)) + 0.5 if weighted else np.ones(len(y))
    forest = MetaAPForest(6, max_depth=3, merge=merge, random_state=0).fit(X, y, sample_weight=weight)
    expected = np.zeros(30)
    for tree, seed in zip(forest.trees_, forest._tree_seeds, strict=True):
        bag = weight * forest._in_bag(len(y), seed)
        ends = [naive.descend(tree.graph, x)[1] for x in X]
        for i in range(30):
            same = np.array([end == ends[i] for end in ends])
            expected[i] += naive.smoothed_precision(bag[same] @ y[same], bag[same].sum(), weight @ y / weight.sum())
    np.testing.assert_allclose(forest.score_samples(X)[:30], expected / 6, rtol=1e-12)


def test_every_second_tree_of_a_mixed_forest_is_random(rows):
    mixed, best, random = (
        [tree.graph for tree in MetaAPForest(4, splits=kind, random_state=0).fit(*rows).trees_]
        for kind in ("mixed", "best", "random")
    )
    for number, graph in enumerate(mixed):
        np.testing.assert_array_equal(graph.threshold, (random if number % 2 else best)[number].threshold)
        assert not np.array_equal(random[number].threshold, best[number].threshold)


def test_auto_is_what_the_documentation_says(rows):
    X, y = rows
    for splits, same in (("best", {"max_features": 0.5, "min_samples_leaf": 5}), ("random", {"min_samples_leaf": 2})):
        auto = MetaAPForest(3, splits=splits, random_state=0).fit(X, y)
        given = MetaAPForest(3, splits=splits, random_state=0, **{"max_features": None, **same}, max_depth=8).fit(X, y)
        np.testing.assert_array_equal(auto.score_samples(X), given.score_samples(X))
        assert min(tree.graph.n_rows[tree.graph.feature < 0].min() for tree in auto.trees_) >= same["min_samples_leaf"]


def test_honest_scores_are_out_of_bag(rows):
    X, y = rows
    forest = MetaAPForest(30, max_depth=2, random_state=0).fit(X, y)
    honest = forest.honest_scores(X, y)
    row = 17
    votes = [
        tree.score(X[[row]])[0]
        for tree, seed in zip(forest.trees_, forest._tree_seeds, strict=True)
        if forest._in_bag(len(y), seed)[row] == 0
    ]
    assert honest[row] == pytest.approx(np.mean(votes))
    # Labels without any relation to the rows are learned by heart, but not out of bag.
    noise = np.random.default_rng(0).permutation(y)
    forest.set_params(max_depth=None).fit(X, noise)
    assert average_precision_score(noise, forest.score_samples(X)) > 0.8
    assert average_precision_score(noise, forest.honest_scores(X, noise)) < 0.3


def test_few_trees_leave_out_the_rows_that_are_in_every_bag(rows):
    X, y = rows
    forest = MetaAPForest(2, max_depth=2, random_state=0, threshold="f1").fit(X, y)
    honest = forest.honest_scores(X, y)
    drawn = np.all([forest._in_bag(len(y), seed) > 0 for seed in forest._tree_seeds], axis=0)
    np.testing.assert_array_equal(np.isnan(honest), drawn)
    assert 0.3 < drawn.mean() < 0.5
    # The threshold is the best on the other rows.

    assert forest.threshold_ == FBeta(1).best_threshold(honest[~drawn], y[~drawn]).threshold
    budget = MetaAPForest(2, max_depth=2, random_state=0).fit(X, y)
    flagged = np.sum(honest[~drawn] > budget.threshold_)
    assert 0 < flagged <= round(y.sum() * (~drawn).mean())


def test_few_trees_take_one_fit(rows, monkeypatch):
    fits = []
    fit_trees = MetaAPForest._fit_trees
    monkeypatch.setattr(MetaAPForest, "_fit_trees", lambda self, data: (fits.append(1), fit_trees(self, data))[1])
    MetaAPForest(2, max_depth=2, random_state=0, threshold="f1").fit(*rows)
    assert len(fits) == 1


def test_a_class_in_every_bag_is_scored_by_folds():
    X, y = np.arange(12.0)[:, None], np.r_[np.zeros(10), 1, 1].astype(int)
    seeds = [s for s in range(200) if np.isfinite(MetaAPForest(1, random_state=s).honest_scores(X, y)).all()]
    assert seeds  # a tree that drew both positive rows cannot score them


def test_a_forest_with_a_budget_flags_it():
    X, y = make_classification(600, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)
    forest = MetaAPForest(20, max_depth=2, top_k=30, random_state=0).fit(X, y)
    assert 15 <= np.sum(forest.honest_scores(X, y) > forest.threshold_) <= 30


@pytest.mark.parametrize("changed", [{"splits": "extra"}, {"aggregate": "mean"}, {"max_features": "all"}])
def test_unknown_names_are_refused(rows, changed):
    with pytest.raises(ValueError, match=f"The {next(iter(changed))!r} parameter of MetaAPForest must be"):
        MetaAPForest(2, **changed).fit(*rows)


def test_ranks_of_merged_leaves_need_merging(rows):
    with pytest.raises(ValueError, match=r'^aggregate="mean_score" ranks merged leaves: use merge=True, or .*\.$'):
        MetaAPForest(2, merge=False, aggregate="mean_score").fit(*rows)
