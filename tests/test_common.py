"""The promises that every estimator of the registry keeps."""

import json
import pickle
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from threading import Barrier
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    BaseShuffleSplit,
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import scarce
from scarce import objectives as ob
from scarce.boosting import ProfitBoosting
from scarce.ellipsoids import ME2
from scarce.explanation import Explanation
from scarce.fmeasure import ConeClassifier
from scarce.model_selection import DelayedTimeSplit
from scarce.neighbors import GammaKNN
from scarce.profit import BayesProfitClassifier, ProfitClassifier
from scarce.trees import ProfitForest, ProfitTree


def documented_method():
    """Return the class that the page on adding a method shows, importable as if it stood in a file of the library."""
    page = Path(__file__).resolve().parents[1] / "docs" / "adding-a-method.md"
    module = ModuleType("scarce.documented")
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[1], vars(module))
    sys.modules[module.__name__] = module
    return module.NearestCentre


# Scikit-learn has no gains to give.
pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

ESTIMATORS = [cls for _, cls in scarce.all_estimators()] + [documented_method()]
EXAMPLES = [instance for cls in ESTIMATORS for instance in cls._examples()]
DEFAULTS = [next(cls._examples()) for cls in ESTIMATORS]

_COPIES = (
    "A weight says how much a row counts in the objective, not how many copies of it exist: copies would be each "
    "other's nearest neighbours."
)
_SPLITS = "Honest scores come from a split of the rows, which falls otherwise where rows are repeated or left out."
_DRAWS = "A sampler makes rows at random, others where rows are repeated or left out."
_BAGS = "The rows of a tree are drawn at random, others where rows are repeated or left out."
_ROWS = "LightGBM makes bins of rows and counts the rows of a leaf, whatever they weigh."
_HALF = (
    "Threshold at probability 0.5 does not hold: the threshold is chosen and the probability is real, as for "
    "scikit-learn's own TunedThresholdClassifierCV, which waives the check with these words."
)
_WEIGHTS_AS_COPIES = "check_sample_weight_equivalence_on_dense_data"
_TRAIN = "check_classifiers_train"
# Of the others, the neighbour methods, the reason is _COPIES.
EXPECTED_FAILURES = {
    "APBoosting": {_WEIGHTS_AS_COPIES: _ROWS},
    "BayesProfitClassifier": {},
    "ProfitBoosting": {_WEIGHTS_AS_COPIES: _ROWS},
    "APTree": {},
    "MetaAP": {},
    "NearestCentre": {_WEIGHTS_AS_COPIES: "Weights count in the objective, and not in the centres."},
    "TreeRank": {},
    "MetaAPForest": {_WEIGHTS_AS_COPIES: _BAGS},
    "ProfitForest": {_WEIGHTS_AS_COPIES: _BAGS},
    "ProfitTree": {},
    "RankingForest": {_WEIGHTS_AS_COPIES: _BAGS},
    "ConeClassifier": {
        _TRAIN: _HALF,
        _WEIGHTS_AS_COPIES: _SPLITS,
        "check_sample_weight_equivalence_on_sparse_data": _SPLITS,
    },
    "OneClassClassifier": {_WEIGHTS_AS_COPIES: "Outlier detectors do not see the weights."},
    "ResampledClassifier": {_WEIGHTS_AS_COPIES: _DRAWS, _TRAIN: _HALF},
    "ResampledGammaKNN": {_WEIGHTS_AS_COPIES: _DRAWS},
    "SDC": {_WEIGHTS_AS_COPIES: _DRAWS},
    "TunedThreshold": {_TRAIN: _HALF},
}

OBJECTIVES = [
    ob.FBeta(1),
    ob.FBeta(2),
    ob.GMean(),
    ob.BalancedAccuracy(),
    ob.ClassWeightedAccuracy(0.8),
    ob.Jaccard(),
    ob.MCC(),
    ob.PrecisionAtLeast(0.2),
    ob.RecallAtLeast(0.7),
    ob.Budget(rows=20),
    ob.Budget(share=0.1),
    ob.Profit([10, -1, 0, -10]),
]


