"""Spark: rows of a data frame scored where they live."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import scarce
from scarce._errors import EngineError
from scarce._extras import require
from scarce._typing import PathLike

from .fragments import require_columns
from .ids import refuse_repeats
from .scorer import BatchScorer

__all__ = ["score", "top"]


def score(df: Any, model: PathLike, *, id: str) -> Any:
    """Return a data frame of Spark with the id, the score and the decision of each row.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows with the columns that the model learned from.
    model : path
        The folder of an audit, which every executor finds under this path.
    id : str
        A column that differs in every row, since rows of Spark have no number.

    Returns
    -------
    pyspark.sql.DataFrame
        Nothing is computed before it is used. The scores have the bits of those of one machine.
    """
    require("pyspark", "Scoring on Spark")
    scorer = BatchScorer(str(Path(model).absolute()), id)
    columns = scorer.columns()
    require_columns(df.columns, columns, {"id": id})
    of_id = df.schema[id].dataType.simpleString()
    chosen = df.select(*[f"`{name}`" for name in columns])
    return chosen.mapInArrow(_Scores(scorer), f"`{id}` {of_id}, score double, decision boolean")


class _Scores:
    """The function that Spark calls with the batches of a partition; it travels as the path of the model."""

    def __init__(self, scorer: BatchScorer) -> None:
        self.scorer = scorer

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.scorer.batches(batches)


def top(scored: Any, k: int) -> pa.Table:
    """Return the first `k` rows of a data frame that :func:`score` gave, in the order of all engines.

    The highest score comes first, and of equal ones the lower id.
    """
    if k < 1:
        raise EngineError(f"`k` is how many rows are ranked, at least 1; it was {k}.")
    id = scored.columns[0]
    functions = require("pyspark.sql.functions", "Scoring on Spark")
    errors = require("pyspark.errors", "Scoring on Spark")
    try:
        table = scored.orderBy(functions.col("score").desc(), functions.col(f"`{id}`").asc()).limit(k).toArrow()
    except errors.PythonException as error:
        lacking = re.search(r"ModuleNotFoundError: (.+)", str(error))
        if lacking is None:
            raise
        raise EngineError(
            f"A worker of Spark cannot import the library ({lacking[1]}); install "
            f'"scarce[audit,spark]=={scarce.__version__}" on every worker, for the Python that PYSPARK_PYTHON names.'
        ) from error
    refuse_repeats(table.column(id), id)
    return table
