"""Verdicts are appended, never lost and never stored twice, and they move linked cases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from scarce.desk.errors import DeskError
from scarce.desk.schema import Case, Verdict
from scarce.desk.store import Store
from scarce.desk.verdicts import Conflict, Given, decide, refresh, undo


def case_of(desk: Store, number: int) -> Case:
    with desk.read() as transaction:
        return transaction.get_one(Case, number)


def entries(desk: Store) -> list[Verdict]:
    with desk.read() as transaction:
        return list(transaction.scalars(select(Verdict).order_by(Verdict.id)))


def test_a_verdict_is_an_entry_and_an_undo_is_another(desk: Store) -> None:
    given = decide(desk, 1, "ana", Given("positive", reason="Called the customer", kind="stolen card"))
    assert case_of(desk, 1).status == "positive"
    undo(desk, 1, "ana")
    found = entries(desk)
    assert [(e.old, e.new, e.undoes) for e in found] == [("open", "positive", None), ("positive", "open", given.id)]
    assert case_of(desk, 1).status == "open"


def test_the_second_of_two_people_is_told_and_nothing_is_lost(desk: Store) -> None:
    decide(desk, 1, "ana", Given("positive", seen=0))
    with pytest.raises(Conflict, match="ana decided this case at"):
        decide(desk, 1, "ben", Given("negative", seen=0))
    assert case_of(desk, 1).status == "positive"
    decide(desk, 1, "ben", Given("negative", seen=entries(desk)[-1].id))
    assert [e.who for e in entries(desk)] == ["ana", "ben"]


def test_a_verdict_sent_twice_is_stored_once(desk: Store) -> None:
    first = decide(desk, 1, "ana", Given("positive", request="one-and-only"))
    assert decide(desk, 1, "ana", Given("positive", request="one-and-only")).id == first.id
    assert len(entries(desk)) == 1


def test_nothing_can_be_undone_twice(desk: Store) -> None:
    decide(desk, 1, "ana", Given("negative"))
    undo(desk, 1, "ana")
    with pytest.raises(DeskError, match="no verdict about this case"):
        undo(desk, 1, "ana")


def test_linked_cases_rise_with_a_confirmed_one_and_fall_back(desk: Store) -> None:
    # Terminals repeat after 400 payments and cards after 1,000, so the 60 cases are made to share one.
    with desk.write() as transaction:
        from scarce.desk.schema import CaseEntity

        for number in (1, 50):
            transaction.get_one(CaseEntity, (number, "terminal")).value = "T9"
    before = case_of(desk, 50)
    decide(desk, 1, "ana", Given("positive"))
    linked = case_of(desk, 50)
    assert linked.live > before.live
    assert linked.badge is not None
    assert "terminal T9" in linked.badge
    undo(desk, 1, "ana")
    assert case_of(desk, 50).live == pytest.approx(before.live)
    decide(desk, 1, "ana", Given("positive"))
    refresh(desk, datetime.now(UTC) + timedelta(days=30))
    assert case_of(desk, 50).live == pytest.approx(before.live)
