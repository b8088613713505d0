"""A model, rows, and a cluster of two processes, for the tests of engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scarce.audit import audit, save
from tests.payments import make_table


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """A model whose scores are sums of floats, which linear algebra adds up in several ways."""
    folder = tmp_path_factory.mktemp("models") / "audit"
    table = make_table(900).drop(columns=["chargeback", "currency"])
    save(audit(table, "fraud", budget=20, methods=["logistic"], amount="amount"), folder)
    return folder


@pytest.fixture(scope="session")
def rows() -> pd.DataFrame:
    return make_table(1_003, seed=1).drop(columns=["chargeback", "currency", "fraud"])


@pytest.fixture(scope="session")
def folder(rows, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("payments")
    for number, start in enumerate((0, 1, 300, 800)):
        end = (1, 300, 800, 1_003)[number]
        rows.iloc[start:end].to_parquet(place / f"part-{number}.parquet", index=False)
    return place


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two workers of one thread each, in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as found:
        yield found
