"""Detectors of change in the stream of hits and misses within the budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scarce._extras import require
from scarce._typing import BoolArray

__all__ = ["Detected", "detect"]


@dataclass(frozen=True)
class Detected:
    """A result of one detector.

    Attributes
    ----------
    name : str
        The detector.
    at : int or None
        The number of the new outcome at which it found a change, counted from 1.
    before, now : float or None
        The share of positives among the checked rows before the new ones, and among the new ones.
    alarm : bool
        Whether a change is an alarm. EDDM has no bound on alarms without a change, so what it finds is shown and is
        none.
    """

    name: str
    at: int | None
    before: float | None
    now: float | None
    alarm: bool

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.at is None:
            return f"{self.name} found no change of hits and misses."
        text = f"{self.name} found a change of hits and misses at new outcome {self.at:,}"
        if self.before is not None and self.now is not None:
            text += f": {self.now:.1%} were hits, and {self.before:.1%} before"
        return text + "."


def detect(before: BoolArray, now: BoolArray, level: float) -> list[Detected]:
    """Show the misses of tested rows and then those of new ones to each detector.

    Parameters
    ----------
    before, now : ndarray of bool
        Which checked rows were negative, in the order of time.
    level : float
        The chance that ADWIN, or the Fisher test, finds a change where there is none.
    """
    if not len(now):
        return []
    drift = require("river.drift", "Detectors of change")
    binary = require("river.drift.binary", "Detectors of change")
    from scarce.stream import FisherDrift

    made: dict[str, tuple[Callable[[], Any], bool]] = {
        "ADWIN": (lambda: drift.ADWIN(delta=level, clock=1), True),
        "EDDM": (binary.EDDM, False),
        "Fisher's test": (lambda: FisherDrift(level=level), True),
    }
    found = []
    for name, (make, counts) in made.items():
        detector, at = make(), None
        for miss in before:
            detector.update(bool(miss))
        for number, miss in enumerate(now, start=1):
            detector.update(bool(miss))
            if detector.drift_detected:
                at = number
                break
        shares = [1 - float(part.mean()) if len(part) else None for part in (before, now)]
        found.append(Detected(name, at, shares[0], shares[1], counts and at is not None))
    return found
