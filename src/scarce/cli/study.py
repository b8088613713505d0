"""The command ``scarce study``: list, run, show, compare and page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from scarce._typing import Record

from ._console import Lines, make_console, times

if TYPE_CHECKING:
    from scarce.study import Progress, Store, Study

# Everything else is imported where it is used, so that help comes at once.

__all__ = ["study_app"]

study_app = typer.Typer(
    no_args_is_help=True, help="The papers' tables, theirs beside ours, and comparisons of your own."
)

WIDTH = 140
# A live table with more columns than this would not fit on a screen.
MOST_COLUMNS = 12
VERDICTS = {"confirmed": "green", "refuted": "red"}

Out = Annotated[Path, typer.Option(help="Folder of the store and the reports.")]
Names = Annotated[list[str], typer.Argument(help="Names that scarce study list gives, or a TOML file of your own.")]
Splits = Annotated[int | None, typer.Option(help="Run only the first N splits; the output notes it.")]
Sets = Annotated[str | None, typer.Option(help="Only these sets, separated by commas.")]
Methods = Annotated[str | None, typer.Option(help="Only these methods, separated by semicolons.")]
Jobs = Annotated[int, typer.Option(help="Processes on this machine; -1 is one for each core.")]
Dask = Annotated[str | None, typer.Option(help="Address of a Dask scheduler, whose workers compute instead.")]
PaperGrid = Annotated[bool, typer.Option("--paper-grid", help="Choose by the paper's grid where ours is exact.")]


@study_app.command("list")
def list_command(out: Out = Path("study")) -> None:
    """List the studies, how many cells each has, and how many of them are in the store."""
    from scarce.study import list_studies, load_study
    from scarce.study.runner import needs

    table = Table("name", "what", box=None)
    table.add_column("sets", justify="right")
    table.add_column("cells", justify="right")
    table.add_column("done", justify="right")
    with ExitStack() as stack:
        store = stack.enter_context(_store(out)) if _file(out).exists() else None
        for name in list_studies():
            study = load_study(name)
            keys = {planned.cell.key for planned in study.plan()}
            done = f"{len(store.read(keys)):,}" if store else "0"
            absent = sorted(set(needs(study).values()))
            what = escape(study.title) + (f" [yellow](needs {', '.join(absent)})[/]" if absent else "")
            table.add_row(name, what, str(len(study.sets)), f"{len(keys):,}", done)
    make_console(WIDTH).print(table)


@study_app.command("run")
def run_command(
    names: Names,
    out: Out = Path("study"),
    sets: Sets = None,
    splits: Splits = None,
    methods: Methods = None,
    jobs: Jobs = -1,
    dask: Dask = None,
    paper_grid: PaperGrid = False,
) -> None:
    """Compute what is not in the store yet, print the table and write the report. Run it again to go on."""
    for name in names:
        _run(_reduced(name, sets, splits, methods, paper_grid), out, jobs, dask)


@study_app.command("show")
def show_command(
    names: Names,
    out: Out = Path("study"),
    sets: Sets = None,
    splits: Splits = None,
    methods: Methods = None,
    paper_grid: PaperGrid = False,
) -> None:
    """Print and write the report of what is in the store, and compute nothing."""
    for name in names:
        with _store(out) as store:
            _report(_reduced(name, sets, splits, methods, paper_grid), store, out)


@study_app.command("compare")
def compare_command(
    data: Annotated[
        list[Path], typer.Option(help="CSV, Parquet or Excel with known outcomes; repeat for more tables.")
    ],
    target: Annotated[str, typer.Option(help="Column of outcomes, with two values.")],
    methods: Annotated[
        str | None, typer.Option(help="Estimators of scarce, separated by commas; all of them if left out.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="Outcome to look for; the rarer one if left out.")] = None,
    metric: Annotated[
        str, typer.Option(help="ap, f1, gmean, balanced_accuracy, precision, sensitivity or specificity.")
    ] = "ap",
    splits: Annotated[int, typer.Option(help="How often 20 % of the rows are held out.")] = 5,
    out: Out = Path("study"),
    jobs: Jobs = -1,
    dask: Dask = None,
) -> None:
    """Compare methods on your own tables as the papers do, with strong rivals beside them."""
    from scarce.study import own_study

    study = own_study(data, target, methods.split(",") if methods else None, positive, metric, splits)
    _run(study, out, jobs, dask)


@study_app.command("page")
def page_command(
    folder: Annotated[Path, typer.Argument(help="Folder for the Markdown pages.")],
    out: Out = Path("study"),
) -> None:
    """Write all results in the store as pages, one a paper: its figure, ours, the difference, p, and the command."""
    from scarce.study.page import write_pages

    with _store(out) as store:
        write_pages(store, folder)
    typer.echo(f"The pages are in {folder}.")


def _reduced(name: str, sets: str | None, splits: int | None, methods: str | None, paper_grid: bool) -> Study:
    from scarce.study import load_study

    study = load_study(name, paper_grid=paper_grid)
    return study.reduce(
        sets=sets.split(",") if sets else (), splits=splits, methods=methods.split(";") if methods else ()
    )


def _run(study: Study, out: Path, jobs: int, dask: str | None) -> None:
    from scarce.study import run_study
    from scarce.study.runner import needs

    console = make_console(WIDTH)
    for column, name in needs(study).items():
        console.print(f"{column} is left out: it needs estimator {name}.", style="yellow", markup=False)
    with _store(out, make=True) as store:
        with _live(study) as show:
            progress = run_study(study, store, n_jobs=jobs, dask=dask, on_progress=show)
        _report(study, store, out)
    summary = f"{progress.new:,} cells computed, {progress.total - progress.new - progress.failed:,} others"
    if progress.failed:
        summary += f", {progress.failed:,} failed"
    if progress.elsewhere:
        summary += f"; another process is working on {progress.elsewhere:,} of them, run this again for the whole table"
    console.print(summary + ".", markup=False)


def _report(study: Study, store: Store, out: Path) -> None:
    from scarce.study.report import write_report

    folder = out / study.name.replace("/", "-")
    data = write_report(study, store, folder)
    print_study(data, make_console(WIDTH))
    make_console(WIDTH).print(f"Report, CSV and LaTeX: {folder}", soft_wrap=True, markup=False)


def print_study(data: Record, console: Console) -> None:
    """Print the summary of a study: a line for each method, the verdicts, and what was left out."""
    from scarce.study.report import interval, number, p_text, signed

    console.print(f"{data['name']}: {data['title']}", style="bold", markup=False)
    console.print(f"{data['source']}; {data['cells']['done']:,} of {data['cells']['total']:,} cells", markup=False)
    for limit in data["reduced"]:
        console.print(f"Reduced: {limit}.", style="yellow", markup=False)
    for table in data["tables"]:
        shown = Table("method", title=f"{table['label']}, mean over sets", title_justify="left", box=None)
        titles = ["ours", "sets", "printed", "difference", "p"] if data["has_printed"] else ["mean", "sets"]
        for title in titles:
            shown.add_column(title, justify="right")
        columns = [c for c in table["columns"] if c["n_sets"]]
        best = (min if table["lower_is_better"] else max)((c["mean"] for c in columns), default=None)
        for column in columns:
            far = column["p"] is not None and column["p"] < 0.05
            cells = [
                number(column["mean"]),
                str(column["n_sets"]),
                number(column["printed_mean"]),
                f"[red]{signed(column['difference'])}[/]" if far else signed(column["difference"]),
                p_text(column["p"]),
            ]
            star, style = ("★ ", "bold") if column["mean"] == best else ("  ", None)
            shown.add_row(star + escape(column["column"]), *cells[: len(titles)], style=style)
        console.print(shown)
    if data["differences"]:
        console.print(_differences(data))
    for claim in data["claims"]:
        where = f" ({claim['scaling']})" if claim["scaling"] else ""
        style = VERDICTS.get(claim["verdict"], "yellow")
        ends = interval(claim["low"], claim["high"])
        evidence = (
            f"{signed(claim['difference'])}, 95 % interval {ends}, {claim['detail']}" if ends else claim["detail"]
        )
        console.print(f"[{style}]{claim['verdict']:<14}[/] {escape(claim['text'])}{where}; {escape(evidence)}")
    for erratum in data["errata"]:
        console.print(f"Erratum {erratum['id']}: {erratum['text']}", style="dim", markup=False)
    for place, message in list(data["failures"].items())[:5]:
        console.print(f"{place} failed: {message}", style="red", markup=False)


def _differences(data: Record) -> Table:
    from scarce.study.report import difference_place, differences_title, fine, number

    title = differences_title(data)
    shown = Table("where", "against", title=title, title_justify="left", box=None)
    for name in ("ours", "theirs", "difference", "95 % interval", "win/tie/loss"):
        shown.add_column(name, justify="right")
    for row in data["differences"]:
        place = difference_place(row, data)
        interval = "" if row["low"] is None else f"{fine(row['low'])} to {fine(row['high'])}"
        figures = (number(row["ours"]), number(row["theirs"]), fine(row["difference"]))
        record = "/".join(map(str, row["record"]))
        shown.add_row(escape(place), escape(row["against"]), *figures, interval, record)
    return shown


@contextmanager
def _store(out: Path, *, make: bool = False) -> Iterator[Store]:
    """Open the store of a folder, which must be there unless it is to be made."""
    from scarce._errors import StudyError
    from scarce.study import Store

    if not make and not _file(out).exists():
        raise StudyError(f"There are no results in {out}; run a study first, or name its folder (`out`).")
    with Store(_file(out)) as store:
        yield store


def _file(out: Path) -> Path:
    return out / "store.sqlite"


@contextmanager
def _live(study: Study) -> Iterator[Callable[[Progress], None]]:
    """Show one table, sets by methods, of what is done, and the time left."""
    console = make_console(WIDTH, stderr=True)
    lines = Lines(console)
    if not console.is_terminal:
        yield lambda progress: lines.print(
            lambda elapsed: _state(study, progress, elapsed), last=progress.done == progress.total
        )
        return
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        yield lambda progress: live.update(progress_table(study, progress, lines.elapsed))


def _state(study: Study, progress: Progress, seconds: float) -> str:
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    cells = f"{study.name}: {progress.done:,} of {progress.total:,} cells{failed}"
    return f"{cells}, {times(seconds, progress.seconds_left)}"


def progress_table(study: Study, progress: Progress, seconds: float) -> Group:
    """Return the live table of a run."""
    columns = list(dict.fromkeys(method.column for method in study.methods))
    wide = len(columns) > MOST_COLUMNS
    shown = ["all methods"] if wide else columns
    table = Table("set", *map(escape, shown), box=None, padding=(0, 1))
    for set_ in study.sets:
        counts: Sequence[Sequence[int]] = [progress.by_place.get((set_["label"], column), (0, 0)) for column in columns]
        if wide:
            counts = [[sum(done) for done in zip(*counts, strict=True)]]
        table.add_row(set_["label"], *(_count(*count) for count in counts))
    return Group(table, Text(_state(study, progress, seconds)))


def _count(done: int, total: int) -> str:
    if not total:
        return "[dim]–[/]"
    return f"[green]{done}/{total}[/]" if done == total else f"{done}/{total}"
