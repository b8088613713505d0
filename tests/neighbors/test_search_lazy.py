"""The lazy search for the F1-optimal threshold finds the one of all exact scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from scarce.neighbors import GammaKNN
from scarce.neighbors._search import lazy_f1_threshold
from scarce.objectives import FBeta


@st.composite
def bounded_scores(draw):
    n = draw(st.integers(2, 40))
    scores = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))) / 12
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < n)))
    slack = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))) / 12
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    return scores, y, scores + slack, weight


@given(
    case=bounded_scores(), first=st.integers(1, 9), weighted=st.booleans(), high=st.sampled_from([0.3, 0.5, 0.75, 2.0])
)
def test_same_threshold_as_with_every_score(case, first, weighted, high):
    scores, y, bound, weight = case
    weight = weight if weighted and weight[y == 1].any() and weight[y == 0].any() else None
    asked = []

    def exact(rows):
        asked.extend(rows.tolist())
        return scores[rows]

    try:
        expected = FBeta(1).best_threshold(scores, y, weight, between=(0.0, high)).threshold
    except ValueError:  # there is no threshold in the interval
        return
    assert lazy_f1_threshold(exact, bound, y, weight, (0.0, high), first) == expected
    assert len(asked) == len(set(asked))


def test_only_rows_that_may_matter_are_scored():
    rng = np.random.default_rng(0)
    y = (np.arange(20_000) < 100).astype(int)
    scores = np.where(y == 1, rng.uniform(0.4, 1.0, 20_000), rng.uniform(0.0, 0.5, 20_000))
    asked = []

    def exact(rows):
        asked.extend(rows.tolist())
        return scores[rows]

    found = lazy_f1_threshold(exact, scores + 0.01, y, None, (0.0, 1.0), first=256)
    assert found == FBeta(1).best_threshold(scores, y, between=(0.0, 1.0)).threshold
    assert len(asked) < 2_000


@pytest.mark.parametrize("k", [1, 3, 4])
@pytest.mark.parametrize("tie", ["positive", "negative"])
def test_gamma_is_that_of_all_honest_scores(k, tie):
    X, y = make_classification(3_000, 12, n_informative=6, weights=[0.96], flip_y=0.02, random_state=k)
    model = GammaKNN(k, tie=tie).fit(X, y)
    honest = model.honest_scores(X, y)
    assert model.threshold_ == FBeta(1).best_threshold(honest, y, between=model._threshold_range).threshold
