"""The kinds of outcome that a search for failures counts."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import scarce
from scarce._errors import UserError

OK, CLEAR, TRACEBACK, NON_FINITE, ROWS = "ok", "clear error", "traceback", "non-finite", "wrong row count"
BAD = (TRACEBACK, NON_FINITE, ROWS)
# Who checks input for us, in sentences.
_CHECKERS = ("/sklearn/utils/", "/sklearn/base.py", "/sklearn/svm/_base.py", "/numpy/_core/_methods.py")


@dataclass
class Found:
    """Counts by kind, and an example of each failure."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, about: str, example: str = "") -> None:
        self.counts[kind] += 1
        if kind in BAD:
            self.examples.setdefault(f"{kind}: {about}", example)

    def lines(self) -> list[str]:
        told = [f"{kind}: {self.counts[kind]:,}" for kind in (OK, CLEAR, *BAD)]
        return told + [f"  {about}\n    {example}" for about, example in self.examples.items()]

    @property
    def tried(self) -> int:
        return self.counts.total()

    @property
    def failed(self) -> bool:
        return any(self.counts[kind] for kind in BAD)


_OURS = f"{Path(scarce.__file__).parent}/"


def kind_of(error: Exception, checkers: tuple[str, ...] = _CHECKERS) -> str:
    """Return whether an error is a sentence for the user: one of ours, or of who checks input for us."""
    if isinstance(error, UserError):
        return CLEAR
    if isinstance(error, ValueError | TypeError) and not isinstance(error, np.linalg.LinAlgError | UnicodeError):
        last = traceback.extract_tb(error.__traceback__)[-1].filename
        if last.startswith(_OURS) or any(place in last for place in checkers):
            return CLEAR
    return TRACEBACK


def where(error: Exception) -> str:
    """Return the type of an error and the last line of ours that led to it."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_OURS)]
    place = f"{ours[-1].filename.removeprefix(_OURS)}, {ours[-1].name}" if ours else "outside"
    return f"{type(error).__name__} in {place}"
