"""The trials of a γ that varies: they are what they say they are."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score

pytest.importorskip("rich", reason="the benchmarks print with rich, of the extra audit")
from benchmarks.local_gamma import ChosenNeighbours, DensityGamma, RegionGamma, _critical, paired
from scarce.neighbors import GammaKNN


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, weights=[0.85], flip_y=0.1, random_state=0)
    return X[:250], y[:250], X[250:]


def test_one_region_is_one_gamma(rows):
    X, y, new = rows
    expected = GammaKNN().fit(X, y).predict(new)
    for alone in (True, False):
        np.testing.assert_array_equal(RegionGamma(1, alone=alone).fit(X, y).predict(new), expected)


def test_choices_are_the_best_on_leave_one_out_scores(rows):
    X, y, _ = rows
    own = np.arange(len(X))

    def honest_f1(model):
        return f1_score(y, model._called(X, model._near(X, own)))

    stationary = {k: f1_score(y, _honest(GammaKNN(k), X, y)) for k in (1, 3, 5, 7, 9, 15)}
    assert honest_f1(ChosenNeighbours().fit(X, y)) == pytest.approx(max(stationary.values()))
    # A slope of 0 is one γ, so the best slope is no worse.
    assert honest_f1(DensityGamma().fit(X, y)) >= stationary[3] - 1e-12


def _honest(model, X, y):
    return model.honest_scores(X, y) > model.fit(X, y).threshold_


def test_gamma_by_density_stays_at_most_1(rows):
    X, y, new = rows
    model = DensityGamma().fit(X, y)
    nearer_to_positives = _critical(model._near(new, None)) > 0
    assert nearer_to_positives.any()
    assert model.predict(new)[nearer_to_positives].all()


def test_paired_counts_sets():
    told = paired(np.array([0.5, 0.6, 0.7]), np.array([0.4, 0.6, 0.8]))
    assert told.startswith("better on 1 sets, worse on 1,")
