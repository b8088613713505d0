"""Time of starting: commands, the first fit of each method after installation, LightGBM's threads on a busy machine.

``python -m benchmarks.start FOLDER`` compares the first fits with those of another version of the library, whose `src`
is in the folder, and writes the table to docs/proofs/first-fit.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.rows import Bar, Row, Run
from proofs.page import FOLDER, table, written_by

ROOT = Path(__file__).resolve().parents[1]
HELP = "from scarce.cli import main; main()"
PEER = "import typer, rich.console"
# A method of each family, and those that compile most.
METHODS = ("GammaKNN", "GFRNN", "CCNND", "KENN", "ME2", "LMNN", "MetaAP", "MetaAPForest", "ProfitForest")
FIT = """
import sys, time, warnings, numpy as np
warnings.simplefilter("ignore")
import scarce, scarce.metric_learning
from sklearn.covariance import EllipticEnvelope
from sklearn.linear_model import LogisticRegression
classes = {**dict(scarce.all_estimators()), "LMNN": scarce.metric_learning.LMNN}
name = sys.argv[1]
parts = {"OneClassClassifier": [EllipticEnvelope()], "BayesProfitClassifier": [LogisticRegression()]}
parts |= {name: [LogisticRegression()] for name in ("ConeClassifier", "TunedThreshold", "ResampledClassifier")}
model = classes[name](*parts.get(name, []))
rng = np.random.default_rng(0)
y = rng.random(600) < 0.15
X = rng.normal(size=(600, 8)) + 0.8 * y[:, None]
money = {"gains": np.tile([10.0, -1.0, 1.0, -5.0], (600, 1))} if "Profit" in name else {}
start = time.process_time()
model.fit(X, y, **money)
model.predict(X) if hasattr(model, "predict") else model.transform(X)
print(time.process_time() - start)
"""
THREADS = """
import sys, time, numpy as np
from scarce.boosting import APBoosting
n, turns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 20))
y = X[:, 0] + X[:, 1] + rng.normal(size=n) > 4
taken = {1: [], 2: []}
for turn in range(turns + 1):
    for threads in taken:
        start = time.perf_counter()
        APBoosting(n_estimators=50, learning_rate=0.1, n_jobs=threads, threshold=0.0).fit(X, y)
        taken[threads].append(time.perf_counter() - start)
print(*(np.median(seconds[1:]) for seconds in taken.values()))
"""


def _python(code: str, *arguments: str, cache: str = "", src: Path = ROOT / "src") -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh process, with a policy and number of threads of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    environment |= {"PYTHONPATH": str(src)} | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)


def start_time(run: Run) -> list[Row]:
    """Compare processor times of whole processes, the interpreter included."""
    programs = {
        "scarce --help": (HELP, "--help"),
        "scarce study run --help": (HELP, "study", "run", "--help"),
        "import scarce": ("import scarce",),
        PEER: (PEER,),
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(2 if run.quick else 7):
        for name, (code, *arguments) in programs.items():
            run.progress(name)
            before = sum(os.times()[2:4])
            _python(code, *arguments)
            taken[name].append(sum(os.times()[2:4]) - before)
    *ours, peer = (min(seconds) for seconds in taken.values())
    bars = run.judged(Bar("<=", 4)), None, None
    return [
        Row(f"{name}; peer: {PEER}", seconds, peer, seconds / peer, "s", bar)
        for name, seconds, bar in zip(programs, ours, bars, strict=False)
    ]


def first_fit(run: Run) -> list[Row]:
    rows = []
    for name in METHODS[:1] if run.quick else METHODS:
        run.progress(name)
        with tempfile.TemporaryDirectory() as cache:
            first, second = (float(_python(FIT, name, cache=cache).stdout) for _ in range(2))
        what = f"{name}: first fit and predict after installation; peer: the same in the next process"
        rows.append(Row(what, first, second, first / second, "s"))
    return rows


def busy_threads(run: Run) -> list[Row]:
    """Time fits by the clock while other processes keep all cores busy."""
    n, turns = (5_000, 1) if run.quick else (100_000, 5)
    run.progress("beside busy processes")
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 2)]
    try:
        one, two = map(float, _python(THREADS, str(n), str(turns)).stdout.split())
    finally:
        for other in others:
            other.kill()
            other.wait()
    what = (
        f"APBoosting fits {n:,} × 20 on two threads beside {len(others)} busy processes, by the clock; peer: one thread"
    )
    return [Row(what, two, one, two / one, "s", run.judged(Bar("<=", 1.1)))]


def compare(before: Path, names: Iterable[str]) -> str:
    """Return the table of first fits of another version and of this one, taken in turns."""
    lines, ratios = [], []
    for name in names:
        seconds: list[float] = []
        for src in (before, ROOT / "src"):
            with tempfile.TemporaryDirectory() as cache:
                seconds += [float(_python(FIT, name, cache=cache, src=src).stdout) for _ in range(2)]
        old, _, new, warm = seconds
        if old > 0.3:  # the others compile nothing
            lines.append((name, f"{old:.2f}", f"{new:.2f}", f"{new / old:.2f}", f"{warm:.2f}"))
            ratios.append(new / old)
        print(name, *(f"{value:.2f}" for value in seconds), flush=True)
    kept = sum(ratio <= 0.5 for ratio in ratios)
    heads = ("method", "before, s", "now, s", "ratio", "next process, s")
    return "\n".join(
        [
            "# The first fit after installation\n",
            f"{written_by('first-fit')}. Processor time of the first fit and predict of 600 rows in a new process,",
            f"loops compiled; before: version cb38baf. {kept} of {len(ratios)} methods take at most half as long as",
            "before. Methods that compile nothing are left out.\n",
            table(heads, lines),
        ]
    )


if __name__ == "__main__":
    import scarce

    every = [name for name, _ in scarce.all_estimators()] + ["LMNN"]
    (FOLDER / "first-fit.md").write_text(compare(Path(sys.argv[1]).resolve(), every))
    print(f"{time.process_time():.0f} s; see {FOLDER / 'first-fit.md'}")
