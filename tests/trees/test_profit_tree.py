"""ProfitTree against slow, obvious twins, and the statements of the thesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.metrics import profit_score, savings_score
from scarce.trees import ProfitTree
from scarce.trees._pruning import prune_for_profit
from tests import naive_profit_trees as naive
from tests import naive_trees

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

CRITERIA = {
    "profit": {},
    "profit_unweighted": {"weighting": "equal"},
    "cost": {"criterion": "cost"},
}


@st.composite
def problems(draw, weights=True, missing=True):
    """Small tables of few values, with both classes and gains that are whole numbers and make right decisions pay."""
    n = draw(st.integers(3, 14))
    d = draw(st.integers(1, 3))
    values = [0.0, 0.5, 1.0, 2.0] + [np.nan] * missing
    X = np.array(draw(st.lists(st.lists(st.sampled_from(values), min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    base = np.array(draw(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=n, max_size=n)))
    pays = np.array(draw(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=n, max_size=n)))
    gains = np.column_stack((base[:, 0] + pays[:, 0], base[:, 1], base[:, 1] + pays[:, 1], base[:, 0])).astype(float)
    weight = None
    if weights and draw(st.booleans()):
        weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return X, y, gains, weight


def leaves(graph, rows, node=0):
    """Yield each node with its rows."""
    yield node, rows
    if graph.feature[node] >= 0:
        left, right = naive_trees.part(rows, lambda row: naive_trees.goes_left(graph, node, row[0]))
        yield from leaves(graph, left, graph.left[node])
        yield from leaves(graph, right, graph.right[node])


class TestTree:
    @pytest.mark.parametrize("name", CRITERIA)
    @given(problem=problems())
    def test_every_split_is_a_best_one_and_every_leaf_is_worth_its_profit(self, name, problem):
        X, y, gains, weight = problem
        model = ProfitTree(max_depth=3, pos_label=1, **CRITERIA[name]).fit(X, y, weight, gains=gains)
        graph = model.tree_
        rows = naive.rows_of(X, y, gains, weight)
        depth = {0: 0}
        for node, inside in leaves(graph, rows):
            np.testing.assert_allclose(graph.sums[node], [naive_trees.total(inside, k) for k in range(1, 5)])
            best = naive_trees.best_gain(inside, name, [False] * X.shape[1])
            if graph.feature[node] < 0:
                pure = naive_trees.positives(inside) in (0, naive_trees.weight(inside))
                assert best <= 1e-9 or pure or depth[node] == 3
                continue
            left, right = naive_trees.part(inside, lambda row, node=node: naive_trees.goes_left(graph, node, row[0]))
            assert naive_trees.gain(name, left, right) == pytest.approx(best, abs=1e-9)
            assert best > 0
            depth[graph.left[node]] = depth[graph.right[node]] = depth[node] + 1
        ends = {n: naive.leaf_worth(inside) for n, inside in leaves(graph, rows) if graph.feature[n] < 0}
        worth = [ends[naive_trees.descend(graph, x)[1]] for x in X.tolist()]
        np.testing.assert_allclose(model.score_samples(X), worth, rtol=1e-12, atol=1e-12)
        assert model.threshold_ == 0
        np.testing.assert_array_equal(model.predict(X) == 1, np.array(worth) > 0)

    @given(problem=problems(weights=False, missing=False))
    def test_the_gain_is_that_of_equation_6_2(self, problem):
        X, y, gains, _ = problem
        graph = ProfitTree(max_depth=1, pos_label=1).fit(X, y, gains=gains).tree_
        parent = list(zip(y, gains, strict=True))
        best = 0.0
        for j in range(X.shape[1]):
            for threshold in np.unique(X[:, j])[:-1]:
                sides = [
                    [row for row, k in zip(parent, X[:, j] <= threshold, strict=True) if k == s] for s in (True, False)
                ]
                weighted = sum(len(side) / len(y) * naive.mean_profit(side) for side in sides)
                best = max(best, weighted - naive.mean_profit(parent))
        found = 0.0
        if graph.feature[0] >= 0:
            left = X[:, graph.feature[0]] <= graph.threshold[0]
            sides = [[row for row, k in zip(parent, left, strict=True) if k == s] for s in (True, False)]
            found = sum(len(side) / len(y) * naive.mean_profit(side) for side in sides) - naive.mean_profit(parent)
        assert found == pytest.approx(best, abs=1e-9)

    @given(problem=problems())
    def test_it_never_earns_less_in_training_than_one_label_for_all(self, problem):
        X, y, gains, weight = problem
        for options in CRITERIA.values():
            model = ProfitTree(pos_label=1, **options).fit(X, y, weight, gains=gains)
            earned, positive, negative = (
                profit_score(y, called, gains, sample_weight=weight)
                for called in (model.predict(X), np.ones(len(y), int), np.zeros(len(y), int))
            )
            assert earned >= max(positive, negative)

    @given(problem=problems(), seed=st.integers(0, 5), exponent=st.integers(-40, 40))
    def test_neither_row_order_nor_currency_matters(self, problem, seed, exponent):
        X, y, gains, weight = problem
        gains = gains * 0.1 + 1 / 3  # sums of these depend on their order
        score = ProfitTree(pos_label=1).fit(X, y, weight, gains=gains).score_samples(X)
        order = np.random.default_rng(seed).permutation(len(y))
        permuted = ProfitTree(pos_label=1).fit(
            X[order], y[order], None if weight is None else weight[order], gains=gains[order]
        )
        np.testing.assert_array_equal(permuted.score_samples(X), score)
        other = ProfitTree(pos_label=1).fit(X, y, weight, gains=gains * 2.0**exponent)
        np.testing.assert_array_equal(other.score_samples(X), score * 2.0**exponent)

    @given(problem=problems())
    def test_a_weight_is_a_number_of_copies(self, problem):
        X, y, gains, weight = problem
        weight = np.arange(len(y)) % 3 + 1.0 if weight is None else weight
        copies = np.repeat(np.arange(len(y)), weight.astype(int))
        a = ProfitTree(pos_label=1).fit(X, y, weight, gains=gains)
        b = ProfitTree(pos_label=1).fit(X[copies], y[copies], gains=gains[copies])
        np.testing.assert_array_equal(a.score_samples(X), b.score_samples(X))

    def test_the_unweighted_gain_splits_off_tiny_nodes_of_noise(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(2000, 1)), (rng.random(2000) < 0.03).astype(int)
        gains = [0, -4, 1, -80]
        sizes = {}
        for weighting in ("size", "equal"):
            graph = ProfitTree(weighting=weighting, max_depth=1).fit(X, y, gains=gains).tree_
            sizes[weighting] = graph.leaf_counts().min() if graph.n_leaves == 2 else len(y)
        assert sizes["equal"] < 10 < sizes["size"]

    def test_min_gain_is_in_money_a_row(self, payments):
        X, y, gains = payments
        graph = ProfitTree(max_depth=1).fit(X, y, gains=gains).tree_
        w, p, a, b = graph.sums.T
        drawn = (p * a + (w - p) * b) / w
        gain = (drawn[1] + drawn[2] - drawn[0]) / len(y)
        assert ProfitTree(max_depth=1, min_gain=0.999 * gain).fit(X, y, gains=gains).tree_.n_leaves == 2
        assert ProfitTree(max_depth=1, min_gain=1.001 * gain).fit(X, y, gains=gains).tree_.n_leaves == 1

    def test_bahnsens_tree_saves(self, payments):
        X, y, gains = payments
        model = ProfitTree(criterion="cost", min_samples_leaf=10).fit(X[:1000], y[:1000], gains=gains[:1000])
        assert savings_score(y[:1000], model.predict(X[:1000]), gains[:1000]) > 0.1
        assert savings_score(y[1000:], model.predict(X[1000:]), gains[1000:]) > 0

    def test_without_gains_right_decisions_earn_one(self, payments):
        X, y, _ = payments
        a = ProfitTree(max_depth=4).fit(X, y)
        b = ProfitTree(max_depth=4).fit(X, y, gains=[1, 0, 1, 0])
        np.testing.assert_array_equal(a.score_samples(X), b.score_samples(X))


class TestPruning:
    @given(problem=problems(), seed=st.integers(0, 9))
    def test_no_smaller_tree_earns_more_on_the_rows_aside(self, problem, seed):
        X, y, gains, weight = problem
        rng = np.random.default_rng(seed)
        kept = np.concatenate((X, X)), np.concatenate((y, rng.permutation(y))), np.concatenate((gains, gains))
        aside = np.arange(len(y), 2 * len(y))
        full = ProfitTree(pos_label=1).fit(X, y, weight, gains=gains).tree_
        rows = naive.rows_of(*kept, None if weight is None else np.concatenate((weight, weight)))
        stats = np.array([row[1:] for row in rows])
        pruned = prune_for_profit(full, kept[0], stats, aside)
        called = full.sums[:, 2] > full.sums[:, 3]
        tested = [rows[i] for i in aside]
        best, size = naive.best_pruned(full, 0, called, tested)
        assert pruned.n_leaves == size
        same = {0: 0}  # of each node that is kept, its number in the full tree
        earned = 0.0
        for node, inside in leaves(pruned, rows):
            np.testing.assert_allclose(pruned.sums[node], [naive_trees.total(inside, k) for k in range(1, 5)])
            assert pruned.n_rows[node] == len(inside)
            if pruned.feature[node] >= 0:
                assert pruned.feature[node] == full.feature[same[node]]
                assert pruned.threshold[node] == full.threshold[same[node]]
                same[pruned.left[node]], same[pruned.right[node]] = full.left[same[node]], full.right[same[node]]
        for row in tested:
            earned += row[3] if called[same[naive_trees.descend(pruned, row[0])[1]]] else row[4]
        assert earned == pytest.approx(best)

    def test_it_forgets_noise(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(3000, 4)), (rng.random(3000) < 0.2).astype(int)
        gains, train, test = [0, -1, 0, -2], slice(0, 1000), slice(1000, None)
        full = ProfitTree().fit(X[train], y[train], gains=gains)
        pruned = ProfitTree(prune=0.3, random_state=0).fit(X[train], y[train], gains=gains)
        assert pruned.tree_.n_leaves < full.tree_.n_leaves / 4
        assert pruned.tree_.sums[0, 0] == pruned.tree_.n_rows[0] == 1000
        assert pruned.score(X[test], y[test], gains=gains) > full.score(X[test], y[test], gains=gains)

    def test_one_row_of_a_class_cannot_be_set_aside(self):
        X, y = np.arange(20.0)[:, None], np.r_[1, np.zeros(19, int)]
        with pytest.raises(ValueError, match="at least two rows of each class"):
            ProfitTree(prune=0.2).fit(X, y)
