"""RankingForest."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.datasets import make_classification

from scarce.trees import RankingForest
from scarce.trees._kernels_consensus import insert_by_majority
from tests import naive_trees as naive


@pytest.fixture
def rows():
    return make_classification(400, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


EARLIER = {
    "max_samples": 0.5,
    "aggregate": "mean_score",
    "leaf_rank": "weighted_error",
    "min_samples_split": 2,
    "max_features": None,
    "tie_break": "path",
}


def test_the_first_defaults_give_the_scores_they_always_gave():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)
    X[::17, 1] = np.nan
    score = RankingForest(6, max_depth=4, random_state=0, **EARLIER).fit(X, y).score_samples(X)
    first = [0.493984584255124, 0.39401745637663255, 0.3880598953874433, 0.48060806401132844]
    np.testing.assert_allclose(score[:4], first, rtol=1e-14)
    assert score.sum() == pytest.approx(142.90816480165392, rel=1e-13)


def test_the_score_is_the_mean_precision_of_the_leaves_that_trees_ended_in(rows):
    X, y = rows
    forest = RankingForest(4, max_depth=3, random_state=0).fit(X, y)
    expected = np.zeros(len(y))
    for tree, seed in zip(forest.trees_, forest._tree_seeds, strict=True):
        bag = forest._in_bag(len(y), seed)
        ends = np.array([naive.descend(tree.graph, x)[1] for x in X])
        weight, positives = np.bincount(ends, bag), np.bincount(ends, bag * y)
        expected += naive.smoothed_precision(positives[ends], weight[ends], y.mean())
    np.testing.assert_allclose(forest.score_samples(X), expected / 4, rtol=1e-12)


@pytest.mark.parametrize("aggregate", ["mean_rank", "median_rank"])
def test_ranks_are_of_the_training_rows(rows, aggregate):
    X, y = rows
    forest = RankingForest(5, max_depth=2, aggregate=aggregate, random_state=0).fit(X, y)
    ranks = []
    for tree in forest.trees_:
        leaf = tree.graph.apply(X)
        ranks.append(1 - (rankdata(leaf) - 0.5) / len(y))
    average = np.mean if aggregate == "mean_rank" else np.median
    np.testing.assert_allclose(forest.score_samples(X), average(ranks, axis=0))


def test_no_two_neighbours_of_the_consensus_want_to_change_places():
    rng = np.random.default_rng(0)
    for _ in range(50):
        ranks = rng.integers(0, 6, size=(12, 7)).astype(float)
        start = np.argsort(-ranks.mean(axis=1), kind="stable")
        order = insert_by_majority(start, ranks)
        assert sorted(order) == list(range(12))
        for before, after in pairwise(order):
            assert np.sign(ranks[after] - ranks[before]).sum() <= 0


def test_kemeny_ranks_unseen_rows_by_their_mean_rank(rows):
    X, y = rows
    models = {
        name: RankingForest(5, max_depth=3, aggregate=name, random_state=0).fit(X[:200], y[:200])
        for name in ("kemeny", "mean_rank")
    }
    kemeny, mean = (models[name].score_samples(X) for name in ("kemeny", "mean_rank"))
    known = {tuple(row) for row in models["kemeny"]._cells}
    leaves = np.column_stack([tree.graph.apply(X) for tree in models["kemeny"].trees_])
    unseen = np.array([tuple(row) not in known for row in leaves])
    assert unseen.any()
    np.testing.assert_allclose(kemeny[unseen], mean[unseen])


@pytest.mark.parametrize("aggregate", ["median_rank", "kemeny"])
def test_a_consensus_is_not_written_as_sql(rows, aggregate):
    with pytest.raises(ValueError, match="cannot be written as SQL"):
        RankingForest(3, max_depth=2, aggregate=aggregate, random_state=0).fit(*rows).to_sql()
