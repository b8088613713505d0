"""The decision of highest expected profit, and its money."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from scarce._typing import FloatArray, IntArray
from scarce.engines import Fault, RowError, RowReader, SavedModel
from scarce.profit._expression import evaluate, names_in
from scarce.tables import Column, Reading

from .errors import DeskError

__all__ = ["ACCEPT", "CHECK", "REFUSE", "Decisions", "Stakes", "stakes_of_audit", "stakes_of_request"]

ACCEPT, CHECK, REFUSE = "accept", "check", "refuse"
OUTCOMES = ("tp", "fp", "tn", "fn")
_NEEDED, _EMPTY = "a number, which the gains need", "an empty cell"


class Decisions(NamedTuple):
    """For each row the number of its best decision in `names`, and what every decision is expected to earn."""

    names: tuple[str, ...]
    best: IntArray
    expected: FloatArray  # (rows, decisions)


class Stakes:
    """Money at stake: the earnings of the outcomes of a row, and the decisions that there are.

    Accepting a row treats it as negative, refusing it as positive. A check finds out what it is, for its cost, and
    then the better of the two is done. Of equally good decisions the first of accept, check, refuse is taken.

    Parameters
    ----------
    gains : mapping
        The outcomes tp, fp, tn and fn, as numbers or expressions over columns and constants; and the constants.
    check_cost : float, optional
        What a check costs. Without it nothing is checked.
    model : SavedModel
        The model, which knows how columns are read.
    columns : mapping, optional
        The column that a name of the expressions stands for; by default the one of that name.
    refuses : bool
        Whether a row can be refused without a check.
    """

    def __init__(
        self,
        gains: Mapping[str, Any],
        check_cost: float | None,
        model: SavedModel,
        *,
        columns: Mapping[str, str] | None = None,
        refuses: bool = True,
    ) -> None:
        given = {name: _number_or_text(value) for name, value in gains.items()}
        self.outcomes = {name: given.get(name, 0.0) for name in OUTCOMES}
        self.constants: dict[str, Any] = {name: value for name, value in given.items() if name not in OUTCOMES}
        self.check_cost = check_cost
        self.names = tuple(
            name for name, possible in ((ACCEPT, True), (CHECK, check_cost is not None), (REFUSE, refuses)) if possible
        )
        for name, value in self.constants.items():
            if isinstance(value, str):
                raise DeskError(f"The constant {name!r} of the gains must be a number; it was {value!r} (`gains`).")
        # As Python's own numbers, powers and divisions could raise errors.
        self.constants = {name: np.float64(value) for name, value in self.constants.items()}
        try:
            used = [names_in(value) for value in self.outcomes.values() if isinstance(value, str)]
        except ValueError as error:
            raise DeskError(f"The gains cannot be computed (`gains`). {error}") from error
        self._names = sorted(set().union(*used) - set(self.constants))
        self.columns = [(columns or {}).get(name, name) for name in self._names]
        stored = {reading.name: reading for reading in model.readings if reading.kind == "number"}
        readings = [stored.get(column) or Reading(column, "float64") for column in self.columns]
        self._reader = RowReader([Column(column, "number") for column in self.columns], readings)

    def with_check_cost(self, cost: Any) -> Stakes:
        """Return the same with another cost of a check."""
        other = copy(self)
        other.check_cost = _cost(cost)
        other.names = tuple(name for name in (ACCEPT, CHECK, REFUSE) if name in self.names or name == CHECK)
        return other

    def of_row(self, row: Mapping[str, Any], probability: float) -> tuple[str, dict[str, float]]:
        """Return the decision about one row, and what each decision is expected to earn."""
        values: dict[str, Any] = dict(self.constants)
        for name, column, cell in zip(self._names, self.columns, self._reader.of_row(row), strict=True):
            if math.isnan(cell):
                raise RowError([Fault(0, column, _NEEDED, _EMPTY)])
            values[name] = np.float64(cell)
        tp, fp, tn, fn = (
            float(evaluate(given, values)) if isinstance(given, str) else given for given in self.outcomes.values()
        )
        p = probability
        earned = {ACCEPT: p * fn + (1 - p) * tn, REFUSE: p * tp + (1 - p) * fp}
        if self.check_cost is not None:
            earned[CHECK] = p * _greater(tp, fn) + (1 - p) * _greater(tn, fp) - self.check_cost
        expected = {name: earned[name] for name in self.names}
        if not all(map(math.isfinite, expected.values())):
            raise self._not_finite(0)
        return max(expected, key=expected.__getitem__), expected

    def of_rows(self, typed: Callable[[RowReader], Sequence[Any]], probability: FloatArray) -> Decisions:
        """Return the decisions about rows, of which `typed` gives the columns that a reader reads."""
        return self._decide(typed(self._reader), probability)

    def _decide(self, typed: Sequence[Any], p: FloatArray) -> Decisions:
        values: dict[str, Any] = dict(self.constants)
        for name, column, cells in zip(self._names, self.columns, typed, strict=True):
            values[name] = np.asarray(cells, dtype=np.float64)
            if (missing := np.flatnonzero(np.isnan(values[name]))).size:
                raise RowError([Fault(int(missing[0]), column, _NEEDED, _EMPTY)])
        with np.errstate(all="ignore"):
            tp, fp, tn, fn = (self._outcome(self.outcomes[name], values, len(p)) for name in OUTCOMES)
            earned = {ACCEPT: p * fn + (1 - p) * tn, REFUSE: p * tp + (1 - p) * fp}
            if self.check_cost is not None:
                earned[CHECK] = p * np.maximum(tp, fn) + (1 - p) * np.maximum(tn, fp) - self.check_cost
            expected = np.column_stack([earned[name] for name in self.names])
        if not np.isfinite(expected).all():
            raise self._not_finite(int(np.flatnonzero(~np.isfinite(expected).all(axis=1))[0]))
        return Decisions(self.names, expected.argmax(axis=1), expected)

    def _not_finite(self, row: int) -> RowError:
        return RowError([Fault(row, ", ".join(self.columns) or "gains", "finite gains", "others")])

    def _outcome(self, given: float | str, values: Mapping[str, Any], rows: int) -> FloatArray:
        found = evaluate(given, values) if isinstance(given, str) else given
        return np.broadcast_to(np.asarray(found, dtype=np.float64), rows)


def stakes_of_audit(model: SavedModel) -> Stakes | None:
    """Return what an audit knows about money, or None.

    An audit with an amount and a cost of a check, and no gains, knows nothing of what a refusal costs: its rows are
    accepted or checked, and a caught positive saves its amount.
    """
    settings = model.manifest.get("settings") or {}
    gains, amount, cost = (settings.get(name) for name in ("gains", "amount", "check_cost"))
    if gains:
        return Stakes(gains, cost, model)
    if amount is None or cost is None:
        return None
    return Stakes({"tp": "amount"}, float(cost), model, columns={"amount": amount}, refuses=False)


def stakes_of_request(gains: Any, check_cost: Any, model: SavedModel) -> Stakes:
    """Return the money that a request gives, or refuse it with a sentence."""
    if not isinstance(gains, dict):
        raise DeskError("`gains` is an object with what the outcomes tp, fp, tn and fn earn.")
    if not any(name in gains for name in OUTCOMES):
        raise DeskError("`gains` names none of the outcomes tp, fp, tn and fn; give what they earn.")
    for name, value in gains.items():
        if not (_is_number(value) or isinstance(value, str)):
            raise DeskError(f"`gains` holds numbers and expressions; {name!r} is neither.")
    return Stakes(gains, None if check_cost is None else _cost(check_cost), model)


def _cost(given: Any) -> float:
    if not (_is_number(given) and given >= 0):
        raise DeskError("`check_cost` is what one check costs, a number of 0 or more.")
    return float(given)


def _greater(one: float, other: float) -> float:
    """Return the greater number, NaN where one of them is."""
    return math.nan if one != one or other != other else max(one, other)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _number_or_text(value: Any) -> float | str:
    """Return a number that was written as text as a number, so that it can be a constant."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else str(value)
