"""CCNND: the rule of the paper and its tie-breaks, leave-one-out, and rows that come and go."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from scarce.neighbors import CCNND
from scarce.objectives import Budget, Profit
from tests import naive
from tests.small_tables import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors")


# The rule


def test_by_hand():
    # Distances to the nearest within a class: 1, 1, 2, 4 among the negatives, and 6, 6 among the positives.
    X = np.array([[0.0], [1.0], [3.0], [7.0], [20.0], [26.0]])
    y = np.array([0, 0, 0, 0, 1, 1])
    model = CCNND(1).fit(X, y)
    queries = np.array([[4.5], [8.0], [13.5], [14.0], [2.0]])
    fit = model._stored.compare(queries, None)
    shares = (fit.counts / (2 * fit.sizes)).tolist()
    # 1.5 is less than 2 of 4 and 15.5 less than none; 1 equals two and is less than two; 6.5, 6.5; a tie with all.
    assert shares == [[0.5, 0.0], [0.75, 0.0], [0.0, 0.0], [0.0, 0.5], [0.75, 0.0]]
    assert model.explain(queries).rule[0] == (
        "0.0% of the rows of class 1 have their nearest farther off, 50.0% of those of class 0"
    )
    # 6.5 is 3.25 times the usual distance among the negatives, and 13/12 of it among the positives.
    assert fit.ratio[2] == pytest.approx([3.25, 13 / 12])
    assert model.predict(queries).tolist() == [0, 0, 1, 1, 0]
    np.testing.assert_allclose(model.score_samples(queries), [-0.5, -0.75, 0, 0.5, -0.75], atol=1 / 64)


def test_every_distance_must_be_less():
    # Of the two nearest, the vectors are (1, 3), (1, 2), (2, 3).
    X = np.array([[0.0], [1.0], [3.0], [50.0], [60.0], [75.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = CCNND(2).fit(X, y)
    assert [near.distance for near in model.explain([[3.5]]).neighbours[0] if near.label == 0] == [0.5, 2.5]
    fit = model._stored.compare(np.array([[3.5]]), None)
    assert fit.counts[0, 0] / 6 == pytest.approx(2 / 3)  # 0.5 is less than all, 2.5 is not less than 2


@QUIET
@given(table=tables(2), k=st.integers(1, 5))
def test_two_classes(table, k):
    X, y = table
    queries = np.concatenate((X, X[:4] + 0.5, X[:2] + 9))
    found = [naive.ccnnd(X, y, q, k, (0, 1)) for q in queries]
    model = CCNND(k, pos_label=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(queries), [naive.ccnnd_winner(f) for f in found])
    assert_scores(model.score_samples(queries), found)


def assert_scores(scores, found):
    """The difference of the shares, and below its grid the relative distances."""
    for score, row in zip(scores, found, strict=True):
        difference, finer = naive.ccnnd_score(row)
        step = 1 / (2 * max(row[0][2], 1) * max(row[1][2], 1))
        assert score == pytest.approx(difference + finer * step / 4, abs=1e-9 * step)


@QUIET
@given(table=tables(4), k=st.integers(1, 4))
def test_more_classes(table, k):
    X, y = table
    queries = np.concatenate((X, X[:4] + 0.5, X[:2] + 9))
    classes = np.unique(y)
    model = CCNND(k).fit(X, y)
    found = [naive.ccnnd(X, y, q, k, classes) for q in queries]
    if len(classes) > 2:
        np.testing.assert_array_equal(model.predict(queries), [classes[naive.ccnnd_winner(f)] for f in found])
        shares = np.array([[float(share) for share, _, _ in f] for f in found])
        np.testing.assert_allclose(model.score_samples(queries), shares, atol=0.25)
        proba = model.predict_proba(queries)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_array_equal(classes[proba.argmax(axis=1)], model.predict(queries))


def test_the_larger_class_wins_what_is_equal_in_all_else():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])  # 5.5 is 4.5 from both, and 1 is usual in both
    for labels in ("aabbb", "bbaaa"):
        for pos_label in "ab":
            model = CCNND(1, pos_label=pos_label).fit(X, list(labels))
            assert model.predict([[5.5]])[0] == labels[-1]
            assert (
                CCNND(1).fit(np.append(X, [[90.0], [91]], axis=0), [*labels, "c", "c"]).predict([[5.5]]) == labels[-1]
            )


def test_ties_do_not_hang_on_the_last_bit():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in it.
    X = np.array([[0.1], [0.2], [0.3], [0.4], [7.0], [9.0]])
    y = np.array([0, 0, 0, 0, 1, 1])
    fit = CCNND(1).fit(X, y)._stored.compare(np.array([[0.5]]), None)
    assert fit.counts[0, 0] == 4


@QUIET
@given(table=tables(2), k=st.integers(1, 5))
def test_honest_scores_are_those_of_a_model_without_the_row(table, k):
    X, y = table
    honest = CCNND(k, pos_label=1).honest_scores(X, y)
    assert_scores(honest, [naive.ccnnd(X, y, X[i], k, (0, 1), skip=i) for i in range(len(X))])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_honest_scores_equal_refits_on_rows_without_ties(k):
    X, y = make_classification(300, 5, weights=[0.9], random_state=k)
    honest = CCNND(k).honest_scores(X, y)
    for i in range(0, 300, 7):
        others = np.arange(300) != i
        refit = CCNND(k).fit(X[others], y[others]).score_samples(X[[i]])[0]
        assert honest[i] == pytest.approx(refit, rel=1e-9)


@QUIET
@given(table=tables(), k=st.integers(1, 3), seed=st.integers(0, 9))
def test_the_order_of_rows_does_not_matter(table, k, seed):
    X, y = table
    X = X + np.float32(0.1) * np.random.default_rng(seed).normal(size=X.shape).astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = CCNND(k).fit(X, y), CCNND(k).fit(X[order], y[order])
    np.testing.assert_array_equal(one.score_samples(X), other.score_samples(X))
    if len(one.classes_) == 2:
        honest = CCNND(k).honest_scores(X, y)
        np.testing.assert_allclose(honest[order], CCNND(k).honest_scores(X[order], y[order]), rtol=1e-9)


def test_far_and_huge_rows_have_finite_scores():
    X, y = make_classification(60, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    for scale in (1e-200, 1.0, 1e200):
        model = CCNND(2).fit(X * scale, y)
        assert np.isfinite(model.score_samples(X * scale)).all()
        assert np.isfinite(model.score_samples(np.full((1, 3), 1e300))).all()
        assert np.isfinite(model.honest_scores(X * scale, y)).all()


def test_default_share_is_that_of_the_difference():
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    model = CCNND(1, pos_label=1).fit(X, y)
    score = np.clip(model.score_samples(X), -1, 1)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], (1 + score) / 2, atol=1e-12)
    for threshold in (-3.0, -0.4, 0.7, 2.0):
        proba = CCNND(1, pos_label=1, threshold=threshold).fit(X, y).predict_proba(X)[:, 1]
        assert (np.diff(proba[np.argsort(model.score_samples(X))]) >= 0).all()
        np.testing.assert_array_equal(proba > 0.5, model.score_samples(X) > threshold)


def test_explain_names_the_rows():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [10.0, 0.0], [0.0, 1.0]])
    explained = CCNND(1).fit(X, ["b", "a", "a", "b"]).explain([[0.0, 3.0]])
    assert explained.label == "b"
    assert explained.neighbours == (((3, "b", 2.0, None), (1, "a", pytest.approx(10**0.5), None)),)
    np.testing.assert_allclose(explained.effects, [[9 / 14, (1 - 4) / 14]])
    # Of the predicted class, against the one that fits next best.
    several = CCNND(1).fit(np.vstack((X, [[9.0, 9.0]] * 2)), ["b", "a", "a", "b", "c", "c"])
    with_c = several.explain([[0.0, 3.0], [9.0, 9.0]])
    assert with_c.label.tolist() == several.predict([[0.0, 3.0], [9.0, 9.0]]).tolist()
    assert [near.row for near in with_c.neighbours[1]] == [4, 1, 3]


def test_of_equally_far_rows_the_earlier_is_named():
    X, y = np.repeat([[0.0], [3.0]], 6, axis=0), np.repeat([0, 1], 6)
    model = CCNND(2).fit(X, y).forget([0, 7]).partial_fit([[0.0]], [0])
    (found,) = model.explain([[1.0]]).neighbours
    assert [[near.row for near in found if near.label == code] for code in (0, 1)] == [[1, 2], [6, 8]]


# Rows that come and go


def steps(max_rows=14):
    """Additions (how many rows, which classes), and removals of rows or of a class."""
    rows = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(-1, 1)), min_size=1, max_size=max_rows)
    fractions = st.lists(st.floats(0, 1), min_size=1, max_size=4)
    return st.lists(
        st.one_of(
            st.tuples(st.just("add"), rows),
            st.tuples(st.just("forget"), fractions),
            st.tuples(st.just("label"), st.integers(0, 3)),
        ),
        min_size=1,
        max_size=8,
    )


def assert_same(model, kept, X, y, **params):
    """Compare the model with one that is fitted at once on the rows that it should have kept, given in that order."""
    np.testing.assert_array_equal(model.rows_, kept)
    assert model.classes_.tolist() == sorted(set(y[kept].tolist()))
    queries = np.concatenate((X, X + 0.3))
    if len(model.classes_) < 2:
        assert model.threshold_ is None
        assert model.pos_label_ is None
        assert_alone(model, X[kept], queries, **params)
        return
    batch = CCNND(**params).fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.score_samples(queries), batch.score_samples(queries))
    np.testing.assert_array_equal(model.predict(queries), batch.predict(queries))
    assert model.threshold_ == batch.threshold_
    assert model.pos_label_ == batch.pos_label_
    assert model.class_count_.tolist() == batch.class_count_.tolist()
    for ours, theirs in zip(model._stored.leave_one_out(None), batch._stored.leave_one_out(None), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    ours, theirs = model.explain(queries[:5]), batch.explain(queries[:5])
    np.testing.assert_array_equal(ours.effects, theirs.effects)
    assert ours.rule == theirs.rule
    renumbered = [[near._replace(row=int(kept[near.row])) for near in found] for found in theirs.neighbours]
    assert [list(found) for found in ours.neighbours] == renumbered


def assert_alone(model, X, queries, n_neighbors, pos_label=None, **_):
    """Compare a model that knows one class, or none, with the slow one."""
    if not len(X):
        with pytest.raises(ValueError, match="no rows left"):
            model.predict(queries)
        with pytest.raises(ValueError, match="no rows left"):
            model.score_samples(queries)
        return
    assert set(model.predict(queries).tolist()) == set(model.classes_.tolist())
    np.testing.assert_array_equal(model.predict_proba(queries), np.ones((len(queries), 1)))
    score = model.score_samples(queries)
    assert score.shape == (len(queries),)
    assert np.isfinite(score).all()
    np.testing.assert_array_equal(model.decision_function(queries), score)
    sign = 1 if pos_label == model.classes_[0] else -1
    for found, query in zip(score, queries, strict=True):
        share, ratio = naive.ccnnd_alone(X, query, n_neighbors)
        finer = -1.0 if ratio == np.inf else (1 - ratio) / (1 + ratio)
        step = 1 / (2 * len(X))
        assert found == pytest.approx(sign * (float(share) + finer * step / 4), abs=1e-9 * step)
    at_once = CCNND(n_neighbors, pos_label=pos_label).partial_fit(X, np.repeat(model.classes_, len(X)))
    np.testing.assert_array_equal(score, at_once.score_samples(queries))
    explained = model.explain(queries)
    np.testing.assert_array_equal(explained.score, score)
    np.testing.assert_array_equal(explained.probability, 1)
    assert set(explained.label.tolist()) == set(model.classes_.tolist())


@QUIET
@given(steps=steps(), k=st.integers(1, 3), pos_label=st.sampled_from([None, 0, 1]))
def test_one_class_so_far_and_down_to_one(steps, k, pos_label):
    """Every stream begins with one class and is forgotten down to one."""
    model = CCNND(k, pos_label=pos_label)
    X, y = np.empty((0, 2)), np.empty(0, dtype=int)
    for kind, what in steps:
        if kind == "add":
            new = np.array([row[1:] for row in what], dtype=float)
            labels = np.array([row[0] % 2 if len(y) else 0 for row in what])
            X, y = np.concatenate((X, new)), np.concatenate((y, labels))
            model.partial_fit(new, labels, classes=[0, 1])
            if len(model.classes_) == 1:
                assert_same(model, np.arange(len(y)), X, y, n_neighbors=k, pos_label=pos_label)
    for label in np.unique(y)[:-1].tolist():
        model.forget(label=label)
    if len(y):
        assert_same(model, np.flatnonzero(y == y.max()), X, y, n_neighbors=k, pos_label=pos_label)


@QUIET
def test_a_class_alone_by_hand():
    model = CCNND().partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
    assert model.predict([[1.0, 2.0]]).tolist() == [0]
    # Rows farther off look less like the class, and more like the one that is not there.
    score = model.partial_fit([[1.0, 3.0]], [0]).score_samples([[1.0, 2.0], [1.0, 2.6], [1.0, 9.0], [1.0, 99.0]])
    assert (np.diff(score) > 0).all()
    assert score[0] == pytest.approx(-1 - 1 / 16)  # nearer than both, at none of the usual distance
    assert (
        np.diff(CCNND(pos_label=0).partial_fit([[1.0, 2.0]], [0]).score_samples([[1.0, 2.0], [9.0, 2.0]])) < 0
    ).all()


@QUIET
@pytest.mark.parametrize("on_a_grid", [True, False])
@given(steps=steps(), k=st.integers(1, 3), window=st.sampled_from([None, 1, 3, 6]), pickled=st.booleans())
def test_a_stream_equals_a_fit_on_what_is_left(on_a_grid, steps, k, window, pickled):
    rng = np.random.default_rng(0)
    model = CCNND(k, max_per_class=window)
    X, y, kept = np.empty((0, 2)), np.empty(0, dtype=int), []
    for kind, what in steps:
        if kind == "add":
            new = np.array([row[1:] for row in what], dtype=float)
            new += 0 if on_a_grid else rng.normal(size=new.shape)
            labels = np.array([row[0] for row in what])
            kept += range(len(y), len(y) + len(labels))
            X, y = np.concatenate((X, new)), np.concatenate((y, labels))
            model.partial_fit(new, labels)
        elif not kept:
            continue
        elif kind == "forget":
            gone = sorted({kept[int(f * (len(kept) - 1))] for f in what})
            kept = [i for i in kept if i not in gone]
            model.forget(gone)
        elif what in y[kept]:
            kept = [i for i in kept if y[i] != what]
            model.forget(label=what)
        if window:
            kept = [i for i in kept if sum(y[j] == y[i] for j in kept if j > i) < window]
        if pickled:
            model = pickle.loads(pickle.dumps(model))
        assert_same(model, kept, X, y, n_neighbors=k)


@pytest.mark.parametrize("k", [1, 3])
def test_a_long_stream_equals_a_fit_on_what_is_left(k):
    rng = np.random.default_rng(k)
    X, y = make_classification(900, 7, weights=[0.9], flip_y=0.05, random_state=k)
    X[300:400] = X[:100]
    kept = list(range(400))
    model = CCNND(k, pos_label=1, threshold="f1").fit(X[:400], y[:400])
    for i in range(400, 900):
        model.partial_fit(X[[i]], y[[i]])
        kept.append(i)
        if rng.random() < 0.7:
            gone = kept.pop(int(rng.integers(len(kept))))
            model.forget(gone)
        if i % 100 == 0:
            assert_same(model, kept, X, y, n_neighbors=k, pos_label=1, threshold="f1")
    assert_same(model, kept, X, y, n_neighbors=k, pos_label=1, threshold="f1")


@QUIET
@given(table=tables(2), name=st.sampled_from(["f1", "gmean", "mcc"]), k=st.integers(1, 3), data=st.data())
def test_an_objective_chooses_anew_after_a_change(table, name, k, data):
    X, y = table
    weight = np.arange(1.0, len(y) + 1)
    half = data.draw(st.integers(1, len(y)))
    model = CCNND(k, pos_label=1, threshold=name)
    try:
        model.partial_fit(X[:half], y[:half], sample_weight=weight[:half])
        if half < len(y):
            model.partial_fit(X[half:], y[half:], sample_weight=weight[half:])
    except ValueError as error:
        assert "pos_label=1 is not in y" in str(error)  # noqa: PT017
        return
    assert model.threshold_ == CCNND(k, pos_label=1, threshold=name).fit(X, y, sample_weight=weight).threshold_


def test_a_threshold_is_chosen_once_for_a_change(monkeypatch):
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    model = CCNND(threshold="f1").fit(X[:100], y[:100])
    passes = []
    honest = CCNND._honest_scores
    monkeypatch.setattr(CCNND, "_honest_scores", lambda self, *args: passes.append(1) or honest(self, *args))
    for i in range(100, 200):
        model.partial_fit(X[[i]], y[[i]])
    assert not passes
    model.predict(X)
    model.predict(X)
    assert len(passes) == 1


def test_the_window_takes_from_large_classes_only():
    X = np.arange(30.0)[:, None]
    y = np.array(["rare"] * 4 + ["often"] * 26)
    model = CCNND(max_per_class=5)
    for i in range(30):
        with pytest.warns(UserWarning, match="has 1") if i in (0, 4) else nullcontext():
            model.partial_fit(X[[i]], y[[i]])
    assert model.rows_.tolist() == [0, 1, 2, 3, 25, 26, 27, 28, 29]
    np.testing.assert_array_equal(CCNND(max_per_class=5).fit(X, y).rows_, model.rows_)


def test_window_and_objective():
    X, y = make_classification(300, 4, weights=[0.8], random_state=0)
    whole = CCNND(max_per_class=40, threshold="f1").fit(X, y)
    kept = whole.rows_
    assert len(kept) == 80
    left = CCNND(threshold="f1", pos_label=1).fit(X[kept], y[kept])
    assert whole.threshold_ == left.threshold_
    honest = whole.honest_scores(X, y)
    np.testing.assert_array_equal(honest[kept], left.honest_scores(X[kept], y[kept]))
    gone = np.setdiff1d(np.arange(300), kept)
    np.testing.assert_array_equal(honest[gone], left.score_samples(X[gone]))
    with_gains = CCNND(max_per_class=40, threshold=Profit()).fit(X, y, gains=np.tile([9.0, -1, 0, -9], (300, 1)))
    assert np.isfinite(with_gains.threshold_)


def test_nothing_of_a_forgotten_row_is_stored():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 2
    model = CCNND().fit(X, y)
    secret = X[7, 0].tobytes()
    assert secret in pickle.dumps(model)
    model.score_samples(X)
    assert secret not in pickle.dumps(model.forget(7))
    for rows in model.forget(label=0)._stored.classes:
        for array in (rows._number, rows._weight, rows._distance, rows._neighbor):
            assert not array[..., rows.n :].any()


def test_mixed_precision():
    X, y = make_classification(100, 4, weights=[0.8], random_state=0)
    single = X.astype(np.float32)
    model = CCNND(2).fit(single[:50], y[:50]).partial_fit(single[50:].astype(float), y[50:])
    np.testing.assert_array_equal(model.score_samples(single), CCNND(2).fit(single, y).score_samples(single))


def test_new_words_may_be_longer():
    model = CCNND().partial_fit([[0.0], [1.0]], ["a", "a"]).partial_fit([[5.0], [6.0]], ["long", "long"])
    assert model.predict([[5.5]]).tolist() == ["long"]


# Bad input


def test_few_rows_cause_a_warning():
    with pytest.warns(UserWarning, match="class 1 has 1: the distance to the nearest row of another class"):
        CCNND().fit([[0.0], [1.0], [2.0]], [1, 0, 0])
    with pytest.warns(UserWarning, match="needs 4 rows, and class 1 has 3: 2 are compared"):
        CCNND(3).fit(np.arange(8.0)[:, None], [1, 1, 1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("params", "message"),
    [({"n_neighbors": 0}, "'n_neighbors' parameter"), ({"max_per_class": 0}, "'max_per_class' parameter")],
)
def test_bad_parameters(params, message):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(CCNND(**params), method)([[0.0], [1.0]], [0, 1])


def test_bad_streams():
    X, y = make_classification(40, 3, n_informative=3, n_redundant=0, random_state=0)
    model = CCNND(threshold="f1", pos_label=1).fit(X, y)
    score = model.score_samples(X)
    for arguments, message in (
        ((X[:2], [0, 2]), "defined for two classes"),
        ((X[:2], ["a", "b"]), "Mix of label input types"),
        ((X[:2, :2], [0, 1]), "2 features"),
        ((X[:2], [0, 1], [0, 3]), r"not in classes=\[0, 3\]"),
        ((X[:2] * np.nan, [0, 1]), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
    for arguments, message in (
        ({}, "either the rows"),
        ({"rows": 1, "label": 1}, "either the rows"),
        ({"label": 5}, "no rows of class 5"),
        ({"rows": [1, 40]}, r"Rows \[40\] cannot"),
    ):
        with pytest.raises(ValueError, match=message):
            model.forget(**arguments)
    np.testing.assert_array_equal(model.score_samples(X), score)  # nothing has changed
    with pytest.raises(ValueError, match="n_neighbors was 1"):
        model.set_params(n_neighbors=2).partial_fit(X, y)
    with pytest.raises(ValueError, match="pos_label='x' is not in y"):
        CCNND(pos_label="x").partial_fit([[0.0], [1.0]], ["a", "b"])


def test_gains_and_periods_are_not_kept():
    X, y = make_classification(60, 3, n_informative=3, n_redundant=0, random_state=0)
    model = CCNND(threshold=Budget(rows=3)).fit(X, y, period=np.arange(60) % 3)
    for change in (lambda: model.partial_fit(X, y), lambda: model.forget(0)):
        with pytest.raises(ValueError, match="gains or periods, which are not kept"):
            change()
