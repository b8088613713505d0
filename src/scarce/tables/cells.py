"""Cells of any Arrow type as text, and plain text as whole numbers and truth values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from scarce._typing import ArrowCells

__all__ = ["arrow_type", "as_text", "parse_bools", "parse_wholes", "plain_whole"]

MOST_EXACT = 2**53


def arrow_type(type_: pa.DataType) -> str:
    """Return which of the few types of a table an Arrow type is: "nested" for cells of more than one value."""
    if pa.types.is_boolean(type_):
        return "bool"
    if pa.types.is_integer(type_):
        return "int64"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "float64"
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return "timestamp"
    if pa.types.is_nested(type_) or pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "nested"
    return "string"


def as_text(cells: ArrowCells) -> ArrowCells:
    """Return cells as a person would write them, without blanks around them; an empty text is null."""
    if pa.types.is_dictionary(cells.type):
        cells = pc.cast(cells, cells.type.value_type)
    own = arrow_type(cells.type)
    if own == "float64":
        numbers = pc.cast(cells, pa.float64())
        whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), MOST_EXACT))
        digits = pc.cast(pc.cast(pc.if_else(whole, numbers, None), pa.int64()), pa.string())
        text = pc.if_else(whole, digits, pc.cast(numbers, pa.string()))
    elif own == "bool":
        text = pc.if_else(cells, "True", "False")
    else:
        text = pc.cast(cells, pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def parse_bools(text: ArrowCells) -> ArrowCells:
    """Return truth values, null where a cell is none."""
    lower = pc.utf8_lower(text)
    yes, no = (pc.is_in(lower, pa.array(words)) for words in (["true", "1", "1.0"], ["false", "0", "0.0"]))
    return pc.if_else(pc.or_(yes, no), yes, pa.scalar(None, pa.bool_()))


def parse_wholes(numbers: ArrowCells) -> ArrowCells:
    """Return whole numbers as int64, null where a number is a fraction or too large."""
    whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less_equal(pc.abs(numbers), MOST_EXACT))
    return pc.cast(pc.if_else(whole, numbers, pa.scalar(None, pa.float64())), pa.int64())


def plain_whole(text: ArrowCells) -> ArrowCells:
    """Return text in which whole numbers have no decimals: 17.0 as 17."""
    return pc.replace_substring_regex(text, r"^([-+]?[0-9]+)\.0+$", r"\1")
