"""A small table of payments, for the tests of tables, audit and commands."""

import numpy as np
import pandas as pd


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
