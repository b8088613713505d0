"""Growth of time and memory with the number of rows: a table and a log-log plot in docs/proofs.

``python -m benchmarks.growth`` measures every family at 10,000, 100,000 and 1,000,000 rows × 20, each cell in a fresh
process on one thread. A cell whose forerunners promise more than the time limit is extrapolated and marked.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.memory import resident
from proofs.page import FOLDER, table, written_by

SIZES = (10_000, 100_000, 1_000_000)
FEATURES, RATE, NEW = 20, 0.005, 1_000
LIMIT = 20.0  # seconds of a cell; all of them then take some 15 minutes


def _models() -> dict[str, Callable[[], Any]]:
    """Return a method of each family, as it comes unless the name shows otherwise."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    from scarce import TunedThreshold, boosting, ellipsoids, fmeasure, metric_learning, neighbors, sampling, trees

    bins = {"max_bins": 255}
    return {
        "GammaKNN": neighbors.GammaKNN,
        "GFRNN": neighbors.GFRNN,
        "CCNND": neighbors.CCNND,
        "KRNN": neighbors.KRNN,
        "MLFPKNN": metric_learning.MLFPKNN,
        "ME2": ellipsoids.ME2,
        "ResampledGammaKNN": lambda: sampling.ResampledGammaKNN(random_state=0),
        "MetaAP": trees.MetaAP,
        "MetaAP, bins": lambda: trees.MetaAP(**bins),
        "MetaAPForest(10), bins": lambda: trees.MetaAPForest(10, random_state=0, **bins),
        "TreeRank, bins": lambda: trees.TreeRank(**bins),
        "RankingForest(5), bins": lambda: trees.RankingForest(5, random_state=0, **bins),
        "ProfitTree, bins": lambda: trees.ProfitTree(**bins),
        "ProfitForest, bins": lambda: trees.ProfitForest(random_state=0, **bins),
        "ProfitBoosting": lambda: boosting.ProfitBoosting(random_state=0),
        "APBoosting": lambda: boosting.APBoosting(random_state=0),
        "ConeClassifier(LogisticRegression)": lambda: fmeasure.ConeClassifier(LogisticRegression()),
        "TunedThreshold(ExtraTrees(30))": lambda: TunedThreshold(
            ExtraTreesClassifier(30, bootstrap=True, oob_score=True, random_state=0)
        ),
    }


@dataclass(frozen=True)
class Cell:
    """The figures of a method at one size; extrapolated ones have no memory."""

    fit: float
    predict: float
    memory: float | None = None

    @property
    def measured(self) -> bool:
        return self.memory is not None


