"""The protocol with validation rows that no model is fitted on, against loops that follow its description."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from scarce.datasets import make_transactions
from scarce.fmeasure import ConeClassifier
from scarce.study import load_study
from scarce.study.build import build
from scarce.study.compute import compute
from scarce.study.data import rows_of
from scarce.study.holdout import (
    HoldoutChoice,
    ValidatedThreshold,
    VotingForest,
    bisected_threshold,
    precise_threshold,
)
from scarce.study.protocols import describe_protocol
from scarce.study.spec import Cell
from tests.naive_study import naive_bisection

PENALTIES = [0.001, 0.1, 10.0]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, 5, n_informative=3, n_redundant=0, weights=[0.85], flip_y=0.1, random_state=2)
    return X * [1, 5, 1, 20, 1], y


def split(X, y, seed=4):
    [(fit, judge)] = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed).split(X, y)
    return fit, judge


def choice(model, **grid):
    steps = Pipeline([("scale", MinMaxScaler()), ("model", model)])
    return HoldoutChoice(steps, {f"model__{name}": values for name, values in grid.items()}, 1 / 3, 4)


def test_a_grid_is_chosen_by_rows_that_the_model_never_sees(data):
    X, y = data
    found = choice(LogisticRegression(class_weight="balanced"), C=PENALTIES).fit(X, y)
    fit, judge = split(X, y)
    scale = MinMaxScaler().fit(X[fit])
    f = []
    for C in PENALTIES:
        model = LogisticRegression(class_weight="balanced", C=C).fit(scale.transform(X[fit]), y[fit])
        f.append(f1_score(y[judge], model.predict(scale.transform(X[judge]))))
    assert len(set(f)) > 1
    assert found.f_ == max(f)
    assert found.best_params_ == {"model__C": PENALTIES[int(np.argmax(f))]}
    # Other values of these rows change which model is chosen, but no model.
    other = X.copy()
    other[judge] *= 3
    same = choice(LogisticRegression(class_weight="balanced"), C=[found.best_params_["model__C"]]).fit(other, y)
    np.testing.assert_array_equal(same.best_estimator_[-1].coef_, found.best_estimator_[-1].coef_)
    np.testing.assert_array_equal(found.predict(X) == 1, found.decision_function(X) > 0.5)


def test_cone_chooses_by_the_same_rows(data):
    X, y = data
    cone = ConeClassifier(LogisticRegression(), n_models=4, guide="fit")
    found = choice(cone, estimator__C=PENALTIES).fit(X, y)
    fit, judge = split(X, y)
    scaled = MinMaxScaler().fit(X[fit]).transform(X)
    held_out = np.isin(np.arange(len(y)), judge)
    models = [
        ConeClassifier(LogisticRegression(C=C), n_models=4, guide="fit", validation=held_out).fit(scaled, y)
        for C in PENALTIES
    ]
    best = max(models, key=lambda model: model.f_)
    assert found.f_ == best.f_ == pytest.approx(f1_score(y[judge], found.predict(X[judge])))
    np.testing.assert_array_equal(found.predict(X), best.predict(scaled))


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("rule", ["own", "best", "bisection"])
def test_one_model_and_its_threshold(data, rule, balanced):
    X, y = data
    _, judge = split(X, y)
    held_out = np.isin(np.arange(len(y)), judge)
    found = ValidatedThreshold(LogisticRegression(), rule, balanced=balanced, validation=held_out).fit(X, y)
    positive = np.mean(y[~held_out])
    weight = [1 - positive if one else positive for one in y[~held_out]] if balanced else None
    by_hand = LogisticRegression().fit(X[~held_out], y[~held_out], weight).predict_proba(X)[:, 1]
    np.testing.assert_allclose(found.decision_function(X), by_hand - found.threshold_)
    f = [f1_score(y[judge], by_hand[judge] > t, zero_division=0.0) for t in [0.0, *np.unique(by_hand[judge])]]
    expected = {"own": f1_score(y[judge], by_hand[judge] > 0.5), "best": max(f)}
    if rule in expected:
        assert found.f_ == expected[rule]
    else:
        assert found.threshold_ == naive_bisection(by_hand[judge], y[judge])
        assert found.f_ <= max(f)


@given(st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=1, max_size=12))
def test_bisection_follows_its_description(pairs):
    probability, y = np.array([p / 10 for p, _ in pairs]), np.array([int(one) for _, one in pairs])
    threshold = bisected_threshold(probability, y)
    assert threshold == naive_bisection(probability, y)
    # The F1 it ends at is reached by the calls that belong to it.
    assert f1_score(y, probability > threshold, zero_division=0.0) >= 2 * threshold - 1e-9


def test_with_exact_probabilities_bisection_finds_the_best_threshold():
    """Each probability is the share of positives among its rows, of whom there are many."""
    rng = np.random.default_rng(0)
    probability = np.repeat(np.round(rng.random(40) ** 3, 2), 100)
    place = np.tile(np.arange(100), 40) / 100
    y = (place < probability).astype(int)
    best = max(f1_score(y, probability > t - 1e-9) for t in np.unique(probability))
    assert f1_score(y, probability > bisected_threshold(probability, y)) == pytest.approx(best)


def test_the_study_of_cone_has_this_protocol():
    study = load_study("cone/table5.2")
    assert describe_protocol(study).endswith("which the model that is chosen never learns from.")
    for method in study.methods:
        made = build(method.recipe, study.protocol, seed=0, fewest=10)
        assert isinstance(made, HoldoutChoice) == (not method.rival)
        if method.label.startswith(("SVM_C", "SVM_G")):
            assert made.estimator[-1].guide == "fit"


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=12), st.integers(0, 20))
def test_a_precision_is_reached_or_the_highest_there_is(pairs, twentieths):
    score, y = np.array([s / 8 for s, _ in pairs]), np.array([int(one) for _, one in pairs])
    if y.all() or not y.any():
        return
    wanted = twentieths / 20
    # Each threshold by hand: what it calls, and how much of that is right.
    found = [(y[score >= t].mean(), y[score >= t].sum()) for t in np.unique(score)]
    best = max(precision for precision, _ in found)
    enough = [hits for precision, hits in found if precision >= min(wanted, best) - 1e-12]
    called = score > precise_threshold(score, y, wanted)
    assert y[called].sum() == max(enough)
    assert y[called].mean() >= min(wanted, best) - 1e-12


def test_a_threshold_has_the_precision_of_another_model_on_the_validation_rows(data):
    X, y = data
    held_out = np.arange(len(y)) % 3 == 0
    other = VotingForest(24, 9, max_depth=3, random_state=0)
    found = ValidatedThreshold(LogisticRegression(), reference=other, validation=held_out).fit(X, y)
    called = other.fit(X[~held_out], y[~held_out]).predict(X[held_out]) == 1
    reached = found.predict(X[held_out]) == 1
    assert 0 < y[held_out][called].mean() < 1
    assert y[held_out][reached].mean() >= y[held_out][called].mean()
    # One that calls nothing has no precision: then it is the highest there is.
    none = ValidatedThreshold(LogisticRegression(), reference=VotingForest(3, 4), validation=held_out).fit(X, y)
    assert y[held_out][none.predict(X[held_out]) == 1].mean() >= y[held_out][reached].mean()


def test_nine_of_24_trees_make_a_row_positive(data):
    X, y = data
    forest = VotingForest(24, 9, max_depth=2, random_state=0).fit(X, y)
    votes = [sum(int(tree.predict_proba(row[None])[0, 1] > 0.5) for tree in forest.forest_.estimators_) for row in X]
    np.testing.assert_array_equal(forest.score_samples(X), votes)
    np.testing.assert_array_equal(forest.predict(X), np.array(votes) >= 9)
    # Which is not what the mean of their probabilities says.
    assert (forest.predict(X) != (forest.forest_.predict_proba(X)[:, 1] >= 9 / 24)).any()


def test_payments_of_the_last_two_training_months_are_for_validation():
    study = load_study("profit/table6.2")
    [set_] = [each for each in study.sets if each["name"] == "simulated-payments"]
    rows = rows_of({**set_, "rows": 3_000}, study.protocol, 0)
    frame = make_transactions(3_000, fraud_rate=0.0033, seed=0).frame
    month = frame["date"].dt.month.to_numpy()
    assert len(rows.y_train) == (month <= 6).sum()
    np.testing.assert_array_equal(rows.held_out, month[month <= 6] >= 5)
    shuffled = rows_of({"name": "wine"}, study.protocol, 0)
    assert shuffled.held_out.sum() == round(len(shuffled.y_train) / 3)


def test_a_cell_gives_the_validation_rows_to_the_methods_that_choose_by_them():
    method = {"scaling": "none", "estimator": "scarce.study.holdout.ValidatedThreshold"}
    method["params"] = {"estimator": {"estimator": "sklearn.naive_bayes.GaussianNB"}}
    protocol = {"kind": "shuffle", "test_size": 0.4, "validation": 0.3333}
    set_ = {"name": "wine"}
    outcome = compute(Cell(set_, 0, protocol, method, "binary"))
    rows = rows_of(set_, protocol, 0)
    by_hand = ValidatedThreshold(GaussianNB(), validation=rows.held_out).fit(rows.X_train, rows.y_train)
    assert outcome.figures["f1"] == f1_score(rows.y_test, by_hand.predict(rows.X_test))
