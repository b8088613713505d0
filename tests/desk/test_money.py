"""Decisions about one row are those about many rows, and those of the formulas."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline

from scarce.desk.money import Stakes
from scarce.engines import RowError, SavedModel

MODEL = SavedModel(Pipeline([("none", "passthrough")]), [], [], {}, np.empty(0, np.uint64), {})
amounts = st.one_of(st.floats(-1e4, 1e4), st.sampled_from([0.0, 1e308]))


@given(
    st.lists(st.tuples(amounts, st.floats(0, 1)), min_size=1, max_size=5),
    st.sampled_from(["-amount", "amount ** 3 / fee", "where(amount > 5, -amount, fee)", -3.0]),
    amounts,
    st.one_of(st.none(), st.floats(0, 100)),
)
def test_one_row_and_many_rows_are_decided_alike(rows: list, fn: object, fp: float, cost: float | None) -> None:
    stakes = Stakes({"fn": fn, "fp": fp, "tp": 1, "fee": 2}, cost, MODEL)
    for amount, p in rows:
        row, probability = {"amount": amount}, np.array([p])
        try:
            decision, expected = stakes.of_row(row, p)
        except RowError:
            decision = ""
        try:
            many = stakes.of_rows(lambda reader, row=row: reader.of_rows([row]), probability)
        except RowError:
            assert not decision
            continue
        assert many.names[int(many.best[0])] == decision
        assert many.expected[0].tolist() == list(expected.values())
        assert expected[decision] == max(expected.values())
