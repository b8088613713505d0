"""The bars of the review desk and of the scoring service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from proofs import desk_pages, desk_service
from proofs.cases import Case, Proof

# Each part runs alone too: python -m proofs desk --part speed
PARTS: dict[str, Callable[[], Iterator[Case]]] = {**desk_pages.PARTS, **desk_service.PARTS}


def prove(parts: Iterable[str] = tuple(PARTS)) -> Proof:
    """Measure the parts in turn."""
    return Proof(
        "The review desk and the scoring service",
        "What the desk and the service must keep, on simulated payments. Times depend on what else the machine does; "
        "ratios compare two things that had turns in one run.",
        ("what", "where", "measured", "bar", "verdict"),
        [case for part in parts for case in PARTS[part]()],
    )
