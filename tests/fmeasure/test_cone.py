"""ConeClassifier: the search over real estimators, what it certifies, and bad input."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, fbeta_score
from sklearn.model_selection import (
    GridSearchCV,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from scarce.fmeasure import ConeClassifier
from scarce.fmeasure.bounds import ErrorProfile, certified_bound, cones, error_profile, micro_f_parambath, pooled
from scarce.objectives import Budget, FBeta
from scarce.trees import TreeRank

SEARCHES = ["cone", "grid", "bisection", "dinkelbach"]


@pytest.fixture(scope="module")
def data():
    return make_classification(600, 6, n_informative=4, weights=[0.9], flip_y=0.06, class_sep=0.8, random_state=1)


@pytest.fixture(scope="module")
def several():
    X, y = make_classification(500, 6, n_informative=5, n_redundant=0, n_classes=3, weights=[0.7, 0.2], random_state=0)
    return X, np.array(["calm", "fraud", "error"])[y]


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=10, num_leaves=7, verbose=-1, n_jobs=1)


ESTIMATORS = {
    "logistic regression": LogisticRegression,
    "linear SVM": lambda: LinearSVC(random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "tree of our own": lambda: TreeRank(max_depth=3),
    "LightGBM": lightgbm,
    "class_weight only": lambda: make_pipeline(StandardScaler(), OnlyClassWeight()),
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}


class OnlyClassWeight(ClassifierMixin, BaseEstimator):
    def __init__(self, class_weight=None):
        self.class_weight = class_weight

    def fit(self, X, y):
        self.model_ = LogisticRegression(class_weight=self.class_weight).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X)

    def predict(self, X):
        return self.model_.predict(X)


class Fragile(LogisticRegression):
    """Cannot be fitted where the weight of negative rows is in some range."""

    def __init__(self, low=0.4, high=0.6):
        super().__init__()
        self.low = low
        self.high = high

    def fit(self, X, y, sample_weight=None):
        if self.low <= sample_weight[y == 0][0] <= self.high:
            raise RuntimeError("out of luck")
        return super().fit(X, y, sample_weight)


class Stubborn(ClassifierMixin, BaseEstimator):
    """Its scores are not finite at a small t."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.t_ = np.unique(y), sample_weight[y == 0][0]
        return self

    def decision_function(self, X):
        return X[:, 0] if self.t_ > 0.3 else np.full(len(X), np.nan)


