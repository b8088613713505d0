"""Any classifier under the contract."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from scarce import TunedThreshold


@pytest.fixture
def rows():
    return make_classification(600, 5, n_informative=3, n_redundant=0, weights=[0.93], flip_y=0.03, random_state=5)


def test_out_of_bag_scores_are_the_honest_ones(rows):
    X, y = rows
    forest = RandomForestClassifier(60, oob_score=True, random_state=0)
    honest = TunedThreshold(forest).honest_scores(X, y)
    np.testing.assert_array_equal(honest, forest.fit(X, y).oob_decision_function_[:, 1])


def test_cross_fitted_scores_never_saw_their_row(rows):
    X, _ = rows
    y = np.random.default_rng(0).integers(0, 2, len(X))
    # A model that remembers its rows is right on them, and no better than chance on honest scores.
    memory = TunedThreshold(KNeighborsClassifier(1), pos_label=1)
    honest = memory.honest_scores(X, y)
    assert ((memory.fit(X, y).score_samples(X) > 0.5) == y).all()
    assert abs(((honest > 0.5) == y).mean() - 0.5) < 0.1


def test_tuned_cut_beats_one_half_on_honest_scores(rows):
    X, y = rows
    model = TunedThreshold(LogisticRegression(), cv=3).fit(X, y)
    honest = model.honest_scores(X, y)
    assert f1_score(y, honest > model.threshold_) > f1_score(y, honest > 0.5)


def test_decision_function_serves_where_there_is_no_probability(rows):
    X, y = rows
    model = TunedThreshold(LinearSVC(), threshold="gmean").fit(X, y)
    np.testing.assert_allclose(model.score_samples(X), model.estimator_.decision_function(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_words_reach_a_pipeline_and_are_explained(rows, library):
    frames = pytest.importorskip(library)
    X, y = rows
    names = np.where(X[:, 0] > 0, "shop", "web")
    frame = frames.DataFrame({"where": names, "b": X[:, 1], "c": X[:, 2]})
    encoder = make_column_transformer((OneHotEncoder(), ["where"]), (StandardScaler(), ["b", "c"]))
    model = TunedThreshold(make_pipeline(encoder, LogisticRegression())).fit(frame, y)
    explained = model.explain(frame[:3])
    assert explained.features == ("where", "b", "c")
    assert explained.values[:, 0].tolist() == names[:3].tolist()
    assert explained.usual[0] in ("shop", "web")
    assert explained.unit == "probability"
    found, count = np.unique(names, return_counts=True)
    assert explained.usual[0] == found[count.argmax()]


def test_explanation_of_a_linear_score(rows):
    X, y = rows
    model = TunedThreshold(LinearSVC()).fit(X, y)
    explained = model.explain(X[:3])
    expected = model.estimator_.coef_[0] * (X[:3] - model._background.mean(axis=0))
    np.testing.assert_allclose(explained.effects, expected, atol=1e-9)
    assert explained.unit == "score"
    np.testing.assert_allclose(explained.usual, np.median(X, axis=0))  # of all rows, as there are few


def test_sparse_rows_are_explained(rows):
    X, y = rows
    sparse = csr_matrix(np.where(X > 0, X, 0.0))
    explained = TunedThreshold(LogisticRegression()).fit(sparse, y).explain(sparse[:2])
    np.testing.assert_array_equal(explained.values, sparse[:2].toarray())


def test_weights_need_an_estimator_that_takes_them(rows):
    X, y = rows
    with pytest.raises(ValueError, match="KNeighborsClassifier does not take sample_weight"):
        TunedThreshold(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))


def test_weights_are_routed_into_a_pipeline(rows):
    X, y = rows
    weight = np.where(y == 1, 30.0, 1.0)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        model = TunedThreshold(pipeline)
        heavy = model.fit(X, y, sample_weight=weight).score_samples(X).mean()
        light = model.fit(X, y).score_samples(X).mean()
    assert heavy > light + 0.1


def test_one_row_of_a_class_cannot_be_cross_fitted():
    X, y = np.arange(12.0).reshape(6, 2), [1, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="at least two rows of each class"):
        TunedThreshold(LogisticRegression()).fit(X, y)
    assert TunedThreshold(LogisticRegression(), threshold=0.3).fit(X, y).threshold_ == 0.3
