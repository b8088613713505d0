"""ProfitForest against slow, obvious twins."""

import numpy as np
import pandas as pd
import pytest

from scarce.objectives import Profit
from scarce.profit import bayes_threshold
from scarce.trees import ProfitForest, ProfitTree
from tests import naive_profit
from tests import naive_profit_trees as naive

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")


def out_of_fold_of(model, X, y, weight, gains):
    """Fit a forest, and return the steps and log-odds of rows by trees that had not seen them."""
    with model._keeping(y, gains=model._gains_to_learn(gains, len(y))):
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
        assert "_metadata" not in vars(model)

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
