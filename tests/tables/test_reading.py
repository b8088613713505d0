"""Files of every kind, read as what they hold."""

import gzip
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scarce.tables import Reading, Table, TableError, read_batches, read_table, require_columns

NOTATIONS = {
    "plain": str,
    "point": lambda x: f"${x:,.2f}",
    "comma": lambda x: f"{x:,.2f} €".translate(str.maketrans(",.", ".,")),
    "swiss": lambda x: f"CHF {x:,.2f}".replace(",", "'"),
}
DATES = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y", "%d-%b-%Y", "%d-%b-%y", "%Y/%m/%d %H:%M")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252")
# Words without digits, so that they are labels and not numbers, dates or empty cells.
words = st.text("abcxyzé €,;\t|\"'\n", min_size=1, max_size=6).filter(lambda s: s.strip() and s == s.strip())
words = words.filter(lambda s: any(c.isalpha() for c in s)).map(lambda s: f"w{s}")
moments = st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)).map(lambda d: d.replace(microsecond=0))


@st.composite
def files(draw):
    """A table as a file of text, and the cells that it stands for."""
    rows = draw(st.integers(1, 12))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    notation = draw(st.sampled_from(sorted(NOTATIONS)))
    written = draw(st.sampled_from(DATES))
    cents = draw(st.lists(st.integers(-(10**9), 10**9) | st.none(), min_size=rows, max_size=rows))
    # One number whose notation leaves no choice.
    amounts = [None if c is None else c / 100 for c in cents] + [1234.56]
    dates = [*draw(st.lists(moments | st.none(), min_size=rows, max_size=rows)), datetime(2024, 1, 31)]
    dates = [None if d is None else datetime.strptime(d.strftime(written), written) for d in dates]
    labels = [*draw(st.lists(words | st.none(), min_size=rows, max_size=rows)), "wend"]
    counts = draw(st.lists(st.integers(-(10**15), 10**15), min_size=rows + 1, max_size=rows + 1))
    lines = [["amount", "day é", "label", "count"]]
    for amount, day, label, count in zip(amounts, dates, labels, counts, strict=True):
        cell = "" if amount is None else NOTATIONS[notation](amount)
        lines.append([cell, "" if day is None else day.strftime(written), label or "", str(count)])
    quoted = draw(st.booleans())
    text = "\r\n".join(delimiter.join(_quoted(cell, delimiter, quoted) for cell in line) for line in lines) + "\r\n"
    return text, {"amount": amounts, "day é": dates, "label": labels, "count": counts}


