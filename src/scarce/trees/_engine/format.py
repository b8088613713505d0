"""Numbers, and conditions on features, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scarce._typing import Cell
from scarce.trees._engine.boxes import Codes, Interval, Values

__all__ = ["Categories", "describe", "finite", "number"]

# Of each feature the names of its codes, None for a feature of numbers; None if no feature has names.
Categories = Sequence[Sequence[Cell] | None] | None


def number(x: float, digits: int = 6) -> str:
    """Return a number with `digits` digits, but never without a digit before the point."""
    if 1e6 <= abs(x) < 1e15:
        digits = max(digits, len(str(int(abs(x)))) + 1)
    return f"{x:.{digits}g}"


def finite(x: float) -> float | None:
    """Return a number as JSON can hold it, None where it is missing or infinite."""
    return x if math.isfinite(x) else None


def describe(name: str, values: Values, show_missing: bool = True, categories: Sequence[Cell] | None = None) -> str:
    """Return the condition that a feature has one of some values.

    Parameters
    ----------
    name : str
        The feature.
    values : Interval or Codes
        The values.
    show_missing : bool, default=True
        Whether to add that a missing value is one of them.
    categories : sequence, optional
        The names of the codes 0, 1, …, to be shown instead of them.
    """
    if categories is not None and isinstance(values, Interval):
        return _describe_ordered(name, values, show_missing, categories)
    also = " (or missing)" if values.missing and show_missing else ""
    if isinstance(values, Interval):
        return _describe_interval(name, values, also)
    others = Codes(~values.bits & ((1 << values.n) - 1), values.n)
    if not values.bits:
        return f"{name} is missing"
    if not others.bits:
        return f"{name} is not missing"
    # Unknown codes count as missing, so that "not in" would be wrong where missing values are kept out.
    if len(others.codes) < len(values.codes) and (values.missing or not show_missing):
        return f"{name} not in {_braces(others, categories)}{also}"
    return f"{name} in {_braces(values, categories)}{also}"


def _describe_ordered(name: str, values: Interval, show_missing: bool, categories: Sequence[Cell]) -> str:
    """Return the condition on a code that is compared like a number."""
    inside = values.holds(np.arange(len(categories), dtype=np.float64))
    if not inside.any() or (inside.all() and math.isinf(values.low)):
        return describe(name, values, show_missing)
    bits = sum(1 << code for code, is_in in enumerate(inside) if is_in != math.isinf(values.low))
    braces = _braces(Codes(bits, len(categories)), categories)
    also = " (or missing)" if values.missing and show_missing else ""
    if not math.isinf(values.low):
        return f"{name} in {braces}{also}"
    # An encoder gives an unknown category a code below all others: it goes where the lowest codes go.
    return f"{name} not in {braces}{also or (' (not missing)' if show_missing else '')}"


def _describe_interval(name: str, values: Interval, also: str) -> str:
    low, high = values.low, values.high
    if not low < high:
        return f"{name} is missing"
    if math.isinf(low) and math.isinf(high):
        return f"{name} is not missing"
    if math.isinf(low):
        return f"{name} <= {number(high)}{also}"
    if math.isinf(high):
        return f"{name} > {number(low)}{also}"
    digits = next((d for d in range(6, 17) if number(low, d) != number(high, d)), 17)
    return f"{number(low, digits)} < {name} <= {number(high, digits)}{also}"


def _braces(values: Codes, categories: Sequence[Cell] | None) -> str:
    names = values.codes if categories is None else [categories[code] for code in values.codes]
    return "{" + ", ".join(map(str, names)) + "}"
