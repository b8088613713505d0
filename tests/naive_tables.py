"""Slow, obvious versions of what the room of tables does."""

from __future__ import annotations

import math
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


def entity_history(
    entity: list, time: list, amount: list, outcome: list, rows: list[tuple], windows: list, delay: float, until: list
) -> list[list[float]]:
    """Look at every earlier row for every row (entity, time) and window: rows, mean, positives, positive rate.

    The outcomes of rows from the row's moment of `until` on are not known.
    """
    found = []
    for (own, now), end in zip(rows, until, strict=True):
        numbers = []
        for window in windows:
            past = [i for i in range(len(entity)) if entity[i] == own and now - window <= time[i] < now]
            old = [i for i in range(len(entity)) if entity[i] == own and now - delay - window <= time[i] < now - delay]
            prices = [amount[i] for i in past if amount[i] is not None and math.isfinite(amount[i])]
            known = [outcome[i] for i in old if outcome[i] in (0, 1) and time[i] < end]
            mean = math.fsum(prices) / len(prices) if prices else math.nan
            numbers += [len(past), mean, sum(known), sum(known) / len(known) if known else math.nan]
        found.append([math.nan] * len(numbers) if own is None else numbers)
    return found
