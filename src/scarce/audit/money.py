"""What each outcome of a row earns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scarce._errors import AuditError
from scarce._typing import FloatArray
from scarce.profit import Gains

from .settings import Settings

__all__ = ["gains_of_table"]

OUTCOMES = ("tp", "fp", "tn", "fn")


def gains_of_table(
    settings: Settings, typed: pd.DataFrame, amount: FloatArray | None
) -> tuple[FloatArray | None, list[str]]:
    """Return what each outcome (tp, fp, tn, fn) of each row earns, and sentences about it.

    Without gains of the user's own, a caught positive saves its amount and every check costs. Rows in which no right
    decision earns more than a wrong one count nothing.
    """
    if settings.objective != "profit":
        return None, []
    if settings.gains is None:
        assert amount is not None  # as the check of the settings asks
        cost, nothing = settings.check_cost or 0.0, np.zeros(len(amount))
        return np.column_stack([amount - cost, nothing - cost, nothing, nothing]), []
    return _by_expressions(settings.gains, typed)


def _by_expressions(gains: Mapping[str, str | float], typed: pd.DataFrame) -> tuple[FloatArray, list[str]]:
    try:
        given: dict[str, Any] = {name: _number(value) for name, value in gains.items()}
        table = Gains(**given, on_degenerate="drop")(typed)
    except (ValueError, TypeError) as error:
        raise AuditError(f"The gains cannot be computed (`gains`). {error}") from error
    if not table.any():
        raise AuditError(
            "The gains are 0 in every row, or a wrong decision earns as much as a right one in all of them; change the "
            f"outcomes {', '.join(OUTCOMES)} (`gains`)."
        )
    dropped = int((~table.any(axis=1)).sum())
    sentences = [f"Rows whose right decision earns nothing, which count nowhere: {dropped:,}."] if dropped else []
    return table, sentences


def _number(value: str | float) -> str | float:
    """Return a number that was written as text as a number, so that it can be a constant."""
    try:
        return float(value)
    except ValueError:
        return value
