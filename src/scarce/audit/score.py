"""Score new rows with a model that an audit saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from joblib import effective_n_jobs

from scarce._errors import AuditError
from scarce._messages import listed
from scarce._typing import Json, PathLike
from scarce.engines import BatchScorer, SavedModel, load_model, ranked
from scarce.engines.dask import connected
from scarce.engines.ranking import FILE, ROW, SCORE
from scarce.engines.run import Progress
from scarce.engines.saved import row_marks
from scarce.tables import Table, read_table
from scarce.tables.writing import write_csv

from .dictionary import ColumnEntry, Dictionary
from .queue import queue_of_new_rows, with_table_columns

__all__ = ["TOP", "RankedFiles", "score_files", "score_table"]

# How many rows of many files are ranked.
TOP = 1_000


def score_table(model: str | Path, table: str | Path | pd.DataFrame, *, reasons: int | None = None) -> pd.DataFrame:
    """Rank the rows of a table by a saved model, with reasons.

    Parameters
    ----------
    model : path
        The folder of an audit, or the ``model.skops`` in it. Only the types that an audit writes are loaded.
    table : path or DataFrame
        Rows with the columns that the model learned from, in any order, written as they were then; others are ignored.
    reasons : int, optional
        How many of the first rows have reasons; by default as many as the audit's budget was.

    Returns
    -------
    DataFrame
        As ``queue.csv``, with all rows, the most suspicious first. ``learned_from`` is "yes" for a row that is a
        training row of the model, equal in all columns learned from: its score is flattered. ``attrs["shown"]`` names
        the table's own columns in it.
    """
    if reasons is not None and reasons < 0:
        raise AuditError(f"`reasons` is how many rows are explained, 0 or more; it was {reasons}.")
    saved = load_model(Path(model))
    opened = (
        Table.from_frame(table, readings=saved.readings)
        if isinstance(table, pd.DataFrame)
        else read_table(table, readings=saved.readings)
    )
    frame = opened.frame
    needed = [c.name for c in saved.own_columns]
    if saved.history is not None:
        needed += [*saved.history.entity, saved.history.time, *filter(None, [saved.history.amount])]
    absent = [name for name in dict.fromkeys(needed) if name not in frame.columns]
    if absent:
        raise AuditError(f"The table lacks what the model learned from: add the column {listed(absent)}.")
    return _ranked(saved, frame, reasons)


def _ranked(saved: SavedModel, frame: pd.DataFrame, reasons: int | None, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Rank typed rows, with reasons for the first, and in front `columns` and those that the audit shows."""
    X = saved.typed(frame)
    explained = saved.manifest["reasons"] if reasons is None else reasons
    shift = saved.manifest["log_odds_shift"]
    queue = queue_of_new_rows(saved.pipeline, X, saved.usual, explained, shift, dictionary_of(saved.manifest))
    shown = [name for name in dict.fromkeys([*columns, *_own_columns(saved)]) if name in frame.columns]
    ranked = with_table_columns(queue, frame, shown)
    known = np.isin(row_marks(X[[c.name for c in saved.own_columns]]), saved.training_rows)
    ranked.insert(ranked.columns.get_loc("flagged") + 1, "learned_from", np.where(known[ranked["row"]], "yes", "no"))
    ranked.attrs["shown"] = [name for name in ranked.columns[2:] if name.removesuffix(" (table)") in shown]
    return ranked


def dictionary_of(manifest: Json) -> Dictionary:
    """Return the words for columns that the audit had."""
    return Dictionary(
        {
            c["name"]: ColumnEntry(c.get("title", ""), c.get("unit", ""), hidden="hidden" in c)
            for c in manifest["columns"]
        }
    )


