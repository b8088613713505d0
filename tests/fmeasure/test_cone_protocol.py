"""CONE as its authors ran it: cones from errors on training rows, the model chosen on validation rows."""

import itertools
import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from scarce.fmeasure import ConeClassifier, _path
from scarce.fmeasure._search import new_search
from scarce.fmeasure.bounds import error_profile

ROUNDING = 1e-12


class ExactThreshold(ClassifierMixin, BaseEstimator):
    """The threshold of least weighted error on the direction from the mean negative to the mean positive."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.direction_ = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
        score = X @ self.direction_
        places = np.unique(score)
        between = np.concatenate([[places[0] - 1], (places[1:] + places[:-1]) / 2, [places[-1] + 1]])
        signed = np.bincount(np.searchsorted(places, score), np.where(y == 1, sample_weight, -sample_weight))
        self.threshold_ = between[np.argmin(np.concatenate([[0], np.cumsum(signed)]))]
        return self

    def decision_function(self, X):
        return X @ self.direction_ - self.threshold_


LEARNERS = {
    "exact_threshold": lambda C: ExactThreshold(),
    # The recorded errors are those of converged fits.
    "logi_reg": lambda C: LogisticRegression(C=C, max_iter=50_000, tol=1e-6),
    # LIBLINEAR draws the order of the rows.
    "linear_svm": lambda C: LinearSVC(C=C, loss="hinge", max_iter=50_000, random_state=1),
}


def recorded(golden):
    traces = json.loads((golden / "cone_traces.json").read_text())
    return [trace for trace in traces if trace["cone"][0]]


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("place", range(18))
def test_the_authors_runs_are_repeated(golden, place):
    """The t tried, F on training and on validation rows, the chosen t, and its F on test rows are those recorded."""
    trace = recorded(golden)[place]
    with np.load(golden / f"cone_data_{trace['dataset']}.npz") as file:
        parts = {part: (file[f"{part}_X"].astype(float), file[f"{part}_y"]) for part in ("train", "valid", "test")}
    X, y = (np.concatenate([parts["train"][i], parts["valid"][i]]) for i in (0, 1))
    held_out = np.arange(len(y)) >= len(parts["train"][1])
    learner = LEARNERS[trace["classif"]](trace["C"])
    model = ConeClassifier(learner, validation=held_out, guide="fit", pos_label=1).fit(X, y)
    path, n = model.path_, len(trace["t"])
    best = int(np.argmax(trace["F_valid"]))
    assert model.t_ == trace["t"][best]
    assert f1_score(parts["test"][1], model.predict(parts["test"][0])) == pytest.approx(trace["F_test"][best])
    if trace["classif"] == "exact_threshold":
        # Where peaks are equally high, see test_search.
        n = int(np.argmin(np.append(path["t"] == trace["t"], False)))
        assert n >= 8
    elif (trace["dataset"], trace["C"]) == ("Pima", 64.0) and trace["classif"] == "linear_svm":
        # With so large a C LIBLINEAR has not converged, and another order of rows gives another row or two.
        np.testing.assert_allclose(path["f_fit"][:11], trace["F_train"][:11], atol=0.006)
        np.testing.assert_array_equal(path["t"][:11], trace["t"][:11])
        return
    else:
        assert len(path["t"]) == n
    np.testing.assert_array_equal(path["t"][:n], trace["t"][:n])
    np.testing.assert_allclose(path["f_fit"][:n], trace["F_train"][:n], atol=ROUNDING)
    np.testing.assert_allclose(path["f"][:n], trace["F_valid"][:n], atol=ROUNDING)


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 6, n_informative=4, weights=[0.9], flip_y=0.06, class_sep=0.8, random_state=1)


def by_hand(X, y, held_out, beta, n_models, tune):
    """Fit on the rows that are not held out, go by their errors, and take the model of highest F on the others."""
    search, found = new_search("cone", n_models, beta), []
    fit_X, fit_y = X[~held_out], y[~held_out]
    while asked := search.ask():
        [t] = asked
        model = LogisticRegression().fit(fit_X, fit_y, np.where(fit_y == 1, 1 + beta**2 - t, t))
        search.record(t, error_profile(fit_y, model.predict(fit_X) == 1))
        scores = model.predict_proba(X[held_out])[:, 1]
        thresholds = np.unique(scores) - 1e-12 if tune else [0.5]
        f = [f_beta(y[held_out], scores > threshold, beta) for threshold in thresholds]
        found.append((max(f), t))
    best = max(found, key=lambda each: each[0])
    return best[1], [f for f, _ in found]


def f_beta(y, called, beta):
    right = np.count_nonzero(called & (y == 1))
    total = beta**2 * np.count_nonzero(y == 1) + np.count_nonzero(called)
    return (1 + beta**2) * right / total


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_training_errors_guide_and_validation_rows_choose(data, beta, tune):
    X, y = data
    held_out = np.random.default_rng(3).random(len(y)) < 1 / 3
    t, f = by_hand(X, y, held_out, beta, 6, tune)
    model = ConeClassifier(
        LogisticRegression(), beta=beta, n_models=6, validation=held_out, guide="fit",
        threshold="tune" if tune else "default",
    ).fit(X, y)  # fmt: skip
    assert model.t_ == t
    np.testing.assert_allclose(model.path_["f_tuned" if tune else "f"], f)
    assert f_beta(y[held_out], model.predict(X[held_out]) == 1, beta) == pytest.approx(max(f))


@pytest.mark.parametrize("guide", ["fit", "validation"])
def test_a_mask_is_a_share_whose_rows_one_chooses(data, guide):
    X, y = data
    rows = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)[1]
    mask = np.isin(np.arange(len(y)), rows)
    fixed = {"n_models": 5, "guide": guide}
    share = ConeClassifier(LogisticRegression(), validation=0.3, **fixed).fit(X, y)
    masked = ConeClassifier(LogisticRegression(), validation=mask, **fixed).fit(X, y)
    for column in ("t", "f", "f_fit", "bound"):
        np.testing.assert_array_equal(share.path_[column], masked.path_[column])
    np.testing.assert_array_equal(share.predict(X), masked.predict(X))
    again = clone(masked).set_params(threshold="f1").fit(X, y)
    assert np.isfinite(again.honest_scores(X, y)).all()


def test_on_training_rows_both_guides_are_the_same(data):
    X, y = data
    one, other = (
        ConeClassifier(LogisticRegression(), n_models=4, validation="train", guide=guide).fit(X, y)
        for guide in ("fit", "validation")
    )
    np.testing.assert_array_equal(one.path_["t"], other.path_["t"])


@pytest.mark.parametrize(("seconds", "models"), [(0.001, 1), (3.0, 1), (3.5, 2), (9.5, 4), (None, 7)])
def test_no_model_is_begun_after_the_time_is_over(data, monkeypatch, seconds, models):
    """The clock goes on by three seconds between two looks at it, which is once for each model."""
    clock = itertools.count(step=3)
    monkeypatch.setattr(_path, "perf_counter", lambda: next(clock))
    X, y = data
    fixed = {"n_models": 7, "search": "grid", "validation": "train"}
    found = ConeClassifier(LogisticRegression(), max_seconds=seconds, **fixed).fit(X, y)
    full = ConeClassifier(LogisticRegression(), **fixed).fit(X, y)
    np.testing.assert_array_equal(found.path_["t"], full.path_["t"][:models])
    assert found.t_ == full.path_["t"][int(np.argmax(full.path_["f"][:models]))]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones(7, bool), "validation is a mask of 7 rows, but X has 400"),
        (np.ones(400, bool), "validation, a mask, leaves no rows to fit on of the class"),
        (np.zeros(400, bool), "validation, a mask, leaves no rows to judge by of the class"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(data, mask, message):
    with pytest.raises(ValueError, match=message):
        ConeClassifier(LogisticRegression(), validation=mask).fit(*data)


def test_tuning_a_threshold_of_several_classes_is_refused_with_the_reason():
    X, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match="moves the one threshold of a score of two classes; y has 3"):
        ConeClassifier(LogisticRegression(), threshold="tune").fit(X, y)
