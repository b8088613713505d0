"""Verdicts and tables of what is proved and measured, for `proofs` and `benchmarks`."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

VERDICTS = {True: "kept", False: "MISSED", None: ""}
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "proofs"


def tally(passed: Iterable[bool | None]) -> tuple[int, int, int]:
    """Return how many are kept, missed, and neither."""
    verdicts = list(passed)
    kept, missed = (sum(verdict is value for verdict in verdicts) for value in (True, False))
    return kept, missed, len(verdicts) - kept - missed


def written_by(target: str) -> str:
    return f"Written by `make {target}`, {date.today()}, Python {platform.python_version()}"


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
