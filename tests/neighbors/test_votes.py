"""Weighted votes: the rules of the papers, honest scores, more than two classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import KENN, KRNN, NWKNN, PNN, ClassWeightedKNN, DistanceWeightedKNN, DuplicatedKNN, GammaKNN
from scarce.neighbors._multiclass import precedence as class_order
from tests import naive
from tests.neighbors.test_index import tables

QUIET = pytest.mark.filterwarnings("ignore:With n_neighbors", "ignore:n_neighbors=")
ALL = [ClassWeightedKNN, DistanceWeightedKNN, DuplicatedKNN, KENN, KRNN, NWKNN, PNN]


def cosines(X, query):
    """The cosine with each row, 0 if negative; rows of zeros are like each other only."""
    lengths, length = np.linalg.norm(X, axis=1), np.linalg.norm(query)
    if length == 0:
        return (lengths == 0).astype(float)
    return np.maximum(0, np.where(lengths > 0, X @ query / np.where(lengths > 0, lengths, 1) / length, 0))


# The rules


@QUIET
@pytest.mark.parametrize("weights", ["inverse", "dudani"])
@given(table=tables(2), k=st.integers(1, 6))
def test_distance_weighted_vote(weights, table, k):
    X, y = table
    model = DistanceWeightedKNN(k, weights=weights, pos_label=1).fit(X, y)
    sums = [naive.distance_weighted_sums(d, y, k, weights) for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), [s[1] > s[0] + 1e-12 for s in sums])
    for told, expected in zip(model.explain(X), sums, strict=True):
        votes = [n["vote"] for n in told["neighbors"] if n["label"] == 1]
        assert sum(votes) == pytest.approx(expected[1])


@QUIET
@pytest.mark.parametrize("weights", ["inverse", "dudani"])
@given(table=tables(3), k=st.integers(1, 6))
def test_distance_weighted_vote_of_several_classes(weights, table, k):
    X, y = table
    if y.max() < 2:
        return
    model = DistanceWeightedKNN(k, weights=weights).fit(X, y)
    precedence = class_order(model.index_.class_sizes, "positive").tolist()
    for distance, score in zip(naive.distances(X, X), model.score_samples(X), strict=True):
        sums = naive.distance_weighted_sums(distance, y, k, weights, precedence)
        np.testing.assert_allclose(score, np.array([sums[c] for c in range(3)]) / sum(sums.values()), atol=1e-12)


def test_distance_weights_by_hand():
    # At 1.5 the positive row is 1.5 away, the negative ones 0.5 and 1.5.
    X, y = [[0.0], [2.0], [3.0]], [1, 0, 0]
    s = 1 / 1.5 - 1 / 0.5 - 1 / 1.5
    assert DistanceWeightedKNN(3).fit(X, y).score_samples([[1.5]]) == pytest.approx(s / (1 - s))
    # Dudani: 1 for the nearest, 0 for the farthest.
    dudani = DistanceWeightedKNN(3, weights="dudani").fit(X, y)
    np.testing.assert_allclose(dudani.score_samples([[1.5], [0.5]]), [-1.0, 1 - 1 / 2])


def test_only_rows_at_the_query_vote():
    X, y = [[0.0], [0.0], [0.0], [1e-9], [5.0]], [1, 1, 0, 0, 0]
    model = DistanceWeightedKNN(4).fit(X, y)
    assert model.score_samples([[0.0]])[0] == 1.0
    assert [n["vote"] for n in model.explain([[0.0]])[0]["neighbors"]] == [1, 1, 1]
    even = DistanceWeightedKNN(3).fit(X[1:], y[1:])
    assert even.score_samples([[0.0]])[0] == 0.0
    assert even.predict([[0.0]])[0] == 0


def test_a_tie_does_not_hang_on_rounding():
    # 1 / 0.6 = 1 / 1 + 1 / 1.5, but not in the last bit.
    assert 1 / 0.6 > 1 / 1.0 + 1 / 1.5
    model = DistanceWeightedKNN(3).fit([[0.6], [-1.0], [-1.5]], [1, 0, 0])
    assert model.score_samples([[0.0]])[0] == 0.0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_inverse_weights_are_those_of_scikit_learn(metric):
    X, y = make_classification(500, 5, weights=[0.8], flip_y=0.1, random_state=0)
    theirs = KNeighborsClassifier(4, weights="distance", metric=metric).fit(X[:400], y[:400]).predict(X[400:])
    ours = DistanceWeightedKNN(4, metric=metric).fit(X[:400], y[:400]).predict(X[400:])
    np.testing.assert_array_equal(ours, theirs)


@QUIET
@given(table=tables(2), k=st.integers(1, 6))
def test_class_weights_are_a_fixed_gamma(table, k):
    X, y = table
    gamma = (y.sum() / (y == 0).sum()) ** (1 / X.shape[1])
    model = ClassWeightedKNN(k, pos_label=1).fit(X, y)
    expected = [naive.gamma_vote(d, y, k, gamma, "positive") for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.gamma_ == pytest.approx(gamma)
    np.testing.assert_array_equal(
        model.score_samples(X), GammaKNN(k, gamma="barandela", pos_label=1).fit(X, y).score_samples(X)
    )


def test_class_weights_of_several_classes():
    X, y = make_blobs([60, 30, 10], 3, random_state=0)
    ours, theirs = ClassWeightedKNN().fit(X, y), GammaKNN(gamma="barandela").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_params().keys() == GammaKNN().get_params().keys() - {"gamma", "gamma_max", "metric_transform"}


@QUIET
@given(table=tables(2), k=st.integers(1, 9))
def test_duplicated_vote(table, k):
    X, y = table
    model = DuplicatedKNN(k, pos_label=1).fit(X, y)
    expected = [naive.duplicated_vote(d, y, k) for d in naive.distances(X, X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    for told, called in zip(model.explain(X), expected, strict=True):
        votes = {c: sum(n["vote"] for n in told["neighbors"] if n["label"] == c) for c in (0, 1)}
        assert sum(votes.values()) == min(k, model.copies_ * y.sum() + (y == 0).sum())
        assert (votes[1] > votes[0]) == called


def test_copies_equal_a_table_with_copies():
    X, y = make_classification(300, 4, weights=[0.85], flip_y=0.05, random_state=0)
    model = DuplicatedKNN(5).fit(X[:200], y[:200])
    again = np.repeat(np.arange(200), np.where(y[:200] == 1, model.copies_, 1))
    plain = KNeighborsClassifier(5).fit(X[again], y[again])
    assert model.copies_ == round((y[:200] == 0).sum() / y[:200].sum())
    np.testing.assert_array_equal(model.predict(X[200:]), plain.predict(X[200:]))


def similarity(name, X, i):
    """The similarity of query i to a row, given the distance of the last neighbour; and all distances."""
    distance = naive.distances(X, X[i : i + 1])[0]
    if name == "inverse":
        return (lambda j, _: 1 / (1 + distance[j])), distance
    if name == "rbf":
        return (lambda j, last: np.exp(-((distance[j] / last) ** 2) / 2) if last > 1e-300 else 1.0), distance
    cosine = cosines(X.astype(float), X[i].astype(float))
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    unit = np.column_stack((X / lengths, ~X.any(axis=1)))
    # Rounded, so that equal angles are equal.
    return (lambda j, _: cosine[j]), naive.distances(unit, unit[i : i + 1])[0].round(12)


@QUIET
@pytest.mark.parametrize("name", ["inverse", "rbf", "cosine"])
@given(table=tables(3), k=st.integers(1, 8), c=st.sampled_from([1.0, 2.5, 7.0]))
def test_neighbor_weighted_vote(name, table, k, c):
    X, y = table
    if name == "cosine":
        X = X.astype(np.float64)
    model = NWKNN(k, c=c, similarity=name, pos_label=1 if y.max() == 1 else None).fit(X, y)
    classes = y.max() + 1
    precedence = [1, 0] if classes == 2 else class_order(model.index_.class_sizes, "positive").tolist()
    for i, score in enumerate(model.score_samples(X)):
        sim, distance = similarity(name, X, i)
        if name == "cosine" and len(X) > k and _tied(distance, k):
            continue  # which of equal angles comes first hangs on rounding
        sums = naive.neighbor_weighted_sums(sim, distance, y, k, c, precedence)
        if classes == 2:
            assert score == pytest.approx(sums[1] - sums[0], abs=1e-7)
        elif any(sums.values()):
            np.testing.assert_allclose(score, [sums[c] for c in range(classes)], atol=1e-7)


def _tied(distance, k):
    near = np.sort(distance)
    return near[k] - near[k - 1] < 1e-9


def test_neighbor_weights_by_hand():
    X, y = [[0.0], [1.0], [3.0], [9.0], [9.0]], [1, 0, 0, 0, 0]
    model = NWKNN(3, c=2).fit(X, y)
    np.testing.assert_allclose(model.class_weight_, [0.5, 1.0])
    assert model.score_samples([[0.0]])[0] == pytest.approx(1 - 0.5 * (1 / 2 + 1 / 4))
    np.testing.assert_allclose(NWKNN(3, c=2).fit(X, np.where(y, "a", "b")).class_weight_, [1.0, 0.5])
    assert NWKNN(3, c=2, pos_label=0).fit(X, y).score_samples([[0.0]])[0] == pytest.approx(0.5 * (1 / 2 + 1 / 4) - 1)


def test_explains_several_classes():
    model = NWKNN(2, c=1).fit([[0.0], [1.0], [4.0], [5.0]], ["c", "a", "b", "b"])
    (told,) = model.explain([[0.0]])
    assert told["score"] == [0.5, 0.0, 1.0]
    assert told["neighbors"] == [
        {"row": 0, "distance": 0.0, "label": "c", "vote": 1.0},
        {"row": 1, "distance": 1.0, "label": "a", "vote": 0.5},
    ]


def test_rows_of_zeros_have_no_angle():
    X, y = [[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]], [1, 0, 0, 0]
    model = NWKNN(1, c=1, similarity="cosine").fit(X, y)
    assert model.score_samples([[0.0, 0.0]])[0] == pytest.approx(1.0)
    assert model.score_samples([[0.0, 5.0]])[0] == pytest.approx(-1 / 3)


# All rules of this family


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
@settings(max_examples=25)
@given(table=tables(2), k=st.integers(1, 5))
def test_honest_scores_are_those_of_a_fit_without_the_row(rule, table, k):
    X, y = table
    model = rule(k, pos_label=1)
    honest = model.honest_scores(X, y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        if len(set(y[rest])) < 2 or (rule is ClassWeightedKNN and k > rest.sum()):
            continue
        refit = clone(model).fit(X[rest], y[rest]).score_samples(X[i : i + 1])[0]
        assert honest[i] == pytest.approx(refit, abs=1e-12), i


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
@given(table=tables(2), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(rule, table, k, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(len(X))
    model, permuted = rule(k, pos_label=1).fit(X, y), rule(k, pos_label=1).fit(X[order], y[order])
    np.testing.assert_array_equal(model.score_samples(X), permuted.score_samples(X))
    np.testing.assert_array_equal(model.honest_scores(X, y)[order], permuted.honest_scores(X[order], y[order]))


@QUIET
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
def test_scores_hardly_tie(rule):
    X, y = make_classification(1000, 8, n_informative=6, weights=[0.95], flip_y=0.02, random_state=0)
    honest = rule().honest_scores(X, y)
    assert len(np.unique(honest)) >= 0.99 * len(honest)


@pytest.mark.parametrize("rule", [rule for rule in ALL if rule is not ClassWeightedKNN], ids=lambda rule: rule.__name__)
def test_nothing_is_explained_before_the_fit(rule):
    with pytest.raises(NotFittedError):
        rule().explain([[0.0]])


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.__name__)
def test_bad_parameters(rule):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 0]
    with pytest.raises(ValueError, match="n_neighbors"):
        rule(0).fit(X, y)
    if "metric" in rule().get_params():
        with pytest.raises(ValueError, match="nonsense"):
            rule(1, metric="nonsense").fit(X, y).predict(X)
    if not rule._multi_class:
        with pytest.raises(ValueError, match="OneVsRestClassifier"):
            rule(1).fit(X, [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DistanceWeightedKNN(weights="distance"), "'weights' parameter"),
        (NWKNN(c=0.5), "'c' parameter"),
        (NWKNN(similarity="euclidean"), "'similarity' parameter"),
        (KRNN(confidence=0), "'confidence' parameter"),
        (PNN(confidence=0.6), "'confidence' parameter"),
        (KENN(confidence=-1), "'confidence' parameter"),
    ],
    ids=repr,
)
def test_bad_options(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


def test_too_many_neighbors_are_said():
    X, y = [[0.0], [1.0], [2.0]], [1, 0, 0]
    for rule in (DistanceWeightedKNN, NWKNN, DuplicatedKNN):
        with pytest.warns(UserWarning, match="n_neighbors=4 is more than the 3 training rows"):
            rule(4).fit(X, y)
