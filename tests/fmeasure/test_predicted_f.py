"""The F that scores predict for other class weights, and the search that goes there first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from scarce.fmeasure import ConeClassifier
from scarce.fmeasure._models import margin_of
from scarce.fmeasure._predicted_f import ThresholdCurve, predicted_f
from scarce.fmeasure._search import Cone, ScoredCone, new_search
from scarce.fmeasure.bounds import error_profile, f_measure, micro_f_parambath
from tests import naive_fmeasure as naive


def curve_of(t, margin, y, weight=None, beta=1.0):
    """Of two classes, where a positive row is right if it is called."""
    return ThresholdCurve(t, margin, y == 1, y == 1, weight, beta)


BETAS = st.sampled_from([0.5, 1.0, 2.0])


@st.composite
def judged(draw, n=None):
    """Draw scores of a few rows around a model's own threshold, with ties, at least one positive row, and weights."""
    n = draw(st.integers(3, 12)) if n is None else n
    margin = np.array(draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))) / 2
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 1, 0
    weight = np.arange(1.0, n + 1) if draw(st.booleans()) else None
    return margin, y, weight


class Calibrated:
    """Rows with known probabilities, and the model that knows them: its score is the log of the odds by its weights."""

    def __init__(self, seed=0, n=4000, beta=1.0, scale=1.0):
        rng = np.random.default_rng(seed)
        self.odds = rng.normal(-3, 2, n)
        self.y = (rng.random(n) < expit(self.odds)).astype(np.intp)
        self.beta, self.scale = beta, scale

    def margin(self, t):
        return self.scale * (self.odds - np.log(t / (1 + self.beta**2 - t)))

    def f(self, t):
        return f_measure(error_profile(self.y, self.margin(t) > 0), self.beta)

    def search(self, n_models):
        floor = f_measure(error_profile(self.y, np.ones_like(self.y)), self.beta)
        return new_search("cone", n_models, self.beta, floor=floor, scored=True)

    def curve(self, t):
        return curve_of(t, self.margin(t), self.y, None, self.beta)


class TestCurves:
    @given(judged(), BETAS)
    def test_f_and_calls_at_every_threshold(self, rows, beta):
        margin, y, weight = rows
        curve = curve_of(0.5, margin, y, weight, beta)
        expected = naive.thresholds(margin, y, np.ones(len(y)) if weight is None else weight, beta)
        threshold, f, called = np.array(expected).T
        np.testing.assert_allclose(curve.threshold, threshold, atol=1e-12)
        np.testing.assert_allclose(curve.f, f)
        np.testing.assert_allclose(curve.called, called)
        assert curve.called_now == np.sum((margin > 0) * (1 if weight is None else weight))

    @given(st.data(), BETAS)
    def test_predictions(self, data, beta):
        n = data.draw(st.integers(3, 12))
        t = sorted(data.draw(st.lists(st.integers(1, 19), min_size=1, max_size=4, unique=True)))
        curves, models = [], []
        for each in t:
            margin, y, weight = data.draw(judged(n))
            curve = curve_of(each / 20, margin, y, weight, beta)
            thresholds = naive.thresholds(margin, y, np.ones(n) if weight is None else weight, beta)
            curves.append(curve)
            models.append((each / 20, thresholds, curve.called_now, curve.slope))
        # Not where two thresholds are equally near.
        places = np.arange(1, 40) / 40 + 0.00137
        expected = [naive.predicted(models, place, beta) for place in places]
        np.testing.assert_allclose(predicted_f(curves, places, beta), expected)

    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    @pytest.mark.parametrize("scale", [1.0, 0.2])
    def test_one_calibrated_model_predicts_all_others(self, beta, scale):
        rows = Calibrated(beta=beta, scale=scale)
        t = np.linspace(0.05, 0.95, 19)
        predicted = predicted_f([rows.curve(0.3)], t, beta)
        np.testing.assert_allclose(predicted, [rows.f(each) for each in t], atol=0.02)

    def test_two_models_agree_on_what_lies_between_them_whatever_the_slope(self):
        rows = Calibrated()
        t = np.linspace(0.21, 0.79, 13)
        curves = [rows.curve(0.2), rows.curve(0.8)]
        for curve in curves:
            curve.slope = np.nan
        np.testing.assert_allclose(predicted_f(curves, t), [rows.f(each) for each in t], atol=0.01)

    def test_the_slope_is_that_of_a_sigmoid(self):
        rows = Calibrated(scale=0.5)
        expected = LogisticRegression(C=np.inf).fit(rows.margin(0.3)[:, None], rows.y).coef_[0, 0]
        assert rows.curve(0.3).slope == pytest.approx(expected, rel=0.01)
        assert expected == pytest.approx(2, rel=0.1)

    @pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-4), (0.0, 1e4), (1e4, 1.0)])
    def test_the_slope_of_scores_of_any_size(self, shift, scale):
        rows = Calibrated()
        plain, other = (
            curve_of(0.3, scale * rows.odds + shift, rows.y) for scale, shift in ((1.0, 0.0), (scale, shift))
        )
        assert other.slope * scale == pytest.approx(plain.slope, rel=1e-4)

    def test_so_many_rows_that_not_all_thresholds_are_kept(self):
        rows = Calibrated(n=30_000)
        curve, order = rows.curve(0.4), np.argsort(-rows.odds)
        assert len(curve.threshold) <= 2001
        assert (np.diff(curve.threshold) > 0).all()
        found = np.cumsum(rows.y[order])
        best = (2 * found / (np.arange(1, len(found) + 1) + rows.y.sum())).max()
        assert curve.f.max() == pytest.approx(best, abs=1e-3)

    @pytest.mark.parametrize("margin", [np.zeros(20), np.full(20, -1.0), np.where(np.arange(20) < 3, -1.0, 1.0)])
    def test_scores_without_information_or_reversed(self, margin):
        y = (np.arange(20) < 3).astype(np.intp)
        f = predicted_f([curve_of(0.4, margin, y)], np.linspace(0.1, 0.9, 9))
        assert ((f >= 0) & (f <= 6 / 23 + 1e-12)).all()


