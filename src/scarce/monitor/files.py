"""The monitor at work on files: a table of new rows, outcomes, and a folder that remembers earlier runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scarce._errors import MonitorError
from scarce._files import check_free, written_whole
from scarce._typing import Cell, Json
from scarce._values import plain
from scarce.audit.handover import key_of_folder
from scarce.metrics import ConfidenceInterval
from scarce.tables import read_batches, read_table

from .advice import RENEW_EVERY
from .batches import Batches
from .given import GivenOutcomes
from .page import monitor_html
from .report import DriftReport
from .service import PerformanceMonitor

__all__ = ["monitor_table"]

PAGE, DATA, HISTORY = "monitor.html", "monitor.json", "history.parquet"
KNOWN, CHECKED = "known.parquet", "checked.parquet"

# Called with the name of a step, the effort spent so far, and the effort of the whole.
Progress = Callable[[str, int, int], None]


def monitor_table(
    folder: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    outcomes: str | os.PathLike[str] | pd.DataFrame | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    renew_every: int = RENEW_EVERY,
    progress: Progress = lambda step, done, total: None,
) -> DriftReport:
    """Compare a table of new rows with what a model was tested on, and write the page of the monitor.

    Parameters
    ----------
    folder : path
        The folder that an audit wrote.
    table : path
        CSV, Parquet or Excel with the columns of the audited table. It is read in parts; of its rows, samples are kept
        whose size does not depend on their number. Where the model learned from the history of entities, the table is
        read at once.
    outcomes : path or DataFrame, optional
        Outcomes of some of its rows, beside those in its target column: identifiers, ``verdict``, and ``chance_drawn``
        for rows that were drawn at random.
    out : path, optional
        The folder for ``monitor.html``, ``monitor.json`` and ``history.parquet``; by default that of the audit with
        ``-monitor`` behind its name. Earlier runs there are gone on from.
    seed : int
        Seed of samples and resamples.
    renew_every : int
        Days after which renewal is advised even if the latest outcomes do not ask for it; 0 for never.
    progress : callable
        Called with the name of a step, the rows read so far, and a number that is larger.

    Returns
    -------
    DriftReport
    """
    folder, table = Path(folder), Path(table)
    audited = folder if folder.is_dir() else folder.parent
    place = Path(out) if out is not None else audited.resolve().with_name(audited.resolve().name + "-monitor")
    check_free(place, force=True, marker=DATA)
    monitor = PerformanceMonitor(folder, seed=seed, renew_every=renew_every)
    history = _read_history(place)
    _resume(monitor, place, history)
    given = None if outcomes is None else _given(outcomes, monitor, audited)
    batches, rows = monitor.start()
    first = 0
    for frame in _parts(table, monitor, batches, given):
        progress("Reading and scoring rows", first, first + 2 * len(frame))
        if given is None:
            rows.add(batches.rows(frame))
        else:
            outcome, chance, found = given.match(frame, first)
            outcome[~found] = batches.outcomes_in(frame)[~found]
            rows.add(batches.rows(frame, outcome, chance))
        first += len(frame)
    if not rows.count:
        raise MonitorError(f"{table} holds no rows; give a table that has some.")
    if given is not None:
        given.check()
    progress("Comparing", first, first + 1)
    report = monitor.finish(batches, rows)
    progress("Writing the page", first, first + 1)
    _write(place, monitor, report, history, table.name)
    return report


def _parts(
    table: Path, monitor: PerformanceMonitor, batches: Batches, given: GivenOutcomes | None
) -> Iterator[pd.DataFrame]:
    held = {reading.name for reading in batches.readings}
    extra = [] if given is None else [name for name in given.keys if name not in held]
    readings = [*batches.readings, *batches.as_text(extra)]
    if monitor.model.history is not None:
        yield read_table(table, readings=readings).frame
        return
    for part in read_batches(table, readings):
        yield part.frame


def _given(outcomes: Any, monitor: PerformanceMonitor, folder: Path) -> GivenOutcomes:
    frame = outcomes if isinstance(outcomes, pd.DataFrame) else read_table(outcomes).frame
    queue = folder / "queue.parquet"
    manifest = monitor.model.manifest
    key, time = key_of_folder(folder), manifest["settings"]["time"]
    return GivenOutcomes(
        frame,
        manifest["target"],
        manifest["identifiers"],
        pd.read_parquet(queue) if queue.exists() else None,
        time=time if len(key) > 1 and time in key else None,
    )


def _read_history(place: Path) -> pd.DataFrame:
    file = place / HISTORY
    if not file.exists():
        return pd.DataFrame()
    try:
        history = pd.read_parquet(file)
        history["period"], history["model"], history["outcomes"]
    except (OSError, ValueError, KeyError) as error:
        raise MonitorError(f"{file} is damaged; remove it, and the history begins anew.") from error
    return history


def _resume(monitor: PerformanceMonitor, place: Path, history: pd.DataFrame) -> None:
    last: dict[bool, Cell] = {}
    for with_outcomes in (False, True):
        of_kind = history[(history["outcomes"] > 0) == with_outcomes] if len(history) else history
        if len(of_kind):
            last[with_outcomes] = _period(of_kind["period"].iloc[-1], monitor)
    monitor.resume(last, _read_kept(place / KNOWN, monitor), _read_kept(place / CHECKED, monitor))


def _read_kept(file: Path, monitor: PerformanceMonitor) -> pd.DataFrame:
    """Read rows that earlier runs kept; none of another model, whose new rows may be training rows of this one."""
    if not file.exists():
        return pd.DataFrame()
    stored = pq.read_table(file)
    if (stored.schema.metadata or {}).get(b"scarce", b"").decode() != monitor.model.manifest["written"]:
        return pd.DataFrame()
    return stored.to_pandas()


def _period(text: str, monitor: PerformanceMonitor) -> Cell:
    if monitor.model.manifest["settings"]["time"] is None:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return pd.Timestamp(text)


def _write(place: Path, monitor: PerformanceMonitor, report: DriftReport, history: pd.DataFrame, table: str) -> None:
    line = pd.DataFrame([_line(monitor, report, table)])
    history = pd.concat([history, line], ignore_index=True) if len(history) else line
    data: Json = {"table": table, "audit": monitor.model.manifest["data"]["name"], **report.as_dict()}
    page = monitor_html(data, history)
    with written_whole(place, force=True, marker=DATA) as new:
        new.mkdir()
        history.to_parquet(new / HISTORY, index=False)
        for name, rows in ((KNOWN, monitor.known), (CHECKED, monitor.checked)):
            if len(rows):
                kept = pa.Table.from_pandas(rows, preserve_index=False)
                mark = {b"scarce": str(monitor.model.manifest["written"]).encode()}
                pq.write_table(kept.replace_schema_metadata({**kept.schema.metadata, **mark}), new / name)
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str)
        (new / DATA).write_text(text + "\n", encoding="utf-8")
        (new / PAGE).write_text(page, encoding="utf-8")


def _line(monitor: PerformanceMonitor, report: DriftReport, table: str) -> Json:
    """Return the line of a run in the history."""
    drift, outcomes = report.drift, report.outcomes
    line: dict[str, Any] = {
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": monitor.model.manifest["written"],
        "table": table,
        "period": str(plain(report.period)),
        "rows": report.rows,
        "outcomes": 0 if outcomes is None else outcomes.known,
        "alarms": len(report.alarms),
        "advice": report.advice.action,
        "needs_person": report.needs_person,
        "psi": max((column.psi for column in drift.columns), default=0.0),
        "psi_column": drift.columns[0].name if drift.columns else "",
        "psi_score": drift.score.psi,
        "missing": max((column.missing_now for column in drift.columns), default=0.0),
        "unknown": max((column.unknown_now or 0.0 for column in drift.columns), default=0.0),
        "expected": drift.expected,
    }
    figures: dict[str, ConfidenceInterval | None] = {"auc": drift.auc, "expected_ratio": drift.expected_ratio}
    whole = None if outcomes is None or not outcomes.periods else outcomes.whole
    figures["precision"] = None if whole is None else whole.precision
    figures["recall"] = None if whole is None else whole.recall
    figures["money"] = None if whole is None else whole.money_share
    figures["calibration"] = None if outcomes is None else outcomes.calibration
    for name, interval in figures.items():
        for end in ("estimate", "low", "high"):
            column = name if end == "estimate" else f"{name}_{end}"
            line[column] = float("nan") if interval is None else float(getattr(interval, end))
    return line