class TestSearch:
    @pytest.mark.parametrize("search", SEARCHES)
    @pytest.mark.parametrize(
        "name", ["logistic regression", "linear SVM", "tree", "tree of our own", "LightGBM", "pipeline"]
    )
    def test_the_path_is_that_of_models_fitted_by_hand(self, data, name, search):
        X, y = data
        model = ConeClassifier(ESTIMATORS[name](), search=search, n_models=4, validation="train").fit(X, y)
        path = model.path_
        for i, t in enumerate(path["t"]):
            one = ESTIMATORS[name]()
            step = {
                f"{one.steps[-1][0]}__sample_weight" if name == "pipeline" else "sample_weight": np.where(y, 2 - t, t)
            }
            predicted = one.fit(X, y, **step).predict(X)
            assert path["f"][i] == path["f_fit"][i] == pytest.approx(f1_score(y, predicted))
            fn, fp, _ = error_profile(y, predicted)
            assert (path["fn"][i], path["fp"][i]) == (fn, fp)
        best = int(np.argmax(path["f"]))
        assert (model.t_, model.f_) == (path["t"][best], path["f"][best])
        assert f1_score(y, model.predict(X)) == pytest.approx(model.f_fit_)
        assert (path["seconds"] > 0).all()

    def test_class_weight_serves_as_sample_weight_does(self, data):
        X, y = data
        scaled = StandardScaler().fit_transform(X)
        a = ConeClassifier(ESTIMATORS["class_weight only"](), n_models=4, validation="train").fit(X, y)
        b = ConeClassifier(LogisticRegression(), n_models=4, validation="train").fit(scaled, y)
        np.testing.assert_allclose(a.path_["f_fit"][:2], b.path_["f_fit"][:2])

    @pytest.mark.parametrize("beta", [0.5, 2.0])
    def test_beta(self, data, beta):
        X, y = data
        model = ConeClassifier(LogisticRegression(), beta=beta, n_models=8, validation="train").fit(X, y)
        assert fbeta_score(y, model.predict(X), beta=beta) == pytest.approx(model.f_)
        assert model.f_ >= fbeta_score(y, LogisticRegression().fit(X, y).predict(X), beta=beta)

    def test_batches_and_jobs(self, data):
        X, y = data
        one = ConeClassifier(LogisticRegression(), n_models=6, batch=3).fit(X, y)
        with parallel_config("threading"):
            two = ConeClassifier(LogisticRegression(), n_models=6, batch=3, n_jobs=2).fit(X, y)
        assert len(set(one.path_["t"][:3])) == 3
        for key in set(one.path_) - {"seconds"}:
            np.testing.assert_array_equal(one.path_[key], two.path_[key])

    def test_warm_starts_lead_to_the_same_models_in_fewer_iterations(self, data):
        X, y = data
        cold, warm = (
            ConeClassifier(LogisticRegression(warm_start=w, tol=1e-6), search="grid", n_models=12, validation=0.3).fit(
                X, y
            )
            for w in (False, True)
        )
        np.testing.assert_allclose(cold.path_["f"], warm.path_["f"])
        assert warm.t_ == cold.t_ != cold.path_["t"][0]
        assert warm.estimator_.n_iter_ < cold.estimator_.n_iter_

    def test_a_warm_start_of_an_ensemble_is_left_alone(self, data):
        X, y = data
        for ensemble in (
            RandomForestClassifier(5, max_depth=3),
            HistGradientBoostingClassifier(max_iter=3, max_depth=2),
        ):
            cold, warm = (
                ConeClassifier(ensemble.set_params(random_state=0, warm_start=w), n_models=3, validation="train").fit(
                    X, y
                )
                for w in (False, True)
            )
            np.testing.assert_array_equal(cold.path_["f"], warm.path_["f"])

    def test_stop(self, data):
        X, y = data
        estimator = LogisticRegression()
        full = ConeClassifier(estimator, search="grid", validation="train").fit(X, y)
        early = ConeClassifier(estimator, search="grid", validation="train", stop=0.2).fit(X, y)
        assert len(early.path_["t"]) < len(full.path_["t"]) == 19
        found = np.maximum.accumulate(early.path_["f_fit"])
        assert early.path_["bound"][-1] - found[-1] <= 0.2
        assert (early.path_["bound"][:-1] - found[:-1] > 0.2).all()
        closed = ConeClassifier(estimator, search="dinkelbach", validation="train", stop="gap").fit(X, y)
        assert len(closed.path_["t"]) <= len(full.path_["t"])


class TestCertificate:
    @pytest.mark.parametrize("validation", ["train", 0.3, 5])
    def test_it_speaks_of_the_rows_that_models_are_fitted_on(self, data, validation):
        X, y = data
        model = ConeClassifier(LinearSVC(random_state=0), n_models=6, validation=validation).fit(X, y)
        path = model.path_
        rows = np.arange(len(y))
        if validation == 0.3:
            rows = np.sort(train_test_split(rows, test_size=0.3, stratify=y, random_state=0)[0])
        positives = y[rows].mean()
        assert path["positives"] == pytest.approx(positives)
        profile = ErrorProfile(path["fn"], path["fp"], positives)
        expected = certified_bound(cones(path["t"], pooled(path["t"], profile)))
        assert model.f_upper_bound_ == path["bound"][-1] == pytest.approx(expected)
        assert model.gap_ == pytest.approx(model.f_upper_bound_ - model.f_fit_)
        assert model.gap_ >= 0
        assert model.f_upper_bound_ >= path["f_fit"].max() - 1e-12
        assert f1_score(y[rows], model.predict(X[rows])) == pytest.approx(model.f_fit_)
        assert (path["regret"] >= 0).all()

    def test_an_exact_learner_is_certified_and_no_stump_beats_the_bound(self):
        """All stumps on one column are tried, so that the family is known in full."""
        rng = np.random.default_rng(0)
        X = np.round(rng.normal(size=(300, 1)), 2)
        y = (rng.random(300) < 1 / (1 + np.exp(4 - 2 * X[:, 0]))).astype(int)
        model = ConeClassifier(Stump(), validation="train").fit(X, y)
        best = max(f1_score(y, X[:, 0] > threshold, zero_division=0.0) for threshold in [-9, *np.unique(X)])
        assert model.f_upper_bound_ >= best - 1e-12
        assert model.path_["regret"].max() == pytest.approx(0, abs=1e-12)
        dinkelbach = ConeClassifier(Stump(), search="dinkelbach", validation="train", stop="gap").fit(X, y)
        assert dinkelbach.f_fit_ == pytest.approx(best)
        assert dinkelbach.gap_ == pytest.approx(0, abs=1e-12)

    def test_epsilon_raises_the_bound(self, data):
        X, y = data
        fixed = {"search": "grid", "n_models": 5, "validation": "train"}
        exact, loose = (ConeClassifier(LogisticRegression(), epsilon=e, **fixed).fit(X, y) for e in (0.0, 0.01))
        assert exact.f_upper_bound_ < loose.f_upper_bound_
        assert (exact.path_["height"] < loose.path_["height"]).all()


