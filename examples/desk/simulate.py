"""Audit simulated payments whose last weeks nobody has checked yet, for the review desk: python simulate.py FOLDER."""

import sys
from pathlib import Path

import pandas as pd

from scarce.audit import audit, save
from scarce.datasets import make_transactions

NEW = pd.Timedelta(days=14)


def main(folder: Path) -> None:
    """Write the folder of an audit that `scarce serve` opens."""
    payments = make_transactions(30_000, fraud_rate=0.008, seed=0).frame
    payments["fraud"] = payments["fraud"].astype(float).where(payments["date"] < payments["date"].max() - NEW)
    print("Auditing 30,000 simulated payments, which takes about a minute.", flush=True)
    options = {"time": "date", "amount": "amount", "delay": "7d", "entity": ("customer_id",)}
    result = audit(payments, "fraud", budget="20/day", explore=0.1, methods=("lightgbm",), **options)
    save(result, folder, force=True)
    print(f"SIMULATED payments: {len(result.queue):,} cases for the desk in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
