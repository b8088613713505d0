"""The queue: its filters and pages equal a slow twin's, and every query goes through an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text

from scarce.desk import queue
from scarce.desk.errors import DeskError
from scarce.desk.imports import import_folder
from scarce.desk.queue import ORDERS, Wanted, find_page, page_query, position
from scarce.desk.schema import Case, CaseData
from scarce.desk.store import Store
from scarce.desk.verdicts import Given, decide
from tests.naive_desk import KEYS, naive_queue

from .audits import make_folder
from .conftest import empty_store


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = make_folder(tmp_path_factory.mktemp("queue") / "audit", 300)
    store = empty_store(request, folder)
    import_folder(store, folder)
    for number in range(1, 40, 3):
        decide(store, number, "ana", Given("positive" if number % 2 else "negative"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def cases(desk: Store) -> list[dict[str, Any]]:
    with desk.read() as transaction:
        data = {part.case_id: part.data for part in transaction.scalars(select(CaseData))}
        return [
            vars(case) | {"cells": {cell["title"]: cell["value"] for cell in data[case.id]["cells"]}}
            for case in transaction.scalars(select(Case))
        ]


WISHES = st.builds(
    Wanted,
    status=st.sampled_from(["open", "positive", "negative"]),
    text=st.sampled_from(["", "P0000", "north", "C0007", "T01 south", "nothing", "1", "WEST"]),
    column=st.sampled_from(["", "region", "card"]),
    value=st.sampled_from(["", "no", "SOUTH", "C00"]),
    least=st.sampled_from([None, 100.0, 500.5]),
    most=st.sampled_from([None, 300.0, 900.0]),
    order=st.sampled_from(sorted(KEYS)),
    backwards=st.booleans(),
    size=st.integers(1, 60),
)


@given(WISHES, st.sampled_from([5, 2_000]))
def test_pages_hold_the_same_cases_as_the_slow_twin(
    desk: Store, cases: list[dict[str, Any]], wanted: Wanted, few: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, desk.read() as transaction:
        patch.setattr(queue, "_FEW", few)
        found, page = [], find_page(transaction, wanted)
        found += [case.id for case in page.cases]
        while page.next is not None:
            assert len(page.cases) == wanted.size
            page = find_page(transaction, replace(wanted, after=page.next))
            found += [case.id for case in page.cases]
    assert found == naive_queue(cases, wanted)


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)  # PostgreSQL scans a table as small as this one
@pytest.mark.parametrize("order", sorted(ORDERS))
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("wanted", [Wanted(), Wanted(text="north"), Wanted(column="region", value="no", least=5.0)])
def test_no_page_scans_or_sorts_all_cases(desk: Store, wanted: Wanted, order: str, backwards: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, desk.read() as transaction:
        patch.setattr(queue, "_FEW", 5)
        wanted = replace(wanted, order=order, backwards=backwards)
        pages = [page_query(transaction, wanted)]
        if order != "decided":
            pages.append(page_query(transaction, replace(wanted, after="0.5~7")))
        for query in pages:
            plan = explain(desk, transaction, query)
            assert f"USING INDEX cases_{ORDERS[order][0].key}" in plan, plan
            assert "SCAN" not in plan, plan
            assert "TEMP B-TREE" not in plan, plan


def explain(desk: Store, transaction: Any, query: Any) -> str:
    statement = query.compile(desk.engine, compile_kwargs={"literal_binds": True})
    return "\n".join(
        row[-1] for row in transaction.execute(text(f"EXPLAIN QUERY PLAN {statement}".replace(":", r"\:")))
    )


def test_the_position_of_a_case_is_its_place_in_the_order(desk: Store, cases: list[dict[str, Any]]) -> None:
    order = naive_queue(cases, Wanted(order="rank"))
    with desk.read() as transaction:
        for place in (0, 17, len(order) - 1):
            assert position(transaction, transaction.get_one(Case, order[place]), "rank") == place + 1


def test_a_page_that_cannot_begin_is_refused(desk: Store) -> None:
    with desk.read() as transaction, pytest.raises(DeskError, match="start at the first page"):
        find_page(transaction, Wanted(after="x~y"))
