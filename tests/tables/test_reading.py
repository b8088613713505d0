from pathlib import Path

import pandas as pd
import pytest

from scarce.tables import TableError, read_table, require_columns


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(tmp_path: Path, separator: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y,z"], "c": [0.5, 1.5]})
    frame.to_csv(tmp_path / "t.csv", sep=separator, index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)


def test_a_single_column_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n", encoding="utf-8-sig")
    assert read_table(tmp_path / "t.csv")["a"].tolist() == [1, 2]


def test_parquet_gives_the_same_as_csv(tmp_path: Path, table: pd.DataFrame) -> None:
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv.gz", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), read_table(tmp_path / "t.csv.gz"))


def test_each_unreadable_file_has_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "payments.csv").write_text("a,b\n")
    (tmp_path / "latin.csv").write_bytes("a,b\né,1\n".encode("latin-1"))
    (tmp_path / "damaged.parquet").write_text("not parquet")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "sheet.xlsx").write_text("")
    for name, sentence in {
        "paymets.csv": r"There is no file .*did you mean .*payments\.csv",
        "payments.csv": "holds no rows; export",
        "latin.csv": "not written in UTF-8; save it again",
        "damaged.parquet": "cannot be read .*; export the table again",
        "ragged.csv": "cannot be read .*; export the table again",
        "empty.csv": "cannot be read .*; export the table again",
        "sheet.xlsx": "neither CSV nor Parquet.*; save the table",
        ".": "is a folder; name the CSV or Parquet file",
    }.items():
        with pytest.raises(TableError, match=sentence):
            read_table(tmp_path / name)


def test_a_missing_column_brings_the_nearest_names(table: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="no column 'Fruad' for `target`; did you mean 'fraud'"):
        require_columns(table, ["Fruad"], "target")
    with pytest.raises(TableError, match=r"choose one of its columns 'payment', .* and 4 more"):
        require_columns(table, ["zzz"], "target")
