"""ME²: the rule of the thesis, its score, the choice of mu and lam, explanations, and hard data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import fbeta_score

from scarce.ellipsoids import ME2, _tuning
from scarce.objectives import FBeta
from tests import naive_ellipsoids as naive
from tests.small_tables import tables


@pytest.fixture(scope="module")
def rows():
    return make_classification(300, 4, n_redundant=0, weights=[0.88], flip_y=0.05, random_state=4)


# The rule and the score


@given(table=tables(2), n_local=st.integers(1, 12), mu=st.sampled_from([0.1, 0.9]))
def test_the_ellipsoids_around_a_row_are_those_within_which_it_lies(table, n_local, mu):
    X, y = table
    model = ME2(n_local, mu=mu, tune=None, pos_label=1).fit(X, y)
    queries = np.vstack((X, X[:4] + 0.37)).astype(np.float64)
    for x, found in zip(queries, model.ellipsoids_around(queries), strict=True):
        for place, row in enumerate(model.center_rows_):
            squared = (x - X[row]) @ model.metric(place) @ (x - X[row])
            # On the surface, either answer will do.
            if abs(squared - model.radii_[place]) > 1e-7 * (1 + squared):
                assert (row in found) == (squared < model.radii_[place])


@given(
    table=tables(2),
    n_local=st.integers(1, 12),
    mu=st.sampled_from([0.1, 0.5, 0.9, 10.0]),
    lam=st.sampled_from([1e-5, 1e-2, 10.0]),
    combine=st.sampled_from(["nearest", "any"]),
)
def test_score_and_rule_row_by_row(table, n_local, mu, lam, combine):
    X, y = table
    model = ME2(n_local, mu=mu, lam=lam, tune=None, combine=combine, pos_label=1).fit(X, y)
    shapes = {row: (model.metric(c), model.radii_[c]) for c, row in enumerate(model.center_rows_)}
    queries = np.vstack((X, X[:4] + 0.37)).astype(np.float64)
    X = X.astype(np.float64)
    scores = model.score_samples(queries)
    for x, score in zip(queries, scores, strict=True):
        asked = naive.nearest_of_class(x, X, y, 1, 1 if combine == "nearest" else 3)
        answers = [naive.score_by(x, X, y, c, *shapes[c]) for c in asked]
        assert score == pytest.approx(max(s for s, _ in answers), abs=1e-6)
        # Where rounding decides, either answer will do.
        if abs(score) > 1e-9:
            assert (score > 0) == any(positive for _, positive in answers)
    assert model.threshold_ == 0


@given(
    table=tables(2),
    n_local=st.integers(1, 12),
    mu=st.sampled_from([0.1, 0.5, 0.9, 10.0]),
    lam=st.sampled_from([1e-5, 1e-2, 10.0]),
)
def test_mean_row_by_row(table, n_local, mu, lam):
    X, y = table
    model = ME2(n_local, mu=mu, lam=lam, tune=None, pos_label=1, threshold=0.0).fit(X, y)
    shapes = {row: (model.metric(c), model.radii_[c]) for c, row in enumerate(model.center_rows_)}
    queries = np.vstack((X, X[:4] + 0.375)).astype(np.float64)
    X = X.astype(np.float64)
    for x, score, explained in zip(queries, model.score_samples(queries), model.explain(queries), strict=True):
        asked = naive.nearest_of_class(x, X, y, 1, 5)
        answers = [naive.mean_lead(x, X, y, c, *shapes[c]) for c in asked]
        assert score == pytest.approx(np.mean(answers), abs=1e-6)
        by_row = dict(zip(asked, answers, strict=True))
        assert sorted(near.row for near in explained.neighbours[0]) == sorted(asked)
        for near in explained.neighbours[0]:
            assert near.effect * len(asked) == pytest.approx(by_row[near.row], abs=1e-6)


@given(table=tables(2), n_local=st.integers(1, 6))
def test_local_negatives_are_the_nearest(table, n_local):
    X, y = table
    model = ME2(n_local, tune=None, pos_label=1).fit(X, y)
    numbers = np.concatenate((model.center_rows_, model._negative_rows))
    for c, row in enumerate(model.center_rows_):
        assert numbers[model._ellipsoids.local[c]].tolist() == naive.local_rows(X, y, row, n_local)


@pytest.mark.parametrize("combine", ["mean", "nearest"])
def test_score_is_continuous(rows, combine):
    """Along a path from one row to another the score moves in small steps as long as it asks the same rows."""
    X, y = rows
    model = ME2(tune=None, combine=combine).fit(X, y)
    path = np.linspace(X[y == 1][0], X[y == 0][0], 20_001)
    distance = ((path[:, None] - X) ** 2).sum(axis=2)
    near = [np.sort(np.argsort(distance[:, y == label], axis=1)[:, :5], axis=1) for label in (0, 1)]
    if combine == "nearest":
        near = [distance[:, y == 1].argmin(axis=1)[:, None]]
    same = np.all([(np.diff(numbers, axis=0) == 0).all(axis=1) for numbers in near], axis=0)
    jump = abs(np.diff(model.score_samples(path)))[same]
    assert len(jump) > 10_000
    assert jump.max() < 0.01


def test_any_of_three_calls_no_fewer(rows):
    X, y = rows
    one, three = (ME2(tune=None, combine=combine).fit(X[:200], y[:200]) for combine in ("nearest", "any"))
    assert (three.score_samples(X) >= one.score_samples(X)).all()
    assert (three.score_samples(X) > one.score_samples(X)).any()


@pytest.mark.parametrize("params", [{}, {"tune": "per_center", "combine": "nearest"}, {"tune": None, "combine": "any"}])
def test_threads_change_no_bit(rows, params):
    X, y = rows
    scores, honest, radii = [], [], []
    for n_jobs in (1, 2, 5):
        model = ME2(n_jobs=n_jobs, **params).fit(X, y)
        scores.append(model.score_samples(X))
        honest.append(model.honest_scores(X, y))
        radii.append(model.radii_)
    for found in (scores, honest, radii):
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])


# mu and lam


@pytest.fixture
def small_grid(monkeypatch):
    for name in ("MU_GRID", "COARSE_MU_GRID"):
        monkeypatch.setattr(_tuning, name, (0.75, 2.0))
    for name in ("LAM_GRID", "COARSE_LAM_GRID"):
        monkeypatch.setattr(_tuning, name, (1.0, 1e-4))
    return [(mu, lam) for lam in (1.0, 1e-4) for mu in (0.75, 2.0)]


@pytest.mark.parametrize("combine", ["nearest", "any"])
@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_the_pair_is_the_best_in_two_folds_by_the_rule(rows, small_grid, beta, combine):
    X, y = rows
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    reached = []
    for mu, lam in small_grid:
        called = np.zeros(len(y))
        for train, test in _tuning.split(X, y, 2):
            model = ME2(50, mu=mu, lam=lam, tune=None, combine=combine).fit(X[train], y[train])
            called[test] = model.predict(X[test])
        reached.append(fbeta_score(y, called, beta=beta, sample_weight=weight))
    assert len(set(reached)) > 1
    model = ME2(50, beta=beta, combine=combine).fit(X, y, sample_weight=weight)
    chosen = {(mu, lam) for mu, lam in zip(model.mu_, model.lam_, strict=True)}
    assert chosen == {small_grid[int(np.argmax(reached))]}


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_the_pair_and_the_threshold_are_the_best_in_five_folds_by_the_mean(rows, small_grid, beta):
    X, y = rows
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    found = [
        FBeta(beta).best_threshold(ME2(50, mu=mu, lam=lam, tune=None).honest_scores(X, y), y, weight)
        for mu, lam in small_grid
    ]
    best = int(np.argmax([one.value for one in found]))
    assert len({one.value for one in found}) > 1
    model = ME2(50, beta=beta).fit(X, y, sample_weight=weight)
    assert {(mu, lam) for mu, lam in zip(model.mu_, model.lam_, strict=True)} == {small_grid[best]}
    assert model.threshold_ == pytest.approx(found[best].threshold, abs=1e-12)


@pytest.mark.parametrize("tune", [None, "per_center"])
def test_the_threshold_of_the_mean_is_the_best_on_honest_scores(rows, tune):
    X, y = rows
    model = ME2(tune=tune, beta=2.0).fit(X, y)
    honest = ME2(tune=tune, beta=2.0).honest_scores(X, y)
    assert model.threshold_ == FBeta(2.0).best_threshold(honest, y).threshold
    assert (model.predict(X) == (model.score_samples(X) > model.threshold_)).all()


def test_pairs_for_each_center_are_those_of_the_rule_of_the_thesis(rows):
    X, y = rows
    mean, rule = (ME2(tune="per_center", combine=combine).fit(X, y) for combine in ("mean", "nearest"))
    np.testing.assert_array_equal(mean.mu_, rule.mu_)
    np.testing.assert_array_equal(mean.lam_, rule.lam_)


@given(
    counts=st.lists(st.tuples(*[st.integers(0, 3)] * 6), min_size=1, max_size=5),
    beta=st.sampled_from([0.3, 1.0, 2.0]),
    start=st.integers(0, 2),
)
def test_one_pair_for_each_reaches_the_highest_f_of_all_ways(counts, beta, start):
    table = np.array(counts, dtype=float)
    tp, fp = table[:, :3], table[:, 3:]
    positives = tp.max(axis=1).sum() + 2
    chosen = _tuning._dinkelbach(tp, fp, positives, beta, start)
    rows = np.arange(len(tp))
    reached = naive.f_measure(tp[rows, chosen].sum(), fp[rows, chosen].sum(), positives, beta)
    assert reached == pytest.approx(naive.best_choice(tp, fp, positives, beta))


@pytest.mark.parametrize("combine", ["mean", "nearest"])
def test_beta_steers_precision_against_recall(combine):
    """Figure 3.6: with a growing beta more negatives are called and fewer positives missed."""
    X, y = make_classification(1500, 5, n_redundant=0, weights=[0.93], flip_y=0.02, class_sep=0.7, random_state=0)
    caught, false = [], []
    for beta in (0.1, 1.0, 10.0):
        model = ME2(beta=beta, combine=combine).fit(X[:1000], y[:1000])
        called = model.honest_scores(X, y) > model.threshold_
        caught.append(called[y == 1].mean())
        false.append(called[y == 0].mean())
    assert caught[0] < caught[2]
    assert false[0] < false[2]


def test_folds_do_not_depend_on_the_order_of_rows(rows):
    X, y = rows
    order = np.random.default_rng(1).permutation(len(X))
    for (_, test), (_, other) in zip(_tuning.split(X, y, 3), _tuning.split(X[order], y[order], 3), strict=True):
        assert set(test) == set(order[other])


def test_honest_scores_are_of_ellipsoids_that_did_not_see_the_row(rows):
    X, y = rows
    model = ME2(tune=None)
    honest = model.honest_scores(X, y)
    for train, test in _tuning.split(X, y, 5):
        np.testing.assert_array_equal(honest[test], model.fit(X[train], y[train]).score_samples(X[test]))


# Explanations


@pytest.mark.parametrize("combine", ["mean", "nearest", "any"])
def test_explain_names_the_centres(rows, combine):
    X, y = rows
    model = ME2(tune=None, lam=1e-3, combine=combine).fit(X, y)
    queries = X[:40] + 0.01  # many training rows are on the border, where rounding decides
    explained = model.explain(queries)
    asked = {"mean": 5, "nearest": 1, "any": 3}[combine]
    for x, one in zip(queries, explained, strict=True):
        (found,) = one.neighbours
        assert {near.row for near in found} == set(naive.nearest_of_class(x, X, y, 1, asked))
        assert sum(near.effect for near in found) == pytest.approx(one.score[0])
        within = 0
        for near in found:
            c = model.center_rows_.tolist().index(near.row)
            squared = (x - X[near.row]) @ model.metric(c) @ (x - X[near.row])
            assert near.distance == pytest.approx(np.sqrt(squared))
            within += bool(near.distance**2 <= model.radii_[c])
        assert one.rule == (f"within {within} of the {asked} nearest ellipsoids",)
    assert explained.additive == (combine == "mean")


@given(table=tables(2), n_local=st.integers(1, 12))
def test_effects_row_by_row(table, n_local):
    """Each comparison is written out feature by feature."""
    X, y = table
    model = ME2(n_local, tune=None, pos_label=1, threshold=0.0).fit(X, y)
    queries, X = np.vstack((X, X[:4] + 0.375)).astype(np.float64), X.astype(np.float64)
    explained = model.explain(queries)
    for x, got in zip(queries, explained.effects, strict=True):
        expected = []
        for row in naive.nearest_of_class(x, X, y, 1, 5):
            c = model.center_rows_.tolist().index(row)
            M, R = model.metric(c), model.radii_[c]
            own = (x - X[row]) * (M @ (x - X[row]))
            expected.append(-own / (R + own.sum()) if R + own.sum() > 0 else 0 * own)
            for negative in naive.nearest_of_class(x, X, y, 0, 5):
                other = (x - X[negative]) * (M @ (x - X[negative]))
                total = own.sum() + other.sum()
                expected.append((other - own) / total if total > 0 else 0 * own)
        np.testing.assert_allclose(got, np.mean(expected, axis=0), atol=1e-6)


def test_the_bound_is_that_of_the_thesis(rows):
    X, y = rows
    model = ME2(80, mu=2.0, lam=0.5, tune=None).fit(X, y)
    for c, row in enumerate(model.center_rows_):
        V = X[naive.local_rows(X, y, row, 80)] - X[row]
        reach = (V**2).sum(axis=1).max()
        risk = np.mean([max(0, model.radii_[c] - v @ model.metric(c) @ v) for v in V]) / reach
        # 4K² is the largest squared distance to the centre, which is 1 in this unit.
        stability = 2 / (0.5 * min(2.0, 0.5))
        bound = risk + 2 * stability / 80 + (4 * stability + 1) * np.sqrt(np.log(1 / 0.05) / 160)
        assert model.generalisation_bound_[c] == pytest.approx(bound)
        assert model.generalisation_bound_[c] > risk


# Hard data


def test_one_positive():
    rng = np.random.default_rng(0)
    X = np.vstack((np.zeros(3), rng.normal(size=(50, 3)) + 2))
    y = np.r_[1, np.zeros(50, dtype=int)]
    model = ME2().fit(X, y)
    assert (model.mu_[0], model.lam_[0], model.threshold_) == (model.mu, model.lam, 0)  # nothing to tune by
    assert model.predict(X[:1]) == 1
    assert model.predict(X[1:]).sum() == 0
    with pytest.raises(ValueError, match="at least two rows of each class"):
        ME2(threshold="f1").fit(X, y)


@pytest.mark.parametrize("tune", [None, "global"])
def test_no_negatives_near_a_centre(tune):
    """Far from all negatives an ellipsoid is large but ends before it reaches them."""
    rng = np.random.default_rng(0)
    X = np.vstack((rng.normal(size=(60, 2)), rng.normal(size=(8, 2)) * 0.1 + 1000))
    y = np.arange(68) >= 60
    model = ME2(tune=tune).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert (np.sqrt(model.radii_) > 100).all()
    assert [near.label for near in model.explain(X[-1:]).neighbours[0]] == [True] * 5


@pytest.mark.parametrize("tune", [None, "global", "per_center"])
@pytest.mark.parametrize("combine", ["mean", "nearest"])
def test_a_centre_among_negatives_like_it(combine, tune):
    """A negative row where a positive one is: a tie, which is negative by the rule of the thesis."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.arange(40) % 8 == 0
    X = np.vstack((X, X[y]))
    y = np.r_[y, np.zeros(5, dtype=bool)]
    model = ME2(tune=tune, combine=combine).fit(X, y)
    if combine == "nearest":
        assert model.predict(X[y]).sum() == 0
    assert np.isfinite(model.score_samples(X)).all()
    # All negatives on all positives: the ellipsoids are points.
    model = ME2(tune=tune, combine=combine).fit(np.zeros((12, 2)), np.arange(12) < 3)
    assert (model.radii_ == 0).all()
    assert model.score_samples(np.zeros((1, 2))) == 0
    assert np.isfinite(model.score_samples(np.array([[0.0, 0.0], [5.0, 1.0]]))).all()


