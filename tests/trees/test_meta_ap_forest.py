"""MetaAPForest."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score

from scarce.trees import MetaAP, MetaAPForest


@pytest.fixture
def rows():
    return make_classification(400, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


def test_a_tree_of_the_forest_is_meta_ap_on_its_bag(rows):
    X, y = rows
    forest = MetaAPForest(3, max_depth=2, random_state=0).fit(X, y)
    scores = []
    for seed in forest._tree_seeds:
        bag = np.repeat(np.arange(len(y)), forest._in_bag(len(y), seed).astype(int))
        scores.append(MetaAP(2).fit(X[bag], y[bag]).score_samples(X))
    np.testing.assert_allclose(forest.score_samples(X), np.mean(scores, axis=0), rtol=1e-12)


def test_honest_scores_are_out_of_bag(rows):
    X, y = rows
    forest = MetaAPForest(30, max_depth=2, random_state=0).fit(X, y)
    honest = forest.honest_scores(X, y)
    row = 17
    votes = []
    for tree, seed in zip(forest.trees_, forest._tree_seeds, strict=True):
        if forest._in_bag(len(y), seed)[row] == 0:
            out = np.zeros(1)
            tree.scores.add_to(out, tree.graph, X[[row]])
            votes.append(out[0])
    assert honest[row] == pytest.approx(np.mean(votes))
    # Labels without any relation to the rows are learned by heart, but not out of bag.
    noise = np.random.default_rng(0).permutation(y)
    forest.set_params(criterion="gini", max_depth=5).fit(X, noise)
    assert average_precision_score(noise, forest.score_samples(X)) > 0.8
    assert average_precision_score(noise, forest.honest_scores(X, noise)) < 0.3


def test_few_trees_fall_back_to_cross_fitting(rows):
    X, y = rows
    forest = MetaAPForest(2, max_depth=2, random_state=0, threshold="f1").fit(X, y)
    assert np.isfinite(forest.threshold_)


def test_a_forest_with_a_budget_flags_it():
    X, y = make_classification(600, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)
    forest = MetaAPForest(20, max_depth=2, top_k=30, random_state=0).fit(X, y)
    assert 15 <= np.sum(forest.honest_scores(X, y) > forest.threshold_) <= 30
