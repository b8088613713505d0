"""The past of entities in a file, and continued by new rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce.datasets import make_transactions
from scarce.tables import EntityHistory, TableError
from scarce.tables.past import continued, load_history, save_history


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "card": rng.choice(["a", "bé", "long name", None], 200),
            "shop": rng.integers(0, 5, 200),
            "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 90 * 24, 200)), "h"),
            "sum": rng.integers(0, 9_999, 200) / 100,
        }
    )


@pytest.fixture
def known(rows: pd.DataFrame) -> EntityHistory:
    y = np.where(np.arange(200) < 150, np.arange(200) % 7 == 0, -1)
    return EntityHistory(["card", "shop"], "at", "sum", delay="2d").fit(rows, y)


@pytest.mark.parametrize("amount", ["sum", None])
def test_a_history_is_the_same_after_a_file(rows: pd.DataFrame, tmp_path: Path, amount: str | None) -> None:
    made = EntityHistory(["card", "shop"], "at", amount, delay="2d").fit(rows, np.arange(200) % 7 == 0)
    save_history(made, tmp_path / "history.npz")
    read = load_history(tmp_path / "history.npz")
    np.testing.assert_array_equal(read.transform(rows), made.transform(rows))
    assert read.get_feature_names_out().tolist() == made.get_feature_names_out().tolist()
    assert read.get_params() == made.get_params()


def test_a_damaged_file_has_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "history.npz").write_bytes(b"nothing")
    with pytest.raises(TableError, match="is damaged; run the audit again"):
        load_history(tmp_path / "history.npz")


def test_rows_of_the_past_are_not_counted_twice(rows: pd.DataFrame, known: EntityHistory) -> None:
    before = known.transform(rows)
    again = continued(known, rows)
    np.testing.assert_array_equal(again.transform(rows), before)
    np.testing.assert_array_equal(known.transform(rows), before)


def test_new_rows_see_the_earlier_rows_of_their_own_table(rows: pd.DataFrame, known: EntityHistory) -> None:
    old = EntityHistory(["card", "shop"], "at", "sum", delay="2d").fit(rows[:150], np.arange(150) % 7 == 0)
    before = old.transform(rows[150:])
    np.testing.assert_array_equal(continued(old, rows[150:]).transform(rows[150:]), known.transform(rows[150:]))
    np.testing.assert_array_equal(old.transform(rows[150:]), before)


def test_a_row_takes_about_twelve_bytes(tmp_path: Path) -> None:
    payments = make_transactions(6_000, fraud_rate=0.03, seed=0).frame
    made = EntityHistory(["customer_id", "shop"], "date", "amount").fit(payments, payments["fraud"])
    save_history(made, tmp_path / "history.npz")
    assert 11 < (tmp_path / "history.npz").stat().st_size / len(payments) < 13
