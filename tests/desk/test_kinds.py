"""Look-alikes among decided cases: kinds come and go with the verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient
from sqlalchemy import select

from scarce.desk.app import create_app
from scarce.desk.kinds import Kinds
from scarce.desk.schema import CaseData
from scarce.desk.store import Store
from scarce.desk.tokens import add_token
from scarce.desk.verdicts import Given, decide, undo
from scarce.neighbors import CCNND


def shape(desk: Store, places: dict[int, tuple[float, str]]) -> None:
    """Give cases an amount and a region, and nothing else."""
    with desk.write() as transaction:
        for data in transaction.scalars(select(CaseData)):
            amount, region = places.get(data.case_id, (500.0 + data.case_id, "none"))
            values = {"amount": f"{amount:,.1f}", "region": region}
            cells = [
                {"title": title, "value": value, "usual": None, "telling": False} for title, value in values.items()
            ]
            data.data = {**data.data, "cells": cells}


def propose(desk: Store, kinds: Kinds, case: int):
    with desk.read() as transaction:
        return kinds.propose(transaction, case)


def near(low: float, cases: list[int], region: str) -> dict[int, tuple[float, str]]:
    return {case: (low + 3 * place, region) for place, case in enumerate(cases)}


def make(desk: Store) -> None:
    shape(desk, near(10, [1, 2, 3, 10], "north") | near(900, [4, 5, 6, 11], "south") | near(450, [7, 8, 9, 12], "east"))
    for case, kind in ((1, "stolen card"), (2, "stolen card"), (4, "new account"), (5, "new account")):
        decide(desk, case, "ana", Given("positive", kind=kind))
    for case in (7, 8):
        decide(desk, case, "ana", Given("negative"))


def test_the_kind_of_the_nearest_class_is_proposed_with_its_cases(desk: Store) -> None:
    make(desk)
    kinds = Kinds()
    found = propose(desk, kinds, 3)
    assert (found.kind, found.cleared) == ("stolen card", False)
    assert [number for number, _ in found.nearest] == [2, 1]
    assert propose(desk, kinds, 6).kind == "new account"
    cleared = propose(desk, kinds, 9)
    assert (cleared.kind, cleared.cleared) == (None, True)


def test_kinds_come_and_go_with_verdicts(desk: Store) -> None:
    make(desk)
    kinds = Kinds()
    assert propose(desk, kinds, 3).kind == "stolen card"
    for case in (3, 10):
        decide(desk, case, "ben", Given("positive", kind="lost card"))
    for case in (1, 2):
        decide(desk, case, "ben", Given("negative"))
    assert propose(desk, kinds, 10).kind != "stolen card"
    undo(desk, 1, "ben")
    undo(desk, 2, "ben")
    assert propose(desk, kinds, 10).kind == "stolen card"


def test_what_is_kept_up_to_date_is_what_is_learned_anew(desk: Store) -> None:
    make(desk)
    kept = Kinds()
    propose(desk, kept, 12)
    random = np.random.default_rng(0)
    for case in random.integers(1, 13, 25).tolist():
        verdict = str(random.choice(["positive", "negative", "undecidable"]))
        decide(desk, case, "ben", Given(verdict, kind=str(random.choice(["stolen card", "new account"]))))
        propose(desk, kept, 12)
    for case in (3, 6, 9, 12, 20):
        assert propose(desk, kept, case) == propose(desk, Kinds(), case)


def test_a_case_is_not_its_own_look_alike(desk: Store) -> None:
    make(desk)
    found = propose(desk, Kinds(), 1)
    assert 1 not in dict(found.nearest)


def test_nothing_is_proposed_without_two_classes_of_two_cases(desk: Store) -> None:
    kinds = Kinds()
    assert propose(desk, kinds, 1) is None
    for case in (2, 3, 4):
        decide(desk, case, "ana", Given("positive", kind="stolen card"))
    decide(desk, 5, "ana", Given("negative"))
    assert propose(desk, kinds, 1) is None


def test_classes_are_those_of_ccnnd(desk: Store) -> None:
    make(desk)
    kinds = Kinds()
    propose(desk, kinds, 3)
    numbers = sorted(kinds._label)
    batch = CCNND(calibration=None).fit(np.array([kinds._rows[i] for i in numbers]), [kinds._label[i] for i in numbers])
    rows = np.random.default_rng(0).normal(size=(50, len(kinds._rows[1])))
    np.testing.assert_array_equal(kinds._model.predict(rows), batch.predict(rows))


def test_the_page_of_a_case_shows_what_it_looks_like(desk: Store, tmp_path: Path) -> None:
    make(desk)
    browser = TestClient(create_app(desk, tmp_path))
    browser.post("/login", data={"token": add_token(desk, "ana", "reviewer")})
    shown = " ".join(browser.get("/cases/3", headers={"accept": "text/html"}).text.split())
    assert "Looks most like positives of kind stolen card:" in shown
    assert 'href="/cases/2"' in shown
    figures = browser.get("/figures", headers={"accept": "text/html"}).text
    assert "Positives at entities without a confirmed case" in figures
    assert "New terminal" in figures
