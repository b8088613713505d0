from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce.audit import AuditError, check_free, written_whole
from scarce.audit.tables import read_table, read_target, require_columns


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
        with pytest.raises(AuditError, match=sentence):
            read_table(tmp_path / name)


def test_a_missing_column_brings_the_nearest_names(table: pd.DataFrame) -> None:
    with pytest.raises(AuditError, match="no column 'Fruad' for --target; did you mean 'fraud'"):
        require_columns(table, ["Fruad"], "--target")
    with pytest.raises(AuditError, match=r"choose one of its columns 'payment', .* and 4 more"):
        require_columns(table, ["zzz"], "--target")


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        (["n", "y", "n", "n"], "y"),
        ([0, 1, 0, 0], "1"),
        ([0.0, 1.0, 1.0, np.nan], "0"),
        ([True, False, True, True], "False"),
        ([1, 2, 1, 2], "2"),
    ],
)
def test_the_rarer_value_is_positive(values: list, positive: str) -> None:
    frame = pd.DataFrame({"t": values})
    found = read_target(frame, "t")
    assert found.positive == positive
    assert found.y.tolist() == [-1 if pd.isna(v) else int(str(v).removesuffix(".0") == positive) for v in values]


def test_the_positive_value_can_be_named() -> None:
    frame = pd.DataFrame({"t": ["a", "b", "c", "a"]})
    assert read_target(frame, "t", "a").y.tolist() == [1, 0, 0, 1]
    assert read_target(pd.DataFrame({"t": [0, 1, 1]}), "t", "1.0").y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "positive", "sentence"),
    [
        (["a", "a"], None, "only one value"),
        (list(range(200)), None, r"200 different values .*--positive VALUE"),
        (["a", "b", "b"], "c", "No row has t = c, .*takes one of the values 'b' and 'a'"),
        ([None, None], None, "is empty"),
    ],
)
def test_targets_that_cannot_be_learned(values: list, positive: str | None, sentence: str) -> None:
    with pytest.raises(AuditError, match=sentence):
        read_target(pd.DataFrame({"t": values}), "t", positive)


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "out"

    def interrupted() -> None:
        with written_whole(place) as new:
            new.mkdir()
            (new / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "deep").iterdir()) == []
    with written_whole(place) as new:
        new.mkdir()
        assert not place.exists()
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]


def test_only_an_audit_is_replaced_and_only_by_force(tmp_path: Path) -> None:
    check_free(tmp_path)
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(AuditError, match="exists already; name another place with --out"):
        check_free(tmp_path)
    with pytest.raises(AuditError, match="other than an audit"):
        check_free(tmp_path, force=True)
    (tmp_path / "manifest.json").write_text("{}")
    check_free(tmp_path, force=True)