SCHEMA = {
    "label", "score", "probability", "base_value", "unit", "additive", "contributions", "neighbours", "rule",
}  # fmt: skip


def expected_failures(estimator):
    if getattr(estimator, "validation", None) == "train":
        return {_TRAIN: _HALF}
    if getattr(estimator, "variant", None) or getattr(estimator, "prune", None):
        return {_WEIGHTS_AS_COPIES: _SPLITS}
    if getattr(estimator, "growth", None) == 1:
        return {}  # nothing is made at random
    if type(estimator).__name__ == "ResampledGammaKNN" and estimator.gamma is not None and estimator.n_neighbors == 1:
        return {}  # a copy of the nearest row changes nothing
    return EXPECTED_FAILURES.get(type(estimator).__name__, {_WEIGHTS_AS_COPIES: _COPIES})


def rounding(estimator):
    """Another library's model may differ in the last bits from one memory layout to the next; our own may not."""
    return 1e-12 if isinstance(estimator, scarce.TunedThreshold | ConeClassifier) else 0


def example_id(estimator):
    return repr(estimator).replace("\n", "")


def check_explanation(explained, model, X):
    """Check what holds for every explanation of every method."""
    assert isinstance(explained, Explanation)
    assert len(explained) == len(X)
    plain = json.loads(json.dumps(explained.to_dicts(), allow_nan=False))
    assert [set(row) for row in plain] == [SCHEMA] * len(X)
    assert [row["score"] for row in plain] == explained.score.tolist()
    shares = model.predict_proba(X)[np.arange(len(X)), np.searchsorted(model.classes_, explained.label)]
    np.testing.assert_array_equal(explained.probability, shares)
    assert np.isfinite(explained.effects).all()
    assert explained.usual is None or len(explained.usual) == len(explained.features)
    if explained.additive:
        added = explained.base_value + explained.effects.sum(axis=1)
        np.testing.assert_allclose(added, explained.score, rtol=1e-9, atol=1e-9)
    for row in explained.neighbours:
        assert all(near.row is None or near.row >= 0 for near in row)
        assert {near.label for near in row} <= set(model.classes_.tolist())
        assert [near.distance for near in row] == sorted(near.distance for near in row)


@pytest.fixture
def rows():
    X, y = make_classification(240, 6, n_informative=4, weights=[0.85], flip_y=0.05, random_state=3)
    return X, y


@pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=", "ignore:.*Estimator.*sample_weight")
@pytest.mark.filterwarnings("ignore:Every model predicts all training rows correctly")
@parametrize_with_checks(EXAMPLES, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    if check.func.__name__ == _TRAIN and _has_calibration(estimator):
        # A calibrated probability is not compared with 1/2 (see _HALF); the squeezed score is, and all else is checked.
        estimator = clone(estimator).set_params(calibration=None)
    check(estimator)


@pytest.mark.parametrize("estimator", EXAMPLES, ids=example_id)
class TestContract:
    def test_score_is_finite_and_independent_of_the_batch(self, estimator, rows):
        X, y = rows
        model = clone(estimator).fit(X, y)
        score = model.score_samples(X)
        assert score.shape == (len(X),)
        assert score.dtype == np.float64
        assert np.isfinite(score).all()
        one_by_one = np.concatenate([model.score_samples(X[i : i + 1]) for i in range(30)])
        in_two = np.concatenate((model.score_samples(X[:7]), model.score_samples(X[7:])))
        np.testing.assert_allclose(one_by_one, score[:30], rtol=rounding(estimator))
        np.testing.assert_allclose(in_two, score, rtol=rounding(estimator))

    @pytest.mark.parametrize("labels", [(0, 1), (1, 0), ("ok", "fraud"), ("genuine", "theft"), (False, True)])
    def test_positive_iff_beyond_the_threshold(self, estimator, rows, labels):
        X, y = rows
        names = np.array(labels)[y]
        model = clone(estimator).fit(X, names)
        assert model.pos_label_ == labels[1]
        predicted = model.predict(X)
        np.testing.assert_array_equal(model.score_samples(X) > model.threshold_, predicted == labels[1])
        np.testing.assert_array_equal(model.decision_function(X) > 0, predicted == model.classes_[1])
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        positive = shares[:, model.classes_.tolist().index(labels[1])]
        order = np.argsort(model.score_samples(X), kind="stable")
        assert (np.diff(positive[order]) >= -1e-12).all()

    def test_a_score_on_the_threshold_is_negative(self, estimator, rows):
        X, y = rows
        for labels in ((0, 1), (1, 0)):
            model = clone(estimator).fit(X, np.array(labels)[y])
            model.threshold_ = float(model.score_samples(X[:1])[0])
            assert model.predict(X[:1])[0] == labels[0]

    def test_row_order(self, estimator, rows):
        if "random_state" in estimator.get_params():
            pytest.skip("draws at random, by the position of rows")
        if isinstance(estimator, BayesProfitClassifier):
            pytest.skip("calibrated on folds, by the position of rows")
        if isinstance(estimator, ConeClassifier) and estimator.validation != "train":
            pytest.skip("chooses class weights on folds, by the position of rows")
        X, y = rows
        order = np.random.default_rng(0).permutation(len(X))
        model, permuted = clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])
        if _splits_rows(estimator):
            # Honest scores come from a split by position, so the threshold may move; the score may not.
            np.testing.assert_allclose(model.score_samples(X), permuted.score_samples(X), rtol=1e-3, atol=1e-6)
            return
        # Sums over the rows, taken in another order, may differ in the last bits.
        np.testing.assert_allclose(model.score_samples(X), permuted.score_samples(X), rtol=1e-9, atol=1e-12)
        assert model.threshold_ == pytest.approx(permuted.threshold_, rel=1e-9)
        np.testing.assert_allclose(model.predict_proba(X), permuted.predict_proba(X), atol=1e-6)

    def test_frames(self, estimator, rows):
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        pyarrow = pytest.importorskip("pyarrow")
        X, y = rows
        expected = clone(estimator).fit(X, y).score_samples(X)
        names = [f"c{i}" for i in range(X.shape[1])]
        frame = pandas.DataFrame(X, columns=names)
        for table in (frame, polars.DataFrame(X, schema=names), pyarrow.Table.from_pandas(frame)):
            model = clone(estimator).fit(table, y)
            np.testing.assert_allclose(model.score_samples(table), expected, rtol=rounding(estimator))
            assert model.feature_names_in_.tolist() == names

    def test_float32_is_close_to_float64(self, estimator, rows):
        X, y = rows
        single = X.astype(np.float32)
        a = clone(estimator).fit(single, y).score_samples(single)
        b = clone(estimator).fit(X, y).score_samples(X)
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, atol=2e-3)

    def test_clone_and_pickle(self, estimator, rows):
        X, y = rows
        model = clone(estimator).fit(X, y)
        score = model.score_samples(X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).score_samples(X), score)
        again = clone(model).fit(X, y)
        np.testing.assert_array_equal(again.score_samples(X), score)
        assert again.threshold_ == model.threshold_

    def test_skops(self, estimator, rows):
        skops = pytest.importorskip("skops.io")
        X, y = rows
        model = clone(estimator).fit(X, y)
        # The class of the documentation stands in no file of the library.
        trusted = [*scarce.trusted_types(), "scarce.documented.NearestCentre"]
        loaded = skops.loads(skops.dumps(model), trusted=trusted)
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))

    def test_n_jobs(self, estimator, rows):
        if "n_jobs" not in estimator.get_params():
            pytest.skip("has no n_jobs")
        X, y = rows
        one, two = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
        np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
        assert one.threshold_ == two.threshold_
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))

    def test_eight_threads_score_one_model_with_the_same_bits(self, estimator, rows):
        X, y = rows
        model = clone(estimator).fit(X, y)
        expected = pickle.loads(pickle.dumps(model)).score_samples(X).tobytes()  # the threads have the first score
        start = Barrier(8)

        def score(_):
            start.wait(60)
            return [model.score_samples(X).tobytes() for _ in range(3)]

        with ThreadPoolExecutor(8) as pool:
            assert set(chain(*pool.map(score, range(8)))) == {expected}

    def test_explains_by_one_schema(self, estimator, rows):
        X, y = rows
        model = clone(estimator).fit(X, np.array(["ok", "fraud"])[y])
        explained = model.explain(X[:4])
        check_explanation(explained, model, X[:4])
        assert explained.label.tolist() == ["fraud"] * 4
        assert explained.features == tuple(f"x{i}" for i in range(X.shape[1]))
        np.testing.assert_array_equal(explained.score, model.score_samples(X[:4]))
        for i in range(4):  # an explanation does not depend on the other rows
            alone = model.explain(X[i : i + 1])
            np.testing.assert_allclose(alone.effects, explained.effects[i : i + 1], rtol=1e-9, atol=1e-12)
            assert [near[:2] for near in alone.neighbours[0]] == [near[:2] for near in explained.neighbours[i]]

    def test_explains_frames_and_float32(self, estimator, rows):
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        X, y = rows
        names = [f"c{i}" for i in range(X.shape[1])]
        for table in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names), X.astype(np.float32)):
            model = clone(estimator).fit(table, y)
            explained = model.explain(table[:2])
            check_explanation(explained, model, table[:2])
            np.testing.assert_array_equal(explained.values, np.asarray(table)[:2])
            if not isinstance(table, np.ndarray):
                assert explained.features == tuple(names)

    def test_fits_into_scikit_learn(self, estimator, rows):
        X, y = rows
        pipeline = make_pipeline(StandardScaler(), clone(estimator))
        result = cross_validate(pipeline, X, y, scoring=["average_precision", "f1"], cv=3)
        assert (result["test_average_precision"] > y.mean()).all()
        step = pipeline.steps[-1][0]
        grid = GridSearchCV(pipeline, {f"{step}__pos_label": [None, 1]}, scoring="average_precision", cv=2).fit(X, y)
        assert grid.best_score_ > y.mean()

    @pytest.mark.filterwarnings("ignore:With n_neighbors")
    def test_hard_tables(self, estimator):
        """A class of one row, constant columns, duplicates: an answer, or one sentence that says what to do."""
        rng = np.random.default_rng(0)
        lone = rng.normal(size=(40, 3)), np.r_[1, np.zeros(39, dtype=int)]
        constant = np.c_[rng.normal(size=(40, 2)), np.ones(40)], np.arange(40) % 4 == 0
        all_constant = np.ones((40, 2)), np.arange(40) % 4 == 0
        pairs = np.repeat(rng.normal(size=(20, 3)), 2, axis=0), np.arange(40) % 5 == 0
        for X, y in (lone, constant, all_constant, pairs):
            try:
                model = clone(estimator).fit(X, y)
            except ValueError as error:
                assert "at least two rows of each class" in str(error)  # noqa: PT017
                assert np.bincount(y.astype(int)).min() == 1
                continue
            assert np.isfinite(model.score_samples(X)).all()
            assert np.isfinite(model.threshold_)

    def test_nan_is_refused(self, estimator, rows):
        if get_tags(estimator).input_tags.allow_nan:
            pytest.skip("takes missing values")
        X, y = rows
        broken = X.copy()
        broken[3, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            clone(estimator).fit(broken, y)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e160, 1e300, 1.0])
