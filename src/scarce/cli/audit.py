"""The command ``scarce audit``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ._console import make_console, options_of, with_options

if TYPE_CHECKING:
    from scarce.audit import Audit

# The audit is imported where it is used, so that help comes at once.

__all__ = ["audit_command"]

# In full, the table would not fit on a screen.
SHORT_TITLES = {"ap": "AP", "f1": "F1"}


def audit_command(
    context: typer.Context,
    table: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet; without it, simulated payments are audited.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Column of outcomes with two values; rows where it is empty become the queue."),
    ] = None,
    budget: Annotated[str, typer.Option(help="How many rows can be checked: 200, or 100/day.")] = "200",
    amount: Annotated[str | None, typer.Option(help="Column of money at stake.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers; test on later rows.")] = None,
    objective: Annotated[
        Literal["ap", "f1", "gmean", "budget", "profit"],
        typer.Option(help="What chooses the winner and the threshold; ap takes the threshold of f1."),
    ] = "ap",
    check_cost: Annotated[
        float | None,
        typer.Option(help="Cost of one check; profit is the amounts caught less the cost of all checks."),
    ] = None,
    positive: Annotated[str | None, typer.Option(help="Outcome to look for; the rarer one if left out.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Column to learn from in any case; repeatable.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column not to learn from; repeatable.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; audit-NAME if left out.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same queue.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder if it exists.")] = False,
) -> None:
    """Compare methods on a table, rank the rows to check, and write a report, the queue and the model."""
    with _progress() as bar:
        task = bar.add_task("Starting", total=None)
        from scarce._files import check_free
        from scarce.audit import audit, save
        from scarce.audit.folder import MANIFEST

        folder = out or Path(f"audit-{table.name.split('.')[0] if table else 'simulated'}")
        check_free(folder, force=force, marker=MANIFEST)
        result = audit(
            table,
            target,
            budget=budget,
            objective=objective,
            positive=positive,
            amount=amount,
            time=time,
            check_cost=check_cost,
            keep=keep or (),
            drop=drop or (),
            seed=seed,
            progress=lambda step, done, total: bar.update(task, description=step, completed=done, total=total),
        )
        save(result, folder, force=force)
    _print_audit(result, folder, options_of(context.command))


def _progress() -> Progress:
    console = make_console(stderr=True)
    return Progress(
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _print_audit(result: Audit, folder: Path, options: Collection[str]) -> None:
    from scarce.audit import figure_text, figure_titles, interval_text

    console, profile = make_console(), result.profile
    simulated = "SIMULATED " if result.source.simulated else ""
    console.print(
        f"{simulated}{result.source.name}: {profile.rows:,} rows, {profile.positives:,} positive "
        f"({profile.positives / profile.labelled:.2%} of {profile.labelled:,} with a known outcome). "
        f"{result.target.reason}",
        markup=False,
    )
    for warning in result.warnings:
        colour = "bold red" if warning.startswith("LEAK") else "yellow"
        console.print(with_options(warning, options), style=colour, markup=False)
    titles = figure_titles(result)
    table = Table("Method", title=f"{simulated}{result.comparison.folds.description}", title_justify="left")
    for name, title in titles.items():
        table.add_column(SHORT_TITLES.get(name, title), justify="right")
    for place, outcome in enumerate(result.comparison.outcomes):
        cells = (
            f"{figure_text(figure.estimate, name)}\n[dim]{interval_text(figure._asdict(), name)}[/]"
            for name, figure in outcome.figures.items()
        )
        mark, style = ("★ ", "bold green") if place == 0 else ("  ", None)
        table.add_row(mark + outcome.candidate.name, *cells, style=style)
    console.print(table)
    console.print(result.comparison.summary)
    console.print(f"{simulated}queue, report and model: {folder}", soft_wrap=True, markup=False)
