"""The metrics against slow twins, scikit-learn, the objectives and exact distributions."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

from scarce import metrics as m
from scarce import objectives as ob
from tests import naive

K = st.one_of(st.integers(1, 9), st.floats(0.01, 1.0))
LEVELS = [-2.5, 0.0, 0.1, 0.2, 0.30000000000000004, 0.3, 7.0]


@st.composite
def ranked(draw, least=1, most=6):
    """Labels with both classes, scores with many ties, values and small whole weights."""
    n = draw(st.integers(max(least, 2), most))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < n))
    scores = draw(st.lists(st.sampled_from(LEVELS), min_size=n, max_size=n))
    value = draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    gains = draw(st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=n, max_size=n))
    predicted = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return tuple(np.array(column) for column in (y, scores, value, weight, gains, predicted))


# the first k --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:k=")
@given(case=ranked(), k=K)
def test_at_k_is_the_mean_over_all_orders_of_ties(case, k):
    y, scores, value, *_ = case
    assert m.precision_at_k(y, scores, k) == pytest.approx(naive.precision_at_k(y, scores, k))
    assert m.recall_at_k(y, scores, k) == pytest.approx(naive.recall_at_k(y, scores, k))
    expected = naive.value_at_k(y, scores, k, value)
    assert m.value_at_k(y, scores, k, value) == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore:k=")
@given(case=ranked(most=4).filter(lambda c: (c[0] * c[3]).any() and c[3].sum() < 8), k=K)
@settings(max_examples=25)
def test_a_weight_is_a_number_of_rows(case, k):
    y, scores, value, weight, *_ = case
    rows = np.repeat(np.arange(len(y)), weight)
    for fast, slow, extra in (
        (m.precision_at_k, naive.precision_at_k, ()),
        (m.recall_at_k, naive.recall_at_k, ()),
        (m.value_at_k, naive.value_at_k, (value,)),
    ):
        expected = slow(y[rows], scores[rows], k, *(column[rows] for column in extra))
        assert fast(y, scores, k, *extra, sample_weight=weight) == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore:k=")
@given(case=ranked(most=40), k=K, seed=st.integers(0, 99))
def test_row_order_does_not_matter(case, k, seed):
    y, scores, value, *_ = case
    order = np.random.default_rng(seed).permutation(len(y))
    assert m.precision_at_k(y[order], scores[order], k) == m.precision_at_k(y, scores, k)
    assert m.recall_at_k(y[order], scores[order], k) == m.recall_at_k(y, scores, k)
    after = m.value_at_k(y[order], scores[order], k, value[order])
    assert after == pytest.approx(m.value_at_k(y, scores, k, value), abs=1e-9)


@given(case=ranked(most=40), factor=st.floats(1e-6, 1e6), share=st.floats(0.01, 1.0))
def test_a_share_does_not_depend_on_the_unit_of_weights(case, factor, share):
    y, scores, _, weight, *_ = case
    weight = weight + 0.1
    for metric in (m.precision_at_k, m.recall_at_k):
        once = metric(y, scores, share, sample_weight=weight)
        assert 0 <= once <= 1 + 1e-12
        assert metric(y, scores, share, sample_weight=factor * weight) == pytest.approx(once)


@pytest.mark.parametrize("k", [1, 999, 4321, 0.07, 0.5])
def test_without_ties_the_first_k_are_a_slice(k):
    rng = np.random.default_rng(0)
    scores, y = rng.permutation(5000), (rng.random(5000) < 0.05).astype(int)
    first = y[np.argsort(-scores)][: k if isinstance(k, int) else round(k * 5000)]
    assert m.precision_at_k(y, scores, k) == pytest.approx(first.mean())
    assert m.recall_at_k(y, scores, k) == pytest.approx(first.sum() / y.sum())


@pytest.mark.filterwarnings("ignore:k=")
def test_all_tied_gives_prevalence():
    y = np.array([1, 0, 0, 0, 1])
    for k in (1, 3, 0.5, 100):
        assert m.precision_at_k(y, np.zeros(5), k) == pytest.approx(0.4)
        assert m.recall_at_k(y, np.zeros(5), k) == pytest.approx(min(k if k != 0.5 else 2.5, 5) / 5)


def test_more_than_all_rows_is_all_rows():
    y, scores = [1, 0, 1], [0.3, 0.2, 0.1]
    with pytest.warns(UserWarning, match="k=50 is more than the 3 rows"):
        assert m.recall_at_k(y, scores, 50) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert m.precision_at_k(y, scores, 50) == m.precision_at_k(y, scores, 1.0) == pytest.approx(2 / 3)
    assert m.precision_at_k(y, scores, 1) == 1


def test_without_positives_precision_is_zero_and_recall_undefined():
    assert m.precision_at_k([0, 0], [0.1, 0.2], 1) == 0
    assert m.value_at_k([0, 0], [0.1, 0.2], 1, [5, 5]) == 0
    with pytest.raises(ValueError, match="positive rows is undefined"):
        m.recall_at_k([0, 0], [0.1, 0.2], 1)


@pytest.mark.filterwarnings("ignore:k=")
@given(case=ranked(most=40), k=K)
def test_float32_scores_keep_their_ties(case, k):
    y, scores, *_ = case
    # 0.1 + 0.2 and 0.3 differ as doubles and are one number in single precision.
    merged = np.where(scores == 0.1 + 0.2, 0.3, scores)
    assert m.precision_at_k(y, scores.astype(np.float32), k) == m.precision_at_k(y, merged, k)


@pytest.mark.filterwarnings("ignore:k=")
@given(case=ranked(most=40), k=st.integers(1, 40))
def test_recall_at_k_is_the_value_of_a_budget(case, k):
    y, scores, *_ = case
    distinct = scores + 1e-3 * np.arange(len(y))
    assert m.recall_at_k(y, distinct, k) == pytest.approx(ob.Budget(rows=k).best_threshold(distinct, y).value)


# decisions ----------------------------------------------------------------------------------------------------


@given(case=ranked(most=30))
def test_decisions_agree_with_their_twins(case):
    y, *_, gains, predicted = case
    tpr, tnr = naive.rates(y, predicted)
    assert m.gmean_score(y, predicted) == pytest.approx((tpr * tnr) ** 0.5)
    assert m.class_weighted_accuracy_score(y, predicted) == pytest.approx(0.7 * tpr + 0.3 * tnr)
    assert m.class_weighted_accuracy_score(y, predicted, 0.5) == pytest.approx(sk.balanced_accuracy_score(y, predicted))
    assert m.profit_score(y, predicted, gains) == naive.profit(y, predicted, gains)
    constants = gains[0]
    assert m.profit_score(y, predicted, constants) == naive.profit(y, predicted, [constants] * len(y))


@given(case=ranked(most=30))
def test_relative_profits_agree_with_their_twins(case):
    y, *_, gains, predicted = case
    if naive.profit(y, y, gains) != 0:
        expected = naive.profit_gap(y, predicted, gains)
        assert m.profit_gap_score(y, predicted, gains) == pytest.approx(expected)
    costs = -np.abs(gains) - 1
    assert m.savings_score(y, predicted, costs) == pytest.approx(naive.savings(y, predicted, costs), abs=1e-9)


@given(case=ranked(most=12).filter(lambda c: (c[0] * c[3]).any() and ((1 - c[0]) * c[3]).any()))
def test_decision_weights_are_numbers_of_rows(case):
    y, _, _, weight, gains, predicted = case
    rows = np.repeat(np.arange(len(y)), weight)
    for metric in (m.gmean_score, m.class_weighted_accuracy_score):
        expected = metric(y[rows], predicted[rows])
        assert metric(y, predicted, sample_weight=weight) == pytest.approx(expected)
    expected = m.profit_score(y[rows], predicted[rows], gains[rows])
    assert m.profit_score(y, predicted, gains, sample_weight=weight) == pytest.approx(expected)


def test_relative_profit_of_nothing():
    gains = [0, -1, 0, -2]
    assert m.profit_gap_score([1, 0], [1, 0], gains) == 0
    with pytest.raises(ValueError, match="Perfect predictions earn nothing"):
        m.profit_gap_score([1, 0], [0, 0], gains)
    with pytest.raises(ValueError, match="Equal predictions for all rows earn nothing"):
        m.savings_score([1, 0], [0, 1], [0, 0, -1, -2])


def test_losing_money_is_a_gap_above_zero():
    gains = [-1, -4, -1, -5]
    assert m.profit_gap_score([1, 0], [0, 0], gains) == 2
    assert m.profit_score([0, 0], [1, 0], gains) == -5


def test_average_precision_is_that_of_scikit_learn():
    assert m.average_precision is sk.average_precision_score


# objectives ---------------------------------------------------------------------------------------------------

VALUES = {
    ob.FBeta(1): sk.f1_score,
    ob.FBeta(2): partial(sk.fbeta_score, beta=2),
    ob.GMean(): m.gmean_score,
    ob.BalancedAccuracy(): sk.balanced_accuracy_score,
    ob.ClassWeightedAccuracy(0.6): partial(m.class_weighted_accuracy_score, alpha=0.6),
    ob.Jaccard(): sk.jaccard_score,
    ob.MCC(): sk.matthews_corrcoef,
    ob.Profit(): m.profit_score,
}


@pytest.mark.parametrize("objective", VALUES, ids=repr)
@given(case=ranked(most=30), weighted=st.booleans())
def test_an_objective_is_the_metric_of_its_predictions(objective, case, weighted):
    y, scores, _, weight, gains, _ = case
    extra = {"sample_weight": weight + 0.5} if weighted else {}
    if isinstance(objective, ob.Profit):
        extra["gains"] = gains
    curve = objective.curve(scores, y, **extra)
    for threshold, value in zip(curve.threshold, curve.value, strict=True):
        predicted = (scores > threshold).astype(int)
        assert VALUES[objective](y, predicted, **extra) == pytest.approx(value, abs=1e-9)
    best = objective.best_threshold(scores, y, **extra)
    predicted = (scores > best.threshold).astype(int)
    assert VALUES[objective](y, predicted, **extra) == pytest.approx(best.value, abs=1e-9)


# labels and containers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("negative", "positive", "named"),
    [(0, 1, False), (-1, 1, False), (False, True, False), (0.0, 1.0, False), ("fraud", "ok", True), (2, 1, True)],
)
def test_any_two_labels(negative, positive, named):
    truth, predicted, scores = np.array([1, 0, 1, 0, 0]), np.array([1, 0, 0, 1, 0]), [5, 4, 3, 2, 1]
    y, p = (np.where(column, positive, negative) for column in (truth, predicted))
    label = {"pos_label": positive} if named else {}
    for kind in (np.asarray, list, pd.Series, pl.Series, partial(pd.Series, dtype="object")):
        assert m.precision_at_k(kind(y), scores, 2, **label) == 0.5
        assert m.gmean_score(kind(y), kind(p), **label) == m.gmean_score(truth, predicted)
        gains = [5, -1, 0, -7]
        assert m.profit_score(kind(y), kind(p), gains, **label) == m.profit_score(truth, predicted, gains)


def test_a_named_label_decides():
    y, scores = ["b", "a", "b"], [3, 2, 1]
    assert m.precision_at_k(y, scores, 1, pos_label="b") == 1
    assert m.precision_at_k(y, scores, 1, pos_label="a") == 0
    assert m.precision_at_k([1, 0, 1], scores, 1, pos_label=0) == 0
    # A day without frauds is no mistake.
    assert m.precision_at_k(["ok", "ok"], [2, 1], 1, pos_label="fraud") == 0


# bad input ----------------------------------------------------------------------------------------------------

Y, S, GAINS = [1, 0, 0, 1], [0.4, 0.3, 0.2, 0.1], [1, 0, 0, 0]
MISTAKES = {
    "y_score contains NaN": lambda: m.precision_at_k(Y, [0.1, np.nan, 0.3, 0.4], 2),
    "y_score contains infinity": lambda: m.precision_at_k(Y, [0.1, np.inf, 0.3, 0.4], 2),
    "y_true contains NaN": lambda: m.recall_at_k([1, np.nan, 0, 1], S, 2),
    "value contains NaN": lambda: m.value_at_k(Y, S, 2, [1, np.nan, 0, 1]),
    r"inconsistent numbers of samples: \[4, 3\]": lambda: m.recall_at_k(Y, S[:3], 2),
    r"inconsistent numbers of samples: \[4, 2\]": lambda: m.gmean_score(Y, [1, 0]),
    r"inconsistent numbers of samples: \[4, 1\]": lambda: m.value_at_k(Y, S, 2, [1]),
    r"at most 1; got 0\.": lambda: m.precision_at_k(Y, S, 0),
    "at most 1; got -3": lambda: m.recall_at_k(Y, S, -3),
    r"at most 1; got 0\.0": lambda: m.recall_at_k(Y, S, 0.0),
    r"at most 1; got 2\.0": lambda: m.recall_at_k(Y, S, 2.0),
    "at most 1; got nan": lambda: m.recall_at_k(Y, S, float("nan")),
    "at most 1; got True": lambda: m.recall_at_k(Y, S, True),
    "at most 1; got '5'": lambda: m.recall_at_k(Y, S, "5"),
    "0 sample": lambda: m.precision_at_k([], [], 1),
    r"y_score must be one column, got shape \(4, 2\)": lambda: m.precision_at_k(Y, np.ones((4, 2)), 1),
    "negative rows is undefined": lambda: m.gmean_score([1, 1], [1, 0]),
    "positive rows is undefined": lambda: m.class_weighted_accuracy_score([0, 0], [1, 0]),
    "alpha must be between 0 and 1, got 1.5": lambda: m.class_weighted_accuracy_score(Y, Y, alpha=1.5),
    "Set pos_label .* labels 'a' and 'b';": lambda: m.gmean_score(["a", "b"], ["a", "b"]),
    "Set pos_label .* labels '0' and '1';": lambda: m.gmean_score(["0", "1"], ["0", "1"]),
    "Set pos_label .* labels 1 and 2;": lambda: m.precision_at_k([1, 2], [0.1, 0.2], 1),
    "pos_label='Fraud' is not one of": lambda: m.precision_at_k(["fraud", "ok"], [1, 2], 1, pos_label="Fraud"),
    "Expected two labels, found 3": lambda: m.precision_at_k([0, 1, 2], [0.1, 0.2, 0.3], 1),
    r"Expected two labels, found 6 \(0, .* and 1 more\)\. .* not scores": lambda: m.gmean_score(Y, S),
    r"gains must have four columns .* got shape \(4, 3\)": lambda: m.profit_score(Y, Y, np.ones((4, 3))),
    r"gains must have four columns .* got shape \(3, 4\)": lambda: m.profit_gap_score(Y, Y, np.ones((3, 4))),
    "gain fp is missing or infinite. Give a finite number": lambda: m.savings_score(Y, Y, [1, np.nan, 0, 0]),
    "sample_weight must hold 4 non-negative numbers": lambda: m.profit_score(Y, Y, GAINS, sample_weight=[1, 1, 1, -1]),
    "at least one of them positive": lambda: m.precision_at_k(Y, S, 1, sample_weight=[0, 0, 0, 0]),
    "hold 4 non-negative numbers": lambda: m.precision_at_k(Y, S, 1, sample_weight=[1, 1]),
    "single row of class 1": lambda: m.bootstrap_interval(m.average_precision, [1, 0, 0], [1, 2, 3]),
    "confidence must be": lambda: m.bootstrap_interval(m.average_precision, Y, S, confidence=95),
    "n_resamples must be at least 1": lambda: m.bootstrap_interval(m.average_precision, Y, S, n_resamples=0),
    r"k must hold one entry .* functools\.partial\(metric, k=": lambda: m.bootstrap_interval(m.recall_at_k, Y, S, k=2),
    "gains must hold one entry": lambda: m.bootstrap_interval(m.profit_score, Y * 2, Y * 2, gains=GAINS),
    "inconsistent numbers": lambda: m.bootstrap_interval(m.average_precision, Y, S[:3]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_one_clear_error(message):
    with pytest.raises(ValueError, match=message):
        MISTAKES[message]()


# intervals ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(3)
    y = (rng.random(400) < 0.1).astype(int)
    return y, np.round(rng.normal(size=400) + 1.5 * y, 1), rng


@pytest.mark.parametrize("metric", [m.average_precision, partial(m.precision_at_k, k=20), sk.roc_auc_score])
def test_interval_agrees_with_its_twin(sample, metric):
    y, scores, _ = sample
    figures = naive.bootstrap_figures(metric, y, scores, n_resamples=40, random_state=5)
    interval = m.bootstrap_interval(metric, y, scores, n_resamples=40, confidence=0.8, random_state=5)
    assert interval.estimate == pytest.approx(metric(y, scores))
    assert interval[1:] == pytest.approx(np.quantile(figures, [0.1, 0.9]))


@given(case=ranked(least=6, most=40).filter(lambda c: 2 <= c[0].sum() <= len(c[0]) - 2), stratified=st.booleans())
@settings(max_examples=20)
def test_the_short_way_to_average_precision(case, stratified):
    y, scores, _, weight, *_ = case

    def by_scikit_learn(y, scores, sample_weight=None):
        return sk.average_precision_score(y, scores, sample_weight=sample_weight)

    for extra in ({}, {"sample_weight": weight + 0.5}):
        options = {"n_resamples": 20, "stratified": stratified, **extra}
        short = m.bootstrap_interval(m.average_precision, y, scores, **options)
        assert short == pytest.approx(m.bootstrap_interval(by_scikit_learn, y, scores, **options))


@pytest.mark.parametrize("stratified", [True, False])
def test_interval_of_a_share_is_that_of_the_binomial(stratified):
    # How many rows of a resample are right is binomial, and so its percentiles are known.
    y = np.repeat([1, 0], [60, 140])
    predicted = np.where(np.arange(200) % 3 == 0, 1 - y, y)
    metric = sk.recall_score if stratified else sk.accuracy_score
    n, share = (60, 40 / 60) if stratified else (200, metric(y, predicted))
    low, high = stats.binom.ppf([0.025, 0.975], n, share) / n
    interval = m.bootstrap_interval(metric, y, predicted, n_resamples=2000, stratified=stratified)
    assert interval.estimate == pytest.approx(share)
    assert interval[1:] == pytest.approx((low, high), abs=1.01 / n)


def test_stratified_resamples_keep_the_classes_and_others_do_not():
    counts = []

    def positives(y, scores):
        counts.append(y.sum())
        return 0.0

    y = np.repeat([0, 1], [30, 2])
    m.bootstrap_interval(positives, y, y, n_resamples=200)
    assert set(counts) == {2}
    m.bootstrap_interval(positives, y, y, n_resamples=200, stratified=False)
    assert min(counts) >= 1
    assert max(counts) > 2


def test_what_comes_with_the_rows_is_resampled_with_them(sample):
    y, scores, _ = sample
    scores = scores + np.arange(400) * 1e-6
    row = np.arange(400.0)
    given_rows = dict(zip(scores.tolist(), row.tolist(), strict=True))

    def metric(y_, scores_, value, gains, sample_weight):
        rows = np.array([given_rows[s] for s in scores_.tolist()])
        np.testing.assert_array_equal(value, rows)
        np.testing.assert_array_equal(gains, np.outer(rows, [1, 2, 3, 4]))
        np.testing.assert_array_equal(y_, y[rows.astype(int)])
        assert sample_weight.all()
        return float(value.mean())

    arrays = {"value": row, "gains": np.outer(row, [1, 2, 3, 4]), "sample_weight": (row % 7).astype(int)}
    interval = m.bootstrap_interval(metric, y, scores, n_resamples=20, **arrays)
    assert interval.low < interval.estimate < interval.high


def test_intervals_with_money_and_labels(sample):
    y, scores, rng = sample
    gains = rng.normal(size=(400, 4))
    labels = np.where(y, "fraud", "ok")
    predicted = np.where(scores > 1, "fraud", "ok")
    interval = m.bootstrap_interval(
        partial(m.profit_score, pos_label="fraud"), labels, predicted, gains=gains, n_resamples=100
    )
    assert interval.estimate == pytest.approx(m.profit_score(y, scores > 1, gains))
    assert interval.low < interval.estimate < interval.high


def test_interval_is_reproducible_and_narrows(sample):
    y, scores, _ = sample
    wide, again = (m.bootstrap_interval(m.average_precision, y, scores, n_resamples=200) for _ in range(2))
    assert wide == again
    other = m.bootstrap_interval(m.average_precision, y, scores, n_resamples=200, random_state=1)
    assert other != wide
    more = m.bootstrap_interval(m.average_precision, np.tile(y, 16), np.tile(scores, 16), n_resamples=200)
    assert more.high - more.low < 0.5 * (wide.high - wide.low)


def test_perfect_ranking_has_no_width():
    y = np.repeat([0, 1], 20)
    assert m.bootstrap_interval(m.average_precision, y, y, n_resamples=50) == (1, 1, 1)


# scorers ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(400, weights=[0.9], flip_y=0.1, random_state=0)
    return X, y, np.random.default_rng(0).normal([30, -5, 0, -60], 3, size=(400, 4))


def folds(X, y):
    return StratifiedKFold(3).split(X, y)


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_scorers_cross_validate(table, model):
    X, y, _ = table
    scoring = {
        "precision": m.precision_at_k_scorer(10),
        "recall": m.recall_at_k_scorer(0.1),
        "gmean": m.gmean_scorer,
    }
    scored = cross_validate(model, X, y, scoring=scoring, cv=3)
    for fold, (train, test) in enumerate(folds(X, y)):
        fitted = model.fit(X[train], y[train])
        scores = fitted.predict_proba(X[test])[:, 1]
        assert scored["test_precision"][fold] == pytest.approx(m.precision_at_k(y[test], scores, 10))
        assert scored["test_recall"][fold] == pytest.approx(m.recall_at_k(y[test], scores, 0.1))
        assert scored["test_gmean"][fold] == pytest.approx(m.gmean_score(y[test], fitted.predict(X[test])))


def test_scorers_find_the_named_class(table):
    X, y, _ = table
    # "fraud" sorts first, so scikit-learn's scores speak for "ok" and have to be turned round.
    labels = np.where(y, "fraud", "ok")
    model = LogisticRegression()
    plain, named = model.fit(X, y), LogisticRegression().fit(X, labels)
    for scorer in (m.precision_at_k_scorer, m.recall_at_k_scorer):
        assert scorer(15, pos_label="fraud")(named, X, labels) == pytest.approx(scorer(15)(plain, X, y))


def test_scorers_search(table):
    X, y, _ = table
    grid = {"max_depth": [1, 2, 4]}
    for scorer in (m.precision_at_k_scorer(20), m.recall_at_k_scorer(0.2), m.gmean_scorer):
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring=scorer, cv=3).fit(X, y)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0


def test_gains_are_routed_to_the_profit_scorer(table):
    X, y, gains = table
    with config_context(enable_metadata_routing=True):
        scored = cross_validate(LogisticRegression(), X, y, scoring=m.profit_scorer(), cv=3, params={"gains": gains})[
            "test_score"
        ]
        search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=m.profit_scorer(), cv=3)
        assert search.fit(X, y, gains=gains).best_score_ == pytest.approx(scored.mean())
    for fold, (train, test) in enumerate(folds(X, y)):
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        assert scored[fold] == pytest.approx(m.profit_score(y[test], predicted, gains[test]))


def test_constant_gains_need_no_routing(table):
    X, y, _ = table
    gains = (30, -5, 0, -60)
    model = LogisticRegression().fit(X, y)
    assert make_scorer(m.profit_score, gains=gains)(model, X, y) == m.profit_score(y, model.predict(X), gains)
