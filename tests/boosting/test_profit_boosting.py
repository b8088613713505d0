"""Boosting for profit."""

import sys

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from scarce.boosting import ProfitBoosting
from scarce.metrics import profit_score
from scarce.profit import Gains, bayes_threshold
from tests import naive_profit

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

COSTS = Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(3000, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.02, random_state=4)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y, COSTS(X)


@pytest.fixture(params=["log_loss", "exponential", "logistic"])
def model(request):
    return ProfitBoosting(request.param, n_estimators=60, random_state=0)


def test_earns_more_on_new_rows_than_any_decision_for_all(data, model):
    X, y, gains = data
    model.fit(X[:2000], y[:2000], gains=gains[:2000])
    X, y, gains = X[2000:], y[2000:], gains[2000:]
    earned = model.score(X, y, gains=gains)
    assert earned == pytest.approx(naive_profit.profit(y, model.score_samples(X) > 0, gains))
    most = profit_score(y, y, gains)
    base = max(profit_score(y, np.full(len(y), flag), gains) for flag in (0, 1))
    assert most - earned < 0.6 * (most - base)


def test_the_currency_does_not_matter(data, model):
    X, y, gains = data
    euros = clone(model).fit(X, y, gains=gains)
    cents = clone(model).fit(X, y, gains=1000 * gains)
    np.testing.assert_allclose(cents.score_samples(X), euros.score_samples(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(cents.predict(X), euros.predict(X))


def test_an_amount_for_every_outcome_changes_nothing(data, model):
    X, y, gains = data
    shifted = clone(model).fit(X, y, gains=gains + 2.0**10)
    np.testing.assert_allclose(
        shifted.score_samples(X), clone(model).fit(X, y, gains=gains).score_samples(X), atol=1e-6
    )


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "logistic"])
def test_dearer_rows_count_more(data, loss):
    X, y, _ = data
    lax, strict = ([0, -1, 0, -100], [0, -100, 0, -1])
    flagged = [ProfitBoosting(loss, random_state=0).fit(X, y, gains=gains).predict(X).mean() for gains in (lax, strict)]
    assert flagged[0] > y.mean() > flagged[1]


def test_rows_without_weight_or_worth_are_not_learned_from(data, model):
    X, y, gains = data
    left_out = np.arange(len(y)) % 3 == 0
    flipped = np.where(left_out, 1 - y, y)
    by_weight = clone(model).fit(X, flipped, sample_weight=(~left_out).astype(float), gains=gains)
    by_gains = clone(model).fit(X, flipped, gains=np.where(left_out[:, None], 0.0, gains))
    truth = clone(model).fit(X, y, sample_weight=(~left_out).astype(float), gains=gains)
    np.testing.assert_allclose(by_weight.score_samples(X), truth.score_samples(X))
    of_others = clone(model).fit(X, y, gains=np.where(left_out[:, None], 0.0, gains))
    np.testing.assert_allclose(by_gains.score_samples(X), of_others.score_samples(X))


def test_rows_whose_decision_is_known_pull_that_way(data):
    X, y, _ = data
    # A check costs 5, so that amounts below are never worth one, fraud or not.
    gains = Gains(tp=-5, fp=-5, fn="-x0")(X)
    model = ProfitBoosting(n_estimators=100, random_state=0).fit(X, y, gains=gains)
    assert np.isfinite(model.score_samples(X)).all()
    found = model.predict(X) == 1
    assert found[(y == 1) & (X[:, 0] < 4)].mean() < 0.5 < found[(y == 1) & (X[:, 0] > 50)].mean()


LABELS = (np.array([0, 1]), np.array(["z-genuine", "fraud"]))


