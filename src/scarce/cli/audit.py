"""The command ``scarce audit``."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from ._console import make_console, options_of, progress, with_options

if TYPE_CHECKING:
    import pandas as pd

    from scarce.audit import Audit

# The audit is imported where it is used, so that help comes at once.

__all__ = ["audit_command"]

# In full, the table would not fit on a screen.
SHORT_TITLES = {"ap": "AP", "f1": "F1", "gmean": "G-mean"}
# Options of the command that are none of the audit.
OF_COMMAND = ("table", "gains", "gain", "again", "out", "force")


def audit_command(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="CSV, Parquet, Excel, a folder or pattern, or audit.toml; if left out, simulated payments."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Column of outcomes with two values; rows where it is empty become the queue."),
    ] = None,
    budget: Annotated[str, typer.Option(help="How many rows can be checked: 200, or 100/day.")] = "200",
    amount: Annotated[str | None, typer.Option(help="Column of money at stake.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers; test on later rows.")] = None,
    delay: Annotated[str | None, typer.Option(help="Time after which an outcome is known, such as 7d.")] = None,
    objective: Annotated[
        Literal["ap", "f1", "gmean", "budget", "profit"],
        typer.Option(help="What chooses the winner and the threshold; ap takes the threshold of f1."),
    ] = "ap",
    check_cost: Annotated[
        float | None,
        typer.Option(help="Cost of one check; profit is the amounts caught less the cost of all checks."),
    ] = None,
    gains: Annotated[Path | None, typer.Option(help="TOML file with what tp, fp, tn and fn earn.")] = None,
    gain: Annotated[
        list[str] | None, typer.Option(help='What one outcome earns, such as fn="-0.8*amount"; repeatable.')
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Methods to compare, such as lightgbm,gamma-knn.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Compare the three cheapest methods only.")] = False,
    minutes: Annotated[float | None, typer.Option(help="Time limit; methods clearly behind are stopped.")] = None,
    sample: Annotated[int | None, typer.Option(help="Most rows to learn from; 200,000 if left out.")] = None,
    distinct: Annotated[
        str | None, typer.Option(help="Column such as the card, each of which is checked once.")
    ] = None,
    entity: Annotated[
        list[str] | None, typer.Option(help="Column whose history is learned from, such as the card; repeatable.")
    ] = None,
    windows: Annotated[
        list[str] | None, typer.Option(help="How far back histories look; 1d, 7d and 30d if left out; repeatable.")
    ] = None,
    explore: Annotated[str, typer.Option(help="Share of the queue that is drawn at random, such as 5%.")] = "0",
    rank: Annotated[str | None, typer.Option(help="Rows to rank, as COLUMN=VALUE; else outcome empty.")] = None,
    unlabelled: Annotated[
        Literal["leave_out", "negative"], typer.Option(help="What other rows without an outcome count as.")
    ] = "leave_out",
    checked: Annotated[str | None, typer.Option(help="Column that is yes where a row was ever checked.")] = None,
    reviews: Annotated[
        str | None, typer.Option(help="Verdicts, which go first: a file, an audit's folder, a desk's URL.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="Outcome to look for; the rarer one if left out.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Column to learn from in any case; repeatable.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column not to learn from; repeatable.")] = None,
    types: Annotated[
        list[str] | None, typer.Option(help="Kind of a column: COLUMN=number, category or date; repeatable.")
    ] = None,
    columns: Annotated[Path | None, typer.Option(help="TOML file of titles, units and kinds of columns.")] = None,
    again: Annotated[Path | None, typer.Option(help="Folder of an audit to repeat on this table.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; audit-NAME if left out.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same queue.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder if it exists.")] = False,
) -> None:
    """Compare methods on a table, rank the rows to check, and write a report, the queue and the model."""
    with progress() as show:
        from scarce._files import check_free
        from scarce.audit import audit, changes_since, save
        from scarce.audit.kept import partial_folder
        from scarce.engines.saved import MANIFEST

        options = _options(context, table, again, gains, gain)
        source = options.pop("table", None)
        name = table_name(str(source)) if source else "simulated"
        folder = out or Path(f"audit-{name}")
        check_free(folder, force=force, marker=MANIFEST)
        result = audit(
            source,
            options.pop("target", None),
            **options,
            progress=show,
            read_reviews=_read_reviews,
            partial=partial_folder(folder),
        )
        if again is not None:
            result.changes = changes_since(again, result)
        save(result, folder, force=force)
        shutil.rmtree(partial_folder(folder), ignore_errors=True)
    _print_audit(result, folder, options_of(context.command))


def _read_reviews(source: str) -> pd.DataFrame:
    """Return verdicts of a file, or of a desk, whose packages are of another extra."""
    from scarce.tables import read_table

    if "://" not in source and not Path(source).is_dir():
        return read_table(source).frame
    from scarce._extras import require

    require("sqlalchemy", "The desk")
    from scarce.desk.exports import read_reviews

    return read_reviews(source)


def table_name(source: str) -> str:
    """Return the name of a file without its endings, or that of a folder, for a pattern the one before it."""
    path = Path(os.path.abspath(source))  # no link is followed: it may lead in a circle
    while glob.has_magic(path.name):
        path = path.parent
    return path.name.split(".")[0] or "files"


def _kinds(given: Sequence[str]) -> dict[str, Any]:
    """Return the kinds of columns; which kinds there are is checked with the table's other faults."""
    from scarce._errors import AuditError

    for word in given:
        if "=" not in word:
            raise AuditError(f"`types` is written COLUMN=KIND, such as year=category; it was {word!r}.")
    return dict(word.rsplit("=", 1) for word in given)


def _options(
    context: typer.Context, table: Path | None, again: Path | None, gains: Path | None, gain: Sequence[str] | None
) -> dict[str, Any]:
    """Return the options that were given, those of the command line before those of a file."""
    from scarce.audit import read_gains, read_options, repeated_options

    found: dict[str, Any] = {}
    if again is not None:
        found = repeated_options(again)
    if table is not None and table.suffix == ".toml":
        found |= read_options(table)
    elif table is not None:
        found["table"] = str(table)
    given = {name for name in context.params if _is_given(context, name)} - set(OF_COMMAND)
    found |= {name: context.params[name] for name in given}
    if isinstance(found.get("types"), list):
        found["types"] = _kinds(found["types"])
    if isinstance(found.get("columns"), Path):
        found["columns"] = str(found["columns"])
    if gains is not None:
        found["gains"] = read_gains(gains)
    if gain:
        found["gains"] = {**(found.get("gains") or {}), **dict(_gain(text) for text in gain)}
    return found


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _gain(text: str) -> tuple[str, str]:
    from scarce.audit import AuditError

    name, equals, value = text.partition("=")
    if not equals:
        raise AuditError(f'A gain is written like fn="-0.8*amount" (`gain`); it was {text!r}.')
    return name.strip(), value.strip()


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
    for stopped in result.comparison.stopped:
        console.print(f"{stopped.candidate.name}: {stopped.reason}.", markup=False)
    console.print(result.comparison.summary)
    if result.new_rows:
        console.print(f"Of the rows to check, {result.promise} should be positive.", style="bold", markup=False)
    about = [
        result.shift and result.shift.sentence,
        result.exploration and result.exploration.sentence,
        result.checks and result.checks.sentence,
        *(certificate.sentence for certificate in result.certificates),
        result.readable.sentence,
        *result.changes,
    ]
    for sentence in filter(None, about):
        console.print(sentence, markup=False)
    console.print(f"{simulated}queue, report and model: {folder}", soft_wrap=True, markup=False)