@pytest.mark.parametrize("estimator", DEFAULTS, ids=example_id)
def test_any_finite_number_gives_finite_scores_or_one_sentence(estimator, scale):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4 == 0
    # At a scale of 1 there are 800 features. An iteration of IML decomposes a matrix of that size.
    X = rng.normal(size=(60, 80 if "IML" in type(estimator).__name__ else 800) if scale == 1 else (60, 3))
    X[y, :2] += 1.5
    with warnings.catch_warnings():
        if hasattr(estimator, "estimator"):
            warnings.simplefilter("ignore")  # those of a wrapped estimator
        try:
            model = clone(estimator).fit(X * scale, y)
        except ValueError as error:
            assert scale != 1
            assert re.search(r"overflow|vanish|too large|need to be preprocessed", str(error))  # noqa: PT017
            return
        assert np.isfinite(model.score_samples(X * scale)).all()
        assert np.isfinite(model.predict_proba(X * scale)).all()
        assert np.isfinite(model.threshold_)
        for far in (1e150, -1e160, 1e300):
            try:
                score = model.score_samples(np.full((1, X.shape[1]), far))
            except ValueError as error:
                assert re.search(r"overflow|too large", str(error))  # noqa: PT017
            else:
                assert np.isfinite(score).all()


@pytest.mark.parametrize("estimator", [e for e in EXAMPLES if get_tags(e).classifier_tags.multi_class], ids=example_id)
@pytest.mark.filterwarnings("ignore:Every model calls all training rows right")
def test_explains_several_classes(estimator, rows):
    X, y = rows
    labels = np.array(["a", "b", "c"])[np.where(X[:, 0] > 1, 2, y)]
    model = clone(estimator).fit(X, labels)
    explained = model.explain(X[:12])
    check_explanation(explained, model, X[:12])
    assert len(set(explained.label)) > 1
    np.testing.assert_array_equal(explained.label, model.predict(X[:12]))
    np.testing.assert_array_equal(explained.score, model.score_samples(X[:12]).max(axis=1))


