"""Many rows: `scarce score` of files beside `Booster.predict`, on Dask and on Spark; an audit and γk-NN of files.

Each part runs alone: `python -m proofs scale-score`. Times are processor times of processes of their own.
`SCARCE_SCALE=0.1` takes a tenth of the rows, and the page says so.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proofs.cases import Case, MissingSets, Proof

WORK = "proofs.scale_work"
STATEMENT = {
    "score": "`scarce score` of 20 files takes at most 1.4 times the processor time of `Booster.predict` on the same "
    "rows in memory; its peak of memory is at most 1.1 times that of a tenth of the rows; the first 1,000 rows are "
    "those of scoring all at once.",
    "killed": "A killed `scarce score` that is run again does not score finished files again, with the same result.",
    "dask": "On Dask, scores have the same bits, in at most 1.3 times the processor time of the plain loop beyond "
    "start-up.",
    "spark": "On Spark, scores have the same bits, in at most 1.6 times the processor time of the plain loop beyond "
    "start-up.",
    "companies": "3,000,000 companies are audited and ranked in at most 1.5 times the processor time and 1.2 times the "
    "memory of 1,000,000, the sample being the same, and reading and ranking apart.",
    "gamma": "γk-NN over 4 shards on Dask has the threshold of one machine, to the last bit, also where a worker is "
    "killed.",
}


def share() -> float:
    """Return the share of the rows that are tried."""
    return float(os.environ.get("SCARCE_SCALE", "1"))


def sized(rows: int) -> int:
    return max(int(rows * share()), 2_000)


@contextmanager
def folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="scarce-scale-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def work(task: str, **options: Any) -> dict[str, Any]:
    """Do a piece of work in a process of its own, and return what it prints at its end."""
    done = subprocess.run(
        [sys.executable, "-m", WORK, task, json.dumps(options, default=str)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(task, {name: value for name, value in found.items() if not isinstance(value, list)}, file=sys.stderr)
    return found


def proof(part: str, cases: list[Case]) -> Proof:
    size = f" Tried with {share():.2g} of the rows." if share() != 1 else ""
    about = f"{STATEMENT[part]}{size} Figures: what was measured, the bar, and both sides of a ratio in seconds or MB."
    return Proof(f"Many rows: {part}", about, ("what", "measured", "bar", "this", "beside", "verdict"), cases)


def at_most(what: str, one: float, other: float, bar: float) -> Case:
    return Case((what,), (one / other, bar, one, other), one / other <= bar)


def same(what: str, one: Any, other: Any) -> Case:
    return Case((what,), (float(one == other), 1.0, float("nan"), float("nan")), one == other)


def companies(place: Path, rows: int, files: int) -> tuple[Path, Path]:
    """Write files of companies, and a model of LightGBM with 150 trees of 8 leaves."""
    work("write", folder=place / "rows", rows=rows, files=files, check_rate=0.03)
    work("write", folder=place / "known", rows=40_000, files=1, check_rate=0.2)
    work("learn", table=place / "known" / "part-00.parquet", out=place / "model")
    return place / "rows", place / "model"


def score(rows: int = 10_000_000, files: int = 20) -> Proof:
    with folder() as place:
        data, model = companies(place, sized(rows), files)
        few = place / "few"
        few.mkdir()
        for file in sorted(data.glob("*.parquet"))[: max(files // 10, 1)]:
            shutil.copy(file, few)
        every = work("score", model=model, data=data, out=place / "scores")
        tenth = work("score", model=model, data=few, out=place / "few-scores")
        whole = work("predict", model=model, data=data, top=1_000)
        return proof(
            "score",
            [
                at_most(
                    f"processor time of {every['rows']:,} rows beside Booster.predict",
                    every["seconds"],
                    whole["seconds"],
                    1.4,
                ),
                at_most(f"peak of memory beside that of {tenth['rows']:,} rows", every["peak"], tenth["peak"], 1.1),
                same("the first 1,000 rows of scoring all at once", every["top"], whole["top"]),
                same("all scores of Booster.predict, by their ids", every["scores"], whole["scores"]),
            ],
        )


def killed(rows: int = 1_000_000, files: int = 8) -> Proof:
    with folder() as place:
        data, model = companies(place, sized(rows), files)
        options = {"model": model, "data": data, "out": place / "scores"}
        process = subprocess.Popen(
            [sys.executable, "-m", WORK, "score", json.dumps(options, default=str)], stdout=subprocess.DEVNULL
        )
        unfinished = place / ".scores.unfinished"
        while process.poll() is None and len(list(unfinished.glob("part-*.json"))) < 2:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("part-*.json")}
        finished = [name.replace(".json", ".parquet") for name in before]
        written = {name: (unfinished / "result" / name).stat().st_mtime_ns for name in finished}
        again = work("score", **options)
        after = {name: (place / "scores" / name).stat().st_mtime_ns for name in finished}
        fresh = work("score", **{**options, "out": place / "fresh"})
        return proof(
            "killed",
            [
                Case(
                    (f"files of {files} that were finished at the kill",),
                    (float(len(before)), 1.0, float("nan"), float("nan")),
                    0 < len(before) < files,
                ),
                same("finished files not scored again", (again["again"], after), (len(before), written)),
                same("the first 1,000 rows of a run without a kill", again["top"], fresh["top"]),
                same("all scores of a run without a kill, by their ids", again["scores"], fresh["scores"]),
            ],
        )


def on(engine: str, bar: float, rows: int = 10_000_000, files: int = 20) -> Proof:
    with folder() as place:
        data, model = companies(place, sized(rows), files)
        plain = work("score", model=model, data=data, out=place / "scores")
        there = work(engine, model=model, data=data, out=place / "there")
        return proof(
            engine,
            [
                at_most(
                    f"processor time of {plain['rows']:,} rows beyond start-up", there["seconds"], plain["scoring"], bar
                ),
                same("the first 1,000 rows of one machine", there["top"], plain["top"]),
                same("all scores of one machine, by their ids", there["scores"], plain["scores"]),
            ],
        )


def dask() -> Proof:
    return on("dask", 1.3)


def spark() -> Proof:
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise MissingSets('The proof needs pyspark, not on this machine; pip install "scarce[spark]".') from error
    return on("spark", 1.6)


def audited(rows: int = 3_000_000) -> Proof:
    with folder() as place:
        found = {}
        for number, part in (("all", 1.0), ("third", 1 / 3)):
            work("write", folder=place / number, rows=int(sized(rows) * part), files=12, check_rate=0.03)
            found[number] = work(
                "audit", data=place / number, out=place / f"audit-{number}", sample=max(int(30_000 * share()), 3_000)
            )
            found[number] |= {
                "ranking": work(
                    "score",
                    model=place / f"audit-{number}",
                    data=place / number,
                    out=place / f"scores-{number}",
                    where_empty="fraud",
                )
            }
        every, third = found["all"], found["third"]
        return proof(
            "companies",
            [
                at_most(
                    f"processor time of the audit of {sized(rows):,} rows", every["seconds"], third["seconds"], 1.5
                ),
                at_most("peak of memory of the audit", every["peak"], third["peak"], 1.2),
                at_most("reading, in proportion to the rows", every["reading"], third["reading"] * 3, 1.2),
                at_most(
                    "ranking beyond start-up, in proportion to the rows",
                    every["ranking"]["scoring"],
                    third["ranking"]["scoring"] * 3,
                    1.2,
                ),
                at_most("peak of memory of the ranking", every["ranking"]["peak"], third["ranking"]["peak"], 1.2),
            ],
        )


def gamma(rows: int = 500_000, files: int = 4) -> Proof:
    with folder() as place:
        work("write_numbers", folder=place, rows=sized(rows), files=files)
        here = work("gamma", data=place)
        there = work("sharded_gamma", data=place, kill=False)
        again = work("sharded_gamma", data=place, kill=True)
        seconds = (there["seconds"], here["seconds"])
        return proof(
            "gamma",
            [
                Case(
                    (f"threshold of {sized(rows):,} rows in {files} shards, processor seconds beside one machine",),
                    (float(there["threshold"] == here["threshold"]), 1.0, *seconds),
                    there["threshold"] == here["threshold"],
                ),
                same("scores of 1,000 new rows", there["scores"], here["scores"]),
                same(
                    "threshold after a worker was killed during the fit",
                    (again["threshold"], again["killed"]),
                    (here["threshold"], True),
                ),
            ],
        )


PARTS = {"score": score, "killed": killed, "dask": dask, "spark": spark, "companies": audited, "gamma": gamma}
