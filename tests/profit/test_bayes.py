"""The Bayes rule row by row, and gains on their way through scikit-learn."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from scarce import TunedThreshold
from scarce.boosting import ProfitBoosting
from scarce.metrics import profit_score, profit_scorer
from scarce.objectives import Profit
from scarce.profit import BayesProfitClassifier, Gains
from tests import naive_profit

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

COSTS = Gains(tp=0, fn="-0.8*x0", fp="0.1*x0 - zeta", tn="0.1*x0", zeta=5)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1500, 5, n_informative=3, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=2)
    X[:, 0] = np.random.default_rng(0).lognormal(3, 1.5, len(X))
    return X, y, COSTS(X)


@pytest.mark.parametrize("labels", [(0, 1), ("genuine", "fraud"), ("fraud?no", "yes"), (True, False)])
@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid", None])
def test_each_row_is_decided_by_its_own_gains(data, labels, calibration):
    X, y, gains = data
    names = np.array(labels)[y]
    model = BayesProfitClassifier(LogisticRegression(), calibration).fit(X, names, gains=gains)
    called = model.predict(X, gains=gains)
    assert called.dtype == names.dtype
    np.testing.assert_array_equal(called == labels[1], naive_profit.best_decisions(model.score_samples(X), gains))
    assert model.score(X, names, gains=gains) == pytest.approx(naive_profit.profit(y, called == labels[1], gains))
    assert model.score(X, names) == (model.predict(X) == names).mean()


def test_gains_as_an_object_are_the_same(data):
    X, y, gains = data
    by_array = BayesProfitClassifier(LogisticRegression()).fit(X, y, gains=gains)
    by_object = BayesProfitClassifier(LogisticRegression()).fit(X, y, gains=COSTS)
    assert by_array.threshold_ == by_object.threshold_
    np.testing.assert_array_equal(by_array.predict(X, gains=gains), by_object.predict(X, gains=COSTS))
    assert by_array.score(X, y, gains=gains) == by_object.score(X, y, gains=COSTS)
    np.testing.assert_array_equal(by_array.expected_gain(X, gains), by_object.expected_gain(X, COSTS))
    tuned = TunedThreshold(LogisticRegression(), threshold=Profit())
    assert tuned.fit(X, y, gains=COSTS).threshold_ == tuned.fit(X, y, gains=gains).threshold_


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), RandomForestClassifier(30, oob_score=True)])
@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid"])
def test_scores_are_calibrated_and_keep_the_ranking(data, estimator, calibration):
    X, y, _ = data
    if isinstance(estimator, RandomForestClassifier):
        estimator.set_params(random_state=0)
    model = BayesProfitClassifier(estimator, calibration).fit(X, y)
    score = model.score_samples(X)
    assert model.honest_scores(X, y).mean() == pytest.approx(y.mean(), abs=0.01)
    fitted = model.estimator_
    raw = fitted.decision_function(X) if isinstance(estimator, LinearSVC) else fitted.predict_proba(X)[:, 1]
    order = np.argsort(raw, kind="stable")
    ranked = score[order]
    assert (np.diff(ranked) >= 0).all()
    assert (np.diff(ranked)[np.diff(raw[order]) > 1e-9] > 0).all()


def test_calibration_is_that_of_scikit_learn(data):
    X, y, _ = data
    forest = RandomForestClassifier(20, max_depth=4, random_state=0)
    ours = BayesProfitClassifier(forest).fit(X, y).score_samples(X)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    theirs = CalibratedClassifierCV(forest, method="isotonic", cv=folds, ensemble=False).fit(X, y)
    np.testing.assert_allclose(ours, theirs.predict_proba(X)[:, 1], atol=2e-6)


def test_honest_scores_do_not_know_their_class(data):
    X, _, _ = data
    y = np.random.default_rng(1).integers(0, 2, len(X))
    forest = RandomForestClassifier(20, random_state=0)
    honest = BayesProfitClassifier(forest, pos_label=1).honest_scores(X, y)
    assert abs(((honest > 0.5) == y).mean() - 0.5) < 0.05


def test_without_gains_one_threshold_for_all_rows(data):
    X, y, gains = data
    model = BayesProfitClassifier(LogisticRegression()).fit(X, y, gains=gains)
    np.testing.assert_array_equal(model.predict(X) == 1, model.score_samples(X) > model.threshold_)
    best = Profit().best_threshold(model.honest_scores(X, y, gains=gains), y, gains=gains)
    assert model.threshold_ == best.threshold
    same = BayesProfitClassifier(LogisticRegression()).fit(X, y, gains=[0, -5, 0, -95])
    assert same.threshold_ == pytest.approx(0.05)
    np.testing.assert_array_equal(same.predict(X), same.predict(X, gains=[0, -5, 0, -95]))


def test_a_threshold_for_all_rows_takes_no_gains_at_predict(data):
    X, y, gains = data
    model = BayesProfitClassifier(LogisticRegression(), threshold="f1").fit(X, y, gains=gains)
    with pytest.raises(ValueError, match="threshold='f1' is one threshold for all rows"):
        model.predict(X, gains=gains)
    assert model.score(X, y, gains=gains) == profit_score(y, model.predict(X), gains)


@pytest.mark.parametrize("model", [BayesProfitClassifier(LogisticRegression()), ProfitBoosting(n_estimators=3)])
def test_bad_gains(data, model):
    X, y, gains = data
    missing, infinite = gains.copy(), gains.copy()
    missing[7, 3], infinite[7, 3] = np.nan, -np.inf
    reversed_ = gains.copy()
    reversed_[[4, 9]] *= -1
    for bad, message in [
        (gains[:, :3], r"four columns \(tp, fp, tn, fn\) and 1500 rows, or be four numbers; got shape \(1500, 3\)"),
        (gains[:-1], r"four columns .* got shape \(1499, 4\)"),
        (missing, r"gain fn is missing or infinite in row 7\. Fill it"),
        (infinite, r"gain fn is missing or infinite in row 7\. Fill it"),
        (reversed_, "in 2 rows, the first of them 4, 9"),
        (np.zeros_like(gains), "nothing to learn"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, gains=bad)
    with pytest.raises(ValueError, match="'x0' of the gains is missing or infinite in row 3"):
        model.fit(np.where(np.arange(len(X))[:, None] == 3, np.nan, X), y, gains=COSTS)
    model.fit(X, y, gains=gains)
    use = model.predict if isinstance(model, BayesProfitClassifier) else model.predict_proba
    for bad, message in [
        (gains[:-1], r"1500 rows, or be four numbers; got shape \(1499, 4\)"),
        (missing, r"gain fn is missing or infinite in row 7\. Fill it"),
        (infinite, r"gain fn is missing or infinite in row 7\. Fill it"),
    ]:
        with pytest.raises(ValueError, match=message):
            use(X, gains=bad)
        with pytest.raises(ValueError, match=message):
            model.score(X, y, gains=bad)


def folds_by_hand(model, X, y, gains, scaler=True):
    profits = []
    for train, test in StratifiedKFold(3).split(X, y):
        scale = StandardScaler().fit(X[train]) if scaler else FunctionTransformer()
        fitted = model().fit(scale.transform(X[train]), y[train], gains=gains[train])
        predicted = fitted.predict(scale.transform(X[test]), gains=gains[test])
        profits.append(profit_score(y[test], predicted, gains[test]))
    return profits


def test_an_array_goes_through_pipelines_and_searches(data):
    X, y, gains = data
    by_hand = folds_by_hand(lambda: BayesProfitClassifier(LogisticRegression()), X, y, gains)
    with config_context(enable_metadata_routing=True):
        model = BayesProfitClassifier(LogisticRegression())
        pipeline = make_pipeline(StandardScaler(), model.set_fit_request(gains=True).set_predict_request(gains=True))
        scoring = {"profit": profit_scorer(), "ap": "average_precision"}
        found = cross_validate(pipeline, X, y, cv=3, params={"gains": gains}, scoring=scoring)
        np.testing.assert_allclose(found["test_profit"], by_hand)
        grid = {"bayesprofitclassifier__calibration": ["isotonic", "sigmoid"]}
        search = GridSearchCV(pipeline, grid, scoring=profit_scorer(), cv=3).fit(X, y, gains=gains)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_hand))
        # The predict of a search takes no metadata, so that it is one threshold for all rows.
        best = search.best_estimator_.predict(X, gains=gains)
        assert profit_scorer()(search, X, y, gains=gains) == profit_score(y, best, gains)
        assert profit_score(y, search.predict(X), gains) != profit_score(y, best, gains)


@pytest.mark.parametrize(
    "model",
    [BayesProfitClassifier(LogisticRegression()), ProfitBoosting(n_estimators=10, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_the_score_of_an_estimator_takes_gains_too(data, model):
    X, y, gains = data
    with config_context(enable_metadata_routing=True):
        model = clone(model).set_fit_request(gains=True).set_score_request(gains=True)
        pipeline = make_pipeline(StandardScaler(), model)
        search = GridSearchCV(pipeline, {f"{pipeline.steps[-1][0]}__pos_label": [1]}, cv=2).fit(X, y, gains=gains)
        expected = []
        for train, test in StratifiedKFold(2).split(X, y):
            fitted = clone(pipeline).fit(X[train], y[train], gains=gains[train])
            expected.append(fitted.score(X[test], y[test], gains=gains[test]))
            last = fitted[-1].score(fitted[:-1].transform(X[test]), y[test], gains=gains[test])
            assert expected[-1] == last
        assert search.best_score_ == pytest.approx(np.mean(expected))


def test_an_object_goes_through_searches_where_nothing_is_in_front(data):
    X, y, gains = data
    by_hand = folds_by_hand(
        lambda: BayesProfitClassifier(make_pipeline(StandardScaler(), LogisticRegression())), X, y, gains, scaler=False
    )
    with config_context(enable_metadata_routing=True):
        # The scaler is inside, so that the gains see amounts.
        inner = make_pipeline(StandardScaler(), LogisticRegression())
        model = BayesProfitClassifier(inner).set_fit_request(gains=True).set_predict_request(gains=True)
        found = cross_validate(model, X, y, cv=3, params={"gains": COSTS}, scoring=profit_scorer())
    np.testing.assert_allclose(found["test_score"], by_hand)


def test_an_object_behind_a_scaler_is_refused(data):
    X, y, _ = data
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["amount", "a", "b", "c", "d"])
    costs = Gains(fn="-amount", fp=-500)
    with config_context(enable_metadata_routing=True):
        model = BayesProfitClassifier(LogisticRegression()).set_fit_request(gains=True)
        nameless = make_pipeline(StandardScaler(), model)
        with pytest.raises(ValueError, match=r"evaluate the gains on the original one and pass the array"):
            nameless.fit(frame, y, gains=costs)
        named = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
        with pytest.raises(ValueError, match="a scaler has changed it"):
            named.fit(frame, y, gains=costs)
        nameless.fit(frame, y, gains=costs(frame))
        with pytest.raises(UnsetMetadataPassedError, match="gains"):
            nameless.predict(frame, gains=costs(frame))


def test_the_scorer_names_what_it_needs(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="profit_scorer needs gains"):
        profit_scorer()(LogisticRegression().fit(X, y), X, y)
    assert repr(profit_scorer()) == "profit_scorer()"
    assert repr(profit_scorer(pos_label="yes")) == "profit_scorer(pos_label='yes')"


def test_right_probabilities_cannot_be_beaten():
    """With the true probability, no single threshold earns as much as the rule row by row, on the mean of many rows."""
    rng = np.random.default_rng(0)
    n = 60_000
    p = rng.beta(0.3, 3, n)
    y = rng.random(n) < p
    amount = rng.lognormal(3, 1.5, n)
    gains = np.column_stack((np.zeros(n), np.full(n, -5.0), np.zeros(n), -amount))
    by_row = profit_score(y, naive_profit.best_decisions(p, gains), gains)
    assert by_row > Profit().best_threshold(p, y, gains=gains).value