def measure(name: str, n: int) -> Cell:
    """Fit and predict in this process; the kernels have been compiled on a few rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + NEW, FEATURES))
    y = np.zeros(n + NEW, dtype=np.int64)
    y[: max(20, int(RATE * n))] = 1
    X[y == 1, :5] += 1.0
    order = rng.permutation(n)
    X[:n], y[:n] = X[order], y[order]
    few = np.r_[np.flatnonzero(y == 1)[:20], np.flatnonzero(y == 0)[:200]]
    make = _models()[name]
    with threadpool_limits(1):
        make().fit(X[few], y[few], **_money(name, len(few))).predict(X[few])
        held, start = resident("VmRSS"), time.process_time()
        model = make().fit(X[:n], y[:n], **_money(name, n))
        fitted = time.process_time()
        model.predict(X[n:])
        done = time.process_time()
    return Cell(fitted - start, (done - fitted) / NEW, max(resident("VmHWM") - held, 0.0))


def _money(name: str, n: int) -> dict[str, Any]:
    return {"gains": np.tile([10.0, -1.0, 1.0, -5.0], (n, 1))} if name.startswith("Profit") else {}


def exponent(smaller: tuple[int, float], larger: tuple[int, float]) -> float:
    """Return p where time grows as the p-th power of the rows between two measurements."""
    return math.log(larger[1] / smaller[1]) / math.log(larger[0] / smaller[0])


def extrapolate(cells: dict[int, Cell], n: int) -> Cell | None:
    """Return the cell at n rows by the last two that were measured, or nothing if there are fewer."""
    known = [(size, cell) for size, cell in cells.items() if cell.measured]
    if len(known) < 2:
        return None
    (few, a), (many, b) = known[-2:]
    times = []
    for before, after in ((a.fit, b.fit), (a.predict, b.predict)):
        times.append(after * (n / many) ** max(exponent((few, before), (many, after)), 0.0))
    return Cell(*times)


def grow(name: str, sizes: Sequence[int], limit: float) -> dict[int, Cell]:
    """Measure a method at growing sizes, each in a fresh process; two of them whatever the limit."""
    cells: dict[int, Cell] = {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for n in sizes:
        expected = extrapolate(cells, n)
        if expected and (expected.fit + NEW * expected.predict > limit or not list(cells.values())[-1].measured):
            cells[n] = expected
            continue
        command = [sys.executable, "-m", "benchmarks.growth", "--cell", name, str(n)]
        try:
            # By the clock there are imports, data, loops to be compiled, and what else the machine does.
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, timeout=2 * limit + 120, env=environment
            )
        except subprocess.TimeoutExpired:
            if expected is None:
                break
            cells[n] = expected
            continue
        cells[n] = Cell(**json.loads(done.stdout.splitlines()[-1]))
    return cells


def page(found: dict[str, dict[int, Cell]], sizes: Sequence[int], limit: float) -> str:
    heads = ["method"]
    for what in ("fit, s", "predict, µs a row", "MB beyond the data"):
        heads += [f"{what}, {size:,}" for size in sizes]
    heads += ["fit grows as", "predict grows as"]
    lines = []
    for name, cells in found.items():
        known = [(n, cell) for n, cell in cells.items() if cell.measured]
        line = [name]
        line += [_text(cells.get(n), lambda cell: cell.fit) for n in sizes]
        line += [_text(cells.get(n), lambda cell: 1e6 * cell.predict) for n in sizes]
        line += [f"{cells[n].memory:.0f}" if n in cells and cells[n].measured else "" for n in sizes]
        if len(known) > 1:
            (few, a), (many, b) = known[-2:]
            line += [f"n^{exponent((few, x), (many, y)):.1f}" for x, y in ((a.fit, b.fit), (a.predict, b.predict))]
        else:
            line += ["", ""]
        lines.append(line)
    return "\n".join(
        [
            "# Growth with the number of rows\n",
            f"{written_by('bench-growth')}. {FEATURES} features, {RATE:.1%} positives, one thread, processor time;",
            f"predict is the mean over {NEW:,} new rows at once. The exponent is that between the last two sizes that",
            f"were measured. ≈ is extrapolated by it: the cell would take more than {limit:.0f} s. Memory is the peak",
            "of fit and predict beyond what the process held with the data.\n",
            "![Fit and predict by the number of rows](growth.svg)\n",
            table(heads, lines),
        ]
    )


def _text(cell: Cell | None, figure: Callable[[Cell], float]) -> str:
    if cell is None:
        return ""
    return f"{'' if cell.measured else '≈'}{figure(cell):.3g}"


def draw(found: dict[str, dict[int, Cell]], file: Path) -> None:
    """Draw both times on logarithmic axes; extrapolated ends are dashed."""
    import matplotlib
    from matplotlib.figure import Figure

    from scarce._svg import STYLE

    with matplotlib.rc_context(STYLE):
        figure = Figure((11, 6), layout="constrained")
        axes = figure.subplots(1, 2)
        colours = matplotlib.colormaps["tab20"].colors
        for place, (name, cells) in enumerate(found.items()):
            known = {n: cell for n, cell in cells.items() if cell.measured}
            style = {"color": colours[place % len(colours)], "marker": "os^v"[place % 4], "markersize": 4}
            for ax, of in zip(axes, (lambda c: c.fit, lambda c: 1e6 * c.predict), strict=True):
                ax.plot(list(cells), [of(c) for c in cells.values()], linestyle="--", linewidth=1, **style)
                ax.plot(list(known), [of(c) for c in known.values()], linewidth=1.5, label=name, **style)
        for ax, title in zip(axes, ("Fit, seconds", "Predict, microseconds a row"), strict=True):
            ax.set(xscale="log", yscale="log", xlabel="training rows", title=title)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize="small")
        figure.savefig(file, format="svg", metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="a part of the methods")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="time of a cell")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where growth.md and growth.svg are written")
    parser.add_argument("--cell", nargs=2, metavar=("METHOD", "N"), help="measure one cell and print it")
    options = parser.parse_args(arguments)
    if options.cell:
        print(json.dumps(vars(measure(options.cell[0], int(options.cell[1])))))
        return 0
    start, found = time.perf_counter(), {}
    for name in options.only or _models():
        found[name] = grow(name, options.sizes, options.limit)
        told = ", ".join(f"{n:,}: {_text(cell, lambda cell: cell.fit)} s" for n, cell in found[name].items())
        print(f"{name}: {told}", flush=True)
    if not any(found.values()):
        print(f"Nothing could be measured within {options.limit:g} s; give more with --limit.")
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    draw(found, options.folder / "growth.svg")
    (options.folder / "growth.md").write_text(page(found, options.sizes, options.limit))
    print(f"{time.perf_counter() - start:.0f} s; see {options.folder / 'growth.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
