"""What holds for APTree, MetaAP and TreeRank alike."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from scarce.trees import APTree, MetaAP, TreeRank


@pytest.fixture
def rows():
    return make_classification(600, 6, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.03, random_state=1)


@pytest.mark.parametrize("model", [APTree(max_depth=4), MetaAP(3), TreeRank(3)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("tie_break", ["path", "boundary"])
def test_the_tie_break_never_reorders_leaves(rows, model, tie_break):
    X, y = rows
    with_ties = model.set_params(tie_break=None).fit(X, y).score_samples(X)
    without = model.set_params(tie_break=tie_break).fit(X, y).score_samples(X)
    order = np.argsort(with_ties)
    leaf, score = with_ties[order], without[order]
    edges = np.flatnonzero(np.diff(leaf) > 0)
    for edge in edges:
        assert score[: edge + 1].max() < score[edge + 1 :].min()
    assert len(np.unique(without)) > len(np.unique(with_ties))


def test_missing_values_in_new_rows_only(rows):
    X, y = rows
    new = X.copy()
    new[:, 2] = np.nan
    for model in (APTree(max_depth=5), MetaAP(2), TreeRank(2)):
        assert np.isfinite(model.fit(X, y).score_samples(new)).all()


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("model", [APTree(), MetaAP(), TreeRank()], ids=lambda m: type(m).__name__)
def test_constant_features_give_one_leaf(model, max_bins):
    model.set_params(max_bins=max_bins).fit(np.ones((10, 3)), [0] * 8 + [1] * 2)
    assert model.tree_.n_leaves == 1
    assert len(set(model.score_samples(np.ones((4, 3))))) == 1


@pytest.mark.parametrize("model", [APTree(min_samples_leaf=6), MetaAP(min_samples_leaf=6)], ids=str)
def test_fewer_rows_than_two_leaves_need(model):
    X = np.arange(10.0)[:, None]
    assert model.fit(X, X[:, 0] > 7).tree_.n_leaves == 1
