"""XGBRanker as the paper of MetaAP had it, against the scores that its authors' program gave."""

from __future__ import annotations

import numpy as np
import pytest

from scarce.study import load_study
from scarce.study.build import build, missing
from scarce.study.ranked import OneQuery


def recipe():
    return next(m.recipe for m in load_study("metaap/forests").methods if m.label == "XGBRanker")


@pytest.mark.parametrize("name", ["glass", "pima", "vehicle", "wine4", "yeast6"])
def test_the_scores_are_about_those_of_the_authors(golden, name):
    """Version 1.0.2 drew the pairs that it compared at random, so no later one can give the same scores."""
    pytest.importorskip("xgboost", reason="it comes with the extra study")
    model = build(recipe(), load_study("metaap/forests").protocol, seed=0, fewest=10)[-1]
    assert isinstance(model, OneQuery)
    with np.load(golden / f"metaap_{name}_split1.npz") as archive:
        X, y, train, test = (archive[key] for key in ("X", "y", "train_idx", "test_idx"))
        theirs = archive["XGBRanker_d3_lr0.1_test"]
    ours = model.fit(X[train], y[train]).score_samples(X[test])
    assert np.corrcoef(ours, theirs)[0, 1] > 0.94
    # Pairs of the first rows alone, which is what later versions compare by default, order the rows otherwise.
    first = {"estimator__lambdarank_pair_method": "topk", "estimator__lambdarank_num_pair_per_sample": None}
    other = model.set_params(**first).fit(X[train], y[train]).score_samples(X[test])
    assert np.corrcoef(other, theirs)[0, 1] < np.corrcoef(ours, theirs)[0, 1]


def test_without_xgboost_the_column_is_left_out(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xgboost", None)
    assert missing(recipe()) == "xgboost.XGBRanker"
