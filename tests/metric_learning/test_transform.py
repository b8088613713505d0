"""γk-NN under a learned metric: the vote, the honest scores, the ready classifiers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import FunctionTransformer

from scarce.metric_learning import IML, IMLKNN, LMNN, MLFP, MLFPKNN
from scarce.neighbors import GammaKNN
from scarce.objectives import FBeta
from tests import naive
from tests import naive_metric as slow
from tests.small_tables import tables

TIES = ["positive", "negative"]
QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")


def scaling(factor):
    """A transform that is a fixed linear map."""
    return FunctionTransformer(lambda X: X.astype(float) @ factor.T)


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(160, 5, n_informative=3, weights=[0.85], flip_y=0.05, random_state=4)
    return X, y


@QUIET
@given(table=tables(2), k=st.integers(1, 5), gamma=st.sampled_from([0.3, 0.5, 1.0]), tie=st.sampled_from(TIES))
def test_the_vote_has_learned_distances_to_positives_only(table, k, gamma, tie):
    X, y = table
    # Powers of 2, so that ties stay ties.
    factor = np.diag(np.array([2.0, 0.5, 1.0])[: X.shape[1]])
    model = GammaKNN(k, gamma=gamma, tie=tie, metric_transform=scaling(factor), pos_label=1).fit(X, y)
    # 0 becomes tiny, so that γ can scale it.
    distances = [np.maximum(slow.mixed_distances(X, y, row, factor, (1,)), 1e-300) for row in X]
    expected = [naive.gamma_vote(distance, y, k, gamma, tie) for distance in distances]
    np.testing.assert_array_equal(model.predict(X), expected)


@QUIET
@given(table=tables(2), k=st.integers(1, 4), codes=st.sampled_from([(1,), (0, 1)]))
def test_a_fixed_metric_is_left_out_exactly(table, k, codes):
    """With a transform that learns nothing, honest scores are those of all other rows, one by one."""
    X, y = table
    if np.bincount(y).min() < 2:
        return
    factor = np.diag(np.array([2.0, 0.5, 1.0])[: X.shape[1]])
    model = GammaKNN(k, metric_transform=FrozenEstimator(scaling(factor)), pos_label=1)
    model._transformed = codes
    honest = model.fit(X, y)._honest_scores(X, y, None)
    kept = min(k, len(X))
    for i, row in enumerate(X):
        distance = slow.mixed_distances(X, y, row, factor, codes)
        assert honest[i] == pytest.approx(slow.critical_score(distance, y, kept, skip=i), abs=1e-6)


def test_the_identity_changes_nothing(rows):
    X, y = rows
    plain, same = GammaKNN().fit(X, y), GammaKNN(metric_transform=FunctionTransformer()).fit(X, y)
    np.testing.assert_array_equal(same.score_samples(X), plain.score_samples(X))
    np.testing.assert_array_equal(same.honest_scores(X, y), plain.honest_scores(X, y))
    assert same.threshold_ == plain.threshold_


@pytest.mark.parametrize(("model", "learner"), [(MLFPKNN(), MLFP()), (IMLKNN(), IML())], ids=repr)
def test_honest_scores_are_of_all_other_rows_under_a_metric_learned_without_the_row(model, learner, rows):
    X, y = rows
    honest = model.honest_scores(X, y)
    order = np.lexsort((y, *X.T[::-1]))
    for learn, score in StratifiedKFold(5, shuffle=True, random_state=0).split(order, y[order]):
        factor = clone(learner).fit(X[order[learn]], y[order[learn]]).components_
        for i in order[score][:6]:
            distance = slow.mixed_distances(X, y, X[i], factor, model._transformed)
            assert honest[i] == pytest.approx(slow.critical_score(distance, y, 3, skip=i))


@pytest.mark.parametrize("model", [MLFPKNN(), IMLKNN(), GammaKNN(metric_transform=MLFP())], ids=repr)
def test_the_threshold_is_the_best_in_its_range(model, rows):
    X, y = rows
    fitted = clone(model).fit(X, y)
    honest = model.honest_scores(X, y)
    # Up to γ = 1, but for MLFP's own classifier, whose metric has a scale of its own.
    highest = 1.0 if isinstance(model, MLFPKNN) else 0.5
    tried = [t for t in naive.every_threshold(honest.tolist()) if 0 < t < highest] + [np.nextafter(highest, 0)]
    assert f1_score(y, honest > fitted.threshold_) == pytest.approx(max(f1_score(y, honest > t) for t in tried))
    assert 0 < fitted.threshold_ <= highest


def test_ready_classifiers_are_their_parts(rows):
    X, y = rows
    ready, built = MLFPKNN(threshold=0.5).fit(X, y), GammaKNN(threshold=0.5, metric_transform=MLFP()).fit(X, y)
    np.testing.assert_array_equal(ready.score_samples(X), built.score_samples(X))
    learned = IML().fit(X, y)
    np.testing.assert_allclose(
        IMLKNN(threshold=0.5).fit(X, y).score_samples(X),
        GammaKNN(threshold=0.5).fit(learned.transform(X), y).score_samples(learned.transform(X)),
    )


def test_the_order_of_rows_does_not_move_the_threshold(rows):
    X, y = rows
    order = np.random.default_rng(0).permutation(len(X))
    for model in (MLFPKNN(), IMLKNN(), GammaKNN(metric_transform=LMNN())):
        assert clone(model).fit(X[order], y[order]).threshold_ == clone(model).fit(X, y).threshold_


def test_any_transformer_is_fitted_with_the_positive_class(rows):
    X, y = rows
    frames = MLFP().set_output(transform="pandas") if pytest.importorskip("pandas") else None
    for transform in (PCA(2), frames):
        score = GammaKNN(metric_transform=transform).fit(X, y).score_samples(X)
        assert np.isfinite(score).all()
    # The larger class is the positive one here, in every fold.
    model = GammaKNN(metric_transform=MLFP(), pos_label=0).fit(X, y)
    assert model.metric_transform_.pos_label_ == 1
    expected = MLFP(pos_label=1).fit(X, 1 - y).components_
    np.testing.assert_array_equal(model.metric_transform_.components_, expected)


def test_mlfp_finds_positives_that_one_feature_tells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] > 1.7).astype(int)  # seven features of noise
    train, test = slice(1000), slice(1000, None)

    def quality(model):
        return f1_score(y[test], model.fit(X[train], y[train]).predict(X[test]))

    plain = quality(GammaKNN())
    assert quality(MLFPKNN()) > plain
    assert quality(IMLKNN()) > plain


def test_an_objective_is_reached_on_honest_scores(rows):
    X, y = rows
    model = MLFPKNN(threshold="f2").fit(X, y)
    assert model.threshold_ == FBeta(2).best_threshold(MLFPKNN().honest_scores(X, y), y).threshold


# Reasons


@pytest.mark.parametrize("model", [MLFPKNN(), IMLKNN()], ids=repr)
def test_explain_tells_the_parts_of_the_learned_distance(model, rows):
    X, y = rows
    fitted = clone(model).fit(X, y)
    factor = fitted.metric_transform_.components_
    explained = fitted.explain(X[:8])
    np.testing.assert_allclose(explained.base_value, 0.5)
    assert explained.additive
    for i, query in enumerate(X[:8]):
        parts, total = [], 0.0
        for code in (0, 1):
            decider = [near for near in explained.neighbours[i] if near.label == code][1]
            metric = factor.T @ factor if code in fitted._transformed else np.eye(5)
            difference = query - X[decider.row]
            parts.append(difference * (metric @ difference))
            assert decider.distance == pytest.approx(np.sqrt(parts[-1].sum()))
            total += decider.distance
        np.testing.assert_allclose(explained.effects[i], (parts[0] - parts[1]) / (2 * total**2))


def test_any_transform_is_explained_by_occlusion(rows):
    X, y = rows
    explained = GammaKNN(metric_transform=PCA(2)).fit(X, y).explain(X[:1])
    assert not explained.additive
    assert explained.effects.any()


# Bad input


def test_one_positive():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) == 5
    for model in (MLFPKNN(1), IMLKNN(1), GammaKNN(1, metric_transform=LMNN())):
        with pytest.raises(ValueError, match="at least two rows of each class"):
            clone(model).fit(X, y)
        fitted = clone(model).set_params(threshold=0.5).fit(X, y)
        assert fitted.predict(X[5:6])[0]


@pytest.mark.parametrize("model", [MLFPKNN(), IMLKNN()], ids=repr)
def test_more_features_than_rows_and_copies_in_both_classes(model):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(30, 35))
    for X in (wide, np.repeat(wide[:10], 3, axis=0), np.c_[wide[:, :3], np.ones((30, 2))]):
        y = np.arange(30) % 5 == 0
        fitted = clone(model).fit(X, y)
        assert np.isfinite(fitted.score_samples(X)).all()
        assert np.isfinite(fitted.honest_scores(X, y)).all()


def test_more_than_two_classes_are_refused():
    X, y = make_blobs(30, random_state=0)
    with pytest.raises(ValueError, match="Leave metric_transform out"):
        GammaKNN(metric_transform=LMNN()).fit(X, y)
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        MLFPKNN().fit(X, y)
