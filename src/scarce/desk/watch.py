"""The monitor at work on the rows that the service recorded, with the verdicts and outcomes that became known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction

from scarce._errors import MonitorError, UserError
from scarce._files import sha256
from scarce._typing import IntArray, Json
from scarce.engines.saved import MANIFEST
from scarce.monitor import DriftReport, PerformanceMonitor
from scarce.monitor.files import DATA
from scarce.monitor.given import GivenOutcomes

from .exports import verdicts_table
from .loaded import EXACT, place_of
from .recorded import Outcome, Score
from .schema import Meta, Model
from .store import Store

__all__ = ["FEWEST", "latest_report", "watch", "watch_desk"]

# The fact of the store that holds the last report and a line for each day.
REPORT: Final = "monitor"
# The rows that are looked at, the latest ones; fewer than FEWEST say nothing.
FEWEST, MOST = 100, 20_000
DAYS: Final = 60


def watch(store: Store, folder: Path) -> DriftReport | None:
    """Compare the rows that the model at work scored with those that it was tested on, and keep the report.

    Outcomes are those that programs sent, and the verdicts about rows whose identifiers were sent with them. None
    where fewer than 100 rows were recorded since the model is at work, or none since the last report.
    """
    with store.read() as transaction:
        place = place_of(transaction, folder)
        mark = sha256(place / MANIFEST)[:EXACT]
        last = _kept(transaction)
        scores = list(
            transaction.scalars(select(Score).where(Score.model == mark).order_by(Score.number.desc()).limit(MOST))
        )
        scores.reverse()
        outcomes = transaction.execute(select(Outcome.score, Outcome.positive).order_by(Outcome.number))
        known = {number: int(positive) for number, positive in outcomes}
    if len(scores) < FEWEST:
        return None
    monitor = PerformanceMonitor(place)
    frame = _frame(monitor, scores)
    outcome = np.array([known.get(score.number, -1) for score in scores], dtype=np.intp)
    outcome = _with_verdicts(monitor, store, frame, outcome)
    seen = [scores[-1].number, int((outcome >= 0).sum())]
    if last is not None and last["seen"] == seen and last["model"] == mark:
        return None
    report = monitor.update(frame, outcome)
    _keep(store, report, mark, seen, last)
    return report


def latest_report(transaction: Transaction, folder: Path) -> Json | None:
    """Return the last report with its moment: on recorded rows, or on a table by ``scarce monitor`` if later."""
    kept, place = _kept(transaction), place_of(transaction, folder).resolve()
    file = place.with_name(f"{place.name}-monitor") / DATA
    try:
        written = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        if kept is None or datetime.fromisoformat(kept["at"]) < written:
            report = json.loads(file.read_text(encoding="utf-8"))
            days = [] if kept is None else kept["days"]
            return {"at": written, "rows": report["table"], "report": report, "days": days}
    except (OSError, ValueError, KeyError):  # not there, or damaged
        pass
    if kept is None:
        return None
    return {**kept, "at": datetime.fromisoformat(kept["at"]), "rows": "the rows that the service recorded"}


def _frame(monitor: PerformanceMonitor, scores: Sequence[Score]) -> pd.DataFrame:
    """Return recorded rows as a table; columns that no row has are empty, and a row without a time has its own."""
    frame = pd.DataFrame([score.row for score in scores])
    model, settings = monitor.model, monitor.model.manifest["settings"]
    for column in model.own_columns:
        if column.name not in frame:
            frame[column.name] = None
    if (time := settings["time"]) is not None:
        moments = pd.Series([f"{score.at:%Y-%m-%d %H:%M:%S}" for score in scores], dtype=object)
        frame[time] = moments if time not in frame else frame[time].where(frame[time].notna(), moments)
    return frame


def _with_verdicts(monitor: PerformanceMonitor, store: Store, frame: pd.DataFrame, outcome: IntArray) -> IntArray:
    """Return outcomes with the verdicts of the desk about rows that none is known of."""
    verdicts, manifest = verdicts_table(store), monitor.model.manifest
    time = manifest["settings"]["time"]
    with store.read() as transaction:
        key = transaction.scalar(select(Model.key).order_by(Model.version.desc()).limit(1)) or []
    repeated = len(key) > 1 and time in key
    try:
        given = GivenOutcomes(verdicts, manifest["target"], manifest["identifiers"], time=time if repeated else None)
        found, _, about = given.match(frame, 0)
    except MonitorError:  # nothing that a row could be recognised by
        return outcome
    return np.where((outcome < 0) & about, found, outcome)


def _kept(transaction: Transaction) -> Json | None:
    found = transaction.get(Meta, REPORT)
    return None if found is None else dict(json.loads(found.value))


def _keep(store: Store, report: DriftReport, mark: str, seen: list[int], last: Json | None) -> None:
    now, found = datetime.now(UTC), report.as_dict()
    whole = report.outcomes.whole if report.outcomes is not None and report.outcomes.periods else None
    line = {
        "day": f"{now:%Y-%m-%d}",
        "auc": found["drift"]["auc"],
        "expected_ratio": found["drift"]["expected_ratio"],
        "precision": None if whole is None or whole.precision is None else dict(whole.precision._asdict()),
        "needs_person": report.needs_person,
    }
    days = [day for day in (last["days"] if last else []) if day["day"] != line["day"]]
    kept = {"at": now.isoformat(), "model": mark, "seen": seen, "report": found, "days": [*days, line][-DAYS:]}
    with store.write() as transaction:
        transaction.merge(Meta(name=REPORT, value=json.dumps(kept, default=str, allow_nan=False)))


def watch_desk(url: str, folder: str) -> None:
    """Do the same in a process of its own, so that no request waits; what cannot be done is left for the next time."""
    store = Store(url)
    try:
        watch(store, Path(folder))
    except UserError as error:
        print(f"The monitor could not look at the recorded rows: {error}", flush=True)
    finally:
        store.close()
