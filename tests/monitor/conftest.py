"""One audit that the tests of the monitor read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce.audit import audit, save
from tests.audit.conftest import hurry

ROWS = 1_600


def make_payments(rows: int = ROWS, seed: int = 0, *, start: str = "2024-01-01", rate: float = 0.04) -> pd.DataFrame:
    """Payments of ten weeks, of which nothing changes."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3, 1, rows).round(2)
    channel = rng.choice(["web", "shop", "phone"], rows, p=[0.5, 0.3, 0.2])
    risk = np.log(amount) + 2 * (channel == "web") + rng.normal(0, 0.7, rows)
    fraud = rng.random(rows) < rate / 0.04 / (1 + np.exp(-3 * (risk - 6.2)))
    day = pd.Timestamp(start) + pd.to_timedelta(np.sort(rng.uniform(0, 70, rows)), unit="D")
    return pd.DataFrame(
        {
            "payment": [f"{start}-{i:05d}" for i in range(rows)],
            "date": day.floor("s"),
            "amount": amount,
            "channel": channel,
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 90, rows)),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )


@pytest.fixture(scope="package")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an audit with a budget for each week and a delay."""
    folder = tmp_path_factory.mktemp("monitor") / "audit"
    table = folder.with_name("payments.csv")
    make_payments().to_csv(table, index=False)
    with pytest.MonkeyPatch.context() as patch:
        hurry(patch)
        options = {"budget": "12/week", "time": "date", "delay": "7d", "amount": "amount", "methods": ["logistic"]}
        save(audit(table, "fraud", **options), folder)
    return folder


@pytest.fixture(scope="package")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an audit without time, so that periods are numbers of runs."""
    folder = tmp_path_factory.mktemp("monitor") / "plain"
    with pytest.MonkeyPatch.context() as patch:
        hurry(patch)
        frame = make_payments(3_000).drop(columns="date").sample(frac=1, random_state=0, ignore_index=True)
        save(audit(frame, "fraud", budget=100, methods=["logistic"]), folder)
    return folder
