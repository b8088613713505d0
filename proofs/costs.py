"""The processor time and the memory of an audit, beside one random forest compared in the same folds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from proofs.cases import Case, Proof
from scarce.audit import audit
from scarce.audit.folds import MAX_FOLDS

COLUMNS = 20
BARS = {"quick": 1.5, "all": 8.0}
LONGER, LARGER = 2.5, 4.0


def table_of(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return numbers of which some tell the class, about 2 % positive; a tenth of the outcomes is unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS))
    score = 1.5 * X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * X[:, 3]
    y = (rng.random(rows) < expit(score - np.quantile(score, 0.98))).astype(float)
    y[rng.random(rows) < 0.1] = np.nan
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).assign(y=y)


def prove_time(rows: int = 100_000) -> Proof:
    """Compare the processor time of whole audits with that of one random forest in the same folds."""
    frame = table_of(rows)
    known = frame.dropna()
    X, y = known.drop(columns="y").to_numpy(), known["y"].to_numpy(dtype=int)

    def forest() -> None:
        for train, test in StratifiedKFold(MAX_FOLDS, shuffle=True, random_state=0).split(X, y):
            RandomForestClassifier(150, min_samples_leaf=2, random_state=0).fit(X[train], y[train]).predict_proba(
                X[test]
            )

    peer = _processor(forest)
    lines = []
    for name, options in (("quick", {"quick": True}), ("all", {})):
        ours = _processor(lambda options=options: audit(frame, "y", **options))  # type: ignore[misc]
        lines.append(Case((name,), (ours, peer, ours / peer), ours / peer <= BARS[name]))
    return Proof(
        "Processor time",
        f"Whole audits of {rows:,} rows and {COLUMNS} columns, in seconds of the processor, beside "
        f"`RandomForestClassifier(150, min_samples_leaf=2)` fitted and tested in the same {MAX_FOLDS} folds. Bars: "
        f"`--quick` {BARS['quick']}, all methods {BARS['all']:g}.",
        ("audit", "seconds", "forest", "ratio", "verdict"),
        lines,
    )


def prove_size(rows: int = 1_000_000, fewer: int = 200_000) -> Proof:
    """Compare a large audit with a smaller one, each in a process of its own."""
    large, small = (_measured(n) for n in (rows, fewer))
    longer, larger = large["seconds"] / small["seconds"], large["peak"] / large["table"]
    return Proof(
        "Large tables",
        f"`--quick` audits of {rows:,} rows beside {fewer:,}, {COLUMNS} columns, in processes of their own: processor "
        "time, and the highest memory beyond that before the table was made, beside the table's. Bars: "
        f"{LONGER:g} and {LARGER:g} times.",
        ("what", "large", "beside", "ratio", "verdict"),
        [
            Case(("seconds",), (large["seconds"], small["seconds"], longer), longer <= LONGER),
            Case(("memory, MB",), (large["peak"] / 1e6, large["table"] / 1e6, larger), larger <= LARGER),
        ],
    )


def _processor(what: Callable[[], Any]) -> float:
    start = time.process_time()
    what()
    return time.process_time() - start


def _measured(rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "proofs.costs", str(rows)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return dict(json.loads(found.stdout.splitlines()[-1]))


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * float(next(line.split()[1] for line in lines if line.startswith(name)))


def main(rows: int) -> None:
    """Audit a table, and print the processor time, the highest memory beyond that before, and the table's size."""
    audit(table_of(3_000), "y", quick=True)  # libraries and kernels are there
    before = _memory("VmRSS")
    frame = table_of(rows)
    seconds = _processor(lambda: audit(frame, "y", quick=True))
    size = float(frame.memory_usage(index=False).sum())
    print(json.dumps({"seconds": seconds, "peak": _memory("VmHWM") - before, "table": size}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
