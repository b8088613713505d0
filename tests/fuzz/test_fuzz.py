"""A small part of `make fuzz`, and whether the search finds what it is to find."""

from typing import Any, Self

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from scarce._errors import TableError
from tests.fuzz.__main__ import search, try_few
from tests.fuzz.calls import calls, try_call
from tests.fuzz.kinds import CLEAR, NON_FINITE, OK, ROWS, TRACEBACK, Found, kind_of
from tests.fuzz.tables import tables, try_table


class Broken(BaseEstimator):
    """An estimator that fails in the way it is asked to."""

    def __init__(self, how: str = "") -> None:
        self.how = how

    def fit(self, X: Any, y: Any) -> Self:
        if self.how == "traceback":
            raise KeyError("x")
        if self.how == "clear":
            raise TableError("Give a table.")
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X) + (self.how == "rows"), np.nan if self.how == "nan" else 0.0)


@pytest.mark.parametrize(
    ("how", "kind"), [("", OK), ("traceback", TRACEBACK), ("clear", CLEAR), ("nan", NON_FINITE), ("rows", ROWS)]
)
def test_each_kind_of_failure_is_found(how: str, kind: str) -> None:
    found, X = Found(), np.zeros((2, 1))
    try_call({"estimator": Broken(how), "X": X, "y": np.array([0, 1]), "new": X, "methods": ["predict"]}, found)
    assert found.counts == {kind: 1}
    assert found.failed == (kind not in (OK, CLEAR))


def test_a_message_of_numpy_is_no_sentence_for_the_user() -> None:
    with pytest.raises(ValueError, match="cannot reshape") as caught:
        np.zeros(3).reshape(2, 2)
    assert kind_of(caught.value) == TRACEBACK


def test_the_search_ends_and_counts_all() -> None:
    found = search(st.just(0), lambda _, found: found.add(OK, ""), 0.01)
    assert found.counts[OK] >= 1


def test_the_search_ends_after_a_count() -> None:
    found = search(st.integers(), lambda _, found: found.add(OK, ""), 600, count=120)
    assert found.tried == 120


def test_odd_calls_break_no_estimator() -> None:
    found = try_few(calls(), try_call, 30)
    assert not found.failed, found.lines()


def test_messy_tables_do_not_break_the_audit() -> None:
    found = try_few(tables(), try_table, 3)
    assert not found.failed, found.lines()
