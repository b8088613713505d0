"""Numbers as people write them: with currencies, thousands, decimal points or decimal commas."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from scarce._typing import ArrowCells, Cell

__all__ = [
    "COMMA",
    "POINT",
    "Decision",
    "Notation",
    "currencies",
    "decide_notation",
    "is_ambiguous",
    "parse_numbers",
]

# A number in the notation itself: decimals after the point and thousands by commas, or the other way round.
Notation = Literal["1,234.5", "1.234,5"]
POINT: Notation = "1,234.5"
COMMA: Notation = "1.234,5"

_CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|SEK|USD"
_CURRENCY = rf"(?:(?:US|AU|CA|C|A|R)?\p{{Sc}}|%|(?i:{_CODES}))"
_SIGN = "[-+−]"
_BLANK = "[ \u00a0\u202f]*"
# Blanks, no-break blanks and apostrophes separate thousands in either notation.
_MARKS = " \u00a0\u202f'’"


def _grammar(decimal: str, thousands: str) -> str:
    groups = "|".join(rf"(?:{mark}[0-9]{{3}})+" for mark in (rf"\{thousands}", *_MARKS))
    # No group begins with 0: 0,125 can only be a fraction.
    whole = rf"(?:[1-9][0-9]{{0,2}}(?:{groups})|[0-9]+)"
    body = rf"(?:{whole}(?:\{decimal}[0-9]*)?|\{decimal}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    front = rf"(?:(?P<before>{_SIGN}?){_BLANK}{_CURRENCY}?|{_CURRENCY}{_BLANK}(?P<after>{_SIGN}))"
    return rf"^(?P<open>\(?){_BLANK}{front}{_BLANK}(?P<body>{body}){_BLANK}{_CURRENCY}?{_BLANK}(?P<close>\)?)$"


_GRAMMARS = {POINT: _grammar(".", ","), COMMA: _grammar(",", ".")}
# One separator before exactly three digits: thousands to some, decimals to others.
_FEW = 1_000
_EITHER = r"^[^0-9.,]*[1-9][0-9]{0,2}([.,])[0-9]{3}[^0-9.,]*$"


class Decision(NamedTuple):
    """The notation of a column, whether its cells leave a choice, and what is wrong with them."""

    notation: Notation | None
    ambiguous: bool = False
    fault: str = ""


def parse_numbers(text: ArrowCells, notation: Notation) -> ArrowCells:
    """Return cells without blanks around them as float64, null where one is not a number in the notation.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from scarce.tables.numbers import parse_numbers
    >>> parse_numbers(pa.array(["$60,000.00", "(12.5)", "n/a"]), "1,234.5").to_pylist()
    [60000.0, -12.5, None]
    >>> parse_numbers(pa.array(["1.234,50 €"]), "1.234,5").to_pylist()
    [1234.5]
    """
    parts = pc.extract_regex(text, _GRAMMARS[notation])
    opened, closed = (pc.equal(pc.struct_field(parts, name), mark) for name, mark in (("open", "("), ("close", ")")))
    body = pc.struct_field(parts, "body")
    thousands = "," if notation == POINT else "."
    body = pc.replace_substring_regex(body, f"[{thousands}{_MARKS}]", "")
    number = pc.cast(pc.replace_substring(body, ",", "."), pa.float64())
    negative = opened
    for name in ("before", "after"):
        negative = pc.or_(negative, pc.is_in(pc.struct_field(parts, name), pa.array(["-", "−"])))
    number = pc.if_else(negative, pc.negate(number), number)
    valid = pc.and_(pc.is_valid(parts), pc.equal(opened, closed))
    return pc.if_else(valid, number, pa.scalar(None, pa.float64()))


def is_ambiguous(values: ArrowCells) -> bool:
    """Return whether a cell has a separator, and every one that has could separate thousands or decimals."""
    for part in (values.slice(0, _FEW), values):  # the first cells settle most columns
        separated = part.filter(pc.match_substring_regex(part, "[.,]"))
        if not pc.all(pc.match_substring_regex(separated, _EITHER), min_count=0).as_py():
            return False
    return len(separated) > 0


def decide_notation(values: ArrowCells) -> Decision:
    """Return the notation in which all of the different cells of a column are numbers.

    A separator before exactly three digits leaves a choice that other cells may settle: 1,234 is 1234 beside
    1,234.5, and 1.234 beside 0,5. Where none does, it separates thousands.
    """
    as_point, as_comma = (parse_numbers(values, notation) for notation in (POINT, COMMA))
    if not as_point.null_count and not as_comma.null_count:
        differ = pc.not_equal(as_point, as_comma)
        if not pc.any(differ).as_py():
            return Decision(POINT)
        either = values.filter(differ)
        commas = pc.match_substring(either, ",")
        if pc.all(commas).as_py():
            return Decision(POINT, ambiguous=True)
        if not pc.any(commas).as_py():
            return Decision(COMMA, ambiguous=True)
        return Decision(None, fault=_two_notations(either.filter(commas)[0], either.filter(pc.invert(commas))[0]))
    if not as_point.null_count:
        return Decision(POINT)
    if not as_comma.null_count:
        return Decision(COMMA)
    only_comma = values.filter(pc.and_(pc.is_null(as_point), pc.is_valid(as_comma)))
    only_point = values.filter(pc.and_(pc.is_valid(as_point), pc.is_null(as_comma)))
    if len(only_comma) and len(only_point) and pc.all(pc.or_(pc.is_valid(as_point), pc.is_valid(as_comma))).as_py():
        return Decision(None, fault=_two_notations(only_point[0], only_comma[0]))
    return Decision(None)


def currencies(values: ArrowCells) -> list[str]:
    """Return the currencies of different cells, in order; the percent sign is one."""
    found = pc.extract_regex(values, rf"(?P<unit>{_CURRENCY})")
    return sorted({str(unit) for unit in pc.unique(pc.struct_field(found, "unit")).to_pylist() if unit})


def _two_notations(first: Cell, second: Cell) -> str:
    return f"holds numbers in two notations, such as {first.as_py()!r} and {second.as_py()!r}"