@pytest.mark.parametrize("labels", LABELS)
def test_the_probability_is_that_of_the_link(data, labels):
    X, y, gains = data
    model = ProfitBoosting("exponential", random_state=0).fit(X, labels[y], gains=gains)
    column = model.classes_.tolist().index(labels[1])
    p = model.predict_proba(X, gains=gains)[:, column]
    s, score = bayes_threshold(gains), model.score_samples(X)
    np.testing.assert_allclose(p, 1 / (1 + (1 - s) / s * np.exp(-2 * score)))
    np.testing.assert_array_equal(p > s, model.predict(X) == labels[1])
    np.testing.assert_allclose(model.predict_proba(X, gains=gains).sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(X)[:, column], 1 / (1 + np.exp(-2 * score)), atol=1e-12)
    assert p.mean() == pytest.approx(y.mean(), rel=0.5)
    with pytest.raises(ValueError, match="no probability behind loss='logistic'"):
        ProfitBoosting("logistic", n_estimators=5).fit(X, y, gains=gains).predict_proba(X, gains=gains)


@pytest.mark.parametrize("labels", LABELS)
def test_the_probability_of_the_log_loss_is_that_of_lightgbm_whatever_the_gains(data, labels):
    X, y, gains = data
    model = ProfitBoosting(colsample_bytree=1.0, random_state=0).fit(X, labels[y], gains=gains)
    trees = {name: model.get_params()[name] for name in ("n_estimators", "learning_rate", "num_leaves", "reg_lambda")}
    peer = LGBMClassifier(**trees, max_bin=model.max_bin, random_state=0, n_jobs=1, verbose=-1).fit(X, y)
    column = model.classes_.tolist().index(labels[1])
    worthless = np.where(np.arange(len(X))[:, None] % 2, gains, [0, -5, 0, 0])  # such a row is never worth a call
    for table in (gains, COSTS, worthless, [0, -5, 0, -95]):
        p = model.predict_proba(X, gains=table)
        np.testing.assert_allclose(p[:, column], peer.predict_proba(X)[:, 1], rtol=1e-6)
        np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[:, column].mean() == pytest.approx(y.mean(), rel=0.5)
    np.testing.assert_array_equal(model.predict_proba(X), p)
    squeezed = model.set_params(calibration=None).fit(X, labels[y], gains=gains)
    share = 1 / (1 + np.exp(-squeezed.score_samples(X)))  # 1/2 at the threshold
    np.testing.assert_allclose(squeezed.predict_proba(X)[:, column], share, atol=1e-12)
    with pytest.raises(ValueError, match="gains"):
        model.predict_proba(X, gains=gains[:-1])


def test_without_trees_the_probability_is_the_share_of_the_class(data):
    _, y, gains = data
    constant = np.ones((len(y), 2))
    model = ProfitBoosting().fit(constant, y, gains=gains)
    np.testing.assert_allclose(model.predict_proba(constant, gains=gains)[:, 1], y.mean())


def test_with_equal_stakes_the_log_loss_is_that_of_lightgbm(data):
    X, y, _ = data
    trees = {"n_estimators": 40, "num_leaves": 8, "reg_lambda": 5.0, "min_child_samples": 20}
    ours = ProfitBoosting(**trees, learning_rate=0.05, colsample_bytree=1.0, random_state=0)
    ours.fit(X, y, gains=[0, -5, 0, -95])
    peer = LGBMClassifier(**trees, learning_rate=0.05, max_bin=2047, random_state=0, n_jobs=1, verbose=-1).fit(X, y)
    expected = peer.predict(X, raw_score=True) + np.log(95 / 5)
    np.testing.assert_allclose(ours.score_samples(X), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X) == 1, peer.predict_proba(X)[:, 1] > 0.05)


@pytest.mark.parametrize("seed", range(4))
def test_stakes_are_learned_from_the_features(data, seed):
    X, y, gains = data
    model = ProfitBoosting(n_estimators=30, colsample_bytree=0.3, random_state=seed).fit(X, y, gains=gains)
    assert model.n_estimators_ == 30 < model.booster_.num_trees()
    plain = model.booster_.predict(X, num_iteration=30)  # the log-odds of the class, but for a constant
    learned = model.score_samples(X) - plain
    known = np.log(1 / bayes_threshold(gains) - 1)
    error = (learned - learned.mean()) - (known - known.mean())
    assert np.sqrt(np.mean(error**2)) < 0.15 * known.std()


