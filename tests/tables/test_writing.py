"""Tables that a spreadsheet opens."""

from __future__ import annotations

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.tables.writing import inert_cell, write_csv, write_excel

FRAME = pd.DataFrame(
    {
        "=1+1": ["=SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "@x", "\tx", "\rx"],
        "text": ["a,b", 'c"d', "-3", "+4.5", "1e5", "plain"],
        "number": [-1.5, 2.0, -3.0, 4.0, 5.0, 6.0],
    }
)


def test_csv_holds_no_formula(tmp_path):
    write_csv(FRAME, tmp_path / "q.csv")
    read = pd.read_csv(tmp_path / "q.csv", keep_default_na=False)
    assert list(read.columns) == ["'=1+1", "text", "number"]
    assert read["'=1+1"].str.startswith("'").all()
    assert read["number"].tolist() == FRAME["number"].tolist()
    assert read["text"].tolist() == FRAME["text"].tolist()


def test_excel_holds_no_formula(tmp_path):
    write_excel(FRAME.assign(odd="a\x00b"), tmp_path / "q.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "q.xlsx").active
    kinds = {cell.data_type for row in sheet.iter_rows() for cell in row}
    assert "f" not in kinds
    assert sheet["C2"].value == -1.5
    assert sheet["D2"].value == "ab"


@given(st.text())
def test_only_texts_that_run_are_changed(text):
    safe = inert_cell(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert safe in (lines, f"'{lines}")
    assert not safe.startswith(("=", "@", "\t", "\r"))
    if safe.startswith(("+", "-")):
        float(safe.replace(",", "").rstrip(".").replace("..", "."))


@pytest.mark.parametrize("number", [1, -2.5, None, True])
def test_other_cells_stay(number):
    assert inert_cell(number) is number
