"""Input that cannot be used, answered in one sentence each, and odd input that can."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scarce._errors import UserError
from scarce.audit import audit, save, score_table
from scarce.audit.settings import check_settings, settings_of
from tests.payments import make_table

TABLE = make_table(60, seed=1).drop(columns=["chargeback", "currency"])
TABLE["fraud"] = ["yes", "no", "no"] * 20
NUMBERS = np.linspace(0, 1, len(TABLE))


def refusal(table: Any, target: str = "fraud", **options: Any) -> str:
    """Return the sentence with which an audit refuses."""
    with pytest.raises(UserError) as caught:
        audit(table, target, **{"budget": 5, "methods": ["logistic"], **options})
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


def with_positives(rows: int, positives: int) -> pd.DataFrame:
    return TABLE.head(rows).assign(fraud=["yes"] * positives + ["no"] * (rows - positives))


OPTIONS = {
    **{f"`seed` is a whole number from 0 to 4294967295; it was {seed}.": {"seed": seed} for seed in (-1, 2**32)},
    "`seed` is a whole number; it was True.": {"seed": True},
    "`seed` is a whole number; it was 'x'.": {"seed": "x"},
    "`minutes` is a limit of time, more than 0; it was nan.": {"minutes": float("nan")},
    "`minutes` is a number; it was '5'.": {"minutes": "5"},
    "`check_cost` is what one check costs, 0 or more; it was inf.": {"check_cost": float("inf")},
    "`explore` is the share of the queue that is drawn at random, 0 to 0.5; it was nan.": {"explore": float("nan")},
    "`sample` is a whole number; it was 5000.0.": {"sample": 5_000.0},
    "`quick` is true or false; it was 'yes'.": {"quick": "yes"},
    "`keep` is a list of names, such as ['age']; it was 'age'.": {"keep": "age"},
    **{f"100/day; it was {budget}.": {"budget": budget} for budget in ("5,5", "٣", "1,00", "_1")},
    "`keep` is a list of names, such as ['5']; it was 5.": {"keep": 5},
    "`types` gives a value to each of some names; it was 'x'.": {"types": "x"},
    "`methods` names no method; leave it out for those of the objective.": {"methods": ""},
    "100/day; it was 5.5.": {"budget": 5.5},
    f"100/day; it was {10**30}.": {"budget": 10**30},
    "`rank` names a column and its value, such as week=2024-09; it was ''.": {"rank": ""},
}


@pytest.mark.parametrize(("sentence", "options"), OPTIONS.items(), ids=list(OPTIONS))
def test_options_out_of_range(sentence: str, options: dict[str, Any]) -> None:
    with pytest.raises(UserError) as caught:
        check_settings(settings_of({"target": "fraud", **options}))
    assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize("option", ["amount", "time", "distinct", "checked"])
def test_an_empty_name_is_no_column(option: str) -> None:
    assert f"The table has no column '' for `{option}`" in refusal(TABLE, **{option: ""})


TABLES: dict[str, Callable[[], Any]] = {
    "Numbers beyond 3.4e+38 in 'x' cannot be learned from": lambda: TABLE.assign(x=NUMBERS * 1e39),
    "The table has 7 rows that are positive": lambda: with_positives(22, 7),
    "The table has 1 row that is positive": lambda: with_positives(60, 1),
    "has only one value (no)": lambda: TABLE.assign(fraud="no"),
    "The target column 'fraud' is empty": lambda: TABLE.assign(fraud=None),
    "Column 'day' holds dates before 1678 or after 2261, such as 9999-12-31": lambda: TABLE.assign(
        day=["9999-12-31", "2024-01-01"] * 30
    ),
    "Column 'z' holds complex numbers": lambda: TABLE.assign(z=NUMBERS + 1j),
    "Column 'o' holds complex numbers": lambda: TABLE.assign(o=[1j, "a"] * 30),
    "Two or more columns are named 'amount'; rename all but one.": lambda: pd.concat(
        [TABLE, TABLE[["amount"]]], axis=1
    ),
    "No column is left to learn from": lambda: TABLE[["fraud"]],
    "The table is the path of a file or a pandas DataFrame; it was a ndarray.": lambda: np.zeros((3, 3)),
    "it was a Series.": lambda: TABLE["fraud"],
}


@pytest.mark.parametrize(("sentence", "make"), TABLES.items(), ids=list(TABLES))
def test_tables_that_cannot_be_used(sentence: str, make: Callable[[], Any]) -> None:
    assert sentence in refusal(make())


@pytest.mark.parametrize("option", ["amount", "time", "distinct", "checked", "keep"])
def test_cells_of_several_values_serve_no_option(option: str) -> None:
    value: Any = ["nested"] if option == "keep" else "nested"
    table = TABLE.assign(nested=[[1, 2]] * len(TABLE))
    assert f"The column 'nested' (`{option}`) holds lists, bytes" in refusal(table, **{option: value})


@pytest.mark.parametrize("options", [{"delay": "99999999999999d"}, {"entity": ["shop"], "windows": ["99999999999d"]}])
def test_lengths_of_time_have_an_end(options: dict[str, Any]) -> None:
    assert "9d" in refusal(TABLE, time="date", **options)


def test_dates_are_no_amounts() -> None:
    table = TABLE.assign(day="2024-01-31")
    assert refusal(table, amount="day") == "The amount column 'day' must hold numbers, and it holds dates (`amount`)."


def test_too_few_negatives() -> None:
    found = refusal(TABLE.assign(fraud=["b"] * 2 + ["a"] * 58), positive="a")
    assert found.startswith("The table has 2 rows that are negative, and an honest comparison needs at least 8")


def make_file(folder: Path, name: str) -> Path:
    path = folder / name
    if name.startswith("empty"):
        path.write_text("")
    elif name.startswith("head"):
        path.write_text("a,fraud\n")
    elif name.startswith("folder"):
        path.mkdir()
    elif name.startswith("pipe"):
        os.mkfifo(path)
    elif name.startswith("long"):
        path.write_text("a,fraud\n" + '"' + "x" * 3_000_000 + '",yes\n')
    elif name.startswith("circle"):
        path.symlink_to(path)
    elif name.startswith("short"):
        TABLE.to_parquet(path)
        path.write_bytes(path.read_bytes()[:-100])
    return path


@pytest.mark.parametrize(
    ("name", "sentence"),
    {
        "empty.csv": "cannot be read (it is empty)",
        "empty.parquet": "cannot be read (",
        "empty.xlsx": "cannot be read (File is not a zip file)",
        "head.csv": "holds no rows",
        "folder": "There is no file in",
        "folder.csv": "There is no file in",
        "long.csv": "it has a line of more than 1 MB, perhaps because a quote is not closed",
        "circle.csv": "There is no file",
        "pipe.csv": "is a pipe or a device, which can be read only once; write the table to a file.",
        "short.parquet": "cannot be read (",
        "absent.csv": "There is no file",
        "table.doc": "is neither CSV nor Parquet nor Excel by its name",
    }.items(),
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, sentence: str) -> None:
    path = make_file(tmp_path, name)
    if name == "table.doc":
        path.write_text("x")
    assert sentence in refusal(path)


def test_a_date_out_of_range_is_refused_by_a_saved_model_too(folder: Path, table: pd.DataFrame) -> None:
    with pytest.raises(UserError, match="'date' holds dates before 1678 or after 2261, such as 9999-12-31"):
        score_table(folder, table.head(5).assign(date="9999-12-31"))


def test_odd_tables_that_can_be_used(tmp_path: Path) -> None:
    """Eight positives in 22 rows, with everything in a table that is odd and has a meaning."""
    names = ["score", "rank", "row", "reasons", "outcome", "flagged", "a\nb", "😀", "n" * 10_000, "", "=1+1", "<b>"]
    table = with_positives(22, 8).assign(
        **{name: np.random.default_rng(place).random(22) for place, name in enumerate(names)},
        infinite=[np.inf, -np.inf, *range(20)],
        mixed=([1, "a", 2.5, None, pd.Timestamp("2024-01-01"), b"x"] * 4)[:22],
        nested=[[1, 2]] * 22,
        things=([{"a": 1}, [1], None, "x"] * 6)[:22],
        long=[2**70 + number for number in range(22)],
        span=pd.to_timedelta(np.arange(22), unit="h"),
        month=pd.period_range("2024-01", periods=22, freq="M"),
        empty=np.nan,
        formula=(["=cmd()", "+1-1", "@x"] * 8)[:22],
    )
    table = table.rename(columns={"amount": 7})
    result = audit(table, "fraud", budget=5, methods=["logistic", "gamma-knn"], amount="score", keep=["formula"])
    save(result, tmp_path / "out")
    queue = pd.read_csv(tmp_path / "out" / "queue.csv")
    assert len(queue) == 5
    assert np.isfinite(queue["score"]).all()
    assert "score (table)" in queue.columns
    text = (tmp_path / "out" / "report.json").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the report"))
