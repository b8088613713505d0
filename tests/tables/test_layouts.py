"""Parsers, on files small enough to check by eye."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.tables.layouts import Layout, LibSVM, parse_libsvm, parse_text
from tests import naive

KEEL_FILE = """@relation tiny
@attribute Sex {M, F, I}
@attribute Length real [0.0, 1.0]
@attribute Doors {2,4,5more}
@attribute Class {positive, negative}
@inputs Sex, Length, Doors
@outputs Class
@data
M, 0.5, 2, negative
I, <null>, 5more, positive

F, 1e-3, 2, negative
"""


def test_keel_file():
    data, names, labels = parse_text(KEEL_FILE.splitlines(), Layout())
    assert names == ["Sex=F", "Sex=I", "Sex=M", "Length", "Doors=2", "Doors=5more"]
    np.testing.assert_array_equal(data, [[0, 0, 1, 0.5, 1, 0], [0, 1, 0, np.nan, 0, 1], [1, 0, 0, 0.001, 1, 0]])
    assert labels.tolist() == ["negative", "positive", "negative"]
    assert data.dtype == np.float64
    assert data.flags.c_contiguous


def test_keel_file_without_header_differs_only_in_its_names():
    with_header = parse_text(KEEL_FILE.splitlines(), Layout())
    without = parse_text([line for line in KEEL_FILE.splitlines() if not line.startswith("@")], Layout())
    np.testing.assert_array_equal(with_header.data, without.data)
    assert without.names == ["x0=F", "x0=I", "x0=M", "x1", "x2=2", "x2=5more"]


def test_quoted_header_label_in_the_middle_and_dropped_column():
    text = ['"id";"y";"job; or none";"age"', '1;"yes";"a;b";58', '2;"no";"c";NA']
    data, names, labels = parse_text(text, Layout(delimiter=";", header=True, label=1, drop=(0,)))
    assert names == ["job; or none=a;b", "job; or none=c", "age"]
    np.testing.assert_array_equal(data, [[1, 0, 58], [0, 1, np.nan]])
    assert labels.tolist() == ["yes", "no"]


def test_numeric_labels_are_compared_as_text():
    assert parse_text(["1.5 2.0", "3 -1"], Layout(delimiter=None)).labels.tolist() == ["2", "-1"]


def test_given_names_and_first_rows():
    data, names, _ = parse_text(["1,2,a", "3,4,b", "5,6,a"], Layout(names=("u", "v"), first=2))
    assert names == ["u", "v"]
    assert data.tolist() == [[1, 2], [3, 4]]


def test_codes_leave_out_rows_with_other_words():
    data, names, labels = parse_text(["A,T,EI", "D,A,N", "T,A,IE"], Layout(codes={"A": 1, "T": 4}))
    assert data.tolist() == [[1, 4], [4, 1]]
    assert (names, labels.tolist()) == (["x0", "x1"], ["EI", "IE"])


def test_constant_column_is_put_back():
    data, names, _ = parse_text(["1,2,a"], Layout(constant_at=1))
    assert data.tolist() == [[1, 0, 2]]
    assert names == ["x0", "constant", "x1"]


def test_repairs_replace_a_wrong_row_and_add_a_lost_one():
    repairs = (("1,500.0,2", "1,.5,2"), ("", "7,8,9"))
    data, _, labels = parse_text(["1, 500.0, 2", "3, 4, 5"], Layout(repairs=repairs))
    assert data.tolist() == [[1, 0.5], [3, 4], [7, 8]]
    assert labels.tolist() == ["2", "5", "9"]


def test_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        parse_text(["@relation empty", "@data", ""], Layout())


def test_row_of_another_length():
    with pytest.raises(ValueError, match="columns"):
        parse_text(["1,2,a", "1,b"], Layout())


def test_libsvm_files_may_count_from_zero_and_from_one():
    from_one, from_zero = io.BytesIO(b"-1 1:0.5 3:2\n"), io.BytesIO(b"+1 0:0.25 2:4\n")
    data, names, labels = parse_libsvm([from_one, from_zero], LibSVM(3))
    assert data.tolist() == [[0.5, 0, 2], [0.25, 0, 4]]
    assert (names, labels.tolist()) == (["x0", "x1", "x2"], ["-1", "1"])


cells = st.sampled_from(["0", "1", "-2.5", "1e3", "red", "blue", "?", "<null>", "NA"])


@given(st.integers(1, 4).flatmap(lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1, max_size=8)))
def test_parse_agrees_with_its_slow_twin(rows):
    lines = [", ".join([*row, "yes"]) for row in rows]
    data, names, labels = parse_text(lines, Layout())
    slow_data, slow_labels = naive.parse_csv(lines)
    np.testing.assert_array_equal(data, slow_data)
    assert len(names) == data.shape[1] == len(set(names))
    assert labels.tolist() == slow_labels
