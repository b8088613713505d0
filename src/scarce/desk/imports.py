"""The queue of an audit in the desk: cases keep their identity, and what is decided stays decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from math import log
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session as Transaction

from scarce._files import sha256
from scarce._typing import Json
from scarce.audit.handover import CASES, KNOWN
from scarce.engines.manifest import check_file
from scarce.engines.saved import MANIFEST

from .errors import DeskError
from .hiding import Hiding
from .keys import key_of_desk, keyed, state_key, titles_of
from .schema import OPEN, Case, CaseData, CaseEntity, CaseWord, KnownEntity, Model
from .store import Store
from .verdicts import refresh
from .words import words_of

__all__ = ["Imported", "check_folder", "import_folder"]

_CHUNK = 500
_NEVER_QUITE = 1e-6
_TRIFLE = 1e-9
# The fields without which nothing can be imported.
_OF_MANIFEST = {"winner", "written", "target"}
_OF_CASES = {"cases", "checks", "entities", "key", "newest", "period", "time", "amount"}
# Called with the name of a step, the cases that are done, and all of them.
Progress = Callable[[str, int, int], None]


class Imported(NamedTuple):
    """The version of an imported model, and how many of its cases are new, known and decided."""

    version: int
    new: int
    known: int
    decided: int

    def __str__(self) -> str:
        return (
            f"Model version {self.version}: {self.new:,} new cases, {self.known:,} that the desk knows already, "
            f"{self.decided:,} of them decided."
        )


def import_folder(
    store: Store,
    folder: Path,
    *,
    key: Sequence[str] = (),
    progress: Progress = lambda step, done, total: None,
) -> Imported:
    """Add the queue of an audit to the desk.

    A case that the desk knows by its identifier columns keeps its number and its history; if somebody decided it, it
    stays as it was decided. Open cases that the new audit does not queue stay open, with the probability of the audit
    that queued them. An audit that was imported before changes nothing.

    Parameters
    ----------
    store : Store
    folder : Path
        The folder that an audit wrote.
    key : sequence of str
        The columns by which cases are recognised, of this audit and of those before and after it; by default those that
        were stated last, or else the identifiers that each audit found.
    progress : callable
        Called with the name of a step, the cases that are done, and all of them.
    """
    manifest, cases = _read(folder)
    mark = sha256(folder / MANIFEST)
    with store.write() as transaction:
        if key:
            state_key(transaction, key, titles_of(manifest))
        before = transaction.scalar(select(Model).where(Model.sha256 == mark))
        if before is not None:
            return Imported(before.version, 0, len(cases["cases"]), _decided_of(transaction, before))
        hiding = Hiding(transaction, manifest.get("hidden", ()))
        model = _model(folder, mark, manifest, cases, hiding.columns(cases["entities"]))
        queue = cases["cases"]
        if stated := key_of_desk(transaction):
            model.key, queue = stated, keyed(queue, stated, titles_of(manifest))
        transaction.add(model)
        transaction.flush()
        shown = [hiding.case(case, cases["time"], cases["amount"]) for case in queue]
        counts = _add_cases(transaction, model, shown, progress)
        progress("Looking at linked cases", len(queue), len(queue))
        _add_known(transaction, folder / KNOWN, cases["entities"], hiding)
    refresh(store)
    return Imported(model.version, *counts)


def _decided_of(transaction: Transaction, model: Model) -> int:
    """Return how many cases of a model's audit are decided; a later audit may have taken some of them over."""
    query = select(func.count()).where(Case.model == model.version, Case.status != OPEN)
    return transaction.scalar(query) or 0


def check_folder(folder: Path) -> None:
    """Refuse a folder that no audit wrote."""
    for name in (MANIFEST, CASES):
        if not (folder / name).is_file():
            raise DeskError(
                f"There is no {name} in {folder}; name a folder that scarce audit wrote, and run the audit "
                "again if it is of an older version."
            )


def _read(folder: Path) -> tuple[Json, Json]:
    check_folder(folder)
    try:
        manifest, cases = (json.loads((folder / name).read_text(encoding="utf-8")) for name in (MANIFEST, CASES))
    except ValueError as error:
        raise DeskError(f"The files of the audit in {folder} are damaged ({error}); run the audit again.") from error
    for name, held, needed in ((MANIFEST, manifest, _OF_MANIFEST), (CASES, cases, _OF_CASES)):
        if not isinstance(held, dict) or not needed <= held.keys():
            raise DeskError(f"{folder / name} is damaged or was changed: it lacks a field; run the audit again.")
    if "files" in manifest:
        check_file(folder, CASES, manifest)
        if (folder / KNOWN).exists():
            check_file(folder, KNOWN, manifest)
    return manifest, cases