def _quoted(cell: str, delimiter: str, always: bool) -> str:
    needed = always or any(sign in cell for sign in (delimiter, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed else cell


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(files(), st.sampled_from(ENCODINGS), st.integers(1, 5), st.booleans())
def test_any_table_comes_back_whole_and_in_parts(tmp_path: Path, drawn, encoding: str, rows: int, packed: bool) -> None:
    text, cells = drawn
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    table = read_table(path)
    assert table.arrow.to_pydict() == cells
    assert [str(f.type) for f in table.arrow.schema] == ["double", "timestamp[us]", "string", "int64"]
    parts = [part.arrow for part in read_batches(path, table.readings, rows=rows)]
    assert all(part.num_rows <= rows for part in parts)
    assert pa.concat_tables(parts).equals(table.arrow)
    # Written as data and read back, the readings are the same.
    assert [Reading(**reading.as_dict()) for reading in table.readings] == list(table.readings)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(files(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(tmp_path: Path, drawn, random) -> None:
    _, cells = drawn
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    order = list(range(len(frame)))
    random.shuffle(order)
    one, other = Table.from_frame(frame), Table.from_frame(frame.iloc[order])
    assert other.readings == one.readings
    assert other.notes == one.notes
    assert other.arrow.equals(one.arrow.take(order))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(files())
def test_excel_and_parquet_give_the_cells_too(tmp_path: Path, drawn) -> None:
    _, cells = drawn
    table = pa.table({name: pa.array(values) for name, values in cells.items()})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    frame = pd.DataFrame(cells).astype({"count": "int64"})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    for file in ("t.parquet", "t.xlsx"):
        read = read_table(tmp_path / file)
        got = read.arrow.to_pydict()
        assert got["amount"] == cells["amount"]
        assert got["label"] == cells["label"]
        assert got["count"] == cells["count"]
        for one, other in zip(got["day é"], cells["day é"], strict=True):
            assert (one is None) == (other is None)
            # Excel keeps days as floating numbers.
            assert one is None or abs(one - other) < timedelta(milliseconds=1)
        parts = [part.arrow for part in read_batches(tmp_path / file, read.readings, rows=2)]
        assert pa.concat_tables(parts).equals(read.arrow)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y,z"], "c": [0.5, 1.5]})
    frame.to_csv(tmp_path / "t.csv", sep=separator, index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv").frame, frame)


def test_a_separator_in_the_header_does_not_mislead(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("price, net;name\n1,5;x\n2,5;y\n")
    assert read_table(tmp_path / "t.csv").frame.to_dict("list") == {"price, net": [1.5, 2.5], "name": ["x", "y"]}


def test_a_single_column_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n", encoding="utf-8-sig")
    assert read_table(tmp_path / "t.csv").frame["a"].tolist() == [1, 2]


def test_a_delimiter_at_the_end_of_lines_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b;\n1;x;\n2;y;\n")
    table = read_table(tmp_path / "t.csv")
    assert list(table.frame) == ["a", "b"]
    assert pa.concat_tables(part.arrow for part in read_batches(tmp_path / "t.csv", table.readings)).equals(table.arrow)


def test_parquet_gives_the_same_as_csv(tmp_path: Path, table: pd.DataFrame) -> None:
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv.gz", index=False)
    one, other = read_table(tmp_path / "t.parquet"), read_table(tmp_path / "t.csv.gz")
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_the_sheet_that_was_read_is_noted(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"a": [1, "x"]}).to_excel(book, sheet_name="cases", index=False)
        pd.DataFrame({"b": [2]}).to_excel(book, sheet_name="other", index=False)
    table = read_table(tmp_path / "t.xlsx")
    assert table.notes == ("t.xlsx has 2 sheets; the first, 'cases', was read.",)
    assert table.frame["a"].tolist() == ["1", "x"]


def test_lines_with_a_wrong_number_of_fields_are_named(tmp_path: Path) -> None:
    # A cell of two lines moves the numbers of the lines below it.
    lines = ["a,b", "1,2", '"x\ny",2', "1,2,3", "1,2", "1"] + ["1,2,3"] * 8
    (tmp_path / "t.csv").write_text("\n".join(lines))
    sentence = (
        "the header has 2, line 5 has 3, line 7 has 1, line 8 has 3, line 9 has 3, line 10 has 3, and 5 more lines "
        "are wrong; put cells that hold the separator in quotes"
    )
    with pytest.raises(TableError, match=sentence):
        read_table(tmp_path / "t.csv")
    with pytest.raises(TableError, match=sentence):
        list(read_batches(tmp_path / "t.csv", [Reading("a", "string")]))


def test_all_faults_come_in_one_message(tmp_path: Path) -> None:
    rows = [f"{year},{year}.5,$1" for year in range(1970, 2000)]
    rows[3], rows[7], rows[9] = "1976A,2.5,$1", "1977,?,$1", "1978,2.5"
    (tmp_path / "t.csv").write_text("\n".join(["year,size,paid", *rows]))
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "t.csv", types={"piad": "number", "paid": "money"}, needs={"target": ["fraud"]})
    message = str(caught.value)
    for part in (
        "There are 6 faults:",
        "line 11 has 2",
        "no column 'fraud' for `target`",
        "no column 'piad' for `types`; did you mean 'paid'",
        "'money' is no kind of column (`types`); choose one of 'number', 'category' and 'date'",
        "Column 'year' holds numbers and also text such as '1976A' (data row 4); leave such cells empty",
        "Column 'size' holds numbers and also text such as '?' (data row 8)",
    ):
        assert part in message


def test_columns_that_are_dropped_have_no_faults(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["year", *map(str, range(1970, 1999)), "1976A"]))
    assert read_table(tmp_path / "t.csv", drop=["year"]).frame["year"].iloc[-1] == "1976A"


def test_each_unreadable_file_has_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "payments.csv").write_text("a,b\n")
    (tmp_path / "damaged.parquet").write_text("not parquet")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "blank.csv").write_text("\n\n")
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    (tmp_path / "sheet.xlsx").write_text("")
    (tmp_path / "table.xls").write_text("")
    pd.DataFrame().to_excel(tmp_path / "none.xlsx")
    for name, sentence in {
        "paymets.csv": r"There is no file .*did you mean .*payments\.csv",
        "payments.csv": "holds no rows; export",
        "damaged.parquet": "cannot be read .*; export the table again",
        "empty.csv": "cannot be read .*; export the table again",
        "blank.csv": "cannot be read .*; export the table again",
        "twice.csv": "Two or more columns are named 'a'; rename all but one",
        "sheet.xlsx": "cannot be read .*; export the table again",
        "none.xlsx": "holds no rows; export",
        "table.xls": "neither CSV nor Parquet nor Excel by its name; save the table",
        ".": "is a folder; name the CSV, Parquet or Excel file",
    }.items():
        with pytest.raises(TableError, match=sentence):
            read_table(tmp_path / name)


def test_latin_letters_are_read_and_noted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("name,paid\nZoé,5 €\n".encode("cp1252"))
    table = read_table(tmp_path / "t.csv")
    assert table.frame.to_dict("list") == {"name": ["Zoé"], "paid": [5.0]}
    assert table.notes == ("t.csv is not written in UTF-8; it was read as Latin-1 (cp1252).",)


def test_a_missing_column_brings_the_nearest_names(table: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="no column 'Fruad' for `target`; did you mean 'fraud'"):
        require_columns(table, ["Fruad"], "target")
    with pytest.raises(TableError, match=r"choose one of its columns 'payment', .* and 4 more"):
        require_columns(table, ["zzz"], "target")


def test_a_table_prints_itself() -> None:
    table = Table.from_frame(pd.DataFrame({"n": [1.5, np.nan], "day": ["28-Feb-97", None]}))
    assert str(table).splitlines()[:3] == ["2 rows", "n    number  float64", "day  date    timestamp  written %d-%b-%y"]
