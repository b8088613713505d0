"""The monitor looks at the rows that the service recorded; pages and figures for programs show what it found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pandas as pd
import pytest
from sqlalchemy import insert, select

from scarce._files import sha256
from scarce.desk.recorded import Outcome, Score, add_outcomes
from scarce.desk.schema import Case, Meta, Model, Verdict
from scarce.desk.store import Store
from scarce.desk.watch import FEWEST, latest_report, watch
from scarce.monitor import PerformanceMonitor
from tests.payments import make_table

from .service import running

ROWS = 240


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return make_table(ROWS, seed=3).drop(columns=["date", "chargeback"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    yield opened
    opened.close()


def record(store: Store, folder: Path, rows: pd.DataFrame) -> None:
    """Store rows as if they had been scored."""
    mark, now = sha256(folder / "manifest.json")[:12], datetime.now(UTC)
    sent = json.loads(rows.drop(columns="fraud").to_json(orient="records"))
    scores = [
        {"id": row["payment"], "at": now, "row": row, "score": 0.1, "probability": 0.1, "decision": "accept"}
        | {"money": None, "version": None, "model": mark}
        for row in sent
    ]
    with store.write() as transaction:
        transaction.execute(insert(Score), scores)


def test_few_rows_say_nothing_and_a_report_is_made_once(store: Store, model_folder: Path, rows: pd.DataFrame) -> None:
    record(store, model_folder, rows.head(FEWEST - 1))
    assert watch(store, model_folder) is None
    record(store, model_folder, rows.tail(ROWS - FEWEST + 1))
    assert watch(store, model_folder) is not None
    assert watch(store, model_folder) is None


def test_the_report_is_that_of_the_monitor_on_the_same_rows(
    store: Store, model_folder: Path, rows: pd.DataFrame
) -> None:
    record(store, model_folder, rows)
    known = rows.head(60)
    pairs = zip(known["payment"], known["fraud"] == "yes", strict=True)
    assert not add_outcomes(store, [(name, bool(fraud)) for name, fraud in pairs], "ana")
    found = watch(store, model_folder)
    assert found is not None
    dated = rows.assign(date=None, fraud=rows["fraud"].where(rows.index < 60))
    expected = PerformanceMonitor(model_folder).update(dated)
    one, other = found.as_dict(), expected.as_dict()
    assert one["drift"]["expected"] == pytest.approx(other["drift"]["expected"])
    assert one["drift"]["score"] == other["drift"]["score"]
    assert one["outcomes"]["known"] == 60
    assert one["outcomes"]["periods"] == other["outcomes"]["periods"]


def test_a_verdict_is_the_outcome_of_the_row_of_its_identifiers(
    store: Store, model_folder: Path, rows: pd.DataFrame
) -> None:
    record(store, model_folder, rows)
    with store.write() as transaction:
        add_case(transaction, {"payment": "P00005"}, datetime.now(UTC))
    found = watch(store, model_folder)
    assert found is not None
    assert found.outcomes is not None
    assert found.outcomes.known == 1
    with store.read() as transaction:
        assert not transaction.scalars(select(Outcome)).all()


def add_case(transaction, identity: dict[str, str], now: datetime) -> None:
    """Write a decided case."""
    empty = {"checks": 1, "period": None, "target": {}, "key": [], "entities": [], "columns": [], "newest": None}
    model = Model(version=1, name="x", folder="nowhere", sha256="0", written="", imported=now, **empty)
    transaction.add(model)
    transaction.flush()
    place = {"rank": 1, "score": 0.5, "probability": 0.5, "log_odds": 0.0, "live": 0.0, "drawn": False, "chance": 1.0}
    case = Case(key="k", name="case", identity=identity, model=1, why="", status="positive", decided=now, **place)
    transaction.add(case)
    transaction.flush()
    entry = Verdict(case_id=case.id, at=now, who="ana", old="open", new="positive", model=1)
    transaction.add(entry)
    transaction.flush()
    case.entry = entry.id


def test_the_page_and_the_figures_for_programs_show_the_report(
    store: Store, model_folder: Path, rows: pd.DataFrame
) -> None:
    record(store, model_folder, rows.assign(amount=rows["amount"] * 20))
    with running(store, model_folder, lifespan="off") as client:
        assert "has not looked at new rows yet" in client.get("/figures").text
        assert "scarce_monitor_alarms" not in client.get("/metrics").text
        report = watch(store, model_folder)
        assert report is not None
        assert report.needs_person
        page = client.get("/figures").text
        assert "Something needs a person." in page
        assert "Column &#39;amount&#39; differs" in page
        figures = figures_of(client)
    assert figures["scarce_monitor_rows"] == ROWS
    assert figures["scarce_monitor_needs_person"] == 1
    assert figures["scarce_monitor_alarms"] == len(report.alarms)
    assert figures["scarce_monitor_auc"] == pytest.approx(report.drift.auc.estimate)
    assert "scarce_monitor_precision" not in figures


def figures_of(client: httpx.Client) -> dict[str, float]:
    lines = [line.split() for line in client.get("/metrics").text.splitlines() if line.startswith("scarce_monitor")]
    return {name: float(value) for name, value in lines}


def test_a_later_run_on_a_table_is_shown_and_a_day_has_one_line(
    store: Store, model_folder: Path, rows: pd.DataFrame, tmp_path: Path
) -> None:
    record(store, model_folder, rows)
    watch(store, model_folder)
    record(store, model_folder, rows.head(5))
    watch(store, model_folder)
    with store.read() as transaction:
        kept = json.loads(transaction.get_one(Meta, "monitor").value)
        assert len(kept["days"]) == 1
        assert latest_report(transaction, model_folder)["rows"] == "the rows that the service recorded"
        own = tmp_path / "audit"
        own.mkdir()
        (tmp_path / "audit-monitor").mkdir()
        (tmp_path / "audit-monitor" / "monitor.json").write_text(json.dumps({"table": "june.csv"}))
        assert latest_report(transaction, own)["rows"] == "june.csv"
        (tmp_path / "audit-monitor" / "monitor.json").write_text("{")
        assert latest_report(transaction, own)["report"] == kept["report"]
