"""Rank the rows of any number of files: scored file by file, wherever that is done, and merged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

import scarce
from scarce._errors import AuditError
from scarce._files import check_free, explained, put_in_place, sha256
from scarce._typing import IntArray, Json, PathLike
from scarce.tables.cells import as_text

from .fragments import BATCH_ROWS, Fragment, batches_of, find_fragments, require_columns
from .ids import IdCheck, check_ids, refuse
from .ranking import TopRows
from .saved import MANIFEST
from .scorer import BatchScorer

__all__ = ["SUMMARY", "Job", "Part", "Ranking", "ranked", "score_fragment"]

SUMMARY = "_score.json"
# Below the folder of a run: what becomes the result. The rest is what only an unfinished run needs.
_RESULT = "result"

# Called with what is done, how much of it, and how much there is.
Progress = Callable[[str, float, float], None]
OnRows = Callable[[int], None]


@dataclass(frozen=True)
class Job:
    """The work on each file.

    Attributes
    ----------
    scorer : BatchScorer
        The model.
    columns : tuple of str
        The columns that are read, and kept of the first rows.
    top : int
        How many rows are kept.
    where_empty : str, optional
        A column; only rows in which it is empty are scored.
    folder : str, optional
        Where the scores of all rows are written.
    """

    scorer: BatchScorer
    columns: tuple[str, ...]
    top: int
    where_empty: str | None = None
    folder: str | None = None


@dataclass(frozen=True)
class Part:
    """The result of one file: how many rows were scored, how many are above the threshold, and the first of them."""

    name: str
    rows: int
    above: int
    top: pa.Table | None


@dataclass(frozen=True)
class Ranking:
    """The result of all files.

    Attributes
    ----------
    rows, above : int
        How many rows were scored, and how many of them are above the threshold.
    top : pyarrow.Table or None
        The first rows in their order, with their cells, scores, files and rows.
    parts : tuple of Part
        The result of each file, without its rows.
    again : int
        How many files were taken over from a run that had not come to its end.
    folder : Path or None
        Where the files of scores are until the end.
    """

    rows: int
    above: int
    top: pa.Table | None
    parts: tuple[Part, ...]
    again: int = 0
    folder: Path | None = None


class Over(Protocol):
    """A way to score files, each by its number: one after the other, or on the workers of a cluster."""

    def __call__(self, job: Job, fragments: Sequence[tuple[int, Fragment]], on_rows: OnRows) -> Iterator[Part]:
        """Yield the result of each file as it comes."""
        ...


def one_by_one(job: Job, fragments: Sequence[tuple[int, Fragment]], on_rows: OnRows) -> Iterator[Part]:
    """Score files in this process."""
    for number, fragment in fragments:
        yield score_fragment(job, number, fragment, on_rows)


@contextmanager
def ranked(
    scorer: BatchScorer,
    data: PathLike | Any,
    *,
    top: int = 1000,
    keep: Sequence[str] = (),
    out: PathLike | None = None,
    where_empty: str | None = None,
    over: Over = one_by_one,
    force: bool = False,
    progress: Progress = lambda step, done, total: None,
) -> Iterator[Ranking]:
    """Score all rows of files and give the first ones; the folder of all scores appears when the block ends well.

    A run that was killed is taken up by the next one with the same model and options: files that were scored to their
    end are not scored again.

    Parameters
    ----------
    scorer : BatchScorer
        The model.
    data : path or Arrow stream
        A file, a folder, a pattern such as ``payments/*.parquet``, or anything with ``__arrow_c_stream__``, such as a
        reader of DuckDB, or a frame of Polars.
    top : int
        How many rows are kept.
    keep : sequence of str
        Further columns of these rows that are kept, where the table has them.
    out : path, optional
        The folder for the scores of all rows, as Parquet.
    where_empty : str, optional
        A column; only rows in which it is empty are scored.
    over : callable
        How files are scored; by default one after the other.
    force : bool
        Whether an earlier result in `out` is replaced.
    progress : callable
        Called after each batch.
    """
    if top < 0:
        raise AuditError(f"`top` is how many rows are ranked, 0 or more; it was {top}.")
    destination = None if out is None else Path(out).absolute()
    if destination is not None:
        check_free(destination, force=force, marker=SUMMARY)
    needed = [*scorer.columns(), *([] if where_empty is None else [where_empty])]
    given = {"id": scorer.id, "where_empty": where_empty}
    work = None if destination is None else destination.with_name(f".{destination.name}.unfinished")
    job = Job(scorer, (), top, where_empty, None if work is None else str(work))
    with nullcontext() if destination is None else explained(destination):
        if hasattr(data, "__arrow_c_stream__"):
            if work is not None:
                shutil.rmtree(work, ignore_errors=True)
                (work / _RESULT).mkdir(parents=True)
            ranking = _of_stream(job, data, needed, keep, given, progress)
        else:
            ranking = _of_files(job, find_fragments(data, needed, given), needed, keep, over, progress)
        yield replace(ranking, folder=None if work is None else work / _RESULT)
        if work is not None and destination is not None:
            _finish(work, destination, ranking, force=force)


def _of_files(
    job: Job, fragments: list[Fragment], needed: list[str], keep: Sequence[str], over: Over, progress: Progress
) -> Ranking:
    first = next((batch.schema.names for batch in batches_of(fragments[0], rows=1)), needed)
    job = replace(job, columns=tuple(dict.fromkeys([*needed, *(name for name in keep if name in first)])))
    if job.scorer.id is not None:
        progress(f"Checking {job.scorer.id}", 0, 1)
        check_ids(fragments, job.scorer.id)
    parts: dict[str, Part] = {}
    if job.folder is not None:
        parts = _finished(job, fragments)
    again, total = len(parts), sum(fragment.size for fragment in fragments)
    rows = sum(part.rows for part in parts.values())
    before = done = sum(fragment.size for fragment in fragments if fragment.name in parts)

    def on_rows(more: int) -> None:
        nonlocal rows, done
        rows += more
        if fragments[0].rows is not None:
            done += more
        progress(f"Scored {rows:,} rows", done - before, total - before)

    sizes = {fragment.name: fragment.size for fragment in fragments}
    todo = [(number, fragment) for number, fragment in enumerate(fragments) if fragment.name not in parts]
    for part in over(job, todo, on_rows):
        parts[part.name] = part
        done = sum(sizes[name] for name in parts)
        progress(f"Scored {rows:,} rows", done - before, total - before)
    return _merged(job, [parts[fragment.name] for fragment in fragments], again)


def _merged(job: Job, parts: list[Part], again: int) -> Ranking:
    top = TopRows(job.top, job.scorer.id)
    top.merge(part.top for part in parts if part.top is not None)
    plain = tuple(replace(part, top=None) for part in parts)
    return Ranking(sum(part.rows for part in parts), sum(part.above for part in parts), top.table(), plain, again)


def score_fragment(job: Job, number: int, fragment: Fragment, on_rows: OnRows = lambda rows: None) -> Part:
    """Score the rows of one file."""
    batches = batches_of(fragment, job.columns)
    if job.folder is None:
        return _score(job, number, fragment.name, batches, on_rows)
    part = _score(job, number, fragment.name, batches, on_rows)
    place = Path(job.folder) / f"part-{number:05}"
    if part.top is not None:
        with _appearing(place.with_suffix(".top")) as file, pa.ipc.new_file(str(file), part.top.schema) as writer:
            writer.write_table(part.top)
    # The last file of a part, which shows that it is whole.
    with _appearing(place.with_suffix(".json")) as file:
        file.write_text(json.dumps({"fragment": asdict(fragment), "rows": part.rows, "above": part.above}))
    return part


def _score(job: Job, number: int, name: str, batches: Iterator[pa.RecordBatch], on_rows: OnRows) -> Part:
    top = TopRows(job.top, job.scorer.id)
    rows = above = seen = 0
    writer: pa.parquet.ParquetWriter | None = None
    path = None if job.folder is None else _scores(job.folder, number)
    try:
        for batch in batches:
            places: IntArray = np.arange(seen, seen + batch.num_rows)
            seen += batch.num_rows
            on_rows(batch.num_rows)
            if job.where_empty is not None:
                empty = _is_empty(batch.column(job.where_empty))
                batch, places = batch.filter(pa.array(empty)), places[empty]
                if not batch.num_rows:
                    continue
            scored = job.scorer(batch)
            score = scored.column("score").to_numpy()
            rows += batch.num_rows
            above += pc.sum(scored.column("decision")).as_py() or 0
            top.add(batch, score, name, places)
            if path is not None:
                if job.scorer.id is None:
                    scored = _with_places(scored, name, places)
                if writer is None:
                    writer = pa.parquet.ParquetWriter(path, scored.schema)
                writer.write_batch(scored)
    finally:
        if writer is not None:
            writer.close()
    return Part(name, rows, above, top.table())


def _scores(folder: str, number: int) -> Path:
    return Path(folder) / _RESULT / f"part-{number:05}.parquet"


def _is_empty(cells: pa.Array) -> np.ndarray:
    missing = pc.is_null(cells, nan_is_null=True)
    if pa.types.is_string(cells.type) or pa.types.is_dictionary(cells.type):
        missing = pc.is_null(as_text(cells))
    return np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)


def _with_places(scored: pa.RecordBatch, name: str, places: IntArray) -> pa.RecordBatch:
    """Put file and row in front of scores without ids."""
    file = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(places), dtype=np.int32)), pa.array([name]))
    return pa.RecordBatch.from_arrays(
        [file, pa.array(places, pa.int64()), *scored.columns], ["file", "row", *scored.schema.names]
    )


def _of_stream(
    job: Job, data: Any, needed: list[str], keep: Sequence[str], given: dict[str, str | None], progress: Progress
) -> Ranking:
    reader = pa.RecordBatchReader.from_stream(data)
    names = reader.schema.names
    require_columns(names, needed, given)
    job = replace(job, columns=tuple(dict.fromkeys([*needed, *(name for name in keep if name in names)])))
    rows = 0

    def on_rows(more: int) -> None:
        nonlocal rows
        rows += more
        progress(f"Scored {rows:,} rows", 0, 1)

    with IdCheck() as check:

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = _plain(batch.slice(start, BATCH_ROWS).select(list(job.columns)))
                    if job.scorer.id is not None:
                        check.add(part.column(job.scorer.id))
                    yield part

        part = _score(job, 0, "stream", batches(), on_rows)
        if job.scorer.id is not None and len(check.repeated()):
            refuse(job.scorer.id, "a value")
    return _merged(job, [part], 0)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose texts are plain: few functions of Arrow know views, which Polars has."""
    for place, field in enumerate(batch.schema):
        if pa.types.is_string_view(field.type):
            batch = batch.set_column(place, field.name, batch.column(place).cast(pa.string()))
    return batch


def _finished(job: Job, fragments: list[Fragment]) -> dict[str, Part]:
    """Return the parts that an unfinished run of the same job has left, and make the folder where there is none."""
    folder = Path(str(job.folder))
    about = json.dumps(_identity(job), sort_keys=True)
    note = folder / "job.json"
    if not (note.exists() and note.read_text(encoding="utf-8") == about):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / _RESULT).mkdir(parents=True)
        with _appearing(note) as file:
            file.write_text(about, encoding="utf-8")
        return {}
    found = {}
    for number, fragment in enumerate(fragments):
        place = folder / f"part-{number:05}"
        if not place.with_suffix(".json").exists():
            continue
        state = json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))
        # A run that was killed after its result had its name leaves notes without scores.
        if state["fragment"] == asdict(fragment) and (not state["rows"] or _scores(str(folder), number).exists()):
            top = None
            if place.with_suffix(".top").exists():
                with pa.OSFile(str(place.with_suffix(".top")), "rb") as source:
                    top = pa.ipc.open_file(source).read_all()
            found[fragment.name] = Part(fragment.name, state["rows"], state["above"], top)
        else:
            for file in (place.with_suffix(".json"), place.with_suffix(".top"), _scores(str(folder), number)):
                file.unlink(missing_ok=True)
    return found


def _identity(job: Job) -> Json:
    model = Path(job.scorer.model)
    folder = model if model.is_dir() else model.parent
    return {
        "scarce": scarce.__version__,
        "model": sha256(folder / "model.skops"),
        "manifest": sha256(folder / MANIFEST),
        "id": job.scorer.id,
        "columns": job.columns,
        "top": job.top,
        "where_empty": job.where_empty,
    }


def _finish(work: Path, destination: Path, ranking: Ranking, *, force: bool) -> None:
    """Give the folder of results its name, and remove what only an unfinished run needs."""
    summary = {
        "rows": ranking.rows,
        "above_the_threshold": ranking.above,
        "files": [{"file": part.name, "rows": part.rows, "above_the_threshold": part.above} for part in ranking.parts],
    }
    (work / _RESULT / SUMMARY).write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    check_free(destination, force=force, marker=SUMMARY)
    put_in_place(work / _RESULT, destination)
    shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _appearing(path: Path) -> Iterator[Path]:
    """Give a path beside another, which it becomes in one step."""
    new = path.with_name(f".{path.name}.new")
    yield new
    os.replace(new, path)
