"""The same numbers from a cluster as from this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from scarce.study import Store, StudyError, load_study, run_study

distributed = pytest.importorskip("distributed", reason="Dask comes with the extra dask")
ROOT = Path(__file__).resolve().parents[2]


def figures(store: Store, study: str) -> dict[str, dict[str, float]]:
    found = store.read([planned.cell.key for planned in load_study(study).plan()])
    return {cell: outcome.figures for cell, outcome in found.items()}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_two_workers_compute_the_same_numbers(tmp_path, small, monkeypatch):
    # The workers are new processes, which find the estimators of the tests in the project's folder.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    study = load_study(small)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Store(tmp_path / "far") as far, Store(tmp_path / "near") as near:
        progress = run_study(study, far, dask=cluster.scheduler_address)
        assert (progress.new, progress.failed) == (len(study.plan()), 0)
        run_study(study, near)
        assert figures(far, small) == figures(near, small)


def test_a_scheduler_that_is_not_there_is_named(tmp_path, small, monkeypatch):
    monkeypatch.setattr("scarce.study.runner.TIMEOUT", "1s")
    with Store(tmp_path / "s") as store, pytest.raises(StudyError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        run_study(load_study(small), store, dask="tcp://127.0.0.1:9")
