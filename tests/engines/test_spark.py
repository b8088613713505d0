"""Scores on Spark: the bits of one machine."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from scarce._errors import EngineError, TableError
from scarce.audit import score_files
from scarce.engines.spark import score, top

pyspark = pytest.importorskip("pyspark", reason="pyspark is large; make prove-scale installs it")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark about pandas and sockets


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def test_spark_ranks_with_the_bits_of_one_machine(spark, model, folder):
    scored = score(spark.read.parquet(str(folder)), model, id="payment")
    here = score_files(model, folder, top=50, reasons=0, id="payment").top
    found = top(scored, 50)
    assert found.column("payment").to_pylist() == here["payment"].tolist()
    assert found.column("score").to_pylist() == here["score"].tolist()
    assert found.column("decision").to_pylist() == (here["flagged"] == "yes").tolist()


def test_bad_input_is_one_sentence(spark, model, folder):
    rows = spark.read.parquet(str(folder))
    with pytest.raises(TableError, match="The table lacks what the model learned from: add the column 'amount'"):
        score(rows.drop("amount"), model, id="payment")
    twice = score(rows.limit(3).union(rows.limit(3)), model, id="payment")
    with pytest.raises(TableError, match=r"Column 'payment' holds 'P\d+' in several rows, .*; name a column that"):
        top(twice, 6)
    with pytest.raises(EngineError, match="`k` is how many rows are ranked, at least 1; it was 0"):
        top(twice, 0)


def test_a_worker_without_the_library_is_one_sentence(spark, model, folder):
    """A function that imports a module that is nowhere stands for a worker on which nothing is installed."""

    def lacking(batches):
        import scarce_that_is_not_installed  # noqa: F401

        yield from batches

    scored = score(spark.read.parquet(str(folder)), model, id="payment").limit(1)
    with pytest.raises(
        EngineError, match=r"import the library \(No module named 'scarce_that.*'\); install \"scarce\[aud"
    ):
        top(scored.mapInArrow(lacking, scored.schema), 1)


def test_the_rows_of_a_frame_of_spark_have_no_order(spark, model, rows):
    scored = score(spark.createDataFrame(rows.fillna({"age": 40.0})).repartition(3), model, id="payment").toPandas()
    assert isinstance(scored, pd.DataFrame)
    assert len(scored) == len(rows)
