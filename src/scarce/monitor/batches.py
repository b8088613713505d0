"""New rows as the monitor takes them: scored, with their outcomes, periods and amounts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scarce._errors import MonitorError
from scarce._messages import listed
from scarce._moments import length_of, moments_of
from scarce._typing import FloatArray, IntArray
from scarce.audit.compare import scored
from scarce.audit.folds import periods_of
from scarce.audit.money import OUTCOMES, gains_of_table
from scarce.audit.outlook import shifted
from scarce.audit.reference import OWN
from scarce.audit.rows import amounts, moments
from scarce.audit.settings import Settings, settings_of
from scarce.engines.saved import SavedModel
from scarce.tables import Reading
from scarce.tables.types import cell_text

__all__ = ["Batches", "outcomes_of"]

_DAY = 86_400 * 10**9
_YES, _NO = {"1", "true", "yes", "y", "positive"}, {"0", "false", "no", "n", "negative"}


class Batches:
    """The parts of a table, scored by the model of an audit.

    Attributes
    ----------
    settings : Settings
        Those of the audit.
    names : dict of int to str
        The names of the periods so far.
    dated : bool
        Whether the time column holds dates.
    """

    def __init__(self, model: SavedModel) -> None:
        self.model = model
        self.settings: Settings = settings_of(model.manifest["settings"])
        self.target = model.manifest["target"]
        self.names: dict[int, str] = {}
        self.dated = False
        self._seen = 0

    @property
    def readings(self) -> list[Reading]:
        """The readings of the columns that the monitor needs: those of the model, and others as text."""
        held = {reading.name for reading in self.model.readings}
        others = [self.target["column"], self.settings.distinct]
        return [*self.model.readings, *self.as_text([name for name in others if name and name not in held])]

    @staticmethod
    def as_text(names: Iterable[str]) -> list[Reading]:
        """Return readings of columns as text."""
        return [Reading(name, "string") for name in names]

    @property
    def _needed(self) -> list[str]:
        names, history = [c.name for c in self.model.own_columns], self.model.history
        if history is not None:
            names += [*history.entity, history.time, *filter(None, [history.amount])]
        return list(dict.fromkeys(names))

    @property
    def delay(self) -> float:
        """The time after which outcomes are complete, in the unit of the moments."""
        delay = self.settings.delay
        return (
            0.0 if delay is None else float(length_of("delay", delay if self.dated else float(delay), dated=self.dated))
        )

    @property
    def by_period(self) -> bool:
        """True if the budget is for each period."""
        return self.settings.budget_plan.period is not None

    def rows(
        self, frame: pd.DataFrame, outcome: IntArray | None = None, chance: FloatArray | None = None
    ) -> pd.DataFrame:
        """Return the rows of a part with their scores.

        Parameters
        ----------
        frame : DataFrame
            A part of the table, read as the model's readings say.
        outcome : ndarray, optional
            1 for positive, 0 for negative, -1 where it is unknown; by default that of the target column, if it is
            there.
        chance : ndarray, optional
            The chance of each row to have been checked, NaN where it is not known.
        """
        absent = [name for name in self._needed if name not in frame.columns]
        if absent:
            raise MonitorError(f"The new table lacks what the model learned from: add the column {listed(absent)}.")
        settings, n = self.settings, len(frame)
        X = self.model.typed(frame)
        amount = None
        if settings.amount is not None and settings.amount in frame:
            amount = amounts(frame, settings.amount)[0]
        gains = gains_of_table(settings, frame, amount)[0] if settings.objective == "profit" else None
        score, probability, _ = scored(self.model.pipeline, X, gains)
        own: dict[str, Any] = {
            "score": score,
            "probability": shifted(probability, self.model.manifest["log_odds_shift"]),
            "outcome": self.outcomes_in(frame) if outcome is None else outcome,
            "chance": np.full(n, np.nan) if chance is None else chance,
            "number": self._seen + np.arange(n),
            "whole": np.zeros(n, dtype=np.intp),
            **self._when(frame),
        }
        if amount is not None:
            own["amount"] = amount
        if settings.distinct is not None and settings.distinct in frame:
            own["group"] = frame[settings.distinct].astype(str).to_numpy()
        if gains is not None:
            own |= dict(zip(OUTCOMES, gains.T, strict=True))
        self._seen += n
        return X.assign(**{OWN + name: values for name, values in own.items()}).reset_index(drop=True)

    def outcomes_in(self, frame: pd.DataFrame) -> IntArray:
        """Return the outcomes in the target column, -1 where there are none."""
        name = self.target["column"]
        if name not in frame:
            return np.full(len(frame), -1)
        return outcomes_of(frame[name], self.target, f"column {name!r}")

    def _when(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the moment, the period of the budget and the smaller bucket in which first rows are kept."""
        settings, n = self.settings, len(frame)
        name, period = settings.time, settings.budget_plan.period
        nothing = np.zeros(n, dtype=np.intp)
        if name is None:
            return {"moment": np.zeros(n), "period": nothing, "bucket": nothing}
        if name not in frame:
            raise MonitorError(f"The new table lacks the column of time: add the column {name!r}.")
        times = moments(frame[name], self.readings)
        moment, self.dated = moments_of(times)
        if period is None:
            length = _DAY if self.dated else self.delay
            bucket = (moment // length).astype(np.intp) if length else nothing
            return {"moment": moment.astype(np.float64), "period": nothing, "bucket": bucket}
        number = periods_of(times, period)
        for one in np.unique(number):
            self.names[int(one)] = _period_name(int(one), period)
        return {"moment": moment.astype(np.float64), "period": number, "bucket": number}


def _period_name(number: int, period: str) -> str:
    if period == "month":
        return str(np.datetime64(number, "M"))
    day = number if period == "day" else 7 * number - 3
    return str(np.datetime64(day, "D"))


def _plainly(text: str, target: Any) -> str:
    """Return an outcome as the audit writes it: numbers beside empty cells are often written as 1.0 in place of 1."""
    if text in (target["positive"], *target["negative"]):
        return text
    try:
        return cell_text(float(text))
    except ValueError:
        return text


def outcomes_of(values: ArrayLike | Iterable[Any], target: Any, where: str) -> IntArray:
    """Return outcomes as 1, 0 and -1 where there is none; yes and no are understood too.

    Parameters
    ----------
    values : array-like
        Outcomes, as they stand in a table.
    target : dict
        The positive outcome and the negative ones of the audit.
    where : str
        Where the outcomes stand, for the message about one that means nothing.
    """
    cells = pd.Series(values, dtype=None if isinstance(values, pd.Series) else object)
    code, different = pd.factorize(cells)
    meant = np.empty(len(different) + 1, dtype=np.intp)
    meant[-1] = -1  # of empty cells, whose code is -1
    for place, cell in enumerate(different):
        text = _plainly(cell_text(cell).strip(), target)
        if text == target["positive"]:
            meant[place] = 1
        elif text in target["negative"]:
            meant[place] = 0
        elif text in ("", "-1"):
            meant[place] = -1
        elif text.casefold() in _YES or text.casefold() in _NO:
            meant[place] = text.casefold() in _YES
        else:
            raise MonitorError(
                f"The outcome {text!r} ({where}) is unknown; write {target['positive']!r} or "
                f"{target['negative'][0]!r}, yes or no, or leave it empty."
            )
    return meant[code]
