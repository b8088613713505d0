"""The monitor is quiet while nothing changes, and raises an alarm soon after something does, within its bar of time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from proofs.cases import Case, Proof
from proofs.parts import Parts
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


def prove_alarms(quiet: int = 200, changed: int = 100, audits: int = 4) -> Proof:
    """Count alarms without a change, and changes without an alarm."""
    count = {"quiet": 0, "doubled": 0, "moved": 0}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(audits):
            of_seed = counts(seed, Path(folder), quiet // audits, changed // audits)
            count = {what: number + of_seed[what] for what, number in count.items()}
            print(f"after {seed + 1} of {audits} audits: {count}", flush=True)
    return Proof(
        "Alarms",
        f"Of payments of which nothing changes, at most 1 run in 20 raises an alarm or advises other than to keep the "
        f"model. After the rate of frauds has doubled, and after the strongest column has moved by a standard "
        f"deviation, at least 80 of 100 monitors do within two periods. A period has {PERIOD:,} rows; outcomes are "
        f"known of {CHECKS} that the model chose and {AT_RANDOM} drawn at random.",
        ("what", "runs", "alarms", "bar", "verdict"),
        [
            Case(("while nothing changes",), (quiet, count["quiet"], quiet / 20), count["quiet"] <= quiet / 20),
            *(
                Case((f"within two periods of {name}",), (changed, count[what], 0.8 * changed), enough)
                for what, name in (("doubled", "twice as many frauds"), ("moved", "the strongest column moving"))
                for enough in [count[what] >= 0.8 * changed]
            ),
        ],
    )


def prove_size(rows: int = 1_000_000) -> Proof:
    """Measure processor time and memory of many rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        payments = Payments(99, folder, rows=AUDITED + 50_000)
        files = {n: _file(payments, folder, n) for n in (rows // 4, rows)}
        ratio = time_ratio(payments, files[rows], folder)
        few, many = (_peak(payments.folder, file, folder / f"monitor-{n}") for n, file in files.items())
    return Proof(
        "Time and memory",
        f"{rows:,} rows of a Parquet file: the processor time in times of reading and scoring them once, and the peak "
        f"memory of a process in times of that for {rows // 4:,} rows.",
        ("what", "ratio", "bar", "verdict"),
        [
            Case(("processor time",), (ratio, 3), ratio <= 3),
            Case((f"peak memory ({many:,.0f} MB against {few:,.0f} MB)",), (many / few, 1.1), many / few <= 1.1),
        ],
    )


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


def time_ratio(payments: Payments, file: Path, folder: Path) -> float:
    """Return the processor time of monitoring a file over that of reading and scoring it once."""
    model = PerformanceMonitor(payments.folder).model
    start = time.process_time()
    for batch in read_batches(file, model.readings):
        scored(model.pipeline, conform(batch.frame, model.columns))
    once = time.process_time() - start
    start = time.process_time()
    monitor_table(payments.folder, file, out=folder / "monitor")
    return (time.process_time() - start) / once


def _file(payments: Payments, folder: Path, rows: int) -> Path:
    part = payments.later.drop(columns=TARGET)
    file = folder / f"{rows}.parquet"
    pd.concat([part] * -(-rows // len(part)), ignore_index=True).head(rows).to_parquet(file)
    return file


def _peak(audit_folder: Path, file: Path, out: Path) -> float:
    """Return the most megabytes that a process held which monitored a file."""
    code = (
        "import sys\nfrom scarce.monitor.files import monitor_table\nfrom scarce.study.compute import kilobytes\n"
        "monitor_table(*sys.argv[1:3], out=sys.argv[3])\nprint(kilobytes('VmHWM') / 1024)"
    )
    command = [sys.executable, "-c", code, str(audit_folder), str(file), str(out)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


PROOF = Parts("monitor", "The monitor", {"alarms": prove_alarms, "size": prove_size})
