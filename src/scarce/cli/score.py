"""The command ``scarce score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ._console import make_console

__all__ = ["score_command"]


def score_command(
    model: Annotated[Path, typer.Argument(help="Folder of an audit, or the model.skops in it.")],
    table: Annotated[Path, typer.Argument(help="CSV, Parquet or Excel with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file for all rows, ranked.")] = None,
    show: Annotated[int, typer.Option(help="How many rows to print.")] = 10,
    reasons: Annotated[
        int | None, typer.Option(help="How many of the first rows have reasons; the audit's budget if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Rank new rows by a saved model, with reasons."""
    from scarce._files import check_free, written_whole
    from scarce.audit import score_table

    if out is not None:
        check_free(out, force=force)
    ranked = score_table(model, table, reasons=reasons)
    if out is not None:
        with written_whole(out, force=force) as file:
            ranked.to_csv(file, index=False)
    own = ranked.attrs["shown"]
    shown = Table("rank", "row", *map(escape, own), "score", "flagged", "reasons", box=None)
    why = ranked["reasons"].fillna("") if "reasons" in ranked else [""] * len(ranked)
    for (_, row), reason in zip(ranked.head(show).iterrows(), why, strict=False):
        cells = (escape("" if row[name] != row[name] else str(row[name])) for name in own)
        shown.add_row(str(row["rank"]), str(row["row"]), *cells, f"{row['score']:.3f}", row["flagged"], escape(reason))
    console = make_console()
    console.print(f"{len(ranked):,} rows, {(ranked['flagged'] == 'yes').sum():,} above the threshold")
    learned = int((ranked["learned_from"] == "yes").sum())
    if learned:
        console.print(
            f"Training rows of the model among them: {learned:,} (equal in all columns learned from). Their scores are "
            "flattered: the model has seen their outcomes. Column learned_from marks them.",
            style="yellow",
        )
    console.print(shown)
    if out is not None:
        console.print(f"All rows: {escape(str(out))}", soft_wrap=True)
