"""The faithful setting against the outputs of the authors' own MetaAP.

Their features are visited in a random order and the first best wins, so that splits that tie are the one thing that
may differ. It is seen node by node: on the rows of each of their nodes the engine must split if they do, with the same
gain; the leaves that they merge must be worth as much as those that the rule chooses; and where no tie was met the
meta-leaves and their order must be theirs.
"""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from scarce.trees import APTree, TreeRank
from scarce.trees._engine import encode_columns, grow_tree
from tests import naive_trees as naive
from tests.trees.test_engine import rule
from tests.trees.test_meta_engine import meta_grown

SETS = ["glass", "pima", "satimage", "vehicle", "wine4", "yeast6"]
META_TREES_WITHOUT_TIES = {("pima", 2), ("satimage", 2), ("yeast6", 2)}
WITHOUT_TIES_BY_IMPURITY = {("glass", "entropy")} | {
    (name, criterion) for name in ("pima", "satimage", "vehicle") for criterion in ("gini", "entropy")
}
TIED_TREE_RANKS = {("pima", 3), ("wine4", 3)}


def gain(p, w, p_left, w_left):
    return (2 * p_left - p) * (p_left * w - p * w_left) / (p * w) if p else 0.0


def count_ties(X, y, theirs, depth):
    """Compare one of their internal trees with the engine's on the same rows; return the ties, and each row's leaf."""
    coded, order = encode_columns(X, np.zeros(X.shape[1], np.int64), None)
    stats = np.column_stack((np.ones(len(y)), y)).astype(float)
    ours = grow_tree(coded, order, stats, rule("ap_mean", X.shape[1], max_depth=depth, inherit=True))
    leaf = np.empty(len(y), np.int64)
    pending, ties = [(0, 0, np.arange(len(y)))], 0
    while pending:
        node, own, rows = pending.pop()
        w, p = len(rows), y[rows].sum()
        assert theirs["value"][node] == [w - p, p]
        is_leaf = theirs["feature"][node] < 0
        assert own is None or (ours.feature[own] < 0) == is_leaf
        if is_leaf:
            leaf[rows] = node
            continue
        left = X[rows, theirs["feature"][node]] <= theirs["threshold"][node]
        sides = [None, None]
        if own is not None:
            own_left = X[rows, ours.feature[own]] <= ours.threshold[own]
            gains = [gain(p, w, y[rows][side].sum(), side.sum()) for side in (left, own_left)]
            assert gains[0] == pytest.approx(gains[1], rel=1e-9, abs=1e-9)
            if np.array_equal(left, own_left):
                sides = [ours.left[own], ours.right[own]]
            else:
                ties += 1
        pending += [(theirs["left"][node], sides[0], rows[left]), (theirs["right"][node], sides[1], rows[~left])]
    return ties, leaf


def gain_of_sides(better, y):
    """The average precision of a node's two sides, exactly; their constant part is left out."""
    w, p = int(better.sum()), int(y[better].sum())
    return Fraction(p * p, w * int(y.sum())) + Fraction(int(y.sum()) - p, len(y))


def best_gain_of_sides(leaf, y):
    """The highest one that any number of the leaves has, taken in the order of the paper."""
    numbers = np.unique(leaf)
    leaves = naive.ordered_leaves([(int((leaf == k).sum()), int(y[leaf == k].sum())) for k in numbers], "slope")
    w, p = (sum(column) for column in zip(*leaves[: naive.merged(leaves, "ap")], strict=True))
    return Fraction(p * p, w * int(y.sum())) + Fraction(int(y.sum()) - p, len(y))


def ranks(scores):
    """The number of each row's meta-leaf, the best first."""
    return np.unique(-np.round(scores, 9), return_inverse=True)[1]


def faithful(X, y, depth, inherit=True):
    stats = np.column_stack((np.ones(len(y)), y)).astype(float)
    growing = rule("ap_mean", X.shape[1], max_depth=depth, inherit=inherit)
    return meta_grown(X, stats, np.zeros(X.shape[1], bool), growing, max_depth=depth)


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("name", SETS)
def test_meta_trees(golden, name, depth):
    """Each of their nodes is the engine's but for ties, and their meta-leaves are numbered and scored as here."""
    with np.load(golden / f"metaap_{name}_split1.npz") as archive:
        X, y, train = archive["X"].astype(np.float32), archive["y"], archive["train_idx"]
        expected = archive[f"MetaAP_d{depth}_leafscore_train"]
    X, y = X[train], y[train]
    theirs = json.loads((golden / f"metatree_{name}_d{depth}.json").read_text())
    pending, ties, leaves = [("0", np.arange(len(y)))], 0, []
    while pending:
        node, rows = pending.pop()
        if node not in theirs["kids"]:
            leaves.append(rows)
            continue
        tree = theirs["trees"][node]
        more, leaf = count_ties(X[rows], y[rows], tree, depth)
        ties += more
        better = np.isin(leaf, tree["left_leaves"])
        assert gain_of_sides(better, y[rows]) == best_gain_of_sides(leaf, y[rows])
        sides = zip(theirs["kids"][node], (better, ~better), strict=True)
        pending += reversed([(str(k), rows[side]) for k, side in sides])
    # The better side comes first, all the way down.
    for i, rows in enumerate(leaves):
        np.testing.assert_allclose(expected[rows], (len(leaves) - i) / len(leaves), rtol=1e-12)
    assert (ties == 0) == ((name, depth) in META_TREES_WITHOUT_TIES)
    if ties == 0:
        assert_final_leaves(golden, name, depth)


