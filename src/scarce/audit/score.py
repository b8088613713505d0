"""Score new rows with a model that an audit saved."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scarce._errors import AuditError
from scarce._messages import listed
from scarce.tables import conform, read_table

from .folder import load
from .queue import queue_of_new_rows, with_table_columns

__all__ = ["score_table"]


def score_table(model: str | Path, table: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Rank the rows of a table by a saved model, with reasons.

    Parameters
    ----------
    model : path
        The folder of an audit, or the ``model.skops`` in it. Only the types that an audit writes are loaded.
    table : path or DataFrame
        Rows with the columns that the model learned from, in any order; others are ignored.

    Returns
    -------
    DataFrame
        As ``queue.csv``, with all rows, the most suspicious first; as many have reasons as the audit's budget was.
    """
    saved = load(Path(model))
    frame = table.reset_index(drop=True) if isinstance(table, pd.DataFrame) else read_table(table)
    absent = [c.name for c in saved.columns if c.name not in frame.columns]
    if absent:
        raise AuditError(f"The table lacks what the model learned from: add the column {listed(absent)}.")
    X = conform(frame, saved.columns)
    settings = saved.manifest["settings"]
    queue = queue_of_new_rows(saved.pipeline, X, saved.usual, saved.manifest["reasons"])
    own = [*saved.manifest["identifiers"], settings["time"], settings["amount"]]
    shown = [name for name in dict.fromkeys(own) if name in frame.columns]
    return with_table_columns(queue, frame, shown)
