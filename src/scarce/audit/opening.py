"""The table of an audit, and the part of it that methods learn from where there are very many rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import AuditError
from scarce._files import sha256
from scarce._typing import FloatArray
from scarce.datasets import make_transactions
from scarce.engines.fragments import find_fragments, is_folder
from scarce.engines.sample import Drawn, draw_sample
from scarce.tables import Table, read_table
from scarce.tables.files import PARQUET_SUFFIXES

from .blocks import Blocks
from .dictionary import Dictionary
from .folds import Folds
from .result import Source
from .settings import Settings
from .task import sample_of_negatives

__all__ = ["MOST_ROWS", "open_table", "sample_tested"]

SIMULATED_ROWS = 30_000
# Above so many rows methods learn from all positives and a weighted sample of the negatives.
MOST_ROWS = 200_000
# What cannot be done with a part of the rows.
_WHOLE = ("rank", "checked", "reviews", "distinct", "entity", "explore")

Progress = Callable[[str, int, int], None]


def open_table(
    table: str | os.PathLike[str] | pd.DataFrame | None, settings: Settings, names: Dictionary, progress: Progress
) -> tuple[Table, Source, Drawn | None]:
    """Read the table of an audit; of a folder all positive rows and a sample of the negative ones."""
    needs = {**settings.needs, "columns": tuple(names.entries)}
    how: Any = {"types": {**names.kinds, **settings.types}, "drop": settings.drop, "needs": needs}
    if table is None or isinstance(table, pd.DataFrame):
        frame = make_transactions(SIMULATED_ROWS, seed=0).frame if table is None else table
        name = "simulated payments" if table is None else "the table"
        return Table.from_frame(frame, **how), Source(name, _hash_of(frame), simulated=table is None), None
    if not isinstance(table, str | os.PathLike):
        raise AuditError(f"The table is the path of a file or a pandas DataFrame; it was a {type(table).__name__}.")
    path = str(Path(table).absolute())
    if not is_folder(table):
        return read_table(table, **how), Source(Path(table).name, sha256(table), path=path), None
    for option in _WHOLE:
        if getattr(settings, option):
            raise AuditError(
                f"An audit of a folder learns from a part of its rows, and `{option}` needs all of them; leave it out, "
                "or name one file."
            )
    fragments = find_fragments(table)
    done, total = 0, sum(fragment.size for fragment in fragments)

    def on_rows(rows: int) -> None:
        nonlocal done
        done += rows
        progress(f"Read {done:,} rows", min(done, total), total)

    most = settings.sample or MOST_ROWS
    drawn = draw_sample(
        fragments, str(settings.target), most, positive=settings.positive, seed=settings.seed, progress=on_rows
    )
    typed = fragments[0].name.lower().endswith(PARQUET_SUFFIXES)
    digest = hashlib.sha256("".join(sha256(fragment.path) for fragment in fragments).encode()).hexdigest()
    return Table.from_arrow(drawn.table, typed=typed, **how), Source(Path(table).name, digest, path=path), drawn


def _hash_of(frame: pd.DataFrame) -> str:
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def sample_tested(
    y: NDArray[np.int64], folds: Folds, blocks: Blocks, settings: Settings, drawn: FloatArray | None
) -> tuple[Folds, Blocks, FloatArray | None, list[str]]:
    """Test on all positives and a weighted sample of the negatives, where there are very many rows.

    Return the folds and blocks of what is tested, how many rows each row stands for, and sentences for the report.
    `drawn` has these weights where the table itself is a sample.
    """
    if drawn is not None:
        return folds, blocks, drawn, []
    most = settings.sample or MOST_ROWS
    tested = folds.tested
    sentences = []
    if len(y) > most:
        sentences.append(
            f"The table has {len(y):,} rows of known outcome. Every method learned from all positives and a sample "
            f"of the negatives, {most:,} rows at most, in which each negative stands for several; figures and "
            "thresholds are weighted back to the whole."
        )
    if len(tested) <= most:
        return folds, blocks, None, sentences
    kept, weights = sample_of_negatives(np.arange(len(tested)), y[tested], most, settings.seed)
    part = folds.fold_of_tested[kept]
    splits = [(train, tested[kept[part == number]]) for number, (train, _) in enumerate(folds.splits)]
    weight = np.ones(len(y))
    weight[tested[kept]] = weights
    sampled = replace(blocks, block=blocks.block[kept])
    return replace(folds, splits=splits), sampled, weight, sentences
