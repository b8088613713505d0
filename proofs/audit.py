"""The audit as a whole, in parts of which each can be run alone: promises, time, payments, money and repetition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from proofs import costs, rivals
from proofs.cases import Case, Proof
from proofs.parts import Parts
from proofs.replays import prove_coverage, prove_simulated
from scarce.audit import audit
from scarce.datasets import make_transactions


def prove_same(rows: int = 2_000, methods: Sequence[str] = ()) -> Proof:
    """Audit one table twice, and once with its rows in another order."""
    payments = make_transactions(rows, fraud_rate=0.03, seed=5).frame
    payments["payment"] = [f"P{number:06d}" for number in range(rows)]
    payments["fraud"] = payments["fraud"].astype(float).where(np.arange(rows) < 0.8 * rows)

    def queue(frame: pd.DataFrame) -> pd.DataFrame:
        result = audit(frame, "fraud", budget=60, time="date", methods=tuple(methods), seed=3, keep=("payment",))
        place = result.queue["row"].to_numpy()
        found = result.queue.drop(columns="row").reset_index(drop=True)
        return found.assign(payment=frame["payment"].to_numpy()[place])

    first = queue(payments)
    lines = []
    for name, other in (("the same seed twice", payments), ("another order", payments.sample(frac=1, random_state=1))):
        same = float((first == queue(other.reset_index(drop=True))).fillna(True).all(axis=1).mean())
        lines.append(Case((name,), (same,), same == 1))
    return Proof(
        "The same queue",
        f"Audits of {rows:,} simulated payments with all methods of average precision. Bar: every row of the queue, "
        "its score, probability and reasons included, is the same.",
        ("what", "share of the queue", "verdict"),
        lines,
    )


PARTS: dict[str, Callable[[], Proof]] = {
    "coverage": prove_coverage,
    "simulated": prove_simulated,
    "time": costs.prove_time,
    "size": costs.prove_size,
    "payments": rivals.prove_payments,
    "profit": rivals.prove_profit,
    "same": prove_same,
}

PROOF = Parts("audit", "The audit", PARTS)
