"""The lazy search for the F-optimal threshold finds the one of all exact scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from scarce.neighbors import GammaKNN
from scarce.neighbors._search import lazy_f_threshold
from scarce.objectives import FBeta


@st.composite
def bounded_scores(draw):
    n = draw(st.integers(2, 40))
    scores = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))) / 12
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < n)))
    slack = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))) / 12
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    return scores, y, slack, weight


def some_scores(scores, slack, asked):
    """Return a function that gives exact scores from a number on, and loose bounds below it."""

    def scores_from(rows, low):
        exact = scores[rows]
        asked.extend(rows[exact >= low].tolist())
        return np.where(exact >= low, exact, np.minimum(exact + slack[rows], np.nextafter(low, -np.inf)))

    return scores_from


@given(
    case=bounded_scores(),
    sample=st.integers(1, 9),
    weighted=st.booleans(),
    between=st.sampled_from([(0.0, 0.3), (0.0, 0.5), (0.0, 0.75), (0.0, 2.0), (-np.inf, np.inf)]),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_same_threshold_as_with_every_score(case, sample, weighted, between, beta):
    scores, y, slack, weight = case
    weight = weight if weighted and weight[y == 1].any() and weight[y == 0].any() else None
    asked = []
    expected = FBeta(beta).best_threshold(scores, y, weight, between=between).threshold
    found, known = lazy_f_threshold(some_scores(scores, slack, asked), y, weight, between, beta, sample)
    assert found == expected
    assert len(asked) == len(set(asked))
    np.testing.assert_array_equal(known[asked], scores[asked])
    assert np.isnan(np.delete(known, asked)).all()


def test_only_rows_that_may_matter_are_scored():
    rng = np.random.default_rng(0)
    y = (np.arange(20_000) < 100).astype(int)
    scores = np.where(y == 1, rng.uniform(0.4, 1.0, 20_000), rng.uniform(0.0, 0.5, 20_000))
    asked = []
    scores_from = some_scores(scores, np.full(20_000, 0.01), asked)
    found, _ = lazy_f_threshold(scores_from, y, None, (0.0, 1.0), sample=500)
    assert found == FBeta(1).best_threshold(scores, y, between=(0.0, 1.0)).threshold
    assert len(asked) < 2_000


@pytest.mark.parametrize("k", [1, 3, 4])
@pytest.mark.parametrize("tie", ["positive", "negative"])
def test_gamma_is_that_of_all_honest_scores(k, tie):
    X, y = make_classification(5_000, 12, n_informative=6, weights=[0.96], flip_y=0.02, random_state=k)
    model = GammaKNN(k, tie=tie).fit(X, y)
    honest = model.honest_scores(X, y)
    assert model.threshold_ == FBeta(1).best_threshold(honest, y, between=model._threshold_range).threshold


@pytest.mark.parametrize("parameters", [{}, {"metric": "manhattan"}, {"algorithm": "brute"}])
@pytest.mark.parametrize("threshold", ["f1", "f2"])
def test_f_is_that_of_all_honest_scores(parameters, threshold):
    X, y = make_classification(5_000, 12, n_informative=6, weights=[0.96], flip_y=0.02, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = GammaKNN(threshold=threshold, **parameters).fit(X, y, weight)
    honest = model.honest_scores(X, y)
    assert model.threshold_ == FBeta(int(threshold[1])).best_threshold(honest, y, weight).threshold


def test_nothing_as_long_as_the_rows_is_kept_after_a_fit():
    X, y = make_classification(4_000, 5, weights=[0.9], random_state=0)
    for calibration in ("auto", None):
        assert "_known_scores" not in vars(GammaKNN(calibration=calibration).fit(X, y))
