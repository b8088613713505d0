"""Trees and forests for profit against slow, obvious twins, and the statements of the thesis."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce.metrics import profit_score, profit_scorer, savings_score
from scarce.objectives import Profit
from scarce.profit import Gains, bayes_threshold
from scarce.trees import ProfitForest, ProfitTree
from scarce.trees._pruning import prune_for_profit
from tests import naive_profit, naive_trees
from tests import naive_profit_trees as naive

CRITERIA = {
    "profit": {},
    "profit_unweighted": {"weighting": "none"},
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


@pytest.fixture(scope="module")
def payments():
    X, y = make_classification(1500, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=2)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y, Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)(X)


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
        for weighting in ("size", "none"):
            graph = ProfitTree(weighting=weighting, max_depth=1).fit(X, y, gains=gains).tree_
            sizes[weighting] = graph.leaf_counts().min() if graph.n_leaves == 2 else len(y)
        assert sizes["none"] < 10 < sizes["size"]

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


def out_of_fold_of(model, X, y, weight, gains):
    """Fit a forest, and return the steps and log-odds of rows by trees that had not seen them."""
    with model._learning_from(gains, len(y)):
        model._fit(*model._start(X, y, weight))
        return model._out_of_fold


class TestForest:
    @pytest.mark.parametrize("vote", ["mean", "max", "majority"])
    def test_votes(self, payments, vote):
        X, y, gains = payments
        X = X.copy()
        X[::7, 2] = np.nan
        X[:, 3] = np.floor(np.clip(X[:, 3] + 3, 0, 6))
        labels = {
            "mean": lambda w, p, a, b: (a - b) / w,
            "max": lambda w, p, a, b: a > b,
            "majority": lambda w, p, a, b: p > w - p,
        }
        model = ProfitForest(24, vote=vote, max_depth=5, categorical_features=[3], random_state=0)
        model.fit(X[:800], y[:800], gains=gains[:800])
        rows = X[800:880]
        rows[0, 3] = 99  # a category that was never seen
        expected = naive.share_of_trees(model, rows, labels[vote])
        np.testing.assert_allclose(model.score_samples(rows), expected, rtol=1e-12, atol=1e-12)
        wanted = expected > 0 if vote == "mean" else np.round(24 * expected) >= 9
        assert 0 < wanted.sum() < len(rows)
        np.testing.assert_array_equal(model.predict(rows) == 1, wanted)

    @pytest.mark.parametrize("n_estimators", [3, 7, 10, 24])
    def test_min_votes_is_enough(self, payments, n_estimators):
        X, y, gains = payments
        model = ProfitForest(n_estimators, vote="max", max_depth=3, random_state=0).fit(X, y, gains=gains)
        votes = np.round(model.score_samples(X) * n_estimators).astype(int)
        for enough in np.unique(votes)[1:]:
            model.set_params(min_votes=enough / n_estimators).fit(X, y, gains=gains)
            np.testing.assert_array_equal(model.predict(X) == 1, votes >= enough)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_all_trees_at_once_are_one_after_the_other(self, payments, dtype):
        X, y, gains = payments
        X = X.astype(dtype)
        model = ProfitForest(7, vote="mean", random_state=0).fit(X, y, gains=gains)
        total = np.zeros(len(X))
        for tree in model.trees_:
            tree.scores.add_to(total, tree.graph, X)
        np.testing.assert_array_equal(model.score_samples(X), total / 7)
        order = np.random.default_rng(0).permutation(len(X))
        np.testing.assert_array_equal(model.score_samples(X[order]), model.score_samples(X)[order])

    @pytest.mark.parametrize("vote", ["mean", "max"])
    def test_honest_scores_do_not_know_the_row(self, payments, vote):
        X, y, gains = (part[:200] for part in payments)
        model = ProfitForest(60, vote=vote, max_depth=4, random_state=0)
        honest = model.honest_scores(X, y, gains=gains)
        changed = 0
        for row in (0, 5, int(np.flatnonzero(y)[0])):
            other = y.copy()
            other[row] = 1 - y[row]
            scores = model.honest_scores(X, other, gains=gains)
            assert scores[row] == honest[row]
            changed += (scores != honest).any()
        assert changed

    @pytest.mark.parametrize(("missing", "n_boosted"), [(False, 0), (True, 0), (True, 12)])
    def test_odds_against_stakes(self, payments, missing, n_boosted):
        X, y, gains = (part[:600].copy() for part in payments)
        if missing:
            X[::7, 2] = np.nan
        weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
        model = ProfitForest(12, n_boosted=n_boosted, max_depth=4, random_state=0).fit(X, y, weight, gains=gains)
        rate = weight @ y / weight.sum()

        def log_odds(w, p, a, b):
            return np.log((p + rate) / (w - p + 1 - rate))

        out_of_bag = naive.mean_steps(model, X, log_odds, out_of_bag=True)
        assert np.isnan(out_of_bag).any()  # a few rows are in all bags
        steps = out_of_fold_of(model, X, y, weight, gains)
        np.testing.assert_allclose(steps[:, :6], out_of_bag, rtol=1e-9, atol=1e-9)
        assert steps.shape[1] == 6 + (n_boosted > 0)
        path, constant = naive.path_weights(steps, y, weight)
        found = [*model.path_weights_, *[model.boosted_weight_] * (n_boosted > 0)]
        np.testing.assert_allclose(found, path, rtol=1e-4)
        leaf = model.stakes_.graph.apply(X)
        pairs = weight[:, None] * naive_profit.stakes(gains)
        stakes = np.array([np.log(np.divide(*pairs[leaf == own].sum(axis=0))) for own in leaf])
        columns = naive.mean_steps(model, X, log_odds, out_of_bag=False)
        if n_boosted:
            assert len(model.boosted_) == n_boosted
            columns = np.column_stack((columns, naive.boosted_log_odds(model.boosted_, X, y, weight)))
        expected = columns @ path + constant + stakes
        np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-4, atol=1e-4)
        clear = np.abs(expected) > 1e-4
        np.testing.assert_array_equal((model.predict(X) == 1)[clear], (expected > 0)[clear])

    def test_stakes_are_learned_from_the_features(self, payments):
        X, y, gains = payments
        stakes = ProfitForest(5, random_state=0).fit(X, y, gains=gains).stakes_
        known = np.log(1 / bayes_threshold(gains) - 1)
        learned = np.zeros(len(X))
        stakes.scores.add_to(learned, stakes.graph, X)
        assert np.sqrt(np.mean((learned - known) ** 2)) < 0.2 * known.std()
        # The same for all rows, they need no test.
        stakes = ProfitForest(5, random_state=0).fit(X, y, gains=[0, -5, 0, -95]).stakes_
        assert stakes.graph.n_leaves == 1
        assert stakes.scores.value == pytest.approx(np.log(95 / 5))

    def test_the_weights_of_an_honest_score_do_not_know_the_row(self, payments):
        X, y, gains = (part[:300] for part in payments)
        model = ProfitForest(60, max_depth=4, random_state=0).fit(X, y, gains=gains)
        steps = out_of_fold_of(model, X, y, np.ones(len(y)), gains)
        honest = model.honest_scores(X, y, gains=gains)
        stakes = model.stakes_.score(X)
        for train, test in model._folds(5).split(X, y):
            path, constant = naive.path_weights(steps[train], y[train], np.ones(len(train)))
            expected = steps[test] @ path + constant + stakes[test]
            np.testing.assert_allclose(honest[test], expected, rtol=1e-4, atol=1e-4)

    def test_nothing_is_kept_of_the_rows(self, payments):
        X, y, gains = payments
        model = ProfitForest(5, n_boosted=5, max_depth=3, random_state=0).fit(X, y, gains=gains)
        arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
        assert not [name for name, value in arrays.items() if len(value) >= len(y)]
        assert not hasattr(model, "_gains")

    def test_short_trees_score_rows_that_they_did_not_see(self, payments):
        X, y, gains = (part[:400] for part in payments)
        weight = np.ones(len(y))
        model = ProfitForest(30, n_boosted=10, max_depth=2, random_state=0)
        steps = out_of_fold_of(model, X, y, weight, gains)[:, 6]
        row = int(np.flatnonzero(y)[0])
        heavy = np.where(np.arange(len(y)) == row, 5.0, 1.0)
        same = out_of_fold_of(model, X, y, heavy, gains)[:, 6] == steps
        assert same[row]
        assert same.mean() == pytest.approx(1 / 3, abs=0.01)  # the rows of its fold, whose trees saw neither

    @pytest.mark.parametrize("few", [1, 2])
    def test_short_trees_need_two_rows_of_each_class(self, payments, few):
        X, y, _ = payments
        rows = np.r_[np.flatnonzero(y == 0)[:60], np.flatnonzero(y == 1)[:few]]
        model = ProfitForest(10, n_boosted=4, random_state=0).fit(X[rows], y[rows])
        assert len(model.boosted_) == (0 if few == 1 else 4)
        assert np.isfinite(model.score_samples(X)).all()

    def test_scores_without_information(self):
        X, y = np.arange(60.0)[:, None], np.arange(60) % 2
        gains = np.tile([0, -5.0, 0, -95], (60, 1))
        model = ProfitForest(30, random_state=0).fit(X, y, gains=gains)  # neighbours are of the other class
        assert np.isfinite(model.score_samples(X)).all()
        assert (model.predict(X) == 1).all()  # half of the rows are positive, and a twentieth would do
        one = ProfitForest(1, min_samples_leaf=1, random_state=0).fit(X[:3], y[:3], gains=gains[:3])
        assert np.isfinite(one.score_samples(X)).all()

    def test_as_sql(self, payments):
        duckdb = pytest.importorskip("duckdb")
        X, y, gains = (part[:400] for part in payments)
        for vote in ("odds", "mean"):
            model = ProfitForest(4, n_boosted=3, vote=vote, max_depth=3, random_state=0).fit(X, y, gains=gains)
            given = duckdb.connect().from_df(pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]))
            found = given.project(f"{model.to_sql()} AS score").df()["score"]
            np.testing.assert_array_equal(found, model.score_samples(X))

    @pytest.mark.parametrize("vote", ["odds", "mean"])
    def test_objectives_are_optimised_out_of_bag(self, payments, vote):
        X, y, gains = payments
        model = ProfitForest(50, vote=vote, threshold=Profit(), random_state=0).fit(X, y, gains=gains)
        honest = model.honest_scores(X, y, gains=gains)
        earned = naive_profit.profit(y, honest > model.threshold_, gains)
        for threshold in np.quantile(honest, np.linspace(0, 1, 50)):
            assert earned >= naive_profit.profit(y, honest > threshold, gains) - 1e-6

    def test_it_earns_more_than_one_tree(self, payments):
        X, y, gains = payments
        train, test = slice(0, 1000), slice(1000, None)
        tree = ProfitTree().fit(X[train], y[train], gains=gains[train])
        forest = ProfitForest(random_state=0).fit(X[train], y[train], gains=gains[train])
        assert forest.score(X[test], y[test], gains=gains[test]) > tree.score(X[test], y[test], gains=gains[test])

    def test_weights_of_0_may_fill_a_bag(self):
        X, y = np.arange(40.0)[:, None], np.arange(40) % 2
        weight = np.r_[1.0, 1.0, np.zeros(38)]
        model = ProfitForest(20, random_state=0).fit(X, y, weight)
        assert np.isfinite(model.score_samples(X)).all()


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
            ([0, 1, 0, 1], "right decision pay"),
            ([1, 1, 1, 1], "depend on its decision"),
        ],
    )
    def test_bad_ones(self, payments, estimator, gains, message):
        X, y, _ = payments
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, gains=gains)
