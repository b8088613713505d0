"""A slow, obvious version of the desk's queue."""

from __future__ import annotations

from typing import Any

from scarce.desk.queue import Wanted

KEYS = {"live": "live", "rank": "log_odds", "probability": "probability", "money": "money", "amount": "amount"}


def naive_queue(cases: list[dict[str, Any]], wanted: Wanted) -> list[int]:
    """Return the numbers of all cases that are wanted, in order: look at each case, and sort."""
    found = [case for case in cases if case["status"] == wanted.status and _matches(case, wanted)]
    sign = 1 if wanted.backwards else -1
    return [case["id"] for case in sorted(found, key=lambda case: (sign * case[KEYS[wanted.order]], sign * case["id"]))]


def _matches(case: dict[str, Any], wanted: Wanted) -> bool:
    cells = {title: value.casefold() for title, value in case["cells"].items()}
    for word in wanted.text.casefold().split():
        if not any(part.startswith(word) for value in cells.values() for part in value.split()):
            return False
    if wanted.column and not cells.get(wanted.column, "").startswith(wanted.value.casefold()):
        return False
    low = wanted.least is None or case["amount"] >= wanted.least
    return low and (wanted.most is None or case["amount"] <= wanted.most)