@pytest.mark.parametrize("tune", [None, "global"])
def test_more_features_than_rows(tune):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 400))
    y = np.arange(30) < 8
    X[y, :40] += 2
    model = ME2(tune=tune).fit(X, y)
    assert model._ellipsoids.metric.size == 0  # never 400 × 400
    honest = model.honest_scores(X, y)
    assert honest[y].mean() > honest[~y].mean()
    explained = model.explain(X[:2])
    np.testing.assert_allclose(explained.base_value + explained.effects.sum(axis=1), model.score_samples(X[:2]))


def test_mu_and_lam_are_chosen_with_groups_apart():
    """The tuned pair is the best of all pairs on honest scores by groups, and not that on scores by rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), (rng.random(100) < 0.3).astype(int)
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(100), 3)
    best = {}
    for mu in _tuning.COARSE_MU_GRID:
        for lam in _tuning.COARSE_LAM_GRID:
            scores = ME2(20, mu=mu, lam=lam, tune=None).honest_scores(X, y, groups=groups)
            best[mu, lam] = FBeta(1).best_threshold(scores, y).value
    model = ME2(20).fit(X, y, groups=groups)
    assert best[model.mu_[0], model.lam_[0]] == max(best.values())
    by_rows = ME2(20).fit(X, y)
    assert best[by_rows.mu_[0], by_rows.lam_[0]] < max(best.values())
