"""Scores and fits on a cluster: the bits of one machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from scarce._errors import EngineError, TableError
from scarce.audit import score_files
from scarce.boosting import APBoosting, ProfitBoosting
from scarce.engines import dask as dask_module
from scarce.engines import shards
from scarce.engines.dask_fit import fit
from scarce.neighbors import GammaKNN
from scarce.objectives import FBeta

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


def test_a_cluster_ranks_with_the_bits_of_one_machine(cluster, model, folder, tmp_path):
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    found = score_files(model, folder, top=50, reasons=0, id="payment", engine=address, out=tmp_path / "scores")
    here = score_files(model, folder, top=50, reasons=0, id="payment", out=tmp_path / "here")
    pd.testing.assert_frame_equal(found.top, here.top)
    assert (found.rows, found.above) == (here.rows, here.above)
    by_id = [pd.read_parquet(tmp_path / name).set_index("payment").sort_index() for name in ("scores", "here")]
    pd.testing.assert_frame_equal(*by_id)


def test_a_cluster_that_cannot_be_reached_is_one_sentence(model, folder, monkeypatch):
    monkeypatch.setattr(dask_module, "TIMEOUT", "200ms")
    with pytest.raises(EngineError, match=r"There is no Dask scheduler at tcp://127.0.0.1:1; start one with"):
        score_files(model, folder, engine="dask://127.0.0.1:1")
    with pytest.raises(EngineError, match="such as dask://host:8786; it was 'ray://x'"):
        score_files(model, folder, engine="ray://x")


def test_a_worker_without_the_library_is_one_sentence(tmp_path):
    """A module of the same name that cannot be imported stands for a worker on which nothing is installed."""
    (tmp_path / "scarce").mkdir()
    (tmp_path / "scarce" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'scarce'\")")
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", host="127.0.0.1") as alone:
        with distributed.Client(alone) as client, pytest.raises(EngineError, match="The cluster has no workers"):
            dask_module.check_workers(client)
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "distributed.cli.dask_worker", alone.scheduler_address, "--no-dashboard"),
                *("--nworkers", "1", "--no-nanny", "--local-directory", str(tmp_path)),
            ],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            stderr=subprocess.DEVNULL,
        )
        try:
            with distributed.Client(alone) as client:
                client.wait_for_workers(1, timeout=60)
                with pytest.raises(EngineError, match=r'cannot import the library \(No module .*; install "scarce\['):
                    dask_module.check_workers(client)
        finally:
            worker.terminate()
            worker.wait(30)


def sharded(folder: Path, parts: int, X, y, names=None) -> Path:
    place = folder / f"in-{parts}"
    place.mkdir()
    names = names or [f"x{column}" for column in range(X.shape[1])]
    for number, rows in enumerate(np.array_split(np.arange(len(y)), parts)):
        pd.DataFrame(X[rows], columns=names).assign(y=y[rows]).to_parquet(place / f"{number}.parquet", index=False)
    return place


@pytest.fixture(scope="module")
def problem():
    # More rows than a plain search takes, so that shards and the whole are searched in different ways.
    return make_classification(7_000, 6, weights=[0.98], flip_y=0.01, random_state=0)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_gamma_over_shards_has_the_threshold_and_the_scores_of_one_machine(parts, client, problem, tmp_path):
    X, y = problem
    here = GammaKNN().fit(X, y)
    there = fit(GammaKNN(), sharded(tmp_path, parts, X, y), target="y", client=client, shards=parts)
    assert there.threshold_ == here.threshold_
    assert there.gamma_ == here.gamma_
    queries = np.random.default_rng(0).normal(size=(200, 6))
    assert there.score_samples(queries).tolist() == here.score_samples(queries).tolist()
    assert there.predict(queries).tolist() == here.predict(queries).tolist()
    assert there.rows_scored < (y == 0).sum() / 2


@pytest.mark.parametrize(
    "estimator",
    [
        GammaKNN(4, tie="negative"),
        GammaKNN(2, gamma_max=0.6),
        GammaKNN(1, threshold="f2"),
        GammaKNN(gamma="class_ratio"),
        GammaKNN(threshold=0.4),
    ],
    ids=str,
)
def test_every_way_to_choose_gamma_gives_the_bits_of_one_machine(estimator, client, tmp_path):
    X, y = make_classification(900, 4, weights=[0.9], flip_y=0.05, random_state=1)
    X = np.round(X, 1)  # with ties
    there = fit(estimator, sharded(tmp_path, 3, X, y), target="y", client=client, shards=3)
    here = estimator.fit(X, y)
    assert there.threshold_ == here.threshold_
    assert there.score_samples(X[:50]).tolist() == here.score_samples(X[:50]).tolist()


def test_the_work_of_a_worker_that_is_killed_is_repeated(cluster, client, problem, tmp_path, monkeypatch):
    X, y = problem
    data = sharded(tmp_path, 4, X, y)
    choose = shards.best_threshold
    killed = []

    def kill_one(*arguments):
        if not killed:
            # Here all shards are in memory, and the first round of candidates is still to come.
            killed.append(client.run(os.getpid))
            os.kill(next(iter(killed[0].values())), signal.SIGKILL)
        return choose(*arguments)

    monkeypatch.setattr(shards, "best_threshold", kill_one)
    there = fit(GammaKNN(), data, target="y", client=client, shards=4)
    assert killed
    assert there.threshold_ == GammaKNN().fit(X, y).threshold_
    client.wait_for_workers(2, timeout=60)


def test_forests_grow_tree_by_tree_and_are_those_of_one_machine(client, tmp_path):
    X, y = make_classification(300, 5, random_state=0)
    forest = ExtraTreesClassifier(8, random_state=0)
    there = fit(forest, sharded(tmp_path, 2, X, y), target="y", client=client)
    assert there.predict_proba(X).tolist() == forest.fit(X, y).predict_proba(X).tolist()


def test_lightgbm_learns_from_shards(client, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = make_classification(2_000, 5, flip_y=0, class_sep=2, random_state=0)
    model = lightgbm.LGBMClassifier(n_estimators=10, num_leaves=4, verbose=-1)
    there = fit(model, sharded(tmp_path, 2, X, y), target="y", client=client)
    assert type(there) is lightgbm.LGBMClassifier
    assert (there.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (APBoosting(), "The loss of APBoosting needs all rows at once, and each worker sees its own alone"),
        (ProfitBoosting(), "The loss of ProfitBoosting needs all rows at once"),
        (LogisticRegression(), "LogisticRegression cannot be fitted on a cluster; GammaKNN, LGBMClassifier and"),
        (GammaKNN(metric="manhattan"), "is for Euclidean distances; leave metric and p out"),
        (GammaKNN(algorithm="ivf"), "no metric_transform and no algorithm='ivf'; leave them out"),
        (GammaKNN(threshold="gmean"), "takes a number as its threshold, or an F-measure such as 'f1'"),
    ],
    ids=str,
)
def test_what_cannot_be_fitted_in_parts_is_refused(estimator, sentence, client, tmp_path):
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(EngineError, match=sentence):
        fit(estimator, sharded(tmp_path, 2, X, y), target="y", client=client)


def test_columns_that_are_no_numbers_are_named(client, tmp_path):
    X, y = make_classification(60, 4, random_state=0)
    X[3, 2] = np.nan
    data = sharded(tmp_path, 1, X, y)
    with pytest.raises(TableError, match=r"Column 'x2' has empty or infinite cells in .*0.parquet; fill them"):
        fit(GammaKNN(), data, target="y", client=client)
    with pytest.raises(TableError, match=r"The table has no column 'z' \(`target`\); it has x0, x1"):
        fit(GammaKNN(), data, target="z", client=client)


@given(
    rows=st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(0, 2)), min_size=2, max_size=25),
    low=st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 0.75]),
    high=st.sampled_from([np.inf, 0.3, 0.5, 0.625, 0.9]),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_the_merge_of_shards_is_the_sweep_over_all_scores(rows, low, high, beta):
    score, y, shard = (np.array(part) for part in zip(*rows, strict=True))
    score = score / 8
    if y.all() or not y.any():
        return
    between = (0.0 if np.isfinite(high) else -np.inf, high)
    limits = np.unique([*score[y], *([high] if np.isfinite(high) else [])])
    parts = [shards.gaps_of(score[~y & (shard == number)], limits, low) for number in range(3)]
    merged = shards.merged(parts)
    found, _ = shards.best_threshold(score[y], limits, merged, low, between, beta)
    try:
        wanted = FBeta(beta).best_threshold(score, y, between=between).threshold
    except ValueError:
        return
    if np.isneginf(low):
        assert found is not None
    if found is not None:
        assert found == wanted


def test_a_search_that_stops_early_keeps_every_row_that_may_matter():
    rng = np.random.default_rng(0)
    X, positives = rng.normal(size=(4_000, 3)), rng.normal(size=(30, 3))
    shard = shards.NegativeShard(X, positives, shards.Orders(2, 2))
    every = shard.candidates(-np.inf)
    exact = shards.scores_of(every, [], shard.orders)
    some = shard.candidates(0.5)
    assert len(some.X) < len(X)
    assert sorted(shards.scores_of(some, [], shard.orders)) == sorted(exact[exact >= 0.5])
