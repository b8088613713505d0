"""Warnings of one kind as one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scarce._messages import listed

__all__ = ["one_line_each"]

_ABOUT_COLUMN = re.compile(r"Column '(?P<name>[^']+)': (?P<rest>.+)", re.DOTALL)


def one_line_each(warnings: Sequence[str]) -> list[str]:
    """Return warnings in their order; those about several columns that say the same are one.

    Examples
    --------
    >>> from scarce.audit.warnings import one_line_each
    >>> one_line_each(["Column 'a': the day comes first.", "Other.", "Column 'b': the day comes first."])
    ["Columns 'a' and 'b': the day comes first.", 'Other.']
    """
    names: dict[str, list[str]] = {}
    for warning in warnings:
        found = _ABOUT_COLUMN.fullmatch(warning)
        names.setdefault(found["rest"] if found else warning, []).append(found["name"] if found else "")
    lines = []
    for rest, columns in names.items():
        if columns[0] == "":
            lines.append(rest)
        elif len(columns) == 1:
            lines.append(f"Column {columns[0]!r}: {rest}")
        else:
            lines.append(f"Columns {listed(columns)}: {rest}")
    return lines
