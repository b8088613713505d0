"""The parts of messages that all rooms share, and values as plain data."""

import sys

import numpy as np
import pandas as pd
import pytest

from scarce._extras import EXTRAS, MissingPackage, require
from scarce._messages import listed, listed_rows
from scarce._values import plain
from tests.test_house import extras


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "'a'"),
        (["a", "b"], "'a' and 'b'"),
        ([0, 1.5, np.str_("x")], "0, 1.5 and 'x'"),
        (list("abcdefg"), "'a', 'b', 'c', 'd', 'e' and 2 more"),
    ],
)
def test_names_in_a_list(names, text):
    assert listed(names) == text


def test_rows_in_a_list():
    assert listed_rows(np.array([7])) == "row 7"
    assert listed_rows(np.arange(9)) == "9 rows, the first of them 0, 1, 2, 3, 4"


def test_a_missing_package_is_an_error_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn", None)
    sentence = r'^Resampling needs imbalanced-learn, which is not installed: pip install "scarce\[sampling\]"\.$'
    with pytest.raises(MissingPackage, match=sentence) as caught:
        require("imblearn", "Resampling")
    assert isinstance(caught.value, ImportError)


def test_a_module_at_hand_is_returned():
    assert require("matplotlib.pyplot", "A plot").__name__ == "matplotlib.pyplot"


def test_every_module_of_an_extra_names_one_that_exists():
    assert set(EXTRAS.values()) <= extras()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pd.NaT, None),
        (pd.NA, None),
        (float("nan"), None),
        (np.float64("inf"), None),
        (np.bool_(True), True),
        (np.int64(3), 3),
        (pd.Timestamp("2024-01-31 12:30"), "2024-01-31 12:30:00"),
        # A category may be named like a missing value.
        ("NaT", "NaT"),
        ("<NA>", "<NA>"),
    ],
)
def test_values_as_plain_data(value, expected):
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)
