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
    table: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file for all rows, ranked.")] = None,
    show: Annotated[int, typer.Option(help="How many rows to print.")] = 10,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Rank new rows by a saved model, with reasons."""
    from scarce._files import check_free, written_whole
    from scarce.audit import score_table

    if out is not None:
        check_free(out, force=force)
    ranked = score_table(model, table)
    if out is not None:
        with written_whole(out, force=force) as file:
            ranked.to_csv(file, index=False)
    shown = Table("rank", "row", "score", "flagged", "reasons", box=None)
    for row in ranked.head(show).fillna({"reasons": ""}).itertuples():
        shown.add_row(str(row.rank), str(row.row), f"{row.score:.3f}", row.flagged, escape(row.reasons))
    console = make_console()
    console.print(f"{len(ranked):,} rows, {(ranked['flagged'] == 'yes').sum():,} above the threshold")
    console.print(shown)
    if out is not None:
        console.print(f"All rows: {escape(str(out))}", soft_wrap=True)
