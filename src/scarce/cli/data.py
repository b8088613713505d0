"""The command ``scarce data``: list, info and fetch."""

from __future__ import annotations

import typer
from rich.table import Table

from ._console import make_console

# The data sets are imported where they are used, so that help comes at once.

__all__ = ["data_app"]

data_app = typer.Typer(no_args_is_help=True, help="Real data sets by name.")


@data_app.command("list")
def data_list() -> None:
    """List the data sets; the last column shows which are on this machine already."""
    from scarce.datasets import list_datasets

    table = Table("name", box=None)
    for title in ("rows", "features", "positives", "rate", "here"):
        table.add_column(title, justify="right")
    for record in list_datasets():
        counts = (f"{count:,}" for count in (record.rows, record.features, record.positives))
        table.add_row(record.name, *counts, f"{record.rate:.2%}", "yes" if record.available else "no")
    make_console().print(table)


@data_app.command("info")
def data_info(name: str) -> None:
    """Print what is known of a data set."""
    from scarce.datasets import info

    for title, value in info(name)._asdict().items():
        typer.echo(f"{title:<10} {f'{value:.2%}' if title == 'rate' else value}")


@data_app.command("fetch")
def data_fetch(name: str) -> None:
    """Bring a data set to this machine."""
    from scarce.datasets import fetch

    fetch(name)
    typer.echo(f"{name} is on this machine; load it in Python with scarce.datasets.load({name!r}).")
