"""Histories of entities in the audit."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scarce.audit import Audit, AuditError, audit, save, score_files, score_table
from scarce.audit.handover import handover
from scarce.datasets import make_transactions
from scarce.engines import BatchScorer, Fault, RowError, compile_model, load_model
from scarce.tables import EntityHistory


@pytest.fixture(scope="module")
def payments() -> pd.DataFrame:
    """Payments of which the last have no outcome yet."""
    frame = make_transactions(1_600, fraud_rate=0.05, seed=0).frame
    frame = frame[["date", "customer_id", "shop", "amount", "distance_home", "fraud"]]
    frame["fraud"] = frame["fraud"].astype(float)
    frame.loc[1_300:, "fraud"] = None
    return frame


@pytest.fixture(scope="module")
def with_history(payments: pd.DataFrame) -> Audit:
    return audit(
        payments,
        "fraud",
        budget=12,
        time="date",
        amount="amount",
        entity=("customer_id", "shop"),
        delay="2d",
        methods="lightgbm",
    )


def test_histories_are_learned_from_and_ranked_by(with_history: Audit, payments: pd.DataFrame) -> None:
    made = with_history.histories.columns
    assert len(made) == 2 * 3 * 4
    assert {c.name for c in made} <= set(with_history.task.X) & set(with_history.cases)
    assert with_history.entities == ["customer_id", "shop"]
    outcome = payments["fraud"].fillna(-1)
    expected = EntityHistory(["customer_id", "shop"], "date", "amount", delay="2d").fit(payments, outcome)
    found = with_history.cases[[c.name for c in made]]
    np.testing.assert_array_equal(found, expected.transform(payments.loc[found.index]))
    assert {link.column for e in with_history.evidence for link in e.links} <= {"customer_id", "shop"}


def test_the_desk_sees_the_histories_of_look_alikes_too(with_history: Audit) -> None:
    made = {column.name for column in with_history.histories.columns}
    cases = handover(with_history)["cases"]
    for alike in (alike for case in cases for alike in case["data"]["look_alikes"]):
        assert made < set(alike["values"])
        assert all(alike["values"][d["title"]] == d["other"] for d in alike["differ"])
    assert any(made & set(alike["agree"]) for case in cases for alike in case["data"]["look_alikes"])


def test_rows_that_are_tested_together_do_not_know_their_outcomes(with_history: Audit, payments: pd.DataFrame) -> None:
    task, comparison = with_history.task, with_history.comparison
    names = [c.name for c in with_history.histories.columns]
    tested, block = comparison.folds.tested, comparison.blocks.block
    fresh = 0
    for number in range(len(comparison.blocks)):
        inside = tested[block == number]
        rows = task.X.index[inside]
        begun = payments.loc[rows, "date"].min()
        known = payments["fraud"].where(payments["date"] < begun, -1).fillna(-1)
        expected = EntityHistory(["customer_id", "shop"], "date", "amount", delay="2d").fit(payments, known)
        found = task.rows_to_test(inside)[names]
        np.testing.assert_array_equal(found, expected.transform(payments.loc[rows]))
        fresh += int((found != task.X.iloc[inside][names]).to_numpy().sum())
    # A training row knows more: what was known at its own moment.
    assert fresh > 0


@pytest.fixture(scope="module")
def saved(with_history: Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audits") / "a"
    save(with_history, folder)
    return folder


def test_a_history_needs_all_rows_so_that_batches_are_refused(
    saved: Path, payments: pd.DataFrame, tmp_path: Path
) -> None:
    sentence = (
        r"^The model learned from the history of entities, for which the rows are needed at once; score one file with "
        r"scarce score, without a folder, `top` or `engine`\.$"
    )
    payments.to_parquet(tmp_path / "rows.parquet")
    for options in ({}, {"engine": "dask://127.0.0.1:1"}):
        with pytest.raises(AuditError, match=sentence):
            score_files(saved, tmp_path, **options)
    with pytest.raises(AuditError, match=sentence):
        BatchScorer(str(saved))(pa.RecordBatch.from_pandas(payments))


def test_a_saved_model_goes_on_with_the_past(
    with_history: Audit, payments: pd.DataFrame, saved: Path, tmp_path: Path
) -> None:
    shutil.copytree(saved, tmp_path / "a")
    queue = with_history.queue.set_index("row")["score"]
    ranked = score_table(tmp_path / "a", payments.loc[1_300:].reset_index(drop=True), reasons=0).set_index("row")
    np.testing.assert_array_equal(ranked["score"].loc[queue.index - 1_300], queue)
    # In the whole table, rows that the past holds already are not counted twice.
    whole = score_table(tmp_path / "a", payments, reasons=0).set_index("row")
    np.testing.assert_array_equal(whole["score"].loc[queue.index], queue)
    assert (whole["learned_from"] == "yes").sum() == 1_300
    assert {"customer_id", "shop"} <= set(whole.columns)
    assert [c.name for c in load_model(tmp_path / "a").own_columns if ":" in c.name] == []
    with pytest.raises(AuditError, match="lacks what the model learned from: add the column 'shop'"):
        score_table(tmp_path / "a", payments.drop(columns="shop"))
    (tmp_path / "a" / "history.npz").unlink()
    with pytest.raises(AuditError, match=r"There is no .*history\.npz; keep the files of an audit"):
        score_table(tmp_path / "a", payments)


def test_entities_are_checked(payments: pd.DataFrame) -> None:
    with pytest.raises(AuditError, match="needs an order; name the column of time too"):
        audit(payments, "fraud", entity=("shop",))
    with pytest.raises(AuditError, match="name the columns of entities too"):
        audit(payments, "fraud", time="date", windows=("1d",))
    with pytest.raises(AuditError, match="names the time column 'date'"):
        audit(payments, "fraud", time="date", entity=("date",))
    with pytest.raises(AuditError, match="has a column 'shop: rows in 1d', and so has its history"):
        audit(payments.assign(**{"shop: rows in 1d": 1.0}), "fraud", time="date", entity=("shop",))
    with pytest.raises(AuditError, match="could not be made: windows must be a length of time"):
        audit(payments, "fraud", time="date", entity=("shop",), windows=("soon",))
    numbered = payments.assign(date=payments["date"].astype("int64") / 86_400e6)
    with pytest.raises(AuditError, match="holds numbers, so say how far back histories look, in its unit"):
        audit(numbered, "fraud", time="date", entity=("shop",))
    with pytest.raises(AuditError, match="must be numbers in their unit; one was '7d'"):
        audit(numbered, "fraud", time="date", entity=("shop",), windows=("7d",))


def test_numbers_of_days_have_windows_in_days(payments: pd.DataFrame, with_history: Audit) -> None:
    numbered = payments.assign(date=(payments["date"] - pd.Timestamp("2024-01-01")).dt.total_seconds() / 86_400)
    result = audit(
        numbered,
        "fraud",
        budget=12,
        time="date",
        amount="amount",
        entity=("shop",),
        windows=("7",),
        delay="2",
        methods="lightgbm",
    )
    rows = with_history.task.X.index
    found = result.task.X.loc[rows, "shop: rows in 7"]
    np.testing.assert_array_equal(found, with_history.task.X["shop: rows in 7d"])


def test_a_row_without_a_time_is_named_with_its_column(with_history: Audit, tmp_path: Path) -> None:
    save(with_history, tmp_path / "audit")
    scorer = compile_model(load_model(tmp_path / "audit"))
    with pytest.raises(RowError) as refused:
        scorer.score_rows([{"date": "2024-08-01", "amount": 5.0}, {"amount": 5.0}, {"date": "", "amount": 5.0}])
    needed = "a date, since the model learned from the rows before each row"
    assert refused.value.faults == [Fault(row, "date", needed, "none") for row in (1, 2)]
