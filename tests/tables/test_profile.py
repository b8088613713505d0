from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from scarce.tables import Table, TableError, conform, profile_table, read_target


def profile(frame: pd.DataFrame, **options):
    table = Table.from_frame(frame, drop=options.get("drop", ()))
    return profile_table(table, "fraud", read_target(frame, "fraud").y, **options)


def with_column(table: pd.DataFrame, values: object) -> pd.DataFrame:
    return table[["amount", "fraud"]].assign(x=values)


def test_each_column_has_its_kind_and_role(table: pd.DataFrame) -> None:
    found, typed = profile(table)
    assert {c.name: (c.kind, c.role) for c in found.columns} == {
        "payment": ("category", "identifier"),
        "date": ("date", "feature"),
        "amount": ("number", "feature"),
        "channel": ("category", "feature"),
        "shop": ("category", "feature"),
        "age": ("number", "feature"),
        "chargeback": ("number", "leak"),
        "currency": ("category", "constant"),
    }
    assert (found.rows, found.labelled, found.duplicates) == (1500, 1500, 0)
    assert found.positives == (table["fraud"] == "yes").sum()
    age = next(c for c in found.columns if c.name == "age")
    assert age.missing == pytest.approx(table["age"].isna().mean())
    assert str(typed["date"].dtype).startswith("datetime64")


def test_a_leak_is_reported_loudly_and_can_be_kept(table: pd.DataFrame) -> None:
    found, _ = profile(table)
    assert any(w.startswith("LEAK: column 'chargeback'") and "Bring it back (`keep`)" in w for w in found.warnings)
    kept, _ = profile(table, keep=["chargeback"])
    assert "chargeback" in [c.name for c in kept.features]
    assert not any("LEAK" in w for w in kept.warnings)


@pytest.mark.parametrize("kind", ["missing date", "category", "u-shape"])
def test_leaks_of_every_kind_are_found(table: pd.DataFrame, kind: str) -> None:
    fraud = (table["fraud"] == "yes").to_numpy()
    noise = np.random.default_rng(0).normal(size=len(fraud))
    column = {
        "missing date": np.where(fraud, table["date"], None),
        "category": np.where(fraud, "closed", np.where(noise > 0, "open", "new")),
        "u-shape": np.where(fraud, np.sign(noise) * 20, noise),
    }[kind]
    found, _ = profile(with_column(table, column))
    assert next(c for c in found.columns if c.name == "x").role == "leak"


def test_many_rare_categories_are_no_leak(table: pd.DataFrame) -> None:
    # Seen with their own outcome they give it away: only honest encoding shows that they do not.
    values = np.random.default_rng(0).integers(0, 600, len(table)).astype(str)
    found, _ = profile(with_column(table, [f"m{v}" for v in values]))
    assert next(c for c in found.columns if c.name == "x").role == "feature"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["01/02/2024", "28/02/2024"], "date"),
        (["2024-01-31T10:00:00Z", "2024-02-01T10:00:00Z"], "date"),
        (["31.01.2024 10:00", "01.02.2024 11:30"], "date"),
        ([date(2024, 1, 31), date(2024, 2, 1)], "date"),
        ([Decimal("1.5"), Decimal("2.5")], "number"),
        ([True, False], "number"),
        (["00123", "99887"], "category"),
        (["A1", "77"], "category"),
        (["192.168.0.1", "10.0.0.1"], "category"),
    ],
)
def test_cells_are_read_as_what_they_are(table: pd.DataFrame, cells: list, kind: str) -> None:
    values = pd.Series([cells[i % 2] for i in range(len(table))], dtype=object)
    found, typed = profile(with_column(table, values))
    column = next(c for c in found.columns if c.name == "x")
    assert column.kind == kind
    assert typed["x"].nunique() == 2


def test_a_code_is_a_category_by_its_name(table: pd.DataFrame) -> None:
    frame = table[["amount", "fraud"]].assign(
        merchant_code=np.arange(len(table)) % 7, account_id=np.arange(len(table)) // 3
    )
    found = {c.name: c for c in profile(frame)[0].columns}
    assert (found["merchant_code"].kind, found["merchant_code"].role) == ("category", "feature")
    assert found["account_id"].role == "identifier"


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234.5 €", "99.9 €"], [1234.5, 99.9]),
        (["12,5", "7,25"], [12.5, 7.25]),
        (["EUR 5", "EUR 17"], [5.0, 17.0]),
        (["45%", "12%"], [45.0, 12.0]),
    ],
)
def test_numbers_written_as_text_are_numbers(table: pd.DataFrame, cells: list[str], numbers: list[float]) -> None:
    found, typed = profile(with_column(table, [cells[i % 2] for i in range(len(table))]))
    assert next(c for c in found.columns if c.name == "x").kind == "number"
    assert typed["x"].head(2).tolist() == numbers


def test_a_word_among_numbers_is_refused(table: pd.DataFrame) -> None:
    values = [str(i) for i in range(len(table))]
    values[41] = "?"
    with pytest.raises(TableError, match=r"numbers and also text such as '\?' \(data row 42\); leave such cells empty"):
        profile(with_column(table, values))
    found, _ = profile(with_column(table, values), drop=["x"])
    assert next(c for c in found.columns if c.name == "x").role == "dropped"


def test_copies_gaps_and_infinities_are_reported(table: pd.DataFrame) -> None:
    frame = with_column(table, np.where(np.arange(len(table)) % 3 == 0, 1.5, np.nan))
    frame["amount"] = np.arange(len(table)) + 0.5
    frame.loc[0, "x"] = np.inf
    doubled = pd.concat([frame, frame.iloc[5:15]], ignore_index=True)
    found, typed = profile(doubled)
    warnings = " ".join(found.warnings)
    assert found.duplicates == 10
    assert "Rows that repeat an earlier row: 10." in warnings
    assert "Infinite numbers in 'x' count as missing" in warnings
    assert f"empty in {doubled['x'].isna().mean():.0%}" in warnings
    assert np.isnan(typed.loc[0, "x"])


def test_numbers_that_no_tree_holds_are_refused_by_name(table: pd.DataFrame) -> None:
    numbers = np.where(np.arange(len(table)) == 7, -1e39, np.arange(len(table)) % 11)
    with pytest.raises(TableError, match=r"Numbers beyond 3.4e\+38 in 'x' cannot be learned from.*`drop`"):
        profile(with_column(table, numbers))
    profile(with_column(table, numbers), drop=["x"])


def test_nothing_left_to_learn_from_is_refused(table: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"No column is left to learn from.*`keep`"):
        profile(table[["payment", "currency", "fraud"]])


def test_typing_is_the_same_for_other_storage(table: pd.DataFrame) -> None:
    found, typed = profile(table)
    again = table.assign(date=pd.to_datetime(table["date"]), shop=table["shop"].astype("category"))
    pd.testing.assert_frame_equal(conform(again, found.columns), typed)
    pd.testing.assert_frame_equal(conform(typed, found.columns), typed)
