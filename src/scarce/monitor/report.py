"""The report of a run: what new rows and their outcomes show, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from scarce._typing import Cell, Json
from scarce._values import plain
from scarce.metrics import ConfidenceInterval

from .advice import Advice
from .drift import Drift
from .outcomes import OfPeriod, Outcomes

__all__ = ["DriftReport"]


@dataclass(frozen=True)
class DriftReport:
    """The drift of new rows, and the performance on those of known outcome.

    Attributes
    ----------
    period : number, str or datetime
        The period of the rows; by default the moment of the latest one.
    rows : int
        The number of new rows.
    trained_on : float
        The share of them that are training rows of the model, equal in all columns.
    drift : Drift
        What they show before outcomes are known.
    outcomes : Outcomes or None
        What the known outcomes show.
    advice : Advice
        Keep, recalibrate or renew, with the reason.
    notes : list of str
        What a reader should know besides.
    """

    period: Cell
    rows: int
    drift: Drift
    outcomes: Outcomes | None
    advice: Advice
    trained_on: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def alarms(self) -> list[str]:
        """A sentence for each change beyond chance that is large enough to matter."""
        return [*self.drift.alarms, *(self.outcomes.alarms if self.outcomes else ())]

    @property
    def needs_person(self) -> bool:
        """True if there is an alarm, or the advice is not to keep the model."""
        return bool(self.alarms) or self.advice.action != "keep"

    def __str__(self) -> str:
        known = "no outcomes known" if self.outcomes is None else f"{self.outcomes.known:,} outcomes known"
        lines = [f"{plain(self.period)}: {self.rows:,} rows, {known}, {self.drift.expected:,.1f} positives expected."]
        return "\n".join([*lines, *(self.alarms or ["No alarm."]), self.advice.sentence])

    def as_dict(self) -> Json:
        """Return the report as plain data."""
        drift = self.drift
        return {
            "period": plain(self.period),
            "rows": self.rows,
            "needs_person": self.needs_person,
            "alarms": self.alarms,
            "advice": {
                "action": self.advice.action,
                "sentence": self.advice.sentence,
                "renewal_gain": _interval(self.advice.found),
                "recalibration_gain": _interval(self.advice.loss),
                "log_odds_shift": self.advice.shift,
                "tried_on": self.advice.tried_on,
                "money": self.advice.money,
            },
            "drift": {
                "auc": _interval(drift.auc),
                "telling": [{"column": name, "share": share} for name, share in drift.telling],
                "expected": drift.expected,
                "expected_ratio": _interval(drift.expected_ratio),
                "score": asdict(drift.score),
                "columns": [asdict(column) for column in drift.columns],
            },
            "outcomes": None if self.outcomes is None else _of_outcomes(self.outcomes),
            "trained_on": self.trained_on,
            "notes": self.notes + (self.outcomes.notes if self.outcomes else []),
        }


def _of_outcomes(outcomes: Outcomes) -> Json:
    return {
        "known": outcomes.known,
        "waiting": outcomes.waiting,
        "periods": [_period(period) for period in outcomes.periods],
        "calibration": _interval(outcomes.calibration),
        "detectors": [{**asdict(found), "sentence": found.sentence} for found in outcomes.detected],
    }


def _period(period: OfPeriod) -> Json:
    found: dict[str, Any] = dict(vars(period))
    return {n: _interval(value) if isinstance(value, ConfidenceInterval) else value for n, value in found.items()}


def _interval(interval: ConfidenceInterval | None) -> Json | None:
    return None if interval is None else {name: float(value) for name, value in interval._asdict().items()}
