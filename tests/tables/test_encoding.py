import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.tables import Column, DateParts, Table, make_encoder, profile_table, read_target

moments = st.datetimes(min_value=pd.Timestamp(1950, 1, 1), max_value=pd.Timestamp(2100, 1, 1))


@given(st.lists(moments, min_size=1, max_size=5), st.booleans())
def test_dates_become_the_numbers_on_a_calendar(dates: list, calendar: bool) -> None:
    frame = pd.DataFrame({"d": pd.Series([*dates, pd.NaT], dtype="datetime64[us]")})
    parts = DateParts(calendar).fit(frame).transform(frame)
    for row, d in zip(parts, dates, strict=False):
        expected = [d.hour + d.minute / 60, d.weekday(), d.day]
        if calendar:
            expected += [d.month, (d - min(dates)).total_seconds() / 86_400]
        np.testing.assert_allclose(row, expected, atol=1e-6)
    assert np.isnan(parts[-1]).all()


@pytest.fixture(scope="module")
def typed(table: pd.DataFrame):
    y = read_target(table, "fraud").y
    found, frame = profile_table(Table.from_frame(table), "fraud", y)
    return found.features, frame, y


@pytest.mark.parametrize("suited_to", ["distances", "trees"])
def test_unknown_categories_and_empty_cells_are_encoded(typed, suited_to: str) -> None:
    columns, frame, y = typed
    encoder = make_encoder(columns, suited_to, folds=3, seed=0).fit(frame, y)
    strange = frame.iloc[:3].copy()
    strange[["channel", "shop"]] = "never seen"
    strange["amount"] = np.nan
    matrix = encoder.transform(strange)
    assert matrix.shape == (3, encoder.transform(frame).shape[1])
    assert np.isnan(matrix).any() == (suited_to == "trees")


def test_distances_see_comparable_scales_in_spite_of_heavy_tails(typed) -> None:
    columns, frame, y = typed
    wild = frame.copy()
    wild.loc[0, "amount"] = 1e9
    numbers = [c for c in columns if c.name == "amount"]
    matrix = make_encoder(numbers, "distances", folds=3, seed=0).fit_transform(wild, y)
    # Standardised alone, the one wild cell would leave the others with a spread of nearly nothing.
    assert matrix[1:].std() > 0.5
    assert abs(matrix).max() < 50


def test_encoded_shops_do_not_carry_their_own_outcome() -> None:
    # Every shop has one row: encoded with its own outcome it would give it away.
    y = np.arange(300) % 10 == 0
    frame = pd.DataFrame({"shop": [f"s{i}" for i in range(300)]})
    column = [Column("shop", "category", distinct=300)]
    encoded = make_encoder(column, "trees", folds=3, seed=0).fit_transform(frame, y.astype(int))[:, 0]
    assert encoded[y].mean() == pytest.approx(encoded[~y].mean(), abs=0.01)


def test_the_same_seed_encodes_the_same(typed) -> None:
    columns, frame, y = typed
    first, second = (make_encoder(columns, "distances", folds=3, seed=1).fit_transform(frame, y) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = make_encoder(columns, "distances", folds=3, seed=2).fit_transform(frame, y)
    assert (first != other).any()


def test_the_date_that_orders_the_rows_gives_no_calendar(typed) -> None:
    columns, frame, y = typed
    dates = [c for c in columns if c.kind == "date"]
    assert make_encoder(dates, "trees", folds=3, seed=0).fit_transform(frame, y).shape[1] == 5
    assert make_encoder(dates, "trees", folds=3, seed=0, time="date").fit_transform(frame, y).shape[1] == 3
