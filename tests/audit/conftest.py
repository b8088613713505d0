"""Small tables for the audit, and one audit that many tests read."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce.audit import Audit, audit, candidates, compare, save


def make_table(rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Payments with everything that a real table has: dates, categories, gaps, an identifier, a leak, a constant."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3, 1, rows).round(2)
    channel = rng.choice(["web", "shop", "phone"], rows, p=[0.5, 0.3, 0.2])
    risk = np.log(amount) + 2 * (channel == "web") + rng.normal(0, 0.7, rows)
    fraud = risk > np.quantile(risk, 0.96)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.uniform(0, 300, rows)), unit="D")
    return pd.DataFrame(
        {
            "payment": [f"P{i:05d}" for i in range(rows)],
            "date": day.strftime("%Y-%m-%d %H:%M:%S"),
            "amount": amount,
            "channel": channel,
            "shop": [f"S{i}" for i in rng.integers(0, 40, rows)],
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 90, rows)),
            "chargeback": np.where(fraud, rng.integers(1, 9, rows), np.nan),
            "currency": "EUR",
            "fraud": np.where(fraud, "yes", "no"),
        }
    )


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Make the audit fast, with few trees and few resamples; nothing that is tested depends on how many."""
    patch.setattr(candidates, "TREES", 40)
    patch.setattr(compare, "RESAMPLES", 40)


@pytest.fixture(scope="package", autouse=True)
def _hurry() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        hurry(patch)
        yield


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return make_table()


@pytest.fixture(scope="package")
def result(table: pd.DataFrame) -> Audit:
    return audit(table, "fraud", budget=50, amount="amount")


@pytest.fixture(scope="package")
def folder(result: Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result, saved."""
    place = tmp_path_factory.mktemp("saved") / "audit"
    save(result, place)
    return place
