"""Gains of the outcomes of each row, and the price of precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scarce._errors import AuditError
from scarce._typing import FloatArray, IntArray
from scarce.profit import Gains, MenuEntry

from .settings import Settings

__all__ = ["OUTCOMES", "gains_of_table", "precision_menu"]

OUTCOMES = ("tp", "fp", "tn", "fn")
# Shares of the best profit that may be given up.
GIVEN_UP = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


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


def precision_menu(
    probability: FloatArray, y: IntArray, gains: FloatArray, weight: FloatArray | None = None
) -> list[MenuEntry]:
    """Return the profit that must be given up for more precision, by decisions of the Bayes rule on tested rows.

    Where customers must not be annoyed, a false positive can be given a higher cost than it has: with the price z on
    top, a row is called positive if ``p (tp - fn) > (1 - p) (tn - fp + z)``. All prices are tried: each row has one at
    which it is no longer called positive. Of those that give up no more than a share of the best profit, the menu has
    the one with the highest precision.

    Parameters
    ----------
    probability : ndarray of shape (n_rows,)
        Honest probabilities.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative.
    gains : ndarray of shape (n_rows, 4)
        What each outcome (tp, fp, tn, fn) of a row earns.
    weight : ndarray of shape (n_rows,), optional
        How many rows each row stands for.
    """
    weight = np.ones(len(y)) if weight is None else weight
    tp, fp, tn, fn = gains.T
    with np.errstate(divide="ignore"):
        price = probability * (tp - fn) / np.maximum(1 - probability, 1e-12) - (tn - fp)
    order = np.argsort(-price, kind="stable")
    order = order[price[order] > 0]
    if not len(order) or not (y == 1).any():
        return []
    # After the last row of each price.
    ends = np.flatnonzero(np.append(np.diff(price[order]) != 0, True))
    hit = (y[order] == 1).astype(np.float64)
    added = np.where(hit == 1, (tp - fn)[order], (fp - tn)[order])
    nothing = float(weight @ np.where(y == 1, fn, tn))
    perfect = float(weight @ np.where(y == 1, np.maximum(tp, fn), np.maximum(tn, fp)))
    profit = nothing + np.cumsum(weight[order] * added)[ends]
    caught, flagged = np.cumsum(weight[order] * hit)[ends], np.cumsum(weight[order])[ends]
    precision = caught / flagged
    best = float(profit.max())
    entries: list[MenuEntry] = []
    for share in GIVEN_UP:
        allowed = np.flatnonzero(profit >= best - share * abs(best) - 1e-9)
        at = allowed[np.lexsort((-profit[allowed], -precision[allowed]))[0]] if share else int(profit.argmax())
        recall = float(caught[at] / weight[y == 1].sum())
        entry = MenuEntry(
            # The lowest price at which exactly these rows are called positive.
            value=float(price[order[ends[at] + 1]]) if ends[at] + 1 < len(order) else 0.0,
            profit=float(profit[at]),
            gap=(perfect - float(profit[at])) / abs(perfect) if perfect else np.nan,
            given_up=best - float(profit[at]),
            precision=float(precision[at]),
            recall=recall,
            f1=float(2 * precision[at] * recall / (precision[at] + recall)) if caught[at] else 0.0,
            flagged=round(float(flagged[at])),
        )
        if not entries or entry.precision > entries[-1].precision:
            entries.append(entry)
    return entries