def test_no_estimator_has_an_explanation_of_its_own():
    for _, cls in scarce.all_estimators():
        assert cls.explain is scarce.RareEventClassifier.explain


def test_no_estimator_overrides_fit():
    for _, cls in scarce.all_estimators():
        assert cls.fit is scarce.RareEventClassifier.fit
        assert cls.honest_scores is scarce.RareEventClassifier.honest_scores


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("estimator", DEFAULTS, ids=example_id)
def test_any_objective_is_optimal_on_honest_scores(estimator, objective, rows):
    X, y = rows
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for w in (None, weight):
        model = clone(estimator).set_params(threshold=objective).fit(X, y, sample_weight=w)
        honest = model.honest_scores(X, y, sample_weight=w)
        scored = np.isfinite(honest)  # a forest of few trees has no honest score of a row in every bag
        assert scored.mean() > 0.9
        honest = honest[scored]
        curve = objective.curve(honest, y[scored], None if w is None else w[scored])
        called = honest > model.threshold_
        same_cut = np.array([np.array_equal(honest > t, called) for t in curve.threshold])
        assert curve.value[same_cut][0] == np.nanmax(curve.value)


@pytest.mark.parametrize("estimator", DEFAULTS, ids=example_id)
class TestThreshold:
    def test_a_number_is_the_cut(self, estimator, rows):
        assert clone(estimator).set_params(threshold=0.25).fit(*rows).threshold_ == 0.25

    def test_gains_and_periods_reach_the_objective(self, estimator, rows):
        X, y = rows
        gains = np.tile([100.0, -1, 0, -100], (len(y), 1))
        lax = clone(estimator).set_params(threshold=ob.Profit()).fit(X, y, gains=gains)
        strict = clone(estimator).set_params(threshold=ob.Profit()).fit(X, y, gains=gains * [1, 100, 1, 1])
        if isinstance(estimator, ProfitClassifier):
            # Its score knows the gains already, so that the threshold need not move.
            assert lax.predict(X).sum() > strict.predict(X).sum()
        else:
            assert lax.threshold_ < strict.threshold_
        period = np.arange(len(y)) % 4
        model = clone(estimator).set_params(threshold=ob.Budget(rows=5)).fit(X, y, period=period)
        called = model.honest_scores(X, y) > model.threshold_
        assert np.bincount(period[called], minlength=4).max() <= 5

    def test_gains_of_a_frame_are_aligned_by_name(self, estimator, rows):
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        X, y = rows
        names, gains = ["tp", "fp", "tn", "fn"], np.tile([100.0, -1, 0, -100], (len(y), 1))
        mixed = pandas.DataFrame(gains, columns=names)[["tn", "tp", "fn", "fp"]]
        model = clone(estimator).set_params(threshold=ob.Profit())
        expected = clone(model).fit(X, y, gains=gains)
        for frame in (mixed, polars.from_pandas(mixed)):
            found = clone(model).fit(X, y, gains=frame)
            assert found.threshold_ == expected.threshold_
            np.testing.assert_array_equal(found.score_samples(X), expected.score_samples(X))
        for wrong, message in (
            (mixed.drop(columns="tn"), "lacks the column tn"),
            (mixed.assign(x=0), "unknown column x"),
        ):
            with pytest.raises(ValueError, match=message):
                clone(model).fit(X, y, gains=wrong)

    def test_groups_stay_on_one_side(self, estimator, rows):
        """Copies of a row in its group: honest scores with groups are those of models that saw none of the copies."""
        X, y = rows
        X, y, groups = np.repeat(X[:80], 3, axis=0), np.repeat(y[:80], 3), np.repeat(np.arange(80), 3)
        splits = list(StratifiedGroupKFold(5, shuffle=True, random_state=0).split(X, y, groups))
        model = clone(estimator).set_params(threshold="f1")
        by_groups = model.honest_scores(X, y, groups=groups)
        np.testing.assert_array_equal(by_groups, model.honest_scores(X, y, groups=groups, cv=splits))
        called = by_groups > model.fit(X, y, groups=groups).threshold_
        best = ob.FBeta(1).best_threshold(by_groups, y)
        np.testing.assert_array_equal(called, by_groups > best.threshold)

    def test_a_split_by_time_scores_later_rows_only(self, estimator, rows):
        X, y = rows
        cv = DelayedTimeSplit(2, train=None, delay=20, test=60)
        scores = clone(estimator).honest_scores(X, y, period=np.arange(len(y)), cv=cv)
        assert np.isnan(scores[:120]).all()
        assert np.isfinite(scores[120:]).all()

    def test_unused_gains_are_refused(self, estimator, rows):
        X, y = rows
        for threshold in ("default", 0.5, "f1"):
            with pytest.raises(ValueError, match="gains"):
                clone(estimator).set_params(threshold=threshold).fit(X, y, gains=np.ones((len(y), 4)))

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"threshold": "best"}, "'best' is not an objective"),
            ({"pos_label": "fraud"}, "pos_label='fraud' is not in y"),
            ({"threshold": None}, "'threshold' parameter"),
        ],
    )
    def test_bad_parameters(self, estimator, rows, params, message):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            with pytest.raises(ValueError, match=message):
                clone(estimator).set_params(**params).fit(*rows)

    def test_chosen_class(self, estimator, rows):
        X, y = rows
        assert clone(estimator).fit(X, y).pos_label_ == 1
        assert clone(estimator).fit(X, 1 - y).pos_label_ == 0
        assert clone(estimator).set_params(pos_label=0).fit(X, y).pos_label_ == 0
        assert clone(estimator).fit(X[:100], np.arange(100) % 2).pos_label_ == 1

    def test_groups_are_routed(self, estimator, rows):
        from sklearn import config_context

        X, y = rows
        groups = np.arange(len(y)) // 2
        with config_context(enable_metadata_routing=True):
            model = clone(estimator).set_params(threshold="f1").set_fit_request(groups=True)
            pipeline = make_pipeline(StandardScaler(), model).fit(X, y, groups=groups)
        direct = clone(estimator).set_params(threshold="f1").fit(StandardScaler().fit_transform(X), y, groups=groups)
        assert pipeline[-1].threshold_ == direct.threshold_

    def test_metadata_routing(self, estimator, rows):
        from sklearn import config_context

        X, y = rows
        gains = np.tile([10.0, -1, 0, -10], (len(y), 1))
        with config_context(enable_metadata_routing=True):
            model = clone(estimator).set_params(threshold=ob.Profit()).set_fit_request(gains=True)
            result = cross_validate(
                make_pipeline(StandardScaler(), model), X, y, params={"gains": gains}, cv=3, scoring="average_precision"
            )
        assert (result["test_score"] > y.mean()).all()


