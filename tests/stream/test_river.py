"""CCNND in river: the same as a plain loop, in its pipelines and checks, and forgetting what is out of date."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import checks, compose, drift, evaluate, metrics, preprocessing
from river.base import DriftDetector
from sklearn.exceptions import NotFittedError
from sklearn.metrics import recall_score

from scarce.neighbors import CCNND, GammaKNN
from scarce.stream import to_river
from scarce.stream._river import _Watched

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors")


class Always(DriftDetector):
    """Notices a drift after each row."""

    def update(self, x):
        self._drift_detected = True


def as_dict(row):
    return {f"x{j}": value for j, value in enumerate(row.tolist())}


def loop(model, X, y):
    """Predict each row, then learn it, with scikit-learn's methods."""
    labels, probabilities = [], []
    for row, label in zip(X, y, strict=True):
        known = model.classes_.tolist() if hasattr(model, "classes_") else []
        if len(known) > 1:
            labels.append(model.predict([row])[0])
            probabilities.append(dict(zip(known, model.predict_proba([row])[0], strict=True)))
        else:
            labels.append(known[0] if known else None)
            probabilities.append(dict.fromkeys(known, 1.0))
        model.partial_fit([row], [label])
    return labels, probabilities


@st.composite
def streams(draw):
    n, n_features = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    # Few values, so that rows repeat and distances tie; a column may be constant.
    values = st.integers(0, draw(st.integers(0, 4)))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_features, max_size=n_features), min_size=n, max_size=n)))
    kind = draw(st.sampled_from([[False, True], ["genuine", "fraud"], [3, 1, 2]]))
    y = draw(st.lists(st.sampled_from(kind), min_size=n, max_size=n))
    return X.astype(draw(st.sampled_from([np.float64, np.float32]))), y


@QUIET
@given(streams(), st.integers(1, 3), st.sampled_from([None, 3]))
def test_equals_a_plain_loop(stream, k, window):
    X, y = stream
    expected = loop(CCNND(k, max_per_class=window), X, y)
    model = to_river(CCNND(k, max_per_class=window))
    found = []
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = as_dict(row)
        if i % 2:  # the order of the features does not matter
            x = dict(reversed(x.items()))
        found.append((model.predict_one(x), model.predict_proba_one(x)))
        model.learn_one(x, label)
    assert [label for label, _ in found] == expected[0]
    assert [shares for _, shares in found] == expected[1]
    for label, shares in found:
        assert type(label) in (bool, str, int, type(None))
        assert all(type(key) is type(label) for key in shares)


@QUIET
def test_starts_from_a_fitted_model_and_does_not_change_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.random(60) < 0.3
    start = CCNND().fit(pd.DataFrame(X[:30], columns=["a", "b"]), y[:30])
    model = to_river(start)
    expected = loop(CCNND().fit(X[:30], y[:30]), X[30:], y[30:])[0]
    found = []
    for a, b, label in zip(X[30:, 0], X[30:, 1], y[30:].tolist(), strict=True):
        found.append(model.predict_one({"b": b, "a": a}))
        model.learn_one({"b": b, "a": a}, label)
    assert found == expected
    assert len(model.model_.rows_) == 60
    assert len(start.rows_) == 30
    assert start.feature_names_in_.tolist() == ["a", "b"]
    # Of rows without names the first one fixes the order, but not their number.
    model = to_river(CCNND().fit(X[:30], y[:30]))
    assert model.predict_one({"a": 0.0, "b": 0.0}) in (False, True)
    for method in (model.predict_one, model.predict_proba_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(ValueError, match="fitted on 2 features, and a row has 1"):
            method({"a": 0.0})


@pytest.mark.filterwarnings("ignore")  # of river's own metrics and of classes with a single row
def test_checks_of_river():
    checks.check_estimator(to_river(CCNND(), drift_detector=drift.binary.EDDM()))


def test_in_a_pipeline_with_progressive_validation():
    rng = np.random.default_rng(0)
    rows = [({"amount": 100 * a + 100 * y, "hour": b, "shop": "S1"}, y) for a, b, y in
            zip(rng.random(300), rng.random(300), (rng.random(300) < 0.2).tolist(), strict=True)]  # fmt: skip
    model = compose.Discard("shop") | preprocessing.StandardScaler() | to_river(CCNND(pos_label=True))
    metric = evaluate.progressive_val_score(rows, model, metrics.GeometricMean())
    assert metric.get() > 0.9
    assert evaluate.progressive_val_score(rows, model.clone(), metrics.ROCAUC()).get() > 0.9
    # Outcomes that become known 50 rows late.
    late = evaluate.progressive_val_score(
        [({**x, "moment": i}, y) for i, (x, y) in enumerate(rows)],
        compose.Discard("shop", "moment") | preprocessing.StandardScaler() | to_river(CCNND(pos_label=True)),
        metrics.GeometricMean(),
        moment="moment",
        delay=50,
    )
    assert 0.8 < late.get() < 1


def test_pickled_in_the_middle():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), (rng.random(80) < 0.4).tolist()
    one = two = to_river(CCNND(), drift_detector=drift.ADWIN(clock=1))
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i == 40:
            two = pickle.loads(pickle.dumps(one))
        for model in {id(one): one, id(two): two}.values():
            model.learn_one(as_dict(row), label)
    assert [one.predict_proba_one(as_dict(row)) for row in X] == [two.predict_proba_one(as_dict(row)) for row in X]


