"""Slow, obvious versions of what the room of tables does."""

from __future__ import annotations

import unicodedata

CODES = ("AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HUF", "INR", "JPY", "NOK", "PLN", "SEK", "USD")
BLANKS = " \u00a0\u202f"


def number(cell: str, notation: str) -> float | None:
    """Read one number sign by sign, in the notation "1,234.5" or "1.234,5"."""
    decimal, thousands = (".", ",") if notation == "1,234.5" else (",", ".")
    rest, negative = cell, False
    if rest.startswith("(") != rest.endswith(")"):
        return None
    if rest.startswith("("):
        rest, negative = rest[1:-1].strip(BLANKS), True
    signs = 0
    for place in range(2):
        # A sign may stand before or after the currency.
        if rest[:1] in ("-", "+", "−") and rest[:1]:
            negative |= rest[0] != "+"
            signs += 1
            rest = rest[1:].strip(BLANKS)
        rest = _without_currency(rest, at_end=False) if place == 0 else rest
    rest = _without_currency(rest, at_end=True)
    if signs > 1 or not rest:
        return None
    digits = ""
    mantissa, *exponent = rest.replace("E", "e").split("e")
    if len(exponent) > 1 or (exponent and not exponent[0].lstrip("+-").isdecimal()):
        return None
    if exponent and len(exponent[0]) - len(exponent[0].lstrip("+-")) > 1:
        return None
    whole, *fraction = mantissa.split(decimal)
    if len(fraction) > 1 or (fraction and fraction[0] and not fraction[0].isdecimal()):
        return None
    if whole.isdecimal():
        digits = whole
    elif whole:
        marks = {sign for sign in whole if not sign.isdecimal()}
        if len(marks) != 1 or not marks <= {thousands, "'", "’", *BLANKS}:
            return None
        first, *groups = whole.split(marks.pop())
        if not first.isdecimal() or len(first) > 3 or first[0] == "0":
            return None
        if any(len(group) != 3 or not group.isdecimal() for group in groups):
            return None
        digits = first + "".join(groups)
    elif not fraction or not fraction[0]:
        return None
    value = float(f"{digits or '0'}.{(fraction or ['0'])[0] or '0'}e{(exponent or ['0'])[0]}")
    return -value if negative else value


def _without_currency(text: str, *, at_end: bool) -> str:
    if not text:
        return text
    edge = text[-1] if at_end else text[0]
    code = text[-3:] if at_end else text[:3]
    if code.upper() in CODES:
        return (text[:-3] if at_end else text[3:]).strip(BLANKS)
    if edge == "%" or unicodedata.category(edge) == "Sc":
        return (text[:-1] if at_end else text[1:]).strip(BLANKS)
    return text
