"""Pieces of work of `proofs.scale`, each in a process of its own: what it took is the last line that it prints."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

ID = "row_id"


def write(folder: str, rows: int, files: int, check_rate: float) -> dict[str, Any]:
    """Write declarations of companies, with an id of every row."""
    from scarce.datasets import make_companies

    Path(folder).mkdir(parents=True)
    ends = np.linspace(0, rows, files + 1).astype(int).tolist()
    for number, (start, end) in enumerate(pairwise(ends)):
        frame = make_companies(end - start, first_row=start, check_rate=check_rate, seed=0).frame
        frame = frame.drop(columns=["company_id", "checked"]).assign(**{ID: np.arange(start, end)})
        for name in ("region", "sector"):
            frame[name] = frame[name].astype(str)
        frame.to_parquet(Path(folder) / f"part-{number:02}.parquet", index=False, row_group_size=100_000)
    return {"rows": rows}


def learn(table: str, out: str) -> dict[str, Any]:
    """Save a model of LightGBM, 150 trees with 8 leaves."""
    from scarce.audit import audit, save

    known = pd.read_parquet(table).dropna(subset="fraud").drop(columns=ID).reset_index(drop=True)
    result = audit(known, "fraud", budget=200, methods=["lightgbm"])
    save(result, Path(out))
    return {"rows": len(known), "positives": int(known["fraud"].sum())}


def score(model: str, data: str, out: str, where_empty: str | None = None) -> dict[str, Any]:
    """Score files as the command does; `seconds` are those since the process began, `scoring` is without start-up."""
    from scarce.audit import score_files
    from scarce.engines import BatchScorer

    BatchScorer(model).columns()  # load what the first batch would
    start = time.process_time()
    found = score_files(model, data, top=1_000, out=out, id=ID, reasons=0, where_empty=where_empty)
    end = time.process_time()
    # Before the result is looked at, which is no part of the work.
    taken = {"seconds": end, "scoring": end - start, "peak": _peak()}
    return {"rows": found.rows, "again": found.again, "top": top_of(found.top), **taken, **all_scores(out)}


def top_of(first: pd.DataFrame) -> list[list[str]]:
    return [[str(score), str(id)] for score, id in zip(first["score"], first[ID], strict=True)]


def all_scores(out: str) -> dict[str, Any]:
    """Return a digest of all scores by their ids, and how many there are."""
    every = pd.read_parquet(out, columns=[ID, "score"])
    return {"scores": digest(every[ID].to_numpy(), every["score"].to_numpy()), "ids": len(every)}


def digest(id: NDArray[Any], score: NDArray[Any]) -> str:
    order = np.argsort(id, kind="stable")
    return hashlib.sha256(id[order].tobytes() + score[order].tobytes()).hexdigest()


def predict(model: str, data: str, top: int) -> dict[str, Any]:
    """Score the encoded rows of each file, which are in memory, by the trees of LightGBM alone."""
    from scarce.engines import load_model
    from scarce.tables import Table, conform

    saved = load_model(Path(model))
    booster = saved.pipeline[-1].estimator_.booster_
    seconds, scores, ids = 0.0, [], []
    for file in sorted(Path(data).glob("*.parquet")):
        rows = Table.from_arrow(pq.read_table(file), readings=saved.readings)
        X = saved.pipeline[:-1].transform(conform(rows.frame, saved.columns))
        start = time.process_time()
        scores.append(booster.predict(X, num_threads=1))
        seconds += time.process_time() - start
        ids.append(pq.read_table(file, columns=[ID]).column(0).to_numpy())
    score, id = np.concatenate(scores), np.concatenate(ids)
    order = np.lexsort((id, -score))[:top]
    first = [[str(score[at]), str(id[at])] for at in order]
    return {"seconds": seconds, "top": first, "scores": digest(id, score)}


def dask(model: str, data: str, out: str) -> dict[str, Any]:
    """Score files on two workers of one thread each; the time is that of all processes, beyond start-up."""
    import distributed

    from scarce.audit import score_files

    options: Any = {"top": 1_000, "id": ID, "reasons": 0}
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        with distributed.Client(cluster) as client:
            client.run(_load, model)
            before = _tree()
            found = score_files(model, data, out=out, engine=address, **options)
            seconds = _tree() - before
    return {"rows": found.rows, "seconds": seconds, "top": top_of(found.top), **all_scores(out)}


def _load(model: str) -> None:
    from scarce.engines import BatchScorer

    BatchScorer(model).columns()


def spark(model: str, data: str, out: str) -> dict[str, Any]:
    """Score files by Spark with two threads; the time is that of the whole tree of processes, beyond start-up."""
    from pyspark.sql import SparkSession

    from scarce.engines.spark import score as score_on_spark
    from scarce.engines.spark import top

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "32768",
    }
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.parquet(data)
    # A quarter of the files warms up Java, which compiles what runs often, and both processes of Python.
    files = sorted(map(str, Path(data).glob("*.parquet")))
    first = session.read.parquet(*files[: max(len(files) // 4, 1)]).repartition(2)
    score_on_spark(first, model, id=ID).write.option("parquet.enable.dictionary", "false").parquet(f"{out}-first")
    before = _tree()
    score_on_spark(rows, model, id=ID).write.option("parquet.enable.dictionary", "false").parquet(out)
    scored = session.read.parquet(out)
    first_rows = top(scored, 1_000)
    seconds = _tree() - before
    found = [
        list(map(str, one)) for one in zip(first_rows["score"].to_pylist(), first_rows[ID].to_pylist(), strict=True)
    ]
    session.stop()
    return {"seconds": seconds, "top": found, **all_scores(out)}


def _tree() -> float:
    """Return the processor time of this process and of all below it, ended ones included."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in [own, *own.children(recursive=True)]:
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


