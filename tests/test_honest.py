"""Splits of the user's own and groups: no model that scores a row has seen a row of its group."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, TimeSeriesSplit

from scarce import TunedThreshold
from scarce.boosting import APBoosting
from scarce.ellipsoids import ME2
from scarce.fmeasure import ConeClassifier
from scarce.model_selection import DelayedTimeSplit
from scarce.neighbors import GammaKNN
from scarce.objectives import FBeta
from scarce.profit import BayesProfitClassifier
from scarce.sampling import SDC, ResampledClassifier, ResampledGammaKNN
from scarce.trees import MetaAPForest, ProfitForest

pytestmark = pytest.mark.filterwarnings("ignore:Without gains")

SIZE = 3  # rows of a group


class Log:
    """Which rows, known by their first feature, were scored by models that had seen nothing of their groups."""

    def __init__(self, X):
        self.row_of = {x: i for i, x in enumerate(X[:, 0].tolist())}
        self.scored = set()

    def rows(self, X):
        # Synthetic rows are none of them.
        return {self.row_of[x] for x in np.asarray(X)[:, 0].tolist() if x in self.row_of}

    def note(self, seen, X):
        rows = self.rows(X)
        if rows <= seen:
            return  # a model may be judged by the rows that it was fitted on, as long as no other uses that
        assert not {row // SIZE for row in rows} & {row // SIZE for row in seen}
        self.scored |= rows


class SpiedLogistic(LogisticRegression):
    """A classifier that writes into a log which rows it has seen when it scores others."""

    log = None

    def fit(self, X, y, sample_weight=None):
        self.seen_ = self.log.rows(X)
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        self.log.note(self.seen_, X)
        return super().predict_proba(X)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(240, 4, weights=[0.8], flip_y=0.05, random_state=0)
    X[:, 0] = np.random.default_rng(0).permutation(len(X)) / len(X)
    return X, y, np.arange(len(X)) // SIZE


def spy_on_template(cls, log, patch):
    fit, score = cls._fit, cls._score

    def spied_fit(self, X, y, sample_weight):
        self._seen = log.rows(X)
        return fit(self, X, y, sample_weight)

    def spied_score(self, X):
        log.note(self._seen, X)
        return score(self, X)

    patch.setattr(cls, "_fit", spied_fit)
    patch.setattr(cls, "_score", spied_score)


def spy_on_indices(log, patch):
    index, measure = ResampledGammaKNN._index, ResampledGammaKNN._measure

    def spied_index(self, rows):
        found = index(self, rows)
        found.seen = log.rows(rows.X)
        return found

    def spied_measure(self, index, X, there=None):
        log.note(index.seen, X)
        return measure(self, index, X, there)

    patch.setattr(ResampledGammaKNN, "_index", spied_index)
    patch.setattr(ResampledGammaKNN, "_measure", spied_measure)


WRAPPERS = [
    TunedThreshold(SpiedLogistic()),
    BayesProfitClassifier(SpiedLogistic()),
    BayesProfitClassifier(SpiedLogistic(), calibration=None),
    BayesProfitClassifier(SpiedLogistic(), threshold="f1"),
    ResampledClassifier(SpiedLogistic(), random_state=0),
    ConeClassifier(SpiedLogistic(), n_models=2),
    ConeClassifier(SpiedLogistic(), n_models=2, threshold="tune"),
    ConeClassifier(SpiedLogistic(), n_models=2, threshold="f1", validation="train"),
]
OTHERS = [
    SDC(random_state=0, threshold="f1"),
    GammaKNN(),
    GammaKNN(threshold="f1"),
    MetaAPForest(5, max_depth=2, random_state=0),
    ProfitForest(5, n_boosted=3, random_state=0, threshold="f1"),
    APBoosting(n_estimators=5, min_child_samples=5, random_state=0),
    ME2(20),
    ME2(20, tune=None),
]


def case_id(model):
    return repr(model).replace("\n", "").replace(" ", "")


def fit_with_groups(model, data):
    X, y, groups = data
    gains = {"gains": np.column_stack([X[:, 0] + 1, -np.ones(len(y)), 0 * y, -2 - X[:, 0]])}
    learns = isinstance(model, BayesProfitClassifier)
    return clone(model).fit(X, y, groups=groups, **(gains if learns else {}))


@pytest.mark.parametrize("model", WRAPPERS, ids=case_id)
def test_wrappers_keep_groups_apart(model, data, monkeypatch):
    log = Log(data[0])
    monkeypatch.setattr(SpiedLogistic, "log", log)
    fit_with_groups(model, data)
    assert log.scored == set(range(len(data[0])))


@pytest.mark.parametrize("model", OTHERS, ids=case_id)
def test_methods_keep_groups_apart(model, data, monkeypatch):
    log = Log(data[0])
    spy_on_template(type(model), log, monkeypatch)
    fit_with_groups(model, data)
    assert log.scored == set(range(len(data[0])))


@pytest.mark.parametrize("threshold", ["default", "f1"])
def test_two_gammas_keep_groups_apart(threshold, data, monkeypatch):
    log = Log(data[0])
    spy_on_indices(log, monkeypatch)
    fit_with_groups(ResampledGammaKNN(random_state=0, threshold=threshold), data)
    assert log.scored == set(range(len(data[0])))


def test_a_held_out_share_keeps_groups_apart(data, monkeypatch):
    log = Log(data[0])
    monkeypatch.setattr(SpiedLogistic, "log", log)
    fit_with_groups(ConeClassifier(SpiedLogistic(), n_models=2, validation=0.25, threshold="tune"), data)
    assert 0.2 < len(log.scored) / len(data[0]) < 0.3


def test_the_spy_sees_a_leak(data, monkeypatch):
    """Without groups the same fits put rows of one group on both sides."""
    X, y, _ = data
    monkeypatch.setattr(SpiedLogistic, "log", Log(X))
    with pytest.raises(AssertionError):
        TunedThreshold(SpiedLogistic()).fit(X, y)


TAKES_CV = [
    TunedThreshold(LogisticRegression(), threshold="f1"),
    BayesProfitClassifier(LogisticRegression(), threshold="f1"),
    ResampledClassifier(LogisticRegression(), random_state=0, threshold="f1"),
    ResampledGammaKNN(random_state=0, threshold="f1"),
    SDC(random_state=0, threshold="f1"),
    ConeClassifier(LogisticRegression(), n_models=2, threshold="f1"),
]
SPLITTERS = {
    "folds": (KFold(3), {}),
    "groups": (GroupKFold(3), {"groups": True}),
    "repeated": (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), {}),
    "ordered": (TimeSeriesSplit(3), {}),
    "splits": (None, {}),
    "times": (DelayedTimeSplit(2, train=None, delay=20, test=60), {"period": True}),
}


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("model", TAKES_CV, ids=lambda model: type(model).__name__)
def test_any_splitter(model, name, data):
    X, y, groups = data
    cv, needs = SPLITTERS[name]
    cv = list(KFold(4).split(X)) if cv is None else cv
    columns = {"groups": groups} if "groups" in needs else {"period": np.arange(len(y))} if "period" in needs else {}
    own = clone(model).set_params(**{model._cv_parameter: cv})
    honest = own.honest_scores(X, y, **columns)
    np.testing.assert_array_equal(honest, model.honest_scores(X, y, cv=cv, **columns))
    if not isinstance(cv, list):
        times = {"times": columns["period"]} if "period" in needs else {}
        cv = cv.split(X, y, columns.get("groups"), **times)
    splits = list(cv)
    tested = np.zeros(len(y), dtype=bool)
    tested[np.concatenate([test for _, test in splits])] = True
    np.testing.assert_array_equal(np.isfinite(honest), tested)
    best = FBeta(1).best_threshold(honest[tested], y[tested])
    assert own.fit(X, y, **columns).threshold_ == best.threshold


def test_splits_decide_what_is_chosen_while_learning(data):
    """The γ of ResampledGammaKNN and the calibration are found on the given splits, not on others."""
    X, y, _ = data
    for model in (ResampledGammaKNN(random_state=0), BayesProfitClassifier(LogisticRegression())):
        a, b, c = (
            clone(model).set_params(cv=cv).fit(X, y).score_samples(X)
            for cv in (KFold(3), list(KFold(3).split(X)), KFold(7))
        )
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
