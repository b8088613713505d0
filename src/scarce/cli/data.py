"""The command ``scarce data``: list, info and fetch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ._console import make_console

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# The data sets are imported where they are used, so that help comes at once.

__all__ = ["data_app"]

data_app = typer.Typer(no_args_is_help=True, help="Real data sets by name, and simulated ones.")

SIMULATED = ("simulated-payments", "simulated-companies")
TARGET = "target"


@data_app.command("list")
def data_list() -> None:
    """List the data sets; the last column shows which are on this machine already, and which are simulated."""
    from scarce.datasets import list_datasets

    table = Table("name", box=None)
    for title in ("rows", "features", "positives", "rate", "here"):
        table.add_column(title, justify="right")
    for record in list_datasets():
        counts = (f"{count:,}" for count in (record.rows, record.features, record.positives))
        table.add_row(record.name, *counts, f"{record.rate:.2%}", "yes" if record.available else "no")
    for name in SIMULATED:
        made = _simulated(name)
        known = made.target[made.target.notna()]
        counts = (f"{count:,}" for count in (len(made.frame), len(made.feature_names), int(known.sum())))
        table.add_row(name, *counts, f"{known.mean():.2%}", "SIMULATED")
    make_console().print(table)


@data_app.command("info")
def data_info(name: str) -> None:
    """Print what is known of a data set."""
    from scarce.datasets import info

    if name in SIMULATED:
        typer.echo(_simulated(name).DESCR)
        return
    with _advice_for_the_command_line():
        found = info(name)
    for title, value in found._asdict().items():
        typer.echo(f"{title:<10} {f'{value:.2%}' if title == 'rate' else value}")


@data_app.command("fetch")
def data_fetch(
    name: str,
    out: Annotated[
        Path | None, typer.Option(help="Write it as a table, .parquet or .csv, that the audit reads.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Bring a data set to this machine, and write it as a table if asked to."""
    from scarce._errors import UserError
    from scarce._files import check_free, written_whole
    from scarce.datasets import fetch, load
    from scarce.tables.writing import write_csv

    if out is not None:
        if out.suffix.lower() not in (".parquet", ".csv"):
            raise UserError(f"{out} is neither .parquet nor .csv by its name; give the file one of these endings.")
        check_free(out, force=force)
    if name in SIMULATED and out is None:
        raise UserError(f"{name} is simulated, not fetched; write it to a file (`out`), such as {name}.parquet.")
    if out is None:
        with _advice_for_the_command_line():
            fetch(name)
        typer.echo(f"{name} is on this machine; load it in Python with scarce.datasets.load({name!r}).")
        return
    if name in SIMULATED:
        frame, target = _simulated(name).frame, "fraud"
    else:
        with _advice_for_the_command_line():
            frame, target = _table_of(load(name))
    with written_whole(out, force=force) as file:
        if out.suffix.lower() == ".csv":
            write_csv(frame, file)
        else:
            _write_parquet(frame, file, simulated=name in SIMULATED)
    simulated = "SIMULATED " if name in SIMULATED else ""
    typer.echo(f"{simulated}{out}: {len(frame):,} rows. Next: scarce audit {out} --target {target}")


def _simulated(name: str) -> Bunch:
    from scarce.datasets import make_companies, make_transactions

    return make_transactions() if name == "simulated-payments" else make_companies()


def _write_parquet(frame: Any, file: Path, *, simulated: bool) -> None:
    """Write a frame; a simulated one carries a mark that the audit repeats."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from scarce.tables.files import SIMULATED as MARK

    table = pa.Table.from_pandas(frame, preserve_index=False)
    if simulated:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), MARK: b"yes"})
    pq.write_table(table, file)


def _table_of(bunch: Bunch) -> tuple[Any, str]:
    """Return a data set as one frame, and the name of its column of outcomes."""
    import pandas as pd

    from scarce.datasets._handbook import FRAUD

    if "frame" in bunch:
        return bunch.frame, FRAUD
    frame = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    for extra in ("amount", "income", "debt_ratio", "cost_fp", "cost_fn", "cost_tp", "cost_tn"):
        if extra in bunch and extra.casefold() not in map(str.casefold, frame.columns):
            frame[extra] = bunch[extra]
    target = TARGET if TARGET not in frame else f"{TARGET} (outcome)"
    frame[target] = bunch.target
    return frame, target


@contextmanager
def _advice_for_the_command_line() -> Iterator[None]:
    """Advise the command that lists names instead of the function."""
    from scarce._errors import UserError
    from scarce.datasets._catalogue import UnknownDataset

    try:
        yield
    except UnknownDataset as error:
        raise UserError(f"{error.problem} The command scarce data list shows all names.") from error