class Stump(ClassifierMixin, BaseEstimator):
    """The threshold on the first column with the least weighted error, exactly."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        thresholds = np.array([-9.0, *np.unique(X[:, 0])])
        errors = [sample_weight[(X[:, 0] > threshold) != (y == 1)].sum() for threshold in thresholds]
        self.threshold_ = thresholds[int(np.argmin(errors))]
        return self

    def decision_function(self, X):
        return X[:, 0] - self.threshold_


class TestValidation:
    def test_folds_judge_rows_left_out(self, data):
        X, y = data
        model = ConeClassifier(LogisticRegression(), n_models=3, validation=4).fit(X, y)
        for t, f in zip(model.path_["t"], model.path_["f"], strict=True):
            called = np.empty_like(y)
            for train, test in StratifiedKFold(4, shuffle=True, random_state=0).split(X, y):
                weight = np.where(y[train], 2 - t, t)
                called[test] = LogisticRegression().fit(X[train], y[train], weight).predict(X[test])
            assert f == pytest.approx(f1_score(y, called))

    def test_folds_of_ones_own(self, data):
        X, y = data
        folds = np.r_[np.full(300, -1), np.arange(300) % 2]
        model = ConeClassifier(LogisticRegression(), n_models=3, validation=PredefinedSplit(folds)).fit(X, y)
        assert 0 < model.f_ < 1
        tuned = ConeClassifier(LogisticRegression(), n_models=3, validation=TimeSeriesSplit(3), threshold="tune")
        assert np.isfinite(tuned.fit(X, y).threshold_)

    def test_models_that_overfit_differ_only_on_other_rows(self, data):
        X, y = data
        tree = DecisionTreeClassifier(random_state=0)
        with pytest.warns(UserWarning, match="Every model predicts all training rows correctly"):
            model = ConeClassifier(tree, n_models=3, validation="train").fit(X, y)
        assert model.f_ == model.f_upper_bound_ == 1
        assert ConeClassifier(tree, n_models=3).fit(X, y).f_ < 1

    def test_weights_of_rows_are_as_copies_of_them(self, data):
        X, y = data
        weight = np.random.default_rng(0).integers(1, 4, len(y))
        fixed = {"n_models": 4, "validation": "train", "search": "grid"}
        weighted = ConeClassifier(LogisticRegression(tol=1e-8), **fixed).fit(X, y, sample_weight=weight)
        copied = ConeClassifier(LogisticRegression(tol=1e-8), **fixed).fit(X.repeat(weight, 0), y.repeat(weight))
        for key in ("t", "f", "fn", "fp", "bound"):
            np.testing.assert_allclose(weighted.path_[key], copied.path_[key], atol=1e-9)


class TestThresholds:
    def test_own_threshold(self, data):
        X, y = data
        assert ConeClassifier(LogisticRegression(), n_models=2).fit(X, y).threshold_ == 0.5
        assert ConeClassifier(LinearSVC(random_state=0), n_models=2).fit(X, y).threshold_ == 0

    def test_tune_on_a_share_held_out(self, data):
        X, y = data
        plain, tuned = (
            ConeClassifier(LogisticRegression(), n_models=5, search="grid", validation=0.4, threshold=t).fit(X, y)
            for t in ("default", "tune")
        )
        assert (tuned.path_["f_tuned"] >= plain.path_["f"] - 1e-12).all()
        assert tuned.f_ == tuned.path_["f_tuned"].max()
        held = train_test_split(np.arange(len(y)), test_size=0.4, stratify=y, random_state=0)[1]
        assert f1_score(y[held], tuned.predict(X[held])) == pytest.approx(tuned.f_)

    def test_tune_on_folds(self, data):
        X, y = data
        tuned = ConeClassifier(LogisticRegression(), n_models=4, threshold="tune").fit(X, y)
        honest = tuned.honest_scores(X, y)
        assert f1_score(y, honest > tuned.threshold_) == pytest.approx(tuned.f_)
        assert FBeta(1).best_threshold(honest, y).value == pytest.approx(tuned.f_)

    def test_tune_on_training_rows_still_uses_honest_scores(self, data):
        X, y = data
        tuned = ConeClassifier(LogisticRegression(), n_models=3, validation="train", threshold="tune").fit(X, y)
        honest = tuned.honest_scores(X, y)
        assert tuned.threshold_ == FBeta(1).best_threshold(honest, y).threshold
        assert (honest != tuned.score_samples(X)).all()

    def test_a_budget(self, data):
        X, y = data
        model = ConeClassifier(LogisticRegression(), n_models=2, threshold=Budget(rows=30)).fit(X, y)
        assert np.count_nonzero(model.honest_scores(X, y) > model.threshold_) == 30

    def test_tune_has_no_use_for_gains(self, data):
        X, y = data
        for validation in (0.3, 5):
            model = ConeClassifier(LogisticRegression(), n_models=2, threshold="tune", validation=validation)
            with pytest.raises(ValueError, match="does not use gains"):
                model.fit(X, y, gains=np.ones((len(y), 4)))


class TestSeveralClasses:
    @pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(random_state=0), SVC(kernel="linear")])
    @pytest.mark.parametrize("search", SEARCHES)
    def test_micro_f(self, several, estimator, search):
        X, y = several
        model = ConeClassifier(estimator, search=search, n_models=5, validation="train").fit(X, y)
        assert model.default_class_ == "calm"
        assert micro_f_parambath(y, model.predict(X), default_class="calm") == pytest.approx(model.f_fit_)
        assert model.f_upper_bound_ >= model.path_["f_fit"].max() - 1e-12
        assert model.score_samples(X).shape == (500, 3)

    def test_default_class(self, several):
        X, y = several
        model = ConeClassifier(LogisticRegression(), n_models=4, default_class="error").fit(X, y)
        weight = np.where(y == "error", model.t_, 2 - model.t_)
        code = np.unique(y, return_inverse=True)[1]
        by_hand = LogisticRegression().fit(X, code, weight)
        np.testing.assert_allclose(model.estimator_.coef_, by_hand.coef_)
        with pytest.raises(ValueError, match="default_class='theft' is not in y"):
            model.set_params(default_class="theft").fit(X, y)

    def test_explains_the_predicted_class(self, several):
        X, y = several
        model = ConeClassifier(LogisticRegression(), n_models=3).fit(X, y)
        explained = model.explain(X[:20])
        np.testing.assert_array_equal(explained.label, model.predict(X[:20]))
        np.testing.assert_allclose(explained.score, model.estimator_.predict_proba(X[:20]).max(axis=1))
        assert explained.unit == "probability"


class TestScikitLearn:
    def test_grid_search_and_cross_validation(self, data):
        X, y = data
        pipeline = make_pipeline(StandardScaler(), ConeClassifier(LinearSVC(random_state=0), n_models=3, validation=3))
        grid = {"coneclassifier__estimator__C": [0.1, 1.0], "coneclassifier__search": ["cone", "dinkelbach"]}
        found = GridSearchCV(pipeline, grid, scoring="f1", cv=2).fit(X, y)
        assert found.best_score_ > 0.2
        assert (cross_validate(pipeline, X, y, scoring="f1", cv=3)["test_score"] > 0.2).all()

    def test_a_pipeline_inside_with_routing(self, data):
        from sklearn import config_context

        X, y = data
        plain = ConeClassifier(make_pipeline(StandardScaler(), LogisticRegression()), n_models=3).fit(X, y)
        with config_context(enable_metadata_routing=True):
            inside = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), LogisticRegression())
            routed = ConeClassifier(inside, n_models=3).fit(X, y)
        np.testing.assert_array_equal(plain.path_["f"], routed.path_["f"])


class TestFailures:
    def test_a_failed_fit_is_reported_and_passed_over(self, data):
        X, y = data
        with pytest.warns(
            FitFailedWarning, match=r"t = 0\.5 could not be fitted and is left out \(RuntimeError: out of"
        ):
            model = ConeClassifier(Fragile(0.49, 0.51), n_models=5, validation="train").fit(X, y)
        assert np.isnan(model.path_["f"][0])
        assert model.t_ != 0.5
        assert model.f_ == np.nanmax(model.path_["f"])
        assert np.isfinite(model.path_["bound"]).all()

    def test_scores_that_are_not_finite(self, data):
        X, y = data
        with pytest.warns(FitFailedWarning, match="not finite"):
            model = ConeClassifier(Stubborn(), search="grid", n_models=4, validation="train").fit(X, y)
        assert np.isnan(model.path_["f"]).tolist() == [True, False, False, False]

    def test_if_no_model_can_be_fitted_the_reason_is_raised_soon(self, data):
        with pytest.raises(RuntimeError, match="out of luck"), warnings.catch_warnings(record=True) as warned:
            ConeClassifier(Fragile(0, 1), validation="train").fit(*data)
        assert not warned


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"beta": 0}, "'beta' parameter"),
            ({"beta": -1.0}, "'beta' parameter"),
            ({"n_models": 0}, "'n_models' parameter"),
            ({"search": "random"}, "'search' parameter"),
            ({"validation": 1.5}, "'validation' parameter"),
            ({"validation": 1}, "'validation' parameter"),
            ({"batch": 0}, "'batch' parameter"),
            ({"stop": -0.1}, "'stop' parameter"),
            ({"epsilon": -0.1}, "'epsilon' parameter"),
            ({"default_class": 0}, "default_class is for more than two classes"),
            (
                {"estimator": KNeighborsClassifier()},
                "KNeighborsClassifier takes neither sample_weight nor class_weight",
            ),
            ({"estimator": make_pipeline(StandardScaler(), KNeighborsClassifier())}, "takes neither"),
        ],
    )
    def test_parameters(self, data, change, message):
        with pytest.raises(ValueError, match=message):
            ConeClassifier(LogisticRegression()).set_params(**change).fit(*data)

    def test_class_weight_alone_cannot_weigh_rows(self, data):
        X, y = data
        with pytest.raises(ValueError, match="does not take sample_weight"):
            ConeClassifier(OnlyClassWeight()).fit(X, y, sample_weight=np.ones(len(y)))

    @pytest.mark.parametrize(
        ("validation", "message"),
        [
            (0.05, "leaves no rows to judge by of the class 'fraud'"),
            (0.001, "leaves no rows to judge by of each class"),
            (PredefinedSplit(np.r_[np.zeros(4), np.full(36, -1)]), "leaves no rows to fit on of the class 'fraud'"),
            (PredefinedSplit(np.r_[np.full(36, -1), np.zeros(4)]), "leaves no rows to judge by of the class 'fraud'"),
        ],
    )
    def test_a_class_absent_from_a_part(self, validation, message):
        X, y = np.arange(80.0).reshape(40, 2), np.array(["fraud"] * 4 + ["ok"] * 36)
        with pytest.raises(ValueError, match=message):
            ConeClassifier(LogisticRegression(), validation=validation).fit(X, y)

    @pytest.mark.parametrize("validation", [5, 0.3])
    def test_one_row_of_a_class(self, validation):
        with pytest.raises(ValueError, match="at least two rows of each class"):
            ConeClassifier(LogisticRegression(), validation=validation).fit(np.eye(8), np.arange(8) == 0)

    def test_ridge_takes_both(self, data):
        assert ConeClassifier(RidgeClassifier(), n_models=2).fit(*data).threshold_ == 0
