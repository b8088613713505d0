"""Rows to rank that are like, or unlike, those that were learned from."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from scarce.audit.shift import _auc, column_apart, measure_shift
from scarce.tables import Column

COLUMNS = [Column("x", "number"), Column("z", "number"), Column("shop", "category"), Column("day", "date")]


def rows(n: int, seed: int, *, x: float = 0.0, shops: str = "abc", start: str = "2024-01-01") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(x, 1, n),
            "z": rng.normal(size=n),
            "shop": rng.choice(list(shops), n),
            "day": pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, 28, n), unit="D"),
        }
    )
    frame.loc[frame.index[::10], "z"] = np.nan
    return frame


def test_rows_of_one_kind_are_found_alike_although_they_are_later() -> None:
    flagged = 0
    for seed in range(6):
        old, new = rows(600, seed), rows(400, 100 + seed, start="2025-04-01")
        shift = measure_shift(old, new, COLUMNS, old["x"].to_numpy(), new["x"].to_numpy(), seed=seed)
        flagged += shift.differs
        assert not shift.columns
        assert shift.score is None
        assert shift.differs or "look like the rows that were learned from" in shift.sentence
    assert flagged <= 1


def test_a_column_that_moved_is_named_and_stands_beside_the_tested_parts() -> None:
    old, new = rows(900, 0), rows(400, 1, x=1.5)
    order = np.arange(900)
    parts = [(order[:300], order[300:600]), (order[:600], order[600:])]
    shift = measure_shift(old, new, COLUMNS, old["x"].to_numpy(), new["x"].to_numpy(), parts)
    assert shift.differs
    assert [column.name for column in shift.columns] == ["x"]
    assert shift.columns[0].now - shift.columns[0].before == pytest.approx(1.5, abs=0.2)
    assert shift.score is not None
    assert 0.8 < shift.auc.low < shift.auc.high < 1
    assert len(shift.usual) == 2
    assert max(shift.usual) < 0.6
    assert "differ strongly from the rows that were learned from, most in x" in shift.sentence
    assert "the promise may be further off than its interval allows" in shift.sentence


def test_a_new_category_and_new_empty_cells_are_differences() -> None:
    old, new = rows(900, 0), rows(400, 1, shops="abd")
    new.loc[new.index[::2], "z"] = np.nan
    shift = measure_shift(old, new, COLUMNS, old["x"].to_numpy(), new["x"].to_numpy())
    assert {column.name for column in shift.columns} == {"shop", "z"}
    assert shift.columns[0].distance == pytest.approx(0.4, abs=0.1)


def test_the_test_of_categories_does_not_mind_many_of_them_or_one() -> None:
    many = pd.Series([f"s{i}" for i in range(2_000)], name="shop")
    assert column_apart(many, many, "category").p_value == 1
    one = pd.Series(["a"] * 50, name="shop")
    assert column_apart(one, one, "category").distance == 0
    empty = pd.Series([np.nan] * 50, name="x")
    assert column_apart(empty, empty, "number").before is None


def test_too_few_rows_tell_nothing() -> None:
    old, new = rows(900, 0), rows(19, 1, x=9)
    assert measure_shift(old, new, COLUMNS, old["x"].to_numpy(), new["x"].to_numpy()) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=4, max_size=40))
def test_the_area_under_the_curve_is_that_of_scikit_learn(rows):
    truth, score = np.array([(0, 1), (1, 2), *rows]).T
    assert _auc(truth, score) == pytest.approx(roc_auc_score(truth, score))
