"""Run the measurements and print the table."""

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
    ap_boosting,
    audit,
    ccnnd,
    creditcard,
    ellipsoids,
    fmeasure,
    fmeasure_development,
    fmeasure_time,
    gravity,
    keel_quality,
    local_gamma,
    memory,
    metric_learning,
    paper,
    profit,
    profit_development,
    profit_money,
    profit_trees,
    sampling,
    speed,
    study,
    trees,
    trees_budget,
    votes,
)
from benchmarks.rows import Detail, Row, Run

MEASUREMENTS: dict[str, Callable[[Run], list[Row]]] = {
    "fit-time": speed.fit_time,
    "grid-search-time": speed.grid_search_time,
    "predict-time": speed.predict_time,
    "fit-memory": memory.fit_memory,
    "gamma-grid": paper.gamma_grid,
    "paper-f1": paper.paper_f1,
    "creditcard-ap": creditcard.creditcard_ap,
    "keel-quality": keel_quality.keel_quality,
    "ccnnd-predict-time": ccnnd.ccnnd_predict_time,
    "ccnnd-stream-time": ccnnd.ccnnd_stream_time,
    "gravity-time": gravity.gravity_time,
    "gravity-memory": gravity.gravity_memory,
    "rare-predict-time": votes.rare_predict_time,
    "neighbors-time": votes.neighbors_time,
    "two-gamma-time": sampling.two_gamma_time,
    "two-gamma-honest": sampling.two_gamma_honest,
    "sampling-time": sampling.sampling_time,
    "sampling-f1": sampling.sampling_f1,
    "local-gamma": local_gamma.local_gamma,
    "lmnn": metric_learning.lmnn,
    "metric-f1": metric_learning.metric_f1,
    "ellipsoid-dual-time": ellipsoids.ellipsoid_dual_time,
    "ellipsoid-fit-time": ellipsoids.ellipsoid_fit_time,
    "ellipsoid-f1": ellipsoids.ellipsoid_f1,
    "ellipsoid-development": ellipsoids.ellipsoid_development,
    "fmeasure": fmeasure.fmeasure,
    "fmeasure-development": fmeasure_development.fmeasure_development,
    "fmeasure-overhead": fmeasure_time.fmeasure_overhead,
    "audit-time": audit.audit_time,
    "tree-fit-time": trees.tree_fit_time,
    "meta-fit-time": trees.meta_fit_time,
    "forest-fit-time": trees.forest_fit_time,
    "tree-predict-time": trees.tree_predict_time,
    "tree-memory": trees.tree_memory,
    "tree-first-fit": trees.tree_first_fit,
    "tree-budget": trees_budget.tree_budget,
    "study-overhead": study.study_overhead,
    "profit-fit-time": profit.profit_fit_time,
    "profit-latency": profit.profit_latency,
    "profit-payments": profit_money.profit_payments,
    "profit-creditcard": profit_money.profit_creditcard,
    "profit-creditcard-orderings": profit_money.profit_creditcard_orderings,
    "profit-creditcard-time": profit_money.profit_creditcard_time,
    "profit-credit": profit_money.profit_credit,
    "ap-boosting": ap_boosting.ap_boosting,
    "profit-forest-time": profit_trees.profit_forest_time,
    "profit-tree-choices": profit_trees.profit_tree_choices,
    "profit-development": profit_development.profit_development,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(MEASUREMENTS), metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--quick", action="store_true", help="smaller data; the table says where")
    parser.add_argument("--details", action="store_true", help="print the tables behind the rows too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows and details to a file")
    options = parser.parse_args(arguments)

    console = Console() if sys.stdout.isatty() else Console(width=140)
    run = Run(options.quick)
    rows: dict[str, list[Row]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        names = options.only or list(MEASUREMENTS)
        task = progress.add_task("", total=len(names))
        for name in names:
            run.tell = lambda text, name=name: progress.update(task, description=f"{name}: {text}")
            rows[name] = MEASUREMENTS[name](run)
            progress.advance(task)

    where = f"{date.today()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    _print(console, f"{where}{', quick' if run.quick else ''}", rows)
    if options.details:
        for detail in run.details:
            _print_detail(console, detail)
    if options.json:
        report = {
            "where": where,
            "quick": run.quick,
            "rows": [{"name": name, **row.as_json()} for name, found in rows.items() for row in found],
            "details": [vars(detail) for detail in run.details],
        }
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return int(any(row.passed is False for found in rows.values() for row in found))


def _print(console: Console, title: str, rows: dict[str, list[Row]]) -> None:
    table = Table("name", "what", title=title)
    for column in ("ours", "peer", "ratio", "bar"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict")
    for name, found in rows.items():
        for row in found:
            verdict = {True: "[green]pass[/]", False: "[red]MISS[/]", None: ""}[row.passed]
            if row.ours is None:
                verdict = "not measured"
            table.add_row(
                name,
                f"{row.what}\n[dim]{row.note}[/]" if row.note else row.what,
                _figure(row.ours, row.unit),
                _figure(row.peer, row.unit),
                "" if row.ratio is None else f"{row.ratio:.3g}",
                str(row.bar or ""),
                verdict,
            )
    console.print(table)


def _print_detail(console: Console, detail: Detail) -> None:
    table = Table(title=detail.title)
    for column in detail.columns:
        table.add_column(column, justify="left" if column == detail.columns[0] else "right")
    for line in detail.rows:
        table.add_row(*(cell if isinstance(cell, str) else f"{cell:.3f}" for cell in line))
    console.print(table)


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return {"sets": f"{value:.0f}", "MB": f"{value:.0f} MB", "s": f"{value:.3g} s"}.get(unit, f"{value:.3f}")


if __name__ == "__main__":
    sys.exit(main())
