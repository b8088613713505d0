"""The command ``scarce score``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from scarce._typing import Keywords

from ._console import make_console, progress

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["score_command"]


def score_command(
    model: Annotated[Path, typer.Argument(help="Folder of an audit, or the model.skops in it.")],
    table: Annotated[
        str, typer.Argument(help="CSV, Parquet or Excel with the same columns; a folder, or 'folder/*.parquet'.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="ranked.csv for all rows of one file, ranked; else a folder for all scores.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Rank so many rows, file by file; 1,000 of a folder if left out.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="Column that differs in every row, to stand beside the scores.")
    ] = None,
    where_empty: Annotated[
        str | None, typer.Option(help="Score only rows in which this column is empty, such as the outcome.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Score on a cluster: dask://HOST:PORT.")] = None,
    show: Annotated[int, typer.Option(help="How many rows to print.")] = 10,
    reasons: Annotated[
        int | None, typer.Option(help="How many of the first rows have reasons; the audit's budget if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file or folder if it exists.")] = False,
) -> None:
    """Rank new rows by a saved model, with reasons; of a folder file by file, in a small memory."""
    from scarce.engines.fragments import is_folder

    whole = out is None or out.suffix.lower() == ".csv"
    options: Keywords = {"reasons": reasons, "out": out, "force": force}
    if is_folder(table) or not whole or any(given is not None for given in (top, id, where_empty, engine)):
        options |= {"id": id, "where_empty": where_empty, "engine": engine}
        _score_files(model, table, show, options if top is None else {**options, "top": top})
    else:
        _score_table(model, table, show, **options)


def _score_table(model: Path, table: str, show: int, *, reasons: int | None, out: Path | None, force: bool) -> None:
    from scarce._errors import AuditError
    from scarce._files import check_free, written_whole
    from scarce.audit import score_table
    from scarce.tables.writing import write_csv

    if out is not None:
        check_free(out, force=force)
        if out.exists() and Path(table).exists() and out.samefile(table):
            raise AuditError(f"{out} is the table itself, which its ranking would replace; name another file (`out`).")
    ranked = score_table(model, table, reasons=reasons)
    if out is not None:
        with written_whole(out, force=force) as file:
            write_csv(ranked, file)
    console = make_console()
    console.print(f"{len(ranked):,} rows, {(ranked['flagged'] == 'yes').sum():,} above the threshold")
    _print_ranked(ranked, show)
    if out is not None:
        console.print(f"All rows: {escape(str(out))}", soft_wrap=True)


def _score_files(model: Path, data: str, show: int, options: Keywords) -> None:
    from scarce._errors import AuditError
    from scarce.audit import score_files

    out: Path | None = options["out"]
    if out is not None and out.suffix.lower() == ".csv":
        raise AuditError(f"The scores of files are a folder of Parquet; name one (`out`) in place of {out}.")
    with progress() as shown:
        found = score_files(model, data, **options, progress=shown)
    console = make_console()
    console.print(f"{found.rows:,} rows, {found.above:,} above the threshold")
    if found.again:
        console.print(f"Files that an earlier run had scored to their end, taken over: {found.again:,}.")
    _print_ranked(found.top, show)
    if out is not None:
        console.print(
            f"All scores: {escape(str(out))}; the first rows: {escape(str(out / '_top.csv'))}", soft_wrap=True
        )


def _print_ranked(ranked: pd.DataFrame, show: int) -> None:
    """Print the first rows of a ranking, and how many of its rows the model has learned from."""
    console = make_console()
    own = ranked.attrs.get("shown", [])
    places = [name for name in ("file", "row") if name in ranked]
    shown = Table("rank", *places, *map(escape, own), "score", "flagged", "reasons", box=None)
    why = ranked["reasons"].fillna("") if "reasons" in ranked else [""] * len(ranked)
    for (_, row), reason in zip(ranked.head(show).iterrows(), why, strict=False):
        cells = (escape("" if row[name] != row[name] else str(row[name])) for name in [*places, *own])
        shown.add_row(str(row["rank"]), *cells, f"{row['score']:.3f}", row["flagged"], escape(reason))
    learned = int((ranked["learned_from"] == "yes").sum())
    if learned:
        console.print(
            f"Training rows of the model among them: {learned:,} (equal in all columns learned from). Their scores are "
            "flattered: the model has seen their outcomes. Column learned_from marks them.",
            style="yellow",
        )
    console.print(shown)
