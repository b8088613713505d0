"""Scores of files: the same bits as of the whole table, in whatever parts it comes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from scarce._errors import UserError
from scarce.audit import score_files, score_table
from scarce.cli import app
from scarce.engines import BatchScorer
from scarce.engines import run as run_module
from scarce.engines.fragments import batches_of, find_fragments
from scarce.engines.ids import IdCheck, check_ids
from scarce.engines.ranking import FILE, ROW, SCORE, TopRows
from tests.naive_ranking import naive_repeats, naive_top


@pytest.fixture(scope="session")
def whole(model, rows) -> pd.DataFrame:
    return score_table(model, rows, reasons=0)


def test_the_first_rows_of_files_are_those_of_the_whole_table(model, folder, whole):
    found = score_files(model, folder, top=100, reasons=3, id="payment")
    assert (found.rows, found.above) == (1_003, (whole["flagged"] == "yes").sum())
    assert found.top["score"].tolist() == whole["score"].tolist()[:100]
    assert found.top["payment"].tolist() == whole["payment"].tolist()[:100]
    assert found.top["reasons"].notna().sum() == 3


def test_the_first_rows_show_an_id_that_the_audit_did_not_know(model, rows, whole, tmp_path):
    numbered = pa.Table.from_pandas(rows.assign(number=np.arange(len(rows)) * 10))
    found = score_files(model, numbered, top=5, reasons=0, id="number", out=tmp_path / "scores")
    assert found.top["number"].astype(int).tolist() == (whole["row"][:5] * 10).tolist()
    assert pd.read_csv(tmp_path / "scores" / "_top.csv")["number"].tolist() == (whole["row"][:5] * 10).tolist()


@given(size=st.integers(1, 400), start=st.integers(0, 1_002))
def test_the_bits_of_a_score_do_not_depend_on_the_batch(size, start):
    assert _scored.rows is not None
    got = _scored.scorer(_scored.rows.slice(start, size))
    assert got.column("score").to_pylist() == _scored.scores[start : start + size]


class _scored:  # hypothesis runs before fixtures of a function could be reset
    scorer: BatchScorer
    rows: pa.RecordBatch
    scores: list[float]


@pytest.fixture(autouse=True, scope="module")
def _score_once(model, rows):
    _scored.scorer = BatchScorer(str(model))
    _scored.rows = pa.RecordBatch.from_pandas(rows, preserve_index=False)
    _scored.scores = _scored.scorer(_scored.rows).column("score").to_pylist()


def test_threads_do_not_change_a_score(model):
    threaded = BatchScorer(str(model), threads=3)(_scored.rows)
    assert threaded.column("score").to_pylist() == _scored.scores


def test_a_scorer_travels_as_a_path_and_loads_once(model):
    scorer = pickle.loads(pickle.dumps(BatchScorer(str(model), "payment")))
    assert len(pickle.dumps(scorer)) < 1_000
    assert scorer.saved() is scorer.saved()
    assert scorer.columns()[0] == "payment"
    assert scorer(_scored.rows).schema.names == ["payment", "score", "decision"]


def test_csv_is_read_as_the_audit_read_it_and_not_anew_in_each_file(model, rows, folder, tmp_path):
    # In the first file alone the codes would be numbers, and the ages whole.
    for number, (start, end) in enumerate(((0, 2), (2, 1_003))):
        rows.iloc[start:end].to_csv(tmp_path / f"{number}.csv", index=False)
    from_csv = score_files(model, tmp_path, top=50, reasons=0, id="payment").top
    from_parquet = score_files(model, folder, top=50, reasons=0, id="payment").top
    assert from_csv["score"].tolist() == from_parquet["score"].tolist()
    assert from_csv["payment"].tolist() == from_parquet["payment"].tolist()


@pytest.mark.parametrize("kind", ["polars", "duckdb", "arrow"])
def test_readers_of_other_libraries_are_accepted(kind, model, rows, whole):
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        data = duckdb.connect().from_arrow(pa.Table.from_pandas(rows, preserve_index=False)).to_arrow_reader(100)
    else:
        frame = pa.Table.from_pandas(rows, preserve_index=False)
        data = pl.from_arrow(frame) if kind == "polars" else frame.to_reader(97)
    found = score_files(model, data, top=20, reasons=0, id="payment")
    assert found.top["score"].tolist() == whole["score"].tolist()[:20]


def test_all_scores_are_written_in_a_folder_that_is_read_as_one_table(model, folder, whole, tmp_path):
    out = tmp_path / "scores"
    score_files(model, folder, top=5, reasons=0, out=out)
    every = pd.read_parquet(out)
    assert every.columns.tolist() == ["file", "row", "score", "decision"]
    assert sorted(every["score"]) == sorted(whole["score"])
    assert pd.read_csv(out / "_top.csv")["rank"].tolist() == [1, 2, 3, 4, 5]
    assert json.loads((out / "_score.json").read_text())["rows"] == 1_003
    with pytest.raises(UserError, match="exists already"):
        score_files(model, folder, out=out)


def test_rows_with_an_outcome_are_left_out_where_it_must_be_empty(model, rows, tmp_path):
    known = np.arange(len(rows)) % 3 == 0
    rows.assign(fraud=np.where(known, "no", None)).to_parquet(tmp_path / "rows.parquet")
    found = score_files(model, tmp_path, top=2_000, reasons=0, where_empty="fraud")
    assert sorted(found.top["row"]) == np.flatnonzero(~known).tolist()


def test_the_command_ranks_a_folder_and_keeps_to_one_file_as_before(model, folder, rows, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, ["score", str(model), *map(str, arguments)])

    done = run(folder, "--top", 5, "--show", 2, "--reasons", 0, "--out", tmp_path / "scores")
    assert done.exit_code == 0, done.output
    assert "1,003 rows, " in done.output
    assert f"All scores: {tmp_path / 'scores'}; the first rows:" in done.output
    assert "part-" in done.output
    rows.iloc[:40].to_csv(tmp_path / "few.csv", index=False)
    done = run(tmp_path / "few.csv", "--reasons", 0, "--out", tmp_path / "ranked.csv")
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "ranked.csv")) == 40
    done = run(folder, "--out", tmp_path / "scores.csv")
    assert "are a folder of Parquet; name one (`out`)" in str(done.exception)


class Killed(BaseException):
    pass


def test_a_killed_run_is_taken_up_and_finished_files_are_not_scored_again(model, folder, tmp_path, monkeypatch):
    out, seen = tmp_path / "scores", []
    score = run_module.score_fragment

    def scored(job, number, fragment, on_rows):
        if len(seen) == 2:
            raise Killed
        seen.append(fragment.name)
        return score(job, number, fragment, on_rows)

    monkeypatch.setattr(run_module, "score_fragment", scored)
    with pytest.raises(Killed):
        score_files(model, folder, top=30, reasons=0, out=out)
    assert not out.exists()
    before, seen[:] = list(seen), []
    found = score_files(model, folder, top=30, reasons=0, out=out)
    assert found.again == 2
    assert not set(before) & set(seen)
    monkeypatch.undo()
    pd.testing.assert_frame_equal(found.top, score_files(model, folder, top=30, reasons=0).top)
    assert [path.name for path in tmp_path.iterdir()] == ["scores"]


def test_a_file_that_changed_since_is_scored_again(model, rows, tmp_path, monkeypatch):
    data, out = tmp_path / "data", tmp_path / "scores"
    data.mkdir()
    for number in range(2):
        rows.iloc[number * 100 :][:100].to_parquet(data / f"{number}.parquet")
    monkeypatch.setattr(run_module, "_finish", _raise)
    with pytest.raises(Killed):
        score_files(model, data, reasons=0, out=out)
    monkeypatch.undo()
    rows.iloc[500:600].to_parquet(data / "1.parquet")
    found = score_files(model, data, reasons=0, out=out)
    assert found.again == 1
    pd.testing.assert_frame_equal(found.top, score_files(model, data, reasons=0).top)


def _raise(*_, **__):
    raise Killed


# Small, obvious twins -----------------------------------------------------------------------------------


@given(
    parts=st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=12), min_size=1, max_size=6),
    k=st.integers(0, 8),
    with_id=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_the_first_rows_are_those_of_a_sorted_list_in_any_order_of_the_files(parts, k, with_id, order):
    numbered = list(enumerate(parts))
    order.shuffle(numbered)
    top = TopRows(k, "id" if with_id else None)
    for number, part in numbered:
        for start in range(0, len(part), 5):
            some = part[start : start + 5]
            batch = pa.RecordBatch.from_pydict({"id": [own for _, own in some]})
            rows = np.arange(start, start + len(some))
            top.add(batch, np.array([float(score) for score, _ in some]), f"f{number}", rows)
    table = top.table()
    found = [] if table is None else list(zip(*(table.column(n).to_pylist() for n in (SCORE, FILE, ROW)), strict=True))
    assert found == naive_top(parts, k, with_id)


@given(ids=st.lists(st.one_of(st.integers(-5, 5), st.integers(-(2**62), 2**62)), max_size=30))
def test_repeated_ids_are_found(ids):
    with IdCheck() as check:
        for start in range(0, len(ids), 7):
            check.add(pa.array(ids[start : start + 7], pa.int64()))
        found = check.repeated().view(np.int64).tolist()
    assert sorted(found) == naive_repeats(ids)


# Bad input ----------------------------------------------------------------------------------------------


def bad(tmp_path: Path, rows: pd.DataFrame, kind: str) -> Path | str:
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    rows.iloc[:50].to_parquet(first)
    rows.iloc[50:90].to_parquet(second)
    if kind == "two types":
        rows.iloc[50:90].assign(amount="lots").to_parquet(second)
    elif kind == "two schemas":
        rows.iloc[50:90].drop(columns="shop").to_parquet(second)
    elif kind == "ends early":
        second.write_bytes(second.read_bytes()[:-200])
    elif kind == "ends early, csv.gz":
        first.unlink()
        rows.to_csv(tmp_path / "b.csv.gz", index=False)
        second.unlink()
        (tmp_path / "b.csv.gz").write_bytes((tmp_path / "b.csv.gz").read_bytes()[:-900])
    elif kind == "repeats":
        rows.iloc[:3].to_parquet(second)
    elif kind == "two kinds":
        rows.to_csv(tmp_path / "c.csv")
    elif kind == "nothing":
        return tmp_path / "no-*.parquet"
    elif kind == "lacks":
        for path in (first, second):
            rows.drop(columns="amount").to_parquet(path)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("two types", r"b.parquet do not have the same columns: amount is double in the first and .*string in the"),
        ("two schemas", r"do not have the same columns: the second lacks shop; export them again in one way"),
        ("ends early", r"b.parquet ends early or is damaged \(.*\); export it again, or leave it out"),
        ("ends early, csv.gz", r"b.csv.gz ends early or is damaged \(.*\); export it again, or leave it out"),
        ("repeats", r"Column 'payment' holds 'P00000' in several rows, .*; name a column that differs in every row"),
        ("two kinds", r"holds CSV and Parquet files; name those of one kind"),
        ("nothing", r"There is no file .*no-\*.parquet; check the path"),
        ("lacks", r"The table lacks what the model learned from: add the column 'amount'"),
    ],
)
def test_bad_input_is_one_sentence(kind, sentence, model, rows, tmp_path):
    with pytest.raises(UserError, match=sentence) as caught:
        score_files(model, bad(tmp_path, rows, kind), id="payment", out=tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["files", "stream"])
@pytest.mark.parametrize("given", ["id", "where_empty"])
def test_a_column_that_the_user_named_and_the_table_lacks_is_named_with_its_option(given, kind, model, rows, folder):
    data = folder if kind == "files" else pa.Table.from_pandas(rows)
    with pytest.raises(UserError, match=f"^The table has no column 'paymet' for `{given}`; did you mean 'payment'"):
        score_files(model, data, **{given: "paymet"})


def test_ids_with_equal_marks_are_no_repeats(tmp_path, monkeypatch):
    pq.write_table(pa.table({"id": ["a", "b", "c"]}), tmp_path / "x.parquet")
    monkeypatch.setattr("scarce.engines.ids.marks_of", lambda ids: np.zeros(len(ids), dtype=np.uint64))
    check_ids(find_fragments(tmp_path), "id")


def test_files_of_spark_and_hidden_ones_are_no_rows(tmp_path):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "x.parquet")
    for name in ("_SUCCESS", ".x.crc"):
        (tmp_path / name).write_text("")
    fragments = find_fragments(tmp_path)
    assert [fragment.name for fragment in fragments] == ["x.parquet"]
    assert [batch.num_rows for batch in batches_of(fragments[0], rows=1)] == [1, 1]
