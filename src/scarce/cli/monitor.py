"""The command ``scarce monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import make_console, progress

__all__ = ["NEEDS_PERSON", "monitor_command"]

# The exit code where something needs a person.
NEEDS_PERSON = 3


def monitor_command(
    folder: Annotated[Path, typer.Argument(help="Folder of an audit.")],
    table: Annotated[Path, typer.Argument(help="CSV, Parquet or Excel of new rows with the same columns.")],
    outcomes: Annotated[
        Path | None, typer.Option(help="File of identifiers, verdict and, for rows drawn at random, chance_drawn.")
    ] = None,
    desk: Annotated[
        str | None, typer.Option(help="Desk whose verdicts are the outcomes: a folder with a desk, or a URL.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page and the history; FOLDER-monitor if left out.")
    ] = None,
    renew_every: Annotated[
        int, typer.Option(min=0, help="Days after which renewal is advised in any case; 0 for never.")
    ] = 28,
    seed: Annotated[int, typer.Option(help="The same seed gives the same samples.")] = 0,
) -> None:
    """Compare new rows and outcomes with what a model was tested on: exit code 0 if all is well, 3 if not."""
    with progress() as show:
        from scarce._errors import MonitorError
        from scarce.engines.manifest import LARGEST_SEED
        from scarce.monitor.files import monitor_table

        if not 0 <= seed <= LARGEST_SEED:
            raise MonitorError(f"`seed` is a whole number from 0 to {LARGEST_SEED}; it was {seed}.")
        if outcomes is not None and desk is not None:
            raise MonitorError("Outcomes come from a file (`outcomes`) or from a desk (`desk`); name one of them.")
        given = None
        if desk is not None:
            from scarce.desk.exports import read_reviews

            given = read_reviews(desk)
        report = monitor_table(
            folder,
            table,
            outcomes=outcomes if given is None else given,
            out=out,
            seed=seed,
            renew_every=renew_every,
            progress=show,
        )
    console = make_console()
    console.print(str(report), markup=False)
    for note in report.as_dict()["notes"]:
        console.print(note, style="yellow", markup=False)
    place = out or folder.resolve().with_name(folder.resolve().name + "-monitor")
    console.print(f"page and history: {place}", soft_wrap=True, markup=False)
    if report.needs_person:
        raise typer.Exit(NEEDS_PERSON)