def refuse_folds_of_rows(patch):
    """Let the splitters of scikit-learn that do not know groups fail."""

    def split(self, X, y=None, groups=None):
        raise AssertionError(f"{type(self).__name__} puts rows of one group on both sides")

    patch.setattr(StratifiedKFold, "split", split)
    patch.setattr(BaseShuffleSplit, "split", split)  # which train_test_split uses


@pytest.mark.parametrize("estimator", EXAMPLES, ids=example_id)
def test_nothing_is_tuned_on_folds_of_rows(estimator, rows, monkeypatch):
    X, y = rows
    refuse_folds_of_rows(monkeypatch)
    clone(estimator).fit(X, y, groups=np.arange(len(y)) // 2)


def test_folds_of_rows_are_noticed(rows, monkeypatch):
    refuse_folds_of_rows(monkeypatch)
    for estimator in (ME2(20), ProfitTree(prune=0.3), ProfitBoosting(n_estimators=5, n_iter_no_change=2)):
        with pytest.raises(AssertionError, match="on both sides"):
            estimator.fit(*rows)


# What each of them tunes, larger the more it trusts what the copies of a row say of it.
TRUST = [
    (ProfitForest(20, n_boosted=10, random_state=0), lambda model: model.path_weights_.max() + model.boosted_weight_),
    (ProfitTree(prune=0.3, random_state=0), lambda model: len(model.leaf_scores_.value)),
    (
        ProfitBoosting(n_estimators=60, learning_rate=0.3, min_child_samples=2, n_iter_no_change=30, random_state=0),
        lambda model: model.n_estimators_,
    ),
    (GammaKNN(1), lambda model: model.gamma_.min()),
]


@pytest.mark.parametrize(("estimator", "trust"), TRUST, ids=lambda case: getattr(type(case), "__name__", ""))
def test_noise_is_not_trusted_for_its_copies(estimator, trust):
    """Classes are drawn at random: whoever judges a row by a model that saw its copies finds them predictable."""
    rng = np.random.default_rng(1)
    n_classes = 3 if isinstance(estimator, GammaKNN) else 2
    X, y = rng.normal(size=(150, 3)), rng.integers(n_classes, size=150)
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(150), 4)
    assert trust(clone(estimator).fit(X, y, groups=groups)) < trust(clone(estimator).fit(X, y))


def _has_calibration(estimator):
    return "calibration" in estimator.get_params() and not isinstance(estimator, BayesProfitClassifier)


def _splits_rows(estimator):
    """Return whether honest scores depend on which rows share a fold."""
    if isinstance(estimator, scarce.TunedThreshold | ConeClassifier):
        return True
    return type(estimator)._honest_scores is scarce.RareEventClassifier._honest_scores and not estimator._leaves_one_out
