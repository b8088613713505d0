"""The words by which a case is found, and those that a reader looks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["prefixes", "words_of"]

_WORD = re.compile(r"[^\s,;:()\"']+")
_LONGEST = 60


def words_of(cells: Iterable[tuple[str, str]]) -> set[str]:
    """Return the words of the cells of a case, and ``column=value`` of each.

    Examples
    --------
    >>> from scarce.desk.words import words_of
    >>> sorted(words_of([("shop", "New York")]))
    ['new', 'shop=new york', 'york']
    """
    found = set()
    for column, value in cells:
        found.add(f"{column}={value}".casefold()[:_LONGEST])
        found.update(word[:_LONGEST] for word in _WORD.findall(value.casefold()))
    return found


def prefixes(text: str, column: str = "", value: str = "") -> list[str]:
    """Return what the words of a case must begin with, for what a reader typed.

    Examples
    --------
    >>> from scarce.desk.words import prefixes
    >>> prefixes("Elm C000", column="shop", value="S0")
    ['elm', 'c000', 'shop=s0']
    """
    typed = [word[:_LONGEST] for word in _WORD.findall(text.casefold())]
    return [*typed, f"{column}={value.strip()}".casefold()[:_LONGEST]] if column and value.strip() else typed
