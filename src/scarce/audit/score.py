"""Score new rows with a model that an audit saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from scarce._errors import AuditError
from scarce._messages import listed
from scarce.tables import Table, conform, read_table

from .folder import load, row_marks
from .queue import queue_of_new_rows, with_table_columns

__all__ = ["score_table"]


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
    saved = load(Path(model))
    opened = (
        Table.from_frame(table, readings=saved.readings)
        if isinstance(table, pd.DataFrame)
        else read_table(table, readings=saved.readings)
    )
    frame = opened.frame
    absent = [c.name for c in saved.columns if c.name not in frame.columns]
    if absent:
        raise AuditError(f"The table lacks what the model learned from: add the column {listed(absent)}.")
    X = conform(frame, saved.columns)
    settings = saved.manifest["settings"]
    explained = saved.manifest["reasons"] if reasons is None else reasons
    shift = saved.manifest["log_odds_shift"]
    queue = queue_of_new_rows(saved.pipeline, X, saved.usual, explained, shift=shift)
    own = [*saved.manifest["identifiers"], settings["time"], settings["amount"]]
    shown = [name for name in dict.fromkeys(own) if name in frame.columns]
    ranked = with_table_columns(queue, frame, shown)
    known = np.isin(row_marks(X), saved.training_rows)
    ranked.insert(ranked.columns.get_loc("flagged") + 1, "learned_from", np.where(known[ranked["row"]], "yes", "no"))
    ranked.attrs["shown"] = [name for name in ranked.columns[2:] if name.removesuffix(" (table)") in shown]
    return ranked
