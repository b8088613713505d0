"""Outcomes are those of the rows that they name, and of no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce.audit.handover import key_of_folder
from scarce.monitor import MonitorError
from scarce.monitor.batches import outcomes_of
from scarce.monitor.given import GivenOutcomes
from tests.desk.audits import make_folder

TARGET = {"column": "fraud", "positive": "1", "negative": ["0"]}
# Three payments of one customer, and the times as a program, a file and a desk write them.
TABLE = pd.DataFrame(
    {
        "customer": ["C1", "C1", "C2", "C1"],
        "date": ["2024-06-24T02:14:59", "2024-06-24 02:15:00", "2024-06-24 02:14:59", "2024-06-25"],
    }
)


def test_where_identifiers_repeat_a_row_is_named_by_them_and_the_time() -> None:
    verdicts = pd.DataFrame(
        {"customer": ["C1", "C1"], "date": ["2024-06-24 02:14:59", "2024-06-25 00:00:00"], "verdict": ["yes", "no"]}
    )
    outcome, _, found = GivenOutcomes(verdicts, TARGET, ["customer"], time="date").match(TABLE, 0)
    assert outcome.tolist() == [1, -1, -1, 0]
    assert found.tolist() == [True, False, False, True]
    typed = TABLE.assign(date=pd.to_datetime(TABLE["date"], format="ISO8601"))
    again = GivenOutcomes(verdicts.assign(date=pd.to_datetime(verdicts["date"])), TARGET, ["customer"], time="date")
    assert again.match(typed, 0)[0].tolist() == outcome.tolist()
    with pytest.raises(MonitorError, match=r"Several rows have the same 'customer', .* add 'date' to them"):
        GivenOutcomes(verdicts.drop(columns="date"), TARGET, ["customer"], time="date")
    by_row = pd.DataFrame({"customer": "C1", "row": [3], "verdict": ["yes"]})
    assert GivenOutcomes(by_row, TARGET, ["customer"], time="date").match(TABLE, 0)[0].tolist() == [-1, -1, -1, 1]


def test_the_key_is_read_without_the_cases(tmp_path: Path) -> None:
    assert key_of_folder(make_folder(tmp_path / "audit", 3)) == ["payment"]
    assert key_of_folder(tmp_path) == []


def test_outcomes_beside_empty_cells_are_read_as_the_audit_reads_them() -> None:
    cells = ["1.0", "0.0", None, "1", "0", "yes", ""]
    np.testing.assert_array_equal(outcomes_of(cells, TARGET, "here"), [1, 0, -1, 1, 0, 1, -1])
    own = {"column": "fraud", "positive": "1.0", "negative": ["2.0"]}
    np.testing.assert_array_equal(outcomes_of(["1.0", "2.0"], own, "here"), [1, 0])
    with pytest.raises(MonitorError, match=r"The outcome '2' \(here\) is unknown"):
        outcomes_of(["2.0"], TARGET, "here")
