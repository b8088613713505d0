"""The probabilities of every estimator: calibrated, passed through, or the squeezed score."""

import pickle
import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.svm import LinearSVC

import scarce
from scarce import RareEventClassifier, TunedThreshold
from scarce.fmeasure import ConeClassifier
from scarce.metrics import expected_calibration_error
from scarce.neighbors import CCNND, GFRNN, GammaKNN
from scarce.profit import BayesProfitClassifier
from scarce.sampling import ResampledClassifier, ResampledGammaKNN, correct_prior
from scarce.trees import APTree, MetaAPForest, ProfitTree
from tests.test_common import DEFAULTS, EXAMPLES, example_id

pytestmark = [pytest.mark.filterwarnings("ignore:Every model", "ignore:With n_neighbors", "ignore:Without gains")]

WRAPPERS = (TunedThreshold, ConeClassifier)
# What an uncalibrated score has at least on the table below, and a calibrated one at most.
CALIBRATED = 0.03


def drawn(n, seed):
    """Return rows, classes and probabilities of a logistic model with about 6 % positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    p = expit(X @ [1.3, -0.8, 0.5, 0.0, 0.0] - 3.6)
    return X, (rng.random(n) < p).astype(int), p


@pytest.fixture(scope="module")
def table():
    return drawn(4000, 0)


@pytest.fixture(scope="module")
def new():
    return drawn(12_000, 1)


def calibrates(model):
    return "calibration" in model.get_params() and not isinstance(model, BayesProfitClassifier)


def honest(estimator):
    return clone(estimator).set_params(calibration="honest") if calibrates(estimator) else clone(estimator)


@pytest.mark.parametrize("estimator", EXAMPLES, ids=example_id)
def test_calibrated_and_in_the_order_of_the_score(estimator, table, new):
    X, y, _ = table
    X_new, y_new, _ = new
    model = honest(estimator).fit(X, y)
    probability, score = model.predict_proba(X_new)[:, 1], model.score_samples(X_new)
    assert expected_calibration_error(y_new, probability) < CALIBRATED
    assert brier_score_loss(y_new, probability) < brier_score_loss(y_new, np.full(len(y_new), y.mean())) * 1.02
    assert average_precision_score(y_new, probability) > average_precision_score(y_new, score) - 0.002
    ranked_by = model._class_score(X_new) if model._curves_by_class else score
    assert (np.diff(probability[np.argsort(ranked_by, kind="stable")]) >= -1e-12).all()
    if calibrates(estimator):
        squeezed = clone(estimator).set_params(calibration=None).fit(X, y)
        assert squeezed.threshold_ == model.threshold_
        np.testing.assert_array_equal(squeezed.score_samples(X_new[:200]), score[:200])


def test_the_bound_can_be_failed(table, new):
    X, y, _ = table
    for model in (GammaKNN(calibration=None), GFRNN(calibration=None), APTree(), MetaAPForest(20, calibration=None)):
        assert expected_calibration_error(new[1], model.fit(X, y).predict_proba(new[0])[:, 1]) > 3 * CALIBRATED


def test_probabilities_come_close_to_the_true_ones(table, new):
    X, y, _ = table
    model = GFRNN("rms").fit(X, y)
    assert np.abs(model.predict_proba(new[0])[:, 1] - new[2]).mean() < 0.02


@pytest.mark.parametrize("estimator", [e for e in EXAMPLES if calibrates(e)], ids=example_id)
def test_none_is_the_squeezed_score_and_agrees_with_predict(estimator, table):
    X, y, _ = table
    for labels in ((0, 1), (1, 0)):
        names = np.array(labels)[y[:300]]
        model = clone(estimator).set_params(calibration=None).fit(X[:300], names)
        shares = model.predict_proba(X[:300])
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X[:300]))
        model.threshold_ = float(model.score_samples(X[:1])[0])
        assert model.classes_[model.predict_proba(X[:1]).argmax()] == labels[0]


@pytest.mark.parametrize("estimator", EXAMPLES, ids=example_id)
def test_what_is_fitted_is_small_and_stays(estimator, table):
    X, y, _ = table
    model = clone(estimator).fit(X[:400], y[:400])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert not [name for name in vars(model) if "kept_honest" in name or name == "_metadata"]


@pytest.mark.parametrize("estimator", [e for e in DEFAULTS if calibrates(e)], ids=example_id)
def test_parameters_are_checked_and_documented(estimator, table):
    X, y, _ = table
    with pytest.raises(ValueError, match="'calibration' parameter"):
        clone(estimator).set_params(calibration="platt").fit(X[:100], y[:100])
    if type(estimator).__module__ != "scarce.documented":
        assert re.search(r"\bcalibration\b", type(estimator).__doc__)


def test_the_first_line_tells_a_probability_from_a_squeezed_score():
    first = RareEventClassifier.predict_proba.__doc__.splitlines()[0]
    assert "calibration" in first
    assert "squeezed" in first


@pytest.mark.parametrize("cls", [cls for _, cls in scarce.all_estimators()], ids=lambda cls: cls.__name__)
def test_every_estimator_calibrates_or_wraps(cls):
    assert "calibration" in cls._get_param_names() or issubclass(cls, WRAPPERS)


class TestWrappers:
    @pytest.mark.parametrize("inner", [LogisticRegression(), RandomForestClassifier(30, random_state=0)])
    @pytest.mark.parametrize("labels", [("ok", "z"), ("ok", "fraud")])
    def test_tuned_threshold_passes_probabilities_through(self, table, inner, labels):
        X, y, _ = table
        names = np.array(labels)[y]
        expected = clone(inner).fit(X, y).predict_proba(X)
        model = TunedThreshold(inner).fit(X, names)
        np.testing.assert_array_equal(model.predict_proba(X), expected if labels[1] == "z" else expected[:, ::-1])

    def test_without_probabilities_decisions_are_calibrated_on_the_scores_of_the_threshold(self, table, new):
        X, y, _ = table
        for wrap in (TunedThreshold, ConeClassifier, ResampledClassifier):
            p = wrap(LinearSVC()).fit(X, y).predict_proba(new[0])[:, 1]
            assert expected_calibration_error(new[1], p) < CALIBRATED
        fixed = TunedThreshold(LinearSVC(), threshold=0.0).fit(X, y)
        np.testing.assert_allclose(fixed.predict_proba(X)[:, 1], expit(fixed.score_samples(X)), atol=1e-12)

    def test_class_weights_are_undone(self, table, new):
        X, y, _ = table
        model = ConeClassifier(LogisticRegression(C=np.inf), n_models=5).fit(X, y)
        weighted = model.estimator_.predict_proba(new[0])[:, 1]
        on_positive, on_negative = 2 - model.t_, model.t_
        made = on_positive * y.mean() / (on_positive * y.mean() + on_negative * (1 - y.mean()))
        p = model.predict_proba(new[0])[:, 1]
        np.testing.assert_allclose(p, correct_prior(weighted, made, y.mean()))
        assert expected_calibration_error(new[1], p) < expected_calibration_error(new[1], weighted) / 3

    def test_class_weights_of_more_classes_are_undone(self):
        X, code = make_blobs([1500, 80, 40], centers=[[0, 0], [1.5, 0], [0, 1.5]], random_state=0)
        model = ConeClassifier(LogisticRegression(), n_models=5).fit(X, code)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_allclose(p.mean(axis=0), np.bincount(code) / len(code), atol=0.02)

    def test_bayes_rule_shows_its_probability(self, table):
        X, y, _ = table
        model = BayesProfitClassifier(LogisticRegression()).fit(X, y, gains=[5, -1, 0, -5])
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1], model.score_samples(X))


class TestWhen:
    """Where "auto" calibrates, and where it would take further fits."""

    @pytest.mark.parametrize(
        ("model", "calibrated"),
        [
            (GammaKNN(), True),
            (GammaKNN(gamma=0.5), True),
            (MetaAPForest(20), True),
            (APTree(), False),
            (APTree(threshold="f1"), True),
            (APTree(threshold="f1", calibration=None), False),
            (APTree(calibration="honest"), True),
            (scarce.neighbors.InformativeKNN(), True),
            (scarce.neighbors.InformativeKNN(mode="global"), False),
            (scarce.trees.RankingForest(10, threshold=0.5), True),
            (scarce.trees.RankingForest(10, aggregate="kemeny", threshold=0.5), False),
            (ResampledGammaKNN(random_state=0), True),
            (ResampledGammaKNN(gamma=(0.5, 1.0), random_state=0), False),
        ],
        ids=example_id,
    )
    def test_auto(self, table, model, calibrated):
        X, y, _ = table
        model.fit(X[:600], y[:600])
        assert (abs(model.predict_proba(X)[:, 1].mean() - y[:600].mean()) < 0.03) == calibrated

    def test_groups_are_kept_out(self, table):
        """With groups, leave-one-out scores are not honest, so that "auto" leaves the score squeezed."""
        X, y, _ = table
        X, y, groups = np.repeat(X[:300], 3, axis=0), np.repeat(y[:300], 3), np.repeat(np.arange(300), 3)
        assert GFRNN().fit(X, y, groups=groups)._curves is None
        model = GammaKNN(calibration="honest").fit(X, y, groups=groups)
        assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.1)
        # A copy of itself makes each row certain, unless the copies are of its group.
        assert model._curves[0].log_odds.max() < GammaKNN(1).fit(X, y)._curves[0].log_odds.max()

    @pytest.mark.parametrize("estimator", [e for e in DEFAULTS if calibrates(e)], ids=example_id)
    def test_honest_with_groups(self, estimator, table):
        X, y, _ = table
        X, y, groups = np.repeat(X[:200], 2, axis=0), np.repeat(y[:200], 2), np.repeat(np.arange(200), 2)
        model = clone(estimator).set_params(calibration="honest").fit(X, y, groups=groups)
        assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.12)

    def test_one_row_of_a_class(self, table):
        X = table[0][:30]
        y = np.r_[1, np.zeros(29, dtype=int)]
        for model in (CCNND(), GFRNN()):
            assert np.isfinite(model.fit(X, y).predict_proba(X)).all()
        with pytest.raises(ValueError, match="at least two rows of each class"):
            APTree(calibration="honest").fit(X, y)


class TestSample:
    def test_rows_in_another_order_have_the_same_probabilities(self, new):
        X, y, _ = new
        order = np.random.default_rng(0).permutation(len(y))
        for model in (GammaKNN(), GFRNN(), CCNND()):
            one = clone(model).fit(X, y).predict_proba(X[:500])
            other = clone(model).fit(X[order], y[order]).predict_proba(X[:500])
            np.testing.assert_allclose(one, other, atol=1e-6)

    def test_is_weighted_to_the_true_prior(self, new):
        X, y, _ = new
        model = GammaKNN().fit(X, y)
        assert model.predict_proba(drawn(4000, 2)[0])[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)

    def test_a_part_of_the_rows_is_scored_as_all_are(self, table):
        """Any rows, in any order: each is scored among all others."""
        X, y, _ = table
        X, y = X[:300], y[:300]
        y[:3] = 1
        rows = np.random.default_rng(0).permutation(300)[:120]
        checked = 0
        for estimator in EXAMPLES:
            model = clone(estimator)
            if model._leaves_one_out is True:
                model.fit(X, y)
                whole = model.honest_scores(X, y)
                part = model._leave_one_out(model._check_X(X, reset=False), y, rows)
                np.testing.assert_array_equal(part, whole[rows], err_msg=repr(model))
                checked += 1
        assert checked > 20

    def test_weights_are_rows(self, table, new):
        X, y, _ = table
        heavy = GammaKNN().fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0)).predict_proba(new[0])[:, 1]
        again = correct_prior(heavy, 3 * y.mean() / (1 + 2 * y.mean()), y.mean())
        assert expected_calibration_error(new[1], again) < CALIBRATED


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([1600, 250, 150], centers=[[0, 0], [1.5, 0], [0, 1.5]], random_state=0)


class TestSeveralClasses:
    @pytest.mark.parametrize(
        "estimator", [e for e in EXAMPLES if getattr(e, "_multi_class", False) and calibrates(e)], ids=example_id
    )
    @pytest.mark.parametrize("calibration", ["auto", "honest"])
    def test_each_against_the_rest(self, estimator, calibration, blobs):
        if getattr(estimator, "metric_transform", None) is not None:
            pytest.skip("for two classes")
        X, y = blobs
        model = clone(estimator).set_params(calibration=calibration).fit(X[::2], y[::2])
        p = model.predict_proba(X[1::2])
        np.testing.assert_allclose(p.sum(axis=1), 1)
        if model._curves is not None:
            for code in range(3):
                assert expected_calibration_error(y[1::2] == code, p[:, code], 5) < 0.1


class TestStream:
    def test_after_changes_as_if_fitted_at_once(self, table):
        X, y, _ = table
        model = CCNND().fit(X[:300], y[:300]).partial_fit(X[300:500], y[300:500]).forget(np.arange(50))
        at_once = CCNND().fit(X[50:500], y[50:500])
        np.testing.assert_array_equal(model.predict_proba(X), at_once.predict_proba(X))

    def test_a_window_does_not_make_the_rare_class_frequent(self, table, new):
        X, y, _ = table
        fitted = CCNND(max_per_class=200).fit(X, y)
        streamed = CCNND(max_per_class=200)
        for part in np.array_split(np.arange(len(y)), 4):
            streamed.partial_fit(X[part], y[part])
        for model in (fitted, streamed):
            assert model.predict_proba(new[0])[:, 1].mean() == pytest.approx(y.mean(), rel=0.3)


@pytest.mark.parametrize("model", [GammaKNN(5), GFRNN("mean"), MetaAPForest(30, max_depth=3, random_state=0)])
def test_no_worse_than_five_more_fits(model, table, new):
    X, y, _ = table
    peer = CalibratedClassifierCV(model, cv=5, ensemble=False).fit(X, y).predict_proba(new[0])[:, 1]
    ours = model.fit(X, y).predict_proba(new[0])[:, 1]
    assert brier_score_loss(new[1], ours) < 1.01 * brier_score_loss(new[1], peer)
    assert expected_calibration_error(new[1], ours) < expected_calibration_error(new[1], peer) + 0.005


@pytest.mark.parametrize("model", [APTree(), ProfitTree()], ids=lambda model: type(model).__name__)
def test_leaves_of_few_rows_are_trusted_less(model):
    """Honest probabilities of a tree come from shares that are drawn towards that of all rows, by five rows."""
    X, y = make_classification(600, weights=[0.8], flip_y=0.2, random_state=0)
    weight = np.where(np.arange(600) % 2, 3.0, 1.0)
    model = clone(model).set_params(pos_label=1, calibration="honest").fit(X, y, weight)
    leaf = model.tree_.apply(X)
    expected, usual = np.empty(600), weight @ y / weight.sum()
    for one in np.unique(leaf):
        mine = leaf == one
        prior = 5 * weight.mean()
        expected[mine] = (weight[mine] @ y[mine] + prior * usual) / (weight[mine].sum() + prior)
    np.testing.assert_allclose(model._class_score(X), expected, atol=2e-6)
    probability = model.predict_proba(X)[:, 1]
    assert (np.diff(probability[np.lexsort((probability, expected.round(5)))]) >= 0).all()
    assert not [name for name in vars(model) if name.startswith("_kept")]


def test_auto_fits_no_tree_more_for_probabilities():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    assert not APTree().fit(X, y)._curves_by_class
    assert APTree(threshold="f1").fit(X, y)._curves_by_class  # the folds of the threshold serve both
