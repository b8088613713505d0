"""Cells of any Arrow type as text, and plain text as whole numbers and truth values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from scarce._typing import ArrowCells

__all__ = ["arrow_type", "as_text", "common_cells", "parse_bools", "parse_wholes", "plain_whole"]

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


def common_cells(cells: ArrowCells) -> ArrowCells:
    """Return cells in a type that all functions of Arrow know: rare types in a common one, or as text.

    Moments of a zone become those of UTC, and moments beyond what microseconds can count the last that they can.
    """
    type_ = cells.type
    if isinstance(type_, pa.BaseExtensionType):
        if pa.types.is_fixed_size_binary(type_.storage_type):  # a UUID
            return _written(cells)
        chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
        return common_cells(pa.chunked_array([chunk.storage for chunk in chunks], type_.storage_type))
    if pa.types.is_run_end_encoded(type_):
        return common_cells(pc.run_end_decode(cells))
    if pa.types.is_dictionary(type_):
        own = type_.value_type
        rare = arrow_type(own) == "nested" or common_cells(pa.nulls(0, own)).type != own
        return common_cells(pc.cast(cells, own)) if rare else cells
    if pa.types.is_string_view(type_) or pa.types.is_time(type_):
        return pc.cast(cells, pa.string())
    if pa.types.is_fixed_size_binary(type_) or pa.types.is_binary_view(type_):
        return pc.cast(cells, pa.binary())
    if pa.types.is_union(type_) or pa.types.is_interval(type_):
        return _written(cells)
    if pa.types.is_uint64(type_):
        ends = pc.min_max(cells)["max"].as_py()
        return pc.cast(cells, pa.string() if ends is not None and ends > _LARGEST else pa.int64())
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return _within_microseconds(cells)
    return cells


_LARGEST = 2**63 - 1
_PER_UNIT = {"s": 10**6, "ms": 10**3}


def _within_microseconds(cells: ArrowCells) -> ArrowCells:
    """Return moments that a cast to microseconds does not wrap around, without their zone."""
    if pa.types.is_date32(cells.type):
        return pc.cast(_at_most(pc.cast(cells, pa.int32()), _LARGEST // (86_400 * 10**6)), pa.date32())
    unit = "ms" if pa.types.is_date64(cells.type) else cells.type.unit
    moments = pc.cast(cells, pa.int64())
    if unit in _PER_UNIT:
        moments = _at_most(moments, _LARGEST // _PER_UNIT[unit])
    return pc.cast(moments, pa.timestamp(unit))


def _at_most(numbers: ArrowCells, most: int) -> ArrowCells:
    ends = pa.scalar(-most, numbers.type), pa.scalar(most, numbers.type)
    return pc.min_element_wise(pc.max_element_wise(numbers, ends[0], skip_nulls=False), ends[1], skip_nulls=False)


def _written(cells: ArrowCells) -> ArrowCells:
    return pa.chunked_array([pa.array(map(_text_of, cells.to_pylist()), pa.string())])


def _text_of(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    return None if cell is None else str(cell)


def as_text(cells: ArrowCells) -> ArrowCells:
    """Return cells as a person would write them, without blanks around them; an empty text is null."""
    cells = common_cells(cells)
    if pa.types.is_dictionary(cells.type):
        cells = pc.cast(cells, cells.type.value_type)
    own = arrow_type(cells.type)
    if own == "nested":
        text = _written(cells)
    elif own == "float64":
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
