"""The monitor is quiet while nothing changes, and raises an alarm soon after something does, within its bar of time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from proofs.cases import Case, Proof
from scarce.audit import audit, save
from scarce.audit.compare import scored
from scarce.audit.explore import draw, inclusion_chances
from scarce.datasets import make_transactions
from scarce.monitor import PerformanceMonitor
from scarce.monitor.files import monitor_table
from scarce.tables import conform, read_batches

RATE = 0.005
AUDITED, PERIOD = 20_000, 10_000
CHECKS, AT_RANDOM = 150, 50
TARGET = "fraud"
# Categories of many values take most of the time of encoding, and are nothing that the tests treat otherwise.
LEFT_OUT = ("date", "customer_id", "shop", "region", "category", "bank")


class Payments:
    """Simulated payments in a random order, so that nothing changes from one part to the next, and their audit."""

    def __init__(self, seed: int, folder: Path, rows: int = 120_000, method: str = "logistic") -> None:
        frame = make_transactions(rows, fraud_rate=RATE, seed=seed).frame.drop(columns=list(LEFT_OUT))
        frame = frame.sample(frac=1.0, random_state=seed, ignore_index=True)
        self.later = frame.iloc[AUDITED:].reset_index(drop=True)
        self.folder = folder / f"audit-{seed}"
        result = audit(frame.head(AUDITED), TARGET, budget=CHECKS, methods=[method], seed=seed)
        save(result, self.folder)
        importance = {entry.column: entry.loss for entry in result.inside.importance}
        numbers = [c.name for c in result.profile.features if c.kind == "number" and c.name in importance]
        self.strongest = max(numbers, key=lambda name: importance[name])

    def period(self, rng: np.random.Generator, *, doubled: bool = False) -> pd.DataFrame:
        """Draw the payments of a period, twice as many of them frauds if the rate has doubled."""
        fraud = self.later[TARGET].to_numpy() == 1
        chance = np.where(fraud, 2.0 if doubled else 1.0, 1.0)
        rows = rng.choice(len(fraud), PERIOD, replace=False, p=chance / chance.sum())
        return self.later.iloc[rows].reset_index(drop=True)


def report(monitor: PerformanceMonitor, rows: pd.DataFrame, number: int, seed: int) -> bool:
    """Show a period to the monitor, with the outcomes of the checked rows alone; return whether a person is needed."""
    X = rows.drop(columns=TARGET)
    columns = monitor.model.columns
    score, probability, _ = scored(monitor.model.pipeline, conform(X, columns))
    queued = np.argsort(-score, kind="stable")[:CHECKS]
    chance = np.full(len(rows), np.nan)
    others = np.setdiff1d(np.arange(len(rows)), queued)
    of_others = inclusion_chances(probability[others], AT_RANDOM)
    drawn = draw(of_others, seed)
    chance[queued], chance[others[drawn]] = 1.0, of_others[drawn]
    outcome = np.where(np.isnan(chance), -1, rows[TARGET].to_numpy())
    return monitor.update(X, outcome, period=number, chance=chance).needs_person


def prove(quiet: int = 200, changed: int = 100, audits: int = 4, rows: int = 1_000_000, *, show: bool = True) -> Proof:
    """Count alarms without a change and missed changes, and measure the processor time of many rows."""
    proof = Proof(
        "The monitor",
        f"Of payments of which nothing changes, at most 1 run in 20 raises an alarm or advises other than to keep the "
        f"model. After the rate of frauds has doubled, and after the strongest column has moved by a standard "
        f"deviation, at least 80 of 100 monitors do within two periods. A million rows take at most three times the "
        f"processor time of reading and scoring them. A period has {PERIOD:,} rows; outcomes are known of {CHECKS} "
        f"that the model chose and {AT_RANDOM} drawn at random.",
        ("what", "runs", "alarms or ratio", "bar", "verdict"),
    )
    with tempfile.TemporaryDirectory() as folder:
        proof.cases = list(_cases(Path(folder), quiet, changed, audits, rows, show))
    return proof


def counts(seed: int, folder: Path, quiet: int, changed: int) -> dict[str, int]:
    """Return how many runs on the payments of a seed raised an alarm, while nothing changes and after two changes."""
    payments = Payments(seed, folder)
    monitor = PerformanceMonitor(payments.folder)
    width = float(payments.later[payments.strongest].std())
    count = {"quiet": 0, "doubled": 0, "moved": 0}
    for run in range(quiet // 2):
        rng = np.random.default_rng((1, seed, run))
        monitor.resume({}, pd.DataFrame())
        # The second run has the outcomes of the first one too.
        count["quiet"] += sum(report(monitor, payments.period(rng), number, run) for number in range(2))
    for what in ("doubled", "moved"):
        for run in range(changed):
            rng = np.random.default_rng((2, seed, run))
            monitor.resume({}, pd.DataFrame())
            for number in range(2):
                part = payments.period(rng, doubled=what == "doubled")
                if what == "moved":
                    part[payments.strongest] += width
                if report(monitor, part, number, run):
                    count[what] += 1
                    break
    return count


def _cases(folder: Path, quiet: int, changed: int, audits: int, rows: int, show: bool) -> Iterator[Case]:
    count = {"quiet": 0, "doubled": 0, "moved": 0}
    for seed in range(audits):
        of_seed = counts(seed, folder, quiet // audits, changed // audits)
        count = {what: number + of_seed[what] for what, number in count.items()}
        if show:
            print(f"after {seed + 1} of {audits} audits: {count}", flush=True)
    yield Case(
        (f"alarms while nothing changes, {quiet} runs",),
        (quiet, count["quiet"], quiet / 20),
        count["quiet"] <= quiet / 20,
    )
    for what, name in (
        ("doubled", "alarms within two periods of twice as many frauds"),
        ("moved", "alarms within two periods of the strongest column moving"),
    ):
        yield Case((name,), (changed, count[what], 0.8 * changed), count[what] >= 0.8 * changed)
    ratio = time_ratio(folder, rows)
    yield Case((f"processor time of {rows:,} rows, in times of reading and scoring them",), (1, ratio, 3), ratio <= 3)


def time_ratio(folder: Path, rows: int) -> float:
    """Return the processor time of monitoring a file over that of reading and scoring it once."""
    payments = Payments(99, folder, rows=AUDITED + 50_000)
    file = folder / "new.parquet"
    part = payments.later.drop(columns=TARGET)
    repeats = -(-rows // len(part))
    pd.concat([part] * repeats, ignore_index=True).head(rows).to_parquet(file)
    model = PerformanceMonitor(payments.folder).model
    start = time.process_time()
    for batch in read_batches(file, model.readings):
        scored(model.pipeline, conform(batch.frame, model.columns))
    once = time.process_time() - start
    start = time.process_time()
    monitor_table(payments.folder, file, out=folder / "monitor")
    return (time.process_time() - start) / once
