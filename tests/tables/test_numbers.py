"""Numbers as people write them, against a reader that goes sign by sign."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scarce.tables.numbers import COMMA, POINT, decide_notation, parse_numbers
from tests import naive_tables

pieces = st.sampled_from([*"0123456789.,' \u00a0\u202f’-+−()e$€£¥%x", "00", "123", "E5", "EUR", "usd"])
soup = st.lists(pieces, max_size=9).map("".join)


@st.composite
def written(draw, notation: str, number: float | None = None) -> tuple[str, float]:
    """A number with two decimals at most, written with thousands and currency as people do."""
    cents = draw(st.integers(-(10**11), 10**11)) if number is None else round(number * 100)
    decimal, thousands = (".", ",") if notation == POINT else (",", ".")
    mark = draw(st.sampled_from([thousands, "", " ", "\u00a0", "'"]))
    whole, rest = divmod(abs(cents), 100)
    text = f"{whole:,}".replace(",", mark)
    if rest or draw(st.booleans()):
        text += f"{decimal}{rest:02}"
    unit = draw(st.sampled_from(["", "€", "$", "USD "]))
    text = f"{unit}{text}" if draw(st.booleans()) else f"{text} {unit}".strip()
    if cents < 0:
        text = draw(st.sampled_from([f"-{text}", f"({text})", f"−{text}"]))
    return text, cents / 100


@given(soup, st.sampled_from([POINT, COMMA]))
@example("$-5", POINT)
@example("-$5", POINT)
@example("(1,234.50 €)", POINT)
@example("0,125", COMMA)
@example("0,125", POINT)
@example("1.", POINT)
@example(".5", POINT)
@example("1,23,456", POINT)
@example("1,2345", POINT)
@example("1 234'567", POINT)
@example("", POINT)
@example("1e5", POINT)
@example("12 %", COMMA)
def test_a_cell_is_read_as_sign_by_sign(cell: str, notation: str) -> None:
    cell = cell.strip()
    expected = naive_tables.number(cell, notation)
    assert parse_numbers(pa.array([cell]), notation).to_pylist() == [expected]


@pytest.mark.parametrize("notation", [POINT, COMMA])
@given(data=st.data())
def test_written_numbers_come_back(notation: str, data) -> None:
    cells = data.draw(st.lists(written(notation), min_size=1, max_size=6))
    read = parse_numbers(pa.array([text for text, _ in cells]), notation).to_pylist()
    assert read == [number for _, number in cells]


@pytest.mark.parametrize(
    ("cells", "notation", "ambiguous"),
    [
        (["1,234", "5.5"], POINT, False),
        (["1.234", "5,5"], COMMA, False),
        (["1,234", "2,345"], POINT, True),
        (["1.234 €", "2.345 €"], COMMA, True),
        (["1,234", "0,125"], COMMA, False),
        (["1,234", "1,234,567"], POINT, False),
        (["$5", "$60"], POINT, False),
    ],
)
def test_the_whole_column_decides_the_notation(cells: list[str], notation: str, ambiguous: bool) -> None:
    for order in (cells, cells[::-1]):
        assert decide_notation(pa.array(order))[:2] == (notation, ambiguous)


@pytest.mark.parametrize("cells", [["1,234.5", "1.234,5"], ["1,234 €", "1.234 €"]])
def test_two_notations_in_one_column_are_a_fault(cells: list[str]) -> None:
    assert "two notations" in decide_notation(pa.array(cells)).fault