def audit(data: str, out: str, sample: int) -> dict[str, Any]:
    """Audit a folder; `reading` is the pass over the files."""
    from scarce.audit import audit as audit_table
    from scarce.audit import opening, save

    reading = 0.0
    open_table = opening.open_table

    def timed(*arguments: Any) -> Any:
        nonlocal reading
        start = time.process_time()
        try:
            return open_table(*arguments)
        finally:
            reading = time.process_time() - start

    import scarce.audit.run as run

    run.open_table = timed
    start = time.process_time()
    result = audit_table(data, "fraud", budget=200, drop=[ID], methods=["lightgbm", "logistic"], sample=sample)
    seconds = time.process_time() - start
    save(result, Path(out))
    return {"rows": len(result.task.y), "reading": reading, "seconds": seconds - reading}


def write_numbers(folder: str, rows: int, files: int) -> dict[str, Any]:
    """Write rows of ten features, of which one in 200 is positive."""
    from sklearn.datasets import make_classification

    X, y = make_classification(rows, 10, weights=[0.995], flip_y=0.001, random_state=0)
    for number, part in enumerate(np.array_split(np.arange(rows), files)):
        columns = {f"x{place}": X[part, place] for place in range(10)} | {"y": y[part]}
        pq.write_table(pa.table(columns), Path(folder) / f"part-{number}.parquet")
    return {"positives": int(y.sum())}


def _queries() -> Any:
    return np.random.default_rng(1).normal(size=(1_000, 10))


def gamma(data: str) -> dict[str, Any]:
    from scarce.neighbors import GammaKNN

    table = pd.concat([pd.read_parquet(file) for file in sorted(Path(data).glob("*.parquet"))])
    X, y = table.drop(columns="y").to_numpy(), table["y"].to_numpy()
    start = time.process_time()
    model = GammaKNN(calibration=None).fit(X, y)
    seconds = time.process_time() - start
    return {"threshold": model.threshold_, "scores": model.score_samples(_queries()).tolist(), "seconds": seconds}


def sharded_gamma(data: str, kill: bool) -> dict[str, Any]:
    import distributed

    from scarce.engines import shards
    from scarce.engines.dask_fit import fit
    from scarce.neighbors import GammaKNN

    killed = False
    options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(2, **options) as cluster, distributed.Client(cluster) as client:
        choose = shards.best_threshold

        def kill_one(*arguments: Any) -> Any:
            nonlocal killed
            if kill and not killed:
                killed = True
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            return choose(*arguments)

        shards.best_threshold = kill_one
        before = time.process_time() + sum(client.run(time.process_time).values())
        model = fit(GammaKNN(), data, target="y", client=client, shards=4)
        seconds = time.process_time() + sum(client.run(time.process_time).values()) - before
        scores = model.score_samples(_queries()).tolist()
    found = {"threshold": model.threshold_, "scores": scores, "seconds": seconds}
    return {**found, "killed": killed, "rows_scored": model.rows_scored}


def main(task: str, options: str) -> None:
    start = time.process_time()
    found = globals()[task](**json.loads(options))
    print(json.dumps({"seconds": time.process_time() - start, "peak": _peak(), **found}))


def _peak() -> float:
    """Return the most memory that this process has held, in MB: `resource` would count that of its parent too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