def test_a_drift_forgets_all_but_the_latest_rows_of_each_class():
    """Far apart classes, then frauds where the genuine rows are: each is a mistake."""
    model = to_river(CCNND(), drift_detector=Always(), keep=3)
    for i in range(10):
        model.learn_one({"x": i / 10}, "genuine")
        model.learn_one({"x": 50 + i / 10}, "fraud")
    assert model.n_drifts_ == {}  # no mistake so far, so nothing to forget
    model.learn_one({"x": 0.45}, "fraud")
    assert model.n_drifts_ == {"fraud": 1}
    assert dict(zip(model.model_.classes_, model.model_.class_count_, strict=True)) == {"fraud": 3, "genuine": 3}
    assert model.model_.rows_.tolist() == [14, 16, 17, 18, 19, 20]  # genuine rows have even numbers
    model.learn_one({"x": 0.45}, "fraud")  # the detector has begun anew, and has too few rows to compare
    assert model.n_drifts_ == {"fraud": 1}
    again = model.clone()
    assert again.n_drifts_ == {}
    with pytest.raises((NotFittedError, AttributeError)):
        _ = again.model_.rows_


def test_a_class_that_is_recognised_better_is_not_forgotten():
    better, worse = _Watched(Always(), 3), _Watched(Always(), 3)
    assert not any(better.update(mistaken) for mistaken in [True] * 4 + [False] * 6)
    assert [worse.update(mistaken) for mistaken in [False] * 4 + [True]] == [False] * 4 + [True]


def drifting(seed, n=1000, rate=0.1):
    """Frauds of two features; half-way through, frauds take up the ways of customers and these change theirs."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    centre = np.where((y == (np.arange(n) < n // 2))[:, None], [1.5, 1.5, 0], [-1.0, 0, 1.0])
    return rng.normal(size=(n, 3)) + centre, y.tolist()


def test_the_detector_pays_on_a_drift():
    """The default settings were chosen on other streams not on this one."""
    gains = []
    for seed in range(3):
        X, y = drifting(seed)
        g_mean = []
        for detector in (None, drift.ADWIN(clock=1)):
            model, found = to_river(CCNND(pos_label=True), drift_detector=detector), []
            for row, label in zip(X, y, strict=True):
                x = as_dict(row)
                found.append(model.predict_one(x) or False)
                model.learn_one(x, label)
            later = slice(len(y) // 2, None)
            g_mean.append(np.sqrt(np.prod(recall_score(y[later], found[later], average=None))))
        gains.append(g_mean[1] - g_mean[0])
    assert min(gains) > 0.1, gains


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": 1.0}, "A row lacks b, and distances need"),
        ({"a": 1.0, "c": 2.0, "d": 3.0}, "A row lacks b and adds c, d, and"),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, "A row adds c, and"),
        ({"a": 1.0, "b": "web"}, "Every feature must be a number"),
        ({"a": 1.0, "b": None}, "Every feature must be a number"),
        ({"a": 1.0, "b": float("nan")}, "NaN"),
    ],
)
def test_bad_rows(x, message):
    model = to_river(CCNND())
    for i in range(6):
        model.learn_one({"a": float(i), "b": 0.0}, i > 3)
    for method in (model.predict_one, model.predict_proba_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(ValueError, match=message):
            method(x)
    assert len(model.model_.rows_) == 6


def test_bad_parameters():
    with pytest.raises(TypeError, match="takes a CCNND, which can learn and forget rows; got GammaKNN"):
        to_river(GammaKNN())
    for keep in (0, 2.5):
        with pytest.raises(ValueError, match="keep must be a whole number of at least 1"):
            to_river(CCNND(), keep=keep)


def test_without_river_the_extra_is_named():
    program = (
        "import sys; sys.modules['river'] = None\n"
        "from scarce.stream import to_river\nfrom scarce.neighbors import CCNND\n"
        "try:\n    to_river(CCNND())\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 'pip install "scarce[stream]"' in done.stdout