class TestSearch:
    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    def test_the_first_lies_between_what_is_certain_and_1(self, beta):
        certain = f_measure(error_profile([1, 0, 0, 0], [1, 1, 1, 1]), beta)
        assert new_search("cone", 5, beta, floor=certain, scored=True).ask() == [pytest.approx(np.sqrt(certain))]
        assert new_search("cone", 5, beta, floor=certain).ask() == [0.5]

    def test_three_calibrated_models_are_enough(self):
        for seed in range(5):
            rows = Calibrated(seed)
            best = max(rows.f(t) for t in np.linspace(0.05, 0.95, 91))
            search = rows.search(3)
            while asked := search.ask():
                search.record(asked[0], error_profile(rows.y, rows.margin(asked[0]) > 0), rows.curve(asked[0]))
            assert search.best >= 0.99 * best

    def test_it_goes_where_the_highest_f_is_predicted_and_not_twice(self):
        rows = Calibrated(3)
        search = rows.search(19)
        while asked := search.ask():
            if search.curves:
                places = np.arange(1, 1000) / 1000
                far = np.abs(places[:, None] - search.tried).min(axis=1) >= 0.005 - 1e-9
                predicted = predicted_f(search.curves, places)[far]
                if predicted.max() > search.best:
                    assert predicted_f(search.curves, np.array(asked)) == pytest.approx(predicted.max())
            search.record(asked[0], error_profile(rows.y, rows.margin(asked[0]) > 0), rows.curve(asked[0]))
        tried = np.sort(search.tried)
        assert len(np.unique(tried)) == len(tried)

    def test_without_scores_it_is_cone(self):
        """Without scores it halves intervals as CONE does."""
        rows = Calibrated()
        plain, scored = new_search("cone", 9), new_search("cone", 9, floor=0.1, scored=True)
        scored.tried, scored.f = [0.5], [rows.f(0.5)]
        for search in (plain, scored):
            search.record(0.5, error_profile(rows.y, rows.margin(0.5) > 0))
        assert type(plain) is Cone
        assert type(scored) is ScoredCone
        assert plain.ask() == scored.ask()

    @given(st.integers(0, 20), st.integers(1, 5))
    def test_batches(self, seed, batch):
        rows = Calibrated(seed, n=200)
        search = rows.search(9)
        while asked := search.ask(batch):
            assert len(asked) <= batch
            for t in asked:
                search.record(t, error_profile(rows.y, rows.margin(t) > 0), rows.curve(t))
        assert 1 <= len(search.tried) <= 9
        assert len(set(search.tried)) == len(search.tried)
        assert all(0 < t < 1 for t in search.tried)

    def test_a_first_model_that_cannot_be_fitted(self):
        search = new_search("cone", 9, floor=0.1, scored=True)
        search.record(search.ask()[0], None)
        assert len(search.ask(2)) == 2


class TestEstimator:
    @pytest.fixture
    def data(self):
        return make_classification(600, 6, n_informative=4, weights=[0.9], flip_y=0.06, class_sep=0.8, random_state=1)

    @pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(random_state=0)])
    def test_scores_are_read_if_honest_and_of_use(self, data, estimator):
        X, y = data
        share = y.mean()
        for validation in (5, 0.3):
            path = ConeClassifier(estimator, validation=validation, n_models=2).fit(X, y).path_
            assert path["t"][0] == pytest.approx(np.sqrt(2 * share / (1 + share)), rel=0.02)
        for without in ({"validation": "train"}, {"threshold": "tune"}):
            assert ConeClassifier(estimator, n_models=2, **without).fit(X, y).path_["t"][0] == 0.5

    def test_the_second_model_is_where_the_first_one_points(self, data):
        X, y = data
        model = ConeClassifier(LogisticRegression(), n_models=2).fit(X, y)
        once = ConeClassifier(LogisticRegression(), n_models=1).fit(X, y)
        scores = once.honest_scores(X, y)
        curve = curve_of(once.t_, np.log(scores / (1 - scores)), y)
        places = np.arange(1, 1000) / 1000
        predicted = predicted_f([curve], places)
        assert predicted_f([curve], model.path_["t"][1:]) == pytest.approx(predicted.max())

    @pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(random_state=0)])
    def test_several_classes(self, estimator):
        """The F of a model at its own threshold is that of its curve; the first t is between the floor and 1."""
        X, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
        path = ConeClassifier(estimator, n_models=3).fit(X, y).path_
        second = np.sort(np.bincount(y))[-2] / len(y)
        assert path["t"][0] == pytest.approx(np.sqrt(2 * second / (1 + second)))
        assert len(set(path["t"])) == 3
        scores = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])
        truth = np.array([1, 2, 0, 1])
        margin, given = margin_of(LogisticRegression(), scores, 0)
        assert given.tolist() == [1, 2, 1, 2]
        np.testing.assert_allclose(margin, np.log([0.5 / 0.2, 0.3 / 0.6, 1, 8]))
        positive = truth > 0
        curve = ThresholdCurve(0.5, margin, positive, positive & (given == truth), None, 1.0)
        for threshold in (-1.0, -0.2, 0.5, 5.0):
            expected = micro_f_parambath(truth, np.where(margin > threshold, given, 0), default_class=0)
            assert curve.f_at(np.array([threshold]))[0] == pytest.approx(expected)
