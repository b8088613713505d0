"""The command line: ``scarce audit``, ``scarce score``, ``scarce study`` and ``scarce data``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Table
except ModuleNotFoundError as missing:
    sys.stderr.write(f'The command scarce needs {missing.name}; install it with: pip install "scarce[audit]"\n')
    raise SystemExit(2) from missing

from scarce.study.cli import study_app

if TYPE_CHECKING:
    from scarce.audit import Audit

# The audit is imported where it is used, so that help and data lists come at once.

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learn from few positives: rank the rows to check, with reasons.",
)
data_app = typer.Typer(no_args_is_help=True, help="Real data sets by name.")
app.add_typer(study_app, name="study")
app.add_typer(data_app, name="data")

WIDTH = 100
NEEDED = dict.fromkeys(("jinja2", "lightgbm", "matplotlib", "pandas", "pyarrow", "skops"), "audit")
NEEDED |= {"scikit_posthocs": "study", "imblearn": "sampling"}


@app.command("audit")
def audit_command(
    table: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet; without it, simulated payments are audited.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Column of outcomes with two values; rows where it is empty become the queue."),
    ] = None,
    budget: Annotated[int, typer.Option(help="How many rows can be checked.")] = 200,
    amount: Annotated[str | None, typer.Option(help="Column of money at stake.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers; test on later rows.")] = None,
    objective: Annotated[
        Literal["ap", "f1", "budget", "profit"],
        typer.Option(help="What chooses the winner and the cut; ap takes the cut of f1."),
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
        from scarce.audit import audit, check_free, save

        folder = out or Path(f"audit-{table.name.split('.')[0] if table else 'simulated'}")
        check_free(folder, force=force)
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
            progress=lambda said, done, total: bar.update(task, description=said, completed=done, total=total),
        )
        save(result, folder, force=force)
    _print_audit(result, folder)


@app.command("score")
def score_command(
    model: Annotated[Path, typer.Argument(help="Folder of an audit, or the model.skops in it.")],
    table: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file for all rows, ranked.")] = None,
    show: Annotated[int, typer.Option(help="How many rows to print.")] = 10,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Rank new rows by a saved model, with reasons."""
    from scarce.audit import check_free, score_table, written_whole

    if out is not None:
        check_free(out, force=force)
    ranked = score_table(model, table)
    if out is not None:
        with written_whole(out, force=force) as file:
            ranked.to_csv(file, index=False)
    shown = Table("rank", "row", "score", "flagged", "reasons", box=None)
    for row in ranked.head(show).fillna({"reasons": ""}).itertuples():
        shown.add_row(str(row.rank), str(row.row), f"{row.score:.3f}", row.flagged, escape(row.reasons))
    console = _console()
    console.print(f"{len(ranked):,} rows, {(ranked['flagged'] == 'yes').sum():,} above the cut")
    console.print(shown)
    if out is not None:
        console.print(f"All rows: {escape(str(out))}", soft_wrap=True)


@data_app.command("list")
def data_list() -> None:
    """List the data sets; whether one is on this machine already is in the last column."""
    from scarce.datasets import list_datasets

    table = Table("name", box=None)
    for title in ("rows", "features", "positives", "rate", "here"):
        table.add_column(title, justify="right")
    for record in list_datasets():
        counts = (f"{count:,}" for count in (record.rows, record.features, record.positives))
        table.add_row(record.name, *counts, f"{record.rate:.2%}", "yes" if record.available else "no")
    _console().print(table)


@data_app.command("info")
def data_info(name: str) -> None:
    """Say what is known of a data set."""
    from scarce.datasets import info

    for title, value in _known(info, name)._asdict().items():
        typer.echo(f"{title:<10} {f'{value:.2%}' if title == 'rate' else value}")


@data_app.command("fetch")
def data_fetch(name: str) -> None:
    """Bring a data set to this machine."""
    from scarce.datasets import fetch

    _known(fetch, name)
    typer.echo(f"{name} is on this machine; load it in Python with scarce.datasets.load({name!r}).")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        from scarce import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line. What the user can put right is said in one sentence, with exit code 2."""
    try:
        app()
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        _leave(f'This command needs {error.name}; install it with: pip install "scarce[{NEEDED[error.name]}]"', 2)
    except (ValueError, OSError) as error:
        from scarce.audit import AuditError
        from scarce.datasets import DatasetUnavailable
        from scarce.study import StudyError

        if not isinstance(error, (AuditError, DatasetUnavailable, StudyError)):
            raise
        _leave(str(error), 2)


def _leave(said: str, code: int) -> NoReturn:
    sys.stderr.write(said + "\n")
    raise SystemExit(code)


def _known(function: Callable[[str], Any], name: str) -> Any:
    """Call a function of the catalogue, which has its own sentence for a name that it does not know."""
    try:
        return function(name)
    except ValueError as error:
        _leave(str(error), 2)


def _console(*, stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    # Where there is no terminal, the width is that of the widest table, not of a terminal of old.
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


def _progress() -> Progress:
    console = _console(stderr=True)
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


def _print_audit(result: Audit, folder: Path) -> None:
    from scarce.audit import figure_text, figure_titles, interval_text

    console, profile = _console(), result.profile
    simulated = "SIMULATED " if result.source.simulated else ""
    console.print(
        f"{simulated}{result.source.name}: {profile.rows:,} rows, {profile.positives:,} positive "
        f"({profile.positives / profile.labelled:.2%} of {profile.labelled:,} with a known outcome). "
        f"{result.target.said}",
        markup=False,
    )
    for warning in result.warnings:
        console.print(warning, style="bold red" if warning.startswith("LEAK") else "yellow", markup=False)
    titles = figure_titles(result)
    table = Table("Method", title=f"{simulated}{result.comparison.folds.said}", title_justify="left")
    for title in titles.values():
        table.add_column(title.replace("Average precision", "AP"), justify="right")
    for place, outcome in enumerate(result.comparison.outcomes):
        cells = (
            f"{figure_text(figure.estimate, name)}\n[dim]{interval_text(figure._asdict(), name)}[/]"
            for name, figure in outcome.figures.items()
        )
        mark, style = ("★ ", "bold green") if place == 0 else ("  ", None)
        table.add_row(mark + outcome.candidate.name, *cells, style=style)
    console.print(table)
    console.print(result.comparison.said)
    console.print(f"{simulated}queue, report and model: {folder}", soft_wrap=True, markup=False)


if __name__ == "__main__":
    main()
