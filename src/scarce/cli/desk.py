"""The commands ``scarce desk``: tokens, and the queue of another audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ._console import make_console, progress

if TYPE_CHECKING:
    from scarce.desk.store import Store

__all__ = ["desk_app"]

desk_app = typer.Typer(no_args_is_help=True, help="Manage the review desk: its tokens, queues and verdicts.")
tokens_app = typer.Typer(no_args_is_help=True, help="Manage who may use the desk.")
desk_app.add_typer(tokens_app, name="tokens")

Desk = Annotated[str, typer.Option("--desk", help="Folder of the audit whose desk it is, or the URL of its store.")]


def _open(desk: str) -> Store:
    from scarce.desk.store import Store, existing_url

    return Store(existing_url(desk))


@tokens_app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the person or program.")],
    desk: Desk,
    role: Annotated[Literal["viewer", "reviewer", "admin"], typer.Option(help="What it may do.")] = "reviewer",
) -> None:
    """Make a token, and print it once."""
    from scarce.desk.tokens import add_token

    typer.echo(add_token(_open(desk), name, role))


@tokens_app.command("list")
def list_all(desk: Desk) -> None:
    """List all tokens by name."""
    from scarce.desk.tokens import list_tokens

    table = Table("Name", "Role", "Made", "Revoked", box=None)
    for token in list_tokens(_open(desk)):
        revoked = "" if token.revoked is None else f"{token.revoked:%Y-%m-%d %H:%M}"
        table.add_row(escape(token.name), token.role, f"{token.created:%Y-%m-%d %H:%M}", revoked)
    make_console().print(table)


@tokens_app.command("revoke")
def revoke(name: Annotated[str, typer.Argument(help="Name of the token.")], desk: Desk) -> None:
    """Revoke a token, and end its sessions."""
    from scarce.desk.tokens import revoke_token

    revoke_token(_open(desk), name)
    typer.echo(f"The token of {name} is revoked; a running desk refuses it within a few seconds.")


@desk_app.command("import")
def import_audit(
    folder: Annotated[Path, typer.Argument(help="Folder of the new audit.")],
    desk: Desk,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Column by which cases are recognised; may be given several times, and holds from now on."),
    ] = None,
) -> None:
    """Add the queue of a new audit to a desk; what is decided stays decided."""
    with progress() as show:
        from scarce.desk.imports import import_folder

        found = import_folder(_open(desk), folder, key=key or (), progress=show)
    typer.echo(str(found))


@desk_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="CSV or Parquet file.")],
    desk: Desk,
    history: Annotated[bool, typer.Option("--history", help="All entries, undone ones too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the verdicts to a file that scarce audit learns from."""
    from scarce._files import check_free, written_whole
    from scarce.desk.errors import DeskError
    from scarce.desk.exports import entries_table, verdicts_table
    from scarce.tables.writing import write_csv, write_parquet

    if out.suffix not in (".csv", ".parquet"):
        raise DeskError(f"Verdicts are written as .csv or .parquet; {out.name} is neither, so give it another name.")
    check_free(out, force=force)
    table = (entries_table if history else verdicts_table)(_open(desk))
    with written_whole(out, force=force) as file:
        (write_csv if out.suffix == ".csv" else write_parquet)(table, file)
    typer.echo(f"{len(table):,} {'entries' if history else 'verdicts'}: {out}")
