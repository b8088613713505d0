"""Another audit's queue in the same desk, and verdicts on their way back to an audit."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import func, select, update

from scarce.audit.reviews import apply_reviews
from scarce.desk.errors import DeskError
from scarce.desk.exports import read_reviews, verdicts_table
from scarce.desk.hiding import hidden_columns
from scarce.desk.imports import import_folder
from scarce.desk.schema import Case, CaseEntity, KnownEntity, Meta
from scarce.desk.store import Store, store_url
from scarce.desk.verdicts import Given, decide
from scarce.tables import read_table, read_target
from scarce.tables.writing import write_csv, write_parquet

from .audits import make_folder


def test_cases_keep_their_identity_and_what_is_decided_stays(desk: Store, tmp_path: Path) -> None:
    decide(desk, 31, "ana", Given("positive", kind="stolen card"))
    again = import_folder(desk, make_folder(tmp_path / "next", 60, first=30))
    assert (again.version, again.new, again.known, again.decided) == (2, 30, 30, 1)
    with desk.read() as transaction:
        assert transaction.scalar(select(func.count()).select_from(Case)) == 90
        decided, known = transaction.get_one(Case, 31), transaction.get_one(Case, 32)
        assert (decided.status, decided.kind, decided.model, decided.rank) == ("positive", "stolen card", 1, 31)
        assert (known.model, known.rank, known.name) == (2, 2, "payment P000031")


def test_an_audit_is_imported_once(desk: Store, tmp_path: Path) -> None:
    decide(desk, 31, "ana", Given("positive"))
    again = import_folder(desk, tmp_path / "audit")
    assert (again.version, again.new, again.known, again.decided) == (1, 0, 60, 1)


def test_a_folder_without_an_audit_is_refused(desk: Store, tmp_path: Path) -> None:
    with pytest.raises(DeskError, match="There is no manifest"):
        import_folder(desk, tmp_path)


def test_a_profit_queue_keeps_its_order(store: Store, tmp_path: Path) -> None:
    """An audit for profit does not rank by probability."""
    folder = make_folder(tmp_path / "profit", 20)
    data = json.loads((folder / "cases.json").read_text()) | {"period": None}
    for place, case in enumerate(data["cases"]):
        case["probability"] = 0.01 * (1 + place * 7 % 20)
    (folder / "cases.json").write_text(json.dumps(data))
    import_folder(store, folder)
    with store.read() as transaction:
        ranks = list(transaction.scalars(select(Case.rank).order_by(Case.live.desc())))
    assert ranks == sorted(ranks)


def test_the_queues_of_several_days_are_one(store: Store, tmp_path: Path) -> None:
    """With a budget for each day an audit ranks day by day; the desk ranks all open cases by probability."""
    folder = make_folder(tmp_path / "days", 20)
    data = json.loads((folder / "cases.json").read_text())
    for place, case in enumerate(data["cases"]):
        case["probability"] = 0.01 * (1 + place * 7 % 20)
    (folder / "cases.json").write_text(json.dumps(data))
    import_folder(store, folder)
    with store.read() as transaction:
        cases = list(transaction.scalars(select(Case).order_by(Case.live.desc())))
    assert [case.rank for case in cases] == list(range(1, 21))
    assert [case.probability for case in cases] == sorted((case.probability for case in cases), reverse=True)


def test_a_store_of_another_version_is_not_opened(tmp_path: Path) -> None:
    store = Store(store_url(tmp_path))
    with store.write() as transaction:
        transaction.execute(update(Meta).values(value="99"))
    store.close()
    with pytest.raises(DeskError, match="tables of version 99"):
        Store(store_url(tmp_path))


@pytest.mark.parametrize(
    "url", ["mysql://x", "postgresql+psycopg://nobody@127.0.0.1:1/none", "sqlite:////no/such/folder/x.db"]
)
def test_a_store_that_cannot_be_opened_is_a_sentence(url: str) -> None:
    with pytest.raises(DeskError, match=r"\(`store`\)\.$"):
        Store(url)


def test_a_verdict_reaches_the_row_that_it_is_about(desk: Store, tmp_path: Path) -> None:
    decide(desk, 1, "ana", Given("positive", note="-1 for the record"))
    decide(desk, 2, "ana", Given("negative"))
    decide(desk, 3, "ana", Given("undecidable"))
    table = pd.DataFrame({"payment": [f"P{n:06}" for n in range(5)], "fraud": [0.0, 1.0, 1.0, 0.0, None]})
    files = [tmp_path / "verdicts.csv", tmp_path / "verdicts.parquet"]
    for file, write in zip(files, (write_csv, write_parquet), strict=True):
        write(verdicts_table(desk), file)
    for reviews in (*(read_table(file).frame for file in files), verdicts_table(desk)):
        changed, sentences = apply_reviews(table, read_target(table, "fraud"), reviews)
        assert [str(value) for value in changed["fraud"][:4].astype(float)] == ["1.0", "0.0", "1.0", "0.0"]
        assert "2 rows have a verdict in the reviews" in sentences[0]
        assert "it changed 2 outcomes" in sentences[0]


def test_a_desk_without_verdicts_teaches_nothing(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "audit", 20)
    store = Store(store_url(folder))
    import_folder(store, folder)
    store.close()
    with pytest.raises(ValueError, match="holds no verdict yet"):
        read_reviews(str(folder))


def numbered(folder: Path, cases: range, **manifest: object) -> Path:
    """Write an audit whose cases are named by a number of their own, and belong to customers."""
    make_folder(folder, len(cases))
    data = json.loads((folder / "cases.json").read_text())
    for number, case in zip(cases, data["cases"], strict=True):
        case["id"], case["identity"] = f"{folder.name}-{number}", {"number": f"{folder.name}-{number}"}
        case["data"]["cells"].append({"title": "Client", "value": f"K{number}", "usual": None, "telling": False})
    (folder / "cases.json").write_text(json.dumps(data))
    known = json.loads((folder / "manifest.json").read_text()) | {"first": folder.name, **manifest}
    (folder / "manifest.json").write_text(json.dumps(known))
    return folder


def test_cases_are_recognised_by_a_stated_key_from_then_on(store: Store, tmp_path: Path) -> None:
    titled = {"columns": [{"name": "customer", "title": "Client"}]}
    import_folder(store, numbered(tmp_path / "a", range(10), **titled))
    decide(store, 3, "ana", Given("negative"))
    seen: list[tuple[str, int, int]] = []
    again = import_folder(
        store, numbered(tmp_path / "b", range(2, 8), **titled), key=["customer"], progress=lambda *how: seen.append(how)
    )
    assert (again.new, again.known, again.decided) == (0, 6, 1)
    assert seen == [("Adding cases", 0, 6), ("Looking at linked cases", 6, 6)]
    # Without being stated again, and by the column itself where it has no title.
    later = import_folder(
        store, numbered(tmp_path / "c", range(5, 12), columns=[{"name": "customer", "title": "Client"}])
    )
    assert (later.new, later.known) == (2, 5)
    with store.read() as transaction:
        assert transaction.get_one(Case, 3).status == "negative"
        assert transaction.scalar(select(func.count()).select_from(Case)) == 12


def test_a_key_that_cannot_tell_cases_apart_or_is_no_column_changes_nothing(desk: Store, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "next", 30, first=30)
    with pytest.raises(DeskError, match=r"agree in region, .* state more columns \(`key`\)"):
        import_folder(desk, folder, key=["region"])
    with pytest.raises(DeskError, match=r"has no column 'shop'; the key \(`key`\) may be made of payment, card"):
        import_folder(desk, folder, key=["shop"])
    assert import_folder(desk, folder).known == 30


def test_hidden_columns_link_cases_and_are_not_shown(store: Store, tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 100)):
        folder = make_folder(tmp_path / name, 20, first=first, terminals=10)
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"hidden": ["terminal", "date", "amount"]}))
        import_folder(store, folder)
    with store.read() as transaction:
        marks = transaction.execute(select(CaseEntity.column, CaseEntity.value)).all()
        known = transaction.scalars(select(KnownEntity).where(KnownEntity.column != "card")).all()
        cases = list(transaction.scalars(select(Case)))
        assert hidden_columns(transaction) == {"terminal", "date", "amount"}
    hidden = [(column, value) for column, value in marks if column != "card"]
    assert {column for column, _ in hidden} == {hidden[0][0]} != {"terminal"}
    assert len(set(hidden)) == 10  # the same terminal has the same mark in both audits
    assert not any(value.startswith("T0") for _, value in hidden)
    assert [(one.positives, one.negatives) for one in known] == [(1, 1)]
    assert {(case.time, case.amount, case.money) for case in cases} == {(None, 0.0, 0.0)}
    decide(store, 1, "ana", Given("positive"))
    with store.read() as transaction:
        badges = [case.badge for case in transaction.scalars(select(Case).where(Case.badge.is_not(None)))]
    assert len(badges) == 3
    assert not any("terminal" in badge or "T0" in badge for badge in badges)