def assert_final_leaves(golden, name, depth, other_test_rows=0):
    """Compare the scores of training and test rows by their leaves alone with those of the authors."""
    with np.load(golden / f"metaap_{name}_split1.npz") as archive:
        X, y = archive["X"].astype(np.float32), archive["y"]
        graph = faithful(X[archive["train_idx"]], y[archive["train_idx"]], depth)
        for part, others in (("train", 0), ("test", other_test_rows)):
            score = (graph.n_leaves - graph.apply(X[archive[f"{part}_idx"]])) / graph.n_leaves
            same = np.isclose(score, archive[f"MetaAP_d{depth}_leafscore_{part}"], rtol=1e-12)
            assert np.count_nonzero(~same) == others


def test_tiny_cases(golden):
    """Where a tree differs, another order of the features gives theirs: their order is random, and ties follow it."""
    plain_equal = 0
    cases = json.loads((golden / "metaap_micro.json").read_text())
    for case in cases:
        X, y, depth = np.array(case["X"], np.float32), np.array(case["y"]), case["max_depth"]
        count_ties(X, y, case["root"], depth)
        expected = ranks(case["leafscore"])
        in_some_order = (np.ascontiguousarray(X[:, order]) for order in permutations(range(X.shape[1])))
        assert any(np.array_equal(faithful(Z, y, depth).apply(Z), expected) for Z in in_some_order), case["seed"]
        plain_equal += np.array_equal(faithful(X, y, depth, inherit=False).apply(X), expected)
    assert plain_equal < len(cases)  # without the inherited impurity, which is their quirk, trees differ


@pytest.mark.parametrize("depth", [8, 10])
@pytest.mark.parametrize("name", ["glass", "vehicle", "yeast6"])
def test_deep_meta_trees(golden, name, depth):
    """On three sets deep trees are theirs to the last leaf, though two features may part the training rows alike.

    Such features part a few test rows otherwise. On the other three sets ties decide, and the nodes of these trees are
    not stored, so that nothing exact is known of them.
    """
    assert_final_leaves(golden, name, depth, other_test_rows={"glass": 0, "vehicle": 4, "yeast6": 2}[name])


def scaled(scores):
    return (scores - scores.min()) / np.ptp(scores)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("name", SETS)
def test_trees_ranked_by_the_distance_along_the_path(golden, name, criterion):
    """Where no tie decides, each score is theirs; ties decide in all deep trees, and in small ones of three sets."""
    with np.load(golden / f"metaap_{name}_split1.npz") as archive:
        X, y, parts = archive["X"].astype(np.float32), archive["y"], [archive["train_idx"], archive["test_idx"]]
        train = parts[0]
        for depth in (3, 5):
            model = APTree(criterion=criterion, max_depth=depth, leaf_score="path_distance", calibration=None)
            model.fit(X[train], y[train])
            ours = [model.score_samples(X[rows]) for rows in parts]
            theirs = [archive[f"{criterion}ADT_d{depth}_{part}"] for part in ("train", "test")]
            if depth == 3 and (name, criterion) in WITHOUT_TIES_BY_IMPURITY:
                for own, other in zip(ours, theirs, strict=True):
                    np.testing.assert_allclose(scaled(own), other, atol=1e-6)
            own, other = (average_precision_score(y[train], scores[0]) for scores in (ours, theirs))
            assert own == pytest.approx(other, abs=0.025)


@pytest.mark.parametrize("name", SETS)
def test_tree_rank(golden, name):
    """Of small trees, the ranking of the training rows is theirs, but for one set where ties decide."""
    with np.load(golden / f"metaap_{name}_split1.npz") as archive:
        X, y = archive["X"].astype(np.float32)[archive["train_idx"]], archive["y"][archive["train_idx"]]
        for depth in (2, 3):
            model = TreeRank(max_depth=depth, min_samples_split=2, tie_break=None, calibration=None).fit(X, y)
            own = average_precision_score(y, model.score_samples(X))
            other = average_precision_score(y, archive[f"TreeRank_d{depth}_train"])
            assert own == pytest.approx(other, abs=1e-12 if (name, depth) not in TIED_TREE_RANKS else 0.05)
