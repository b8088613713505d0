"""Run the measurements, print the table and the count of bars kept and missed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks import (
    ellipsoids,
    fmeasure,
    metric_learning,
    million,
    neighbors,
    product,
    profit,
    sampling,
    search,
    start,
    trees,
)
from benchmarks.rows import Row, Run
from proofs.page import table, tally, written_by

MEASUREMENTS: dict[str, Callable[[Run], list[Row]]] = {
    "fit-time": neighbors.fit_time,
    "grid-search-time": neighbors.grid_search_time,
    "predict-time": neighbors.predict_time,
    "fit-memory": neighbors.fit_memory,
    "gravity-time": neighbors.gravity_time,
    "gravity-memory": neighbors.gravity_memory,
    "ccnnd-predict-time": neighbors.ccnnd_predict_time,
    "ccnnd-stream-time": neighbors.ccnnd_stream_time,
    "rare-predict-time": neighbors.rare_predict_time,
    "neighbors-time": neighbors.neighbors_time,
    "exact-search-time": search.exact_time,
    "one-row-search-time": search.one_row_time,
    "inverted-file-time": search.inverted_file_time,
    "decide-time": million.decide_time,
    "tuned-growth": million.tuned_growth,
    "ccnnd-growth": million.ccnnd_growth,
    "gravity-fit-memory": million.gravity_fit_memory,
    "two-gamma-time": sampling.two_gamma_time,
    "sampling-time": sampling.sampling_time,
    "lmnn-time": metric_learning.lmnn_time,
    "ellipsoid-dual-time": ellipsoids.ellipsoid_dual_time,
    "ellipsoid-fit-time": ellipsoids.ellipsoid_fit_time,
    "fmeasure-overhead": fmeasure.fmeasure_overhead,
    "tree-fit-time": trees.tree_fit_time,
    "meta-fit-time": trees.meta_fit_time,
    "forest-fit-time": trees.forest_fit_time,
    "forest-histogram-time": trees.forest_histogram_time,
    "forest-predict-time": trees.forest_predict_time,
    "tree-predict-time": trees.tree_predict_time,
    "tree-memory": trees.tree_memory,
    "tree-first-fit": trees.tree_first_fit,
    "profit-fit-time": profit.profit_fit_time,
    "profit-latency": profit.profit_latency,
    "profit-forest-time": profit.profit_forest_time,
    "start-time": start.start_time,
    "first-fit": start.first_fit,
    "busy-threads": start.busy_threads,
    "audit-time": product.audit_time,
    "study-overhead": product.study_overhead,
}
_HEADS = ("name", "what", "ours", "peer", "ratio", "bar", "verdict")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(MEASUREMENTS), metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--quick", action="store_true", help="smaller data; the table shows where")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the whole table as Markdown")
    options = parser.parse_args(arguments)
    if options.table and (options.quick or options.only):
        parser.error("--table takes a whole run, without --quick and --only")

    console = Console() if sys.stdout.isatty() else Console(width=140)
    run = Run(options.quick)
    rows: dict[str, list[Row]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        names = options.only or list(MEASUREMENTS)
        task = progress.add_task("", total=len(names))
        for name in names:
            run.progress = lambda text, name=name: progress.update(task, description=f"{name}: {text}")
            rows[name] = MEASUREMENTS[name](run)
            progress.advance(task)

    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    kept, missed, open_ = tally(row.passed for found in rows.values() for row in found)
    counts = f"{kept} bars kept, {missed} missed; {open_} rows without a bar or not measured."
    _print(console, f"{date.today()}, {machine}{', quick' if run.quick else ''}", rows)
    console.print(counts)
    if options.json:
        report = {
            "where": f"{date.today()}, {machine}, Python {platform.python_version()}",
            "quick": run.quick,
            "rows": [{"name": name, **row.as_json()} for name, found in rows.items() for row in found],
        }
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if options.table:
        options.table.write_text(_markdown(machine, counts, rows))
    return int(missed > 0)


def _print(console: Console, title: str, rows: dict[str, list[Row]]) -> None:
    shown = Table(*_HEADS[:2], title=title)
    for column in _HEADS[2:-1]:
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column(_HEADS[-1])
    colours = {True: "green", False: "red", None: ""}
    for name, found in rows.items():
        for row in found:
            what = f"{row.what}\n[dim]{row.note}[/]" if row.note else row.what
            shown.add_row(name, what, *_figures(row), row.verdict, style=colours[row.passed])
    console.print(shown)


def _markdown(machine: str, counts: str, rows: dict[str, list[Row]]) -> str:
    lines = [
        ("" if i else f"`{name}`", f"{row.what} ({row.note})" if row.note else row.what, *_figures(row), row.verdict)
        for name, found in rows.items()
        for i, row in enumerate(found)
    ]
    how = "`benchmarks/README.md` describes how each figure is taken."
    return f"# Time and memory\n\n{written_by('bench')}, {machine}. {counts}\n{how}\n\n{table(_HEADS, lines)}"


def _figures(row: Row) -> list[str]:
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    return [_figure(row.ours, row.unit), _figure(row.peer, row.unit), ratio, str(row.bar or "")]


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return {"MB": f"{value:.0f} MB", "s": f"{value:.3g} s"}.get(unit, f"{value:.3f}")


if __name__ == "__main__":
    sys.exit(main())
