"""The live memory on a store: what verdicts move, what an undo restores, and what it costs."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from sqlalchemy import insert, select

from scarce.desk.firsts import ANY, firsts_by_day
from scarce.desk.links import LinkWeights
from scarce.desk.memory import START
from scarce.desk.schema import OPEN, Base, Case, CaseEntity, Model
from scarce.desk.store import Store, store_url
from scarce.desk.verdicts import Given, decide, refresh, undo
from scarce.desk.weights import LinkLog, LinkWeight, weights_of

TERMINAL = ("terminal", "3156")


def nothing(table: type[Base]) -> dict[str, object]:
    """Return empty values for the columns that must have one."""
    empty = {"JSON": [], "Moment": datetime.now(UTC)}
    columns = [column for column in table.__table__.columns if not column.nullable]
    return {c.name: empty[n] if (n := type(c.type).__name__) in empty else c.type.python_type() for c in columns}


def fill(store: Store, entities: list[list[tuple[str, str]]], log_odds: list[float] | None = None) -> Store:
    """Write open cases, numbered from 1, with their entities."""
    own = log_odds or np.linspace(2, -4, len(entities)).tolist()
    cases = [
        nothing(Case)
        | {"id": i, "key": f"k{i}", "name": f"case {i}", "identity": {}, "model": 1, "rank": i, "status": OPEN}
        | {"log_odds": odds, "live": odds, "probability": 1 / (1 + np.exp(-odds))}
        for i, odds in enumerate(own, 1)
    ]  # fmt: skip
    pairs = [
        {"case_id": i, "column": column, "value": value} for i, some in enumerate(entities, 1) for column, value in some
    ]
    with store.write() as transaction:
        transaction.execute(insert(Model), [nothing(Model) | {"version": 1}])
        transaction.execute(insert(Case), cases)
        if pairs:
            transaction.execute(insert(CaseEntity), pairs)
    return store


def state(store: Store) -> list[tuple]:
    """Return all that the queue shows of each case, in the order of the queue."""
    columns = (Case.id, Case.live, Case.badge, Case.status, Case.decided)
    with store.read() as transaction:
        query = select(*columns).where(Case.status == OPEN).order_by(Case.live.desc(), Case.id)
        return [tuple(row) for row in transaction.execute(query)]


def test_a_confirmation_raises_the_cases_of_its_terminal_and_a_clearance_does_not(store: Store) -> None:
    fill(store, [[TERMINAL], [], [("terminal", "7")], [TERMINAL], [TERMINAL], []])
    before = {row[0]: row[1] for row in state(store)}
    decide(store, 4, "ana", Given("negative"))
    cleared = {row[0]: row[1] for row in state(store)}
    assert all(cleared[i] < before[i] if i in (1, 5) else cleared[i] == before[i] for i in cleared)
    decide(store, 1, "ana", Given("positive"))
    after = {row[0]: (row[1], row[2]) for row in state(store)}
    assert after[5][0] > before[5]
    assert after[5][1].startswith("shares terminal 3156 with case 1, confirmed at ")
    assert {i: live for i, (live, _) in after.items() if i != 5} == {i: before[i] for i in (2, 3, 6)}


def test_an_undo_restores_the_queue_to_the_bit(store: Store) -> None:
    fill(store, [[TERMINAL, ("card", str(i % 3))] for i in range(12)])
    for case in (1, 2, 3):
        decide(store, case, "ana", Given("positive" if case < 3 else "negative"))
    decide(store, 2, "ana", Given("negative"))
    before = state(store)
    for verdict in ("positive", "negative", "undecidable"):
        decide(store, 5, "ben", Given(verdict))
        assert state(store) != before
        undo(store, 5, "ben")
        assert state(store) == before
    # A verdict that replaces another one, and is taken back twice over.
    decide(store, 1, "ben", Given("negative"))
    undo(store, 1, "ben")
    assert state(store) == before
    decide(store, 1, "ben", Given("negative"))
    undo(store, 1, "ben")
    assert state(store) == before


def test_the_order_does_not_depend_on_which_of_several_verdicts_came_first(tmp_path: Path) -> None:
    found = []
    for order in ([1, 2, 3], [3, 1, 2]):
        store = Store(store_url(tmp_path, f"sqlite:///{tmp_path / str(order[0])}.db"))
        fill(store, [[TERMINAL, ("card", str(i % 3))] for i in range(12)])
        for case in order:
            decide(store, case, "ana", Given("negative" if case == 2 else "positive"))
        found.append([row[:2] for row in state(store)])
        store.close()
    assert found[0] == found[1]


def test_weights_come_from_the_verdicts_that_hold_and_not_from_others(store: Store) -> None:
    """Cases at the terminal of a confirmed one are positive, others are not."""
    fill(store, [[TERMINAL] if i % 2 else [("terminal", str(i))] for i in range(40)], [0.0] * 40)
    for case in range(1, 31):
        decide(store, case, "ana", Given("negative" if case % 2 else "positive"))
    decide(store, 31, "ana", Given("positive"))
    undo(store, 31, "ana")
    assert refresh(store) > 0
    with store.read() as transaction:
        weights = weights_of(transaction)
        counts = {row[0]: row[1] for row in transaction.execute(select(LinkLog.entry, LinkLog.counts))}
    assert set(weights) == {"terminal"}
    assert sum(weights["terminal"].confirmed) > sum(START.confirmed) + 0.5
    # As they were when each was decided: the tenth found four confirmed cases there.
    assert counts[10] == {"terminal": [4, 0]}
    assert counts[1] == {"terminal": [0, 0]}


def test_a_desk_without_verdicts_has_start_weights(store: Store) -> None:
    fill(store, [[TERMINAL]])
    refresh(store)
    with store.read() as transaction:
        assert weights_of(transaction) == {}


def test_stored_weights_rank(store: Store) -> None:
    fill(store, [[TERMINAL], [TERMINAL]], [0.0, 0.0])
    with store.write() as transaction:
        own = LinkWeights((3.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        transaction.add(LinkWeight(column="terminal", weights={"confirmed": own.confirmed, "cleared": own.cleared}))
    decide(store, 1, "ana", Given("positive"))
    assert state(store)[0][:2] == (2, 3.0)


def test_verdicts_leave_the_memory_after_some_days(store: Store) -> None:
    fill(store, [[TERMINAL], [TERMINAL]])
    before = {row[0]: row[1] for row in state(store)}
    decide(store, 1, "ana", Given("positive"))
    refresh(store, datetime.now(UTC) + timedelta(days=30))
    assert {row[0]: row[1] for row in state(store)} == {2: before[2]}


def test_a_verdict_costs_the_same_with_a_hundred_times_as_many_open_cases(tmp_path: Path) -> None:
    """Fifteen cases share the terminal in both desks."""
    spent = {}
    desks = {}
    for size in (300, 30_000):
        (tmp_path / str(size)).mkdir()
        entities = [[TERMINAL if i % (size // 15) == 0 else ("terminal", f"T{i}")] for i in range(size)]
        desks[size] = fill(Store(store_url(tmp_path / str(size))), entities)
        spent[size] = []
    for _ in range(12):
        for size, desk in desks.items():
            start = time.process_time()
            decide(desk, 1, "ana", Given("positive"))
            undo(desk, 1, "ana")
            spent[size].append(time.process_time() - start)
    for desk in desks.values():
        desk.close()
    # A scan of all cases would take about a hundred times as long.
    assert np.median(spent[30_000]) < 2 * np.median(spent[300])


def test_positives_at_entities_without_a_confirmed_case_are_counted_by_day(store: Store) -> None:
    card = [("card", str(i)) for i in range(6)]
    fill(store, [[TERMINAL, card[0]], [TERMINAL, card[1]], [("terminal", "7"), card[0]], [], [TERMINAL, card[5]]])
    for case in (1, 2, 3, 4):
        decide(store, case, "ana", Given("positive"))
    decide(store, 5, "ana", Given("negative"))
    now = datetime.now(UTC)
    with store.read() as transaction:
        [first] = firsts_by_day(transaction, now - timedelta(days=1))
    # The first at a terminal and a card; the second at a new card; the third at a new terminal.
    assert (first.positive, dict(first.alone)) == (3, {"card": 2, "terminal": 2, ANY: 1})
    with store.write() as transaction:
        transaction.get_one(Case, 1).decided = now - timedelta(days=15)
    with store.read() as transaction:
        [first] = firsts_by_day(transaction, now - timedelta(days=1))
    assert (first.positive, dict(first.alone)) == (2, {"card": 2, "terminal": 2, ANY: 2})


def test_weights_are_estimated_once_a_night(store: Store) -> None:
    fill(store, [[TERMINAL] if i % 2 else [("terminal", str(i))] for i in range(20)], [0.0] * 20)
    evening = datetime.now(UTC)
    refresh(store, evening, nightly=True)
    for case in range(1, 15):
        decide(store, case, "ana", Given("negative" if case % 2 else "positive"))
    refresh(store, evening, nightly=True)
    with store.read() as transaction:
        assert not weights_of(transaction)
    refresh(store, evening + timedelta(days=1), nightly=True)
    with store.read() as transaction:
        assert weights_of(transaction)["terminal"] != START