def _own_columns(saved: SavedModel) -> list[str]:
    """Return the columns by which a user knows a row."""
    settings = saved.manifest["settings"]
    own = [
        *saved.manifest["identifiers"],
        settings["time"],
        settings.get("distinct"),
        *settings.get("entity", []),
        settings["amount"],
    ]
    hidden = saved.manifest.get("hidden", [])
    return [name for name in dict.fromkeys(own) if name is not None and name not in hidden]


class RankedFiles(NamedTuple):
    """The first rows of files, as `score_table` returns them and with their file, and counts.

    Attributes
    ----------
    top : DataFrame
        The first rows.
    rows, above : int
        How many rows were scored, and how many of them are above the threshold.
    again : int
        How many files an earlier run had scored already.
    """

    top: pd.DataFrame
    rows: int
    above: int
    again: int


def score_files(
    model: PathLike,
    data: PathLike | Any,
    *,
    top: int = TOP,
    out: PathLike | None = None,
    id: str | None = None,
    where_empty: str | None = None,
    reasons: int | None = None,
    engine: str | None = None,
    force: bool = False,
    progress: Progress = lambda step, done, total: None,
) -> RankedFiles:
    """Rank the rows of files by a saved model, in a memory that does not grow with their number.

    Parameters
    ----------
    model : path
        The folder of an audit, or the ``model.skops`` in it.
    data : path or Arrow stream
        A CSV or Parquet file, a folder of such files, a pattern such as ``payments/*.parquet``, or anything with
        ``__arrow_c_stream__``, such as a reader of DuckDB or a frame of Polars.
    top : int, default=1000
        How many rows are ranked. Of equal scores the row of the lower id comes first, and without an id that of the
        earlier file by name and the earlier row in it.
    out : path, optional
        A folder for the scores of all rows, as Parquet: ``part-00000.parquet`` and so on, one for each file, beside
        ``_top.csv`` and ``_score.json``. It appears when all is done; a run that was killed is taken up by the next.
    id : str, optional
        A column that differs in every row, which stands beside the scores in place of file and row.
    where_empty : str, optional
        A column such as the outcome; only rows in which it is empty are scored.
    reasons : int, optional
        How many of the first rows have reasons; by default as many as the audit's budget was.
    engine : str, optional
        The address of a Dask scheduler, such as ``dask://host:8786``, whose workers score the files. They must find
        the model, the files and `out` under the same paths.
    force : bool
        Whether an earlier result in `out` is replaced.
    progress : callable
        Called with what is done, how much of it, and how much there is.
    """
    if reasons is not None and reasons < 0:
        raise AuditError(f"`reasons` is how many rows are explained, 0 or more; it was {reasons}.")
    if engine is not None and hasattr(data, "__arrow_c_stream__"):
        raise AuditError(
            "Rows from a reader are scored in this process; name files for a cluster, or leave `engine` out."
        )
    scorer = BatchScorer(str(Path(model).absolute()), id, threads=effective_n_jobs(-1) if engine is None else 1)
    saved = scorer.saved()
    options: Any = {"top": top, "keep": _own_columns(saved), "out": out, "where_empty": where_empty, "force": force}
    with connected(engine) as over, ranked(scorer, data, **options, over=over, progress=progress) as ranking:
        first = _explained(saved, ranking.top, reasons, [] if id is None else [id])
        if ranking.folder is not None:
            write_csv(first, ranking.folder / "_top.csv")
    return RankedFiles(first, ranking.rows, ranking.above, ranking.again)


def _explained(saved: SavedModel, top: pa.Table | None, reasons: int | None, columns: Sequence[str]) -> pd.DataFrame:
    if top is None or not top.num_rows:
        return pd.DataFrame({"rank": [], "file": [], "row": [], "score": [], "flagged": [], "learned_from": []})
    cells = top.drop_columns([SCORE, FILE, ROW])
    frame = Table.from_arrow(cells, readings=saved.readings).frame
    first = _ranked(saved, frame, reasons, columns)
    first["row"] = top.column(ROW).to_numpy()
    first.insert(1, "file", top.column(FILE).to_pylist())
    return first