def _model(folder: Path, mark: str, manifest: Json, cases: Json, entities: list[str]) -> Model:
    return Model(
        name=manifest["winner"],
        folder=str(folder.absolute()),
        sha256=mark,
        written=manifest["written"],
        imported=datetime.now(UTC),
        checks=cases["checks"],
        period=cases["period"],
        target=manifest["target"],
        key=cases["key"],
        entities=entities,
        columns=list(dict.fromkeys(cell["title"] for case in cases["cases"] for cell in case["data"]["cells"])),
        newest=cases["newest"],
    )


def _add_cases(transaction: Transaction, model: Model, cases: list[Json], progress: Progress) -> tuple[int, int, int]:
    new = known = decided = 0
    falling = _falling([case["probability"] for case in cases])
    cases = [{**case, "rank": place + 1} for place, case in enumerate(_in_order(cases, model.period))]
    for chunk in _chunks(cases):
        progress("Adding cases", new + known, len(cases))
        found = {c.key: c for c in transaction.scalars(select(Case).where(Case.key.in_([c["id"] for c in chunk])))}
        for case in chunk:
            old = found.get(case["id"])
            if old is None:
                old = Case(key=case["id"], status=OPEN, entry=0)
                transaction.add(old)
                new += 1
            else:
                known += 1
            if old.status != OPEN:
                decided += 1
                continue
            _fill(old, model, case, falling[case["rank"] - 1])
            found[case["id"]] = old
        transaction.flush()
        _replace_parts(transaction, {found[c["id"]].id: c for c in chunk if found[c["id"]].status == OPEN})
    return new, known, decided


def _in_order(cases: list[Json], period: str | None) -> list[Json]:
    """Return the cases in the order of the audit's ranks, or by probability where these begin anew in each period."""
    if period is None:
        return sorted(cases, key=lambda case: case["rank"])
    return sorted(cases, key=lambda case: (-case["probability"], case["rank"]))


def _falling(probabilities: list[float]) -> list[float]:
    """Return log-odds for each rank, the largest first.

    An audit for profit does not rank by probability, and equal probabilities have different ranks; so each rank gets
    the log-odds that belong to it when they are sorted, less a trifle that grows with the rank.
    """
    kept = [min(max(p, _NEVER_QUITE), 1 - _NEVER_QUITE) for p in sorted(probabilities, reverse=True)]
    return [log(p / (1 - p)) - rank * _TRIFLE for rank, p in enumerate(kept)]


def _fill(case: Case, model: Model, given: Json, log_odds: float) -> None:
    case.name, case.identity, case.model = given["name"], given["identity"], model.version
    case.rank, case.score, case.probability = given["rank"], given["score"], given["probability"]
    case.log_odds = case.live = log_odds
    case.badge = None
    case.money, case.amount = given["money"] or 0.0, given["amount"] or 0.0
    case.moment, case.time = given["moment"] or 0.0, given["time"]
    case.drawn, case.chance, case.why = given["drawn"], given["chance"], given["why"]


def _replace_parts(transaction: Transaction, cases: dict[int, Json]) -> None:
    numbers = list(cases)
    for table in (CaseData, CaseEntity, CaseWord):
        transaction.execute(delete(table).where(table.case_id.in_(numbers)))
    data = [{"case_id": number, "data": case["data"]} for number, case in cases.items()]
    entities = [
        {"case_id": number, "column": column, "value": value}
        for number, case in cases.items()
        for column, value in case["entities"].items()
    ]
    words = [
        {"case_id": number, "word": word} for number, case in cases.items() for word in sorted(words_of(_cells(case)))
    ]
    for table, rows in ((CaseData, data), (CaseEntity, entities), (CaseWord, words)):
        if rows:
            transaction.execute(insert(table), rows)


def _cells(case: Json) -> Iterator[tuple[str, str]]:
    yield from ((cell["title"], cell["value"]) for cell in case["data"]["cells"])


def _chunks(cases: list[Json]) -> Iterator[list[Json]]:
    for start in range(0, len(cases), _CHUNK):
        yield cases[start : start + _CHUNK]


def _add_known(transaction: Transaction, file: Path, entities: list[str], hiding: Hiding) -> None:
    """Store what the table knows of the entities of the queue; the other entities are in the file."""
    transaction.execute(delete(KnownEntity))
    if not entities or not file.exists():
        return
    import pandas as pd

    known = pd.read_parquet(file)
    for column in entities:
        own = hiding.column(column)
        wanted = set(transaction.scalars(select(CaseEntity.value).where(CaseEntity.column == own).distinct()))
        values = known[column].map(lambda value, name=column: hiding.value(name, value), na_action="ignore")
        shared = values.isin(wanted)
        counts = known["outcome"][shared].groupby(values[shared]).agg(["sum", "count"])
        rows = [
            {
                "column": own,
                "value": value,
                "positives": int(row["sum"]),
                "negatives": int(row["count"] - row["sum"]),
            }
            for value, row in counts.iterrows()
        ]
        for start in range(0, len(rows), _CHUNK):
            transaction.execute(insert(KnownEntity), rows[start : start + _CHUNK])
