"""How each column is read, and what is noted of it."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.tables import Table, TableError
from scarce.tables.dates import parse_dates
from scarce.tables.files import Raw
from scarce.tables.labels import label_key
from scarce.tables.table import table_of


def of_text(cells: list, name: str = "x", **options) -> Table:
    """A column as CSV has it."""
    return table_of(Raw(pa.table({name: pa.chunked_array([pa.array(cells, pa.string())])}), typed=False), **options)


@pytest.mark.parametrize(
    ("cells", "type_", "values"),
    [
        (["1", None, "-3"], "int64", [1, None, -3]),
        (["1", "2.50", "1e3"], "double", [1.0, 2.5, 1000.0]),
        (["+5", "7"], "int64", [5, 7]),
        (["inf", "1"], "double", [np.inf, 1.0]),
        (["True", "false", None], "bool", [True, False, None]),
        (["0", "1"], "int64", [0, 1]),
        (["00123", "99887"], "string", ["00123", "99887"]),
        (["12345678901234567890", "1"], "string", ["12345678901234567890", "1"]),
        (["9007199254740993", None], "string", ["9007199254740993", None]),
        (["  a", "b "], "string", ["a", "b"]),
        (["a", " "], "string", ["a", None]),
        ([None, None], "string", [None, None]),
        (["1.2.13", "1.2.14"], "string", ["1.2.13", "1.2.14"]),
        (["192.168.0.1", "10.0.0.1"], "string", ["192.168.0.1", "10.0.0.1"]),
        (["A1", "77"], "string", ["A1", "77"]),
        (["2024-01-31", "2024-01-31T10:00:00Z"], "timestamp[us]", [datetime(2024, 1, 31), datetime(2024, 1, 31, 10)]),
        (["2024-01-31T10:00:00+02:00"], "timestamp[us]", [datetime(2024, 1, 31, 8)]),
        (["13/01/2024", "01/02/2024"], "timestamp[us]", [datetime(2024, 1, 13), datetime(2024, 2, 1)]),
        (["01/13/2024", "01/02/2024"], "timestamp[us]", [datetime(2024, 1, 13), datetime(2024, 1, 2)]),
        (["28-Feb-97", "01-Mar-06"], "timestamp[us]", [datetime(1997, 2, 28), datetime(2006, 3, 1)]),
        (["Feb 28, 1997"], "timestamp[us]", [datetime(1997, 2, 28)]),
    ],
)
def test_cells_decide_the_type(cells: list, type_: str, values: list) -> None:
    column = of_text(cells).arrow.column(0)
    assert str(column.type) == type_
    assert column.to_pylist() == values


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["yes", "Yes ", "no", "yes"], "Column 'x': 'Yes ' and 'yes' are read as one label, 'yes'."),
        (["1", "1.0", "other"], "Column 'x': '1' and '1.0' are read as one label, '1'."),
        (["1,234", "2,345"], "Column 'x': a comma before three digits, as in '1,234', is read as a mark of thousands."),
        (["1.234", "2.345"], "Column 'x': a point before three digits, as in '1.234', is read as a decimal point."),
        (["1.234 €", "2.345 €"], "Column 'x': a point before three digits, as in '1.234 €', is read as a mark of"),
        (["$5", "7 €"], "Column 'x' holds amounts in '$' and '€', which are read as numbers, not converted."),
        (["01/02/2024"], "Column 'x': its dates are read as day/month/year."),
        (["28-Feb-97"], "Column 'x': of its two-digit years, 69 to 99 are read as 19.. and 00 to 68 as 20..."),
    ],
)
def test_choices_are_noted(cells: list[str], note: str) -> None:
    [found] = of_text(cells).notes
    assert found.startswith(note)


@pytest.mark.parametrize("cells", [["1,234.5"], ["0.125", "1.234"], ["31/01/2024"], ["yes", "no"], ["5 €"]])
def test_nothing_is_noted_without_a_choice(cells: list[str]) -> None:
    assert of_text(cells).notes == ()


def test_one_label_has_one_spelling_in_any_rows() -> None:
    whole = of_text(["yes", "yes", "Yes ", "no"])
    assert whole.arrow.column(0).to_pylist() == ["yes", "yes", "yes", "no"]
    later = of_text(["YES", "No", "perhaps"], readings=whole.readings)
    assert later.arrow.column(0).to_pylist() == ["yes", "no", "perhaps"]


def test_many_codes_are_not_joined() -> None:
    codes = [f"c{i}" for i in range(101)]
    assert of_text([*codes, "C1"]).arrow.column(0).to_pylist()[-1] == "C1"


@given(st.lists(st.text("aAbB1.0 ", min_size=1, max_size=4), min_size=1, max_size=12))
def test_labels_are_equal_where_their_keys_are(words: list[str]) -> None:
    frame = pd.DataFrame({"x": ["w" + word for word in words]})
    read = Table.from_frame(frame).arrow.column(0).to_pylist()
    keys = [label_key(word) for word in frame["x"]]
    for one, first in zip(read, keys, strict=True):
        for other, second in zip(read, keys, strict=True):
            assert (one == other) == (first == second)
    assert set(read) <= {word.strip() for word in frame["x"]}


@pytest.mark.parametrize(
    ("kind", "values", "note"),
    [
        ("number", [1976.0, None, 1978.0], "cells that are no number, such as '1976A', are read as empty: 1."),
        ("category", ["1976", "1976A", "1978"], None),
        ("date", [datetime(1976, 1, 1), None, datetime(1978, 1, 1)], "cells that are no date, such as '1976A', are"),
    ],
)
def test_the_user_can_name_the_kind(kind: str, values: list, note: str | None) -> None:
    table = of_text(["1976", "1976A", "1978"], types={"x": kind})
    assert table.arrow.column(0).to_pylist() == values
    assert table.readings[0].kind == kind
    assert len(table.notes) == (note is not None)
    assert note is None or note in table.notes[0]


def test_every_type_of_pandas_is_read() -> None:
    frame = pd.DataFrame(
        {
            "object": [1, "a", None],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "category": pd.Categorical(["b", None, "a"]),
            "numbered": pd.Categorical([3, None, 4]),
            "period": pd.period_range("2024-01", periods=3, freq="M"),
            "local": pd.date_range("2024-01-01", periods=3, tz="Europe/Paris"),
            "cells": [[1], None, [2, 3]],
        }
    )
    table = Table.from_frame(frame)
    assert [(reading.type, reading.kind) for reading in table.readings] == [
        ("string", "category"),
        ("int64", "number"),
        ("bool", "number"),
        ("string", "category"),
        ("string", "category"),
        ("timestamp", "date"),
        ("timestamp", "date"),
        ("nested", "category"),
    ]
    read = table.arrow.to_pydict()
    assert read["object"] == ["1", "a", None]
    assert read["nullable"] == [1, None, 3]
    assert read["numbered"] == ["3", None, "4"]
    assert read["local"][0] == datetime(2023, 12, 31, 23)


DAY = date(2024, 1, 31)
RARE = {
    "whole numbers beyond 64 bits": (pa.array([2**64 - 1, 7], pa.uint64()), ["18446744073709551615", "7"]),
    "whole numbers without a sign": (pa.array([1, None], pa.uint64()), [1, None]),
    "half precision": (pa.array([1.5, None]).cast(pa.float16()), [1.5, None]),
    "times of day": (pa.array([61, None], pa.time32("s")), ["00:01:01", None]),
    "intervals": (
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        ["MonthDayNano(months=1, days=2, nanoseconds=3)"],
    ),
    "labels of times": (pa.array([61, 61], pa.time32("s")).dictionary_encode(), ["00:01:01"] * 2),
    "labels of bytes": (pa.array([b"\xff"]).dictionary_encode(), [b"\xff"]),
    "bytes of one length": (pa.array([b"\xff\xfe"], pa.binary(2)), [b"\xff\xfe"]),
    "views": (pa.array(["a", None], pa.string_view()), ["a", None]),
    "runs": (pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), ["a", "a", "b"]),
    "UUIDs": (pa.array([b"0123456789abcdef"], pa.uuid()), ["30313233-3435-3637-3839-616263646566"]),
    "JSON": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])), ["{}"]),
    "unknown zones": (pa.array([0], pa.timestamp("us", "Nowhere/At")), [datetime(1970, 1, 1)]),
    "days": (pa.array([DAY, None]), [datetime(2024, 1, 31), None]),
    "milliseconds of days": (pa.array([DAY, None], pa.date64()), [datetime(2024, 1, 31), None]),
}


@pytest.mark.parametrize(("cells", "values"), RARE.values(), ids=list(RARE))
def test_every_type_of_arrow_is_read(cells: pa.Array, values: list) -> None:
    table = pa.table({"x": cells})
    read = Table.from_arrow(table)
    assert read.arrow.column(0).to_pylist() == values
    assert len(read.frame) == len(values)
    for kind in ("number", "category", "date"):
        Table.from_arrow(table, types={"x": kind}).frame  # noqa: B018
    assert Table.from_arrow(table, readings=read.readings).arrow.equals(read.arrow)


@pytest.mark.parametrize("type_", [pa.timestamp("s"), pa.timestamp("ms"), pa.date32(), pa.date64()], ids=str)
def test_dates_beyond_what_can_be_counted_are_not_wrapped_around(type_: pa.DataType) -> None:
    largest = pa.array([2**31 - 1 if type_ == pa.date32() else 2**62]).cast(
        type_ if type_ != pa.date32() else pa.int32()
    )
    with pytest.raises(TableError, match="holds dates before 1678 or after 2261"):
        Table.from_arrow(pa.table({"x": largest.view(type_)}))


def test_numbers_of_a_typed_source_can_be_categories_or_dates() -> None:
    frame = pd.DataFrame({"shop": [3, 17], "day": [20240131, 20240201], "size": [1.5, 2.0]})
    table = Table.from_frame(frame, types={"shop": "category", "day": "date", "size": "category"})
    assert table.arrow.to_pydict() == {
        "shop": ["3", "17"],
        "day": [datetime(2024, 1, 31), datetime(2024, 2, 1)],
        "size": ["1.5", "2"],
    }


@pytest.mark.parametrize(
    "name", ["merchant_id", "zip", "FranchiseCode", "NAICS", "card1", "terminal", "MCC", "customerId"]
)
def test_codes_are_labels_by_their_name(name: str) -> None:
    for table in (of_text(["17", "18.0", None], name), Table.from_frame(pd.DataFrame({name: [17.0, 18.0, np.nan]}))):
        assert table.arrow.column(0).to_pylist() == ["17", "18", None]
        assert "name is that of a code" in table.remarks[name]


@pytest.mark.parametrize("name", ["amount", "paid", "discard1x", "valid", "addresses", "grid"])
def test_other_numbers_are_numbers(name: str) -> None:
    assert of_text(["17", "18"], name).readings[0].kind == "number"


def test_text_where_a_model_needs_numbers_is_refused() -> None:
    whole = Table.from_frame(pd.DataFrame({"amount": [1.5], "day": ["2024-01-01"]}))
    frame = pd.DataFrame({"amount": ["1.5", "none"], "day": ["2024-01-01", "soon"]})
    with pytest.raises(TableError) as caught:
        Table.from_frame(frame, readings=whole.readings)
    assert "'amount' must hold numbers, and it holds text such as 'none'; write plain" in str(caught.value)
    assert "'day' holds cells that are not dates as before, such as 'soon'; write them like" in str(caught.value)


def test_a_word_among_dates_is_a_fault() -> None:
    cells = [f"2024-01-{day:02}" for day in range(1, 30)] + ["unknown"]
    with pytest.raises(TableError, match=r"holds dates and also text such as 'unknown' \(data row 30\)"):
        of_text(cells)


@given(st.integers(0, 99))
def test_two_digit_years_are_of_1969_to_2068(year: int) -> None:
    [date] = parse_dates([f"05-Mar-{year:02}"], "%d-%b-%y")
    assert date.year == year + (1900 if year >= 69 else 2000)
