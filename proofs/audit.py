"""The audit as a whole, in parts of which each can be run alone: promises, time, payments, money and repetition."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from proofs import costs, rivals
from proofs.cases import Case, MissingSets, Proof
from proofs.page import table, written_by
from proofs.replays import prove_coverage, prove_simulated
from scarce.audit import audit
from scarce.datasets import make_transactions

PAGE = "audit.md"
HEAD = "# The audit\n\nEach part is run by `make prove-audit`, or alone by `python -m proofs audit --part NAME`.\n"


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


def run(names: Sequence[str], folder: Path, parts: dict[str, Callable[[], Proof]] = PARTS) -> int:
    """Run some parts, write the section of each, and return 1 if a bar was missed, or 2 if data were."""
    codes = [0]
    for name in names:
        try:
            proof = parts[name]()
        except MissingSets as error:
            print(error, file=sys.stderr)
            codes.append(2)
            continue
        for line in proof.lines():
            print("  ".join(line))
        print(f"{name}: {proof.counts}", flush=True)
        write_section(folder / PAGE, name, proof, list(parts))
        codes.append(int(proof.missed > 0))
    return max(codes)


def write_section(page: Path, name: str, proof: Proof, order: Sequence[str]) -> None:
    """Replace the section of one part, and leave the others as they are."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = dict(re.findall(r"^<!-- (\w+) -->\n(.*?)(?=^<!-- |\Z)", text, flags=re.MULTILINE | re.DOTALL))
    where = f"{written_by(f'prove-audit (--part {name})')}. {proof.counts}"
    found[name] = f"## {proof.title}\n\n{proof.statement}\n\n{where}\n\n{table(proof.columns, proof.lines())}"
    sections = [f"<!-- {part} -->\n{found[part].rstrip()}\n" for part in order if part in found]
    page.write_text("\n".join([HEAD, *sections]), encoding="utf-8")
