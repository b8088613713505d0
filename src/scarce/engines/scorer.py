"""A saved model as a function of Arrow batches, which every engine calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_even_slices
from threadpoolctl import ThreadpoolController

from scarce._errors import AuditError
from scarce._typing import FloatArray, PathLike
from scarce.tables import Table, conform

from .cells import RowError
from .compiled import RowScorer, compile_model
from .fragments import require_columns
from .saved import MANIFEST, SavedModel, load_model

__all__ = ["BatchScorer", "loaded", "plain_type", "steady_scores"]

# Rows that linear algebra and neighbour searches take at a time.
_BLOCK = 256


class Loaded(NamedTuple):
    """A model, and the same as arrays where its parts are known."""

    saved: SavedModel
    arrays: RowScorer


@dataclass(frozen=True)
class BatchScorer:
    """A saved model that maps an Arrow record batch to the scores and decisions of its rows.

    It holds the path of the model, so that it travels as a few bytes, and loads the model once in each process. Types
    come from the model's manifest and the batch's schema, never from the cells of one batch: the score of a row has the
    same bits whatever the batch that it comes in.

    Parameters
    ----------
    model : str
        The folder of an audit, or the ``model.skops`` in it, where every process that scores finds it.
    id : str, optional
        A column that is handed through beside the scores.
    threads : int, default=1
        Threads for one batch.

    Examples
    --------
    >>> from scarce.engines import BatchScorer
    >>> BatchScorer("audit-payments", id="payment")
    BatchScorer(model='audit-payments', id='payment', threads=1)
    """

    model: str
    id: str | None = None
    threads: int = 1

    def columns(self) -> list[str]:
        """Return the columns that a batch must have."""
        own = [column.name for column in self.saved().columns]
        return list(dict.fromkeys([*([] if self.id is None else [self.id]), *own]))

    def schema(self, batch: pa.Schema) -> pa.Schema:
        """Return the schema of the scores of batches of a schema."""
        fields = [pa.field("score", pa.float64()), pa.field("decision", pa.bool_())]
        if self.id is not None:
            fields.insert(0, pa.field(self.id, plain_type(batch.field(self.id).type)))
        return pa.schema(fields)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the id of each row if there is one, its score, and whether that is above the threshold."""
        saved, model = self.saved(), loaded(self.model)
        require_columns(batch.schema.names, self.columns(), {"id": self.id})
        parts = [
            batch.slice(rows.start, rows.stop - rows.start) for rows in gen_even_slices(batch.num_rows, self.threads)
        ]
        # The threads of linear algebra are those of the whole process, so that they are set once for all parts.
        with _threads_of_libraries().limit(limits=1, user_api="blas"):
            if len(parts) == 1:
                score = _scores(model, batch)
            else:
                with ThreadPoolExecutor(len(parts)) as pool:
                    score = np.concatenate(list(pool.map(partial(_scores, model), parts)))
        held = [pa.array(score), pa.array(score > saved.pipeline[-1].threshold_)]
        if self.id is not None:
            ids = batch.column(self.id)
            held.insert(0, ids.cast(plain_type(ids.type)))
        return pa.RecordBatch.from_arrays(held, schema=self.schema(batch.schema))

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Score batch after batch; empty ones are passed over."""
        for batch in batches:
            if batch.num_rows:
                yield self(batch)

    def saved(self) -> SavedModel:
        """Return the model, which this process loads once."""
        saved = loaded(self.model).saved
        if saved.history is not None:
            raise AuditError(
                "The model learned from the history of entities, for which the rows are needed at once; score one file "
                "with scarce score, without a folder, `top` or `engine`."
            )
        return saved


def loaded(model: PathLike) -> Loaded:
    """Return a saved model, loaded anew only where its files changed."""
    path = Path(model).absolute()
    manifest = (path if path.is_dir() else path.parent) / MANIFEST
    return _load(path, manifest.stat().st_mtime_ns if manifest.exists() else 0)


@lru_cache(maxsize=4)
def _load(path: Path, modified: int) -> Loaded:
    saved = load_model(path)
    return Loaded(saved, compile_model(saved))


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the cells of a column that may be stored as a dictionary."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def steady_scores(model: Pipeline, X: pd.DataFrame) -> FloatArray:
    """Return scores of rows whose bits do not depend on the rows beside them.

    Linear algebra adds up the last few rows of a matrix in another order than those of whole blocks. So there are whole
    blocks only, the last of which is filled up with copies of the last row.
    """
    n = len(X)
    filled = X if n % _BLOCK == 0 else X.iloc[np.minimum(np.arange(n + -n % _BLOCK), n - 1)]
    with _threads_of_libraries().limit(limits=1, user_api="blas"):
        return np.asarray(model.score_samples(filled), dtype=np.float64)[:n]


@lru_cache(maxsize=1)
def _threads_of_libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _scores(model: Loaded, batch: pa.RecordBatch) -> FloatArray:
    """Return the scores of a batch, whose cells are read as those of the training rows were."""
    saved, arrays = model
    rows = pa.Table.from_batches([batch.select([column.name for column in saved.columns])])
    if arrays.compiled:
        n = len(rows)
        filled = rows if n % _BLOCK == 0 else pa.concat_tables([rows, *[rows.slice(n - 1)] * (-n % _BLOCK)])
        try:
            X = arrays.encode_arrow(filled)
        except RowError:
            pass  # its row is one of the batch; the table names the column and the cell
        else:
            return arrays.score_encoded(X)[:n]
    table = Table.from_arrow(rows, readings=saved.readings)
    return steady_scores(saved.pipeline, conform(table.frame, saved.columns))