def test_stakes_that_no_feature_determines_are_averaged(data):
    X, y, _ = data
    rng = np.random.default_rng(0)
    amount = rng.lognormal(3, 1, len(X))
    gains = Gains(fn=-amount, fp=-5)(X)
    mean = Gains(fn=-float(amount.mean()), fp=-5)(X)
    unknown, average = (ProfitBoosting(random_state=0).fit(X, y, gains=table).predict(X) for table in (gains, mean))
    assert (unknown != average).mean() < 0.1


def test_early_stopping_takes_the_trees_that_earn_most(data, model):
    X, y, gains = data
    noisy = np.random.default_rng(0).permutation(y)
    stopped = (
        clone(model).set_params(n_estimators=200, n_iter_no_change=5, learning_rate=0.3).fit(X, noisy, gains=gains)
    )
    assert 1 <= stopped.n_estimators_ < 200
    plain = clone(model).set_params(n_estimators=stopped.n_estimators_, learning_rate=0.3).fit(X, noisy, gains=gains)
    np.testing.assert_array_equal(stopped.score_samples(X), plain.score_samples(X))
    with pytest.raises(ValueError, match="two rows of each class"):
        stopped.fit(X[:50], np.arange(50) == 3)


def test_explanations_add_up(data, model):
    X, y, gains = data
    model.fit(X, y, gains=gains)
    explained = model.explain(X[:20])
    np.testing.assert_allclose(explained.base_value + explained.effects.sum(axis=1), model.score_samples(X[:20]))
    assert explained.additive
    assert explained.unit == ("log-odds" if model.loss == "log_loss" else "score")


def test_missing_values_are_learned(data, model):
    X, y, gains = data
    missing = X.copy()
    missing[y == 1, 3] = np.nan
    model.fit(missing, y, gains=gains)
    assert np.isfinite(model.score_samples(missing)).all()
    assert model.predict(missing[y == 1]).mean() > 0.9
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.full((1, 6), np.inf))


def test_columns_without_a_split(data):
    _, y, gains = data
    constant = np.ones((len(y), 2))
    model = ProfitBoosting().fit(constant, y, gains=gains)
    assert model.booster_ is None
    assert model.n_estimators_ == 0
    earns = [profit_score(y, np.full(len(y), flag), gains) for flag in (0, 1)]
    assert model.predict(constant[:1])[0] == np.argmax(earns)
    explained = model.explain(constant[:1])
    assert explained.effects.tolist() == [[0.0, 0.0]]
    assert explained.base_value == model.score_samples(constant[:1])


def test_honest_scores_learn_from_the_gains_of_their_rows(data):
    X, y, gains = data
    model = ProfitBoosting(n_estimators=20, random_state=0)
    honest = model.honest_scores(X, y, gains=gains)
    np.testing.assert_array_equal(honest, model.honest_scores(X, y, gains=COSTS))
    expected = np.empty(len(y))
    for train, test in model._folds(5).split(X, y):
        expected[test] = clone(model).fit(X[train], y[train], gains=gains[train]).score_samples(X[test])
    np.testing.assert_array_equal(honest, expected)
    assert not hasattr(model, "threshold_")


def test_nothing_is_kept_of_the_rows(data):
    X, y, gains = data
    model = ProfitBoosting(n_estimators=5).fit(X, y, gains=gains)
    assert not [name for name, value in vars(model).items() if np.size(value) >= len(y)]


def test_before_fit_and_without_the_library(monkeypatch, data):
    X, y, _ = data
    with pytest.raises(NotFittedError):
        _ = ProfitBoosting().booster_
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[boost\]"'):
        ProfitBoosting().fit(X, y)
