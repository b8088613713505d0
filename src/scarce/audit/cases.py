"""Cases as plain data for a page: all cells, reasons, look-alikes and links, under the names that people use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from scarce._typing import Cell, Json
from scarce.tables import Usual, show

from .dictionary import Dictionary
from .evidence import Evidence
from .look_alikes import LookAlike
from .words import percent

__all__ = ["case_data"]

_MOST_DIFFERENCES = 8


def case_data(
    evidence: Evidence,
    cells: pd.Series,
    usual: Mapping[str, Usual],
    names: Dictionary,
    identify: Callable[[int], str],
) -> Json:
    """Return a case as plain data.

    Parameters
    ----------
    evidence : Evidence
        What speaks for or against it.
    cells : Series
        The row of the table, typed.
    usual : mapping of str to Usual
        The usual values of the columns that were learned from.
    names : Dictionary
        Titles and units of columns, and those that are not shown.
    identify : callable
        Takes the number of a row, and returns what people call it.
    """
    visible = [str(name) for name in cells.index if not names[str(name)].hidden]
    telling = {reason.column for reason in evidence.reasons}
    return {
        "probability": evidence.probability,
        "money": evidence.money,
        "rule": evidence.rule,
        "cells": [
            {
                "title": names.title(name),
                "value": names.show(name, show(cells[name])),
                "usual": names.show(name, show(_as(cells[name], usual[name].typical))) if name in usual else None,
                "telling": name in telling,
            }
            for name in visible
        ],
        "reasons": [
            {
                "title": names.title(reason.column),
                "value": names.show(reason.column, show(reason.value)),
                "without": reason.without,
                "sentence": reason.sentence(names.title(reason.column), names.show),
            }
            for reason in evidence.reasons
            if reason.column in visible
        ],
        "look_alikes": [_look_alike(alike, names, identify) for alike in evidence.look_alikes],
        "links": [
            {
                "title": "(hidden)" if names[link.column].hidden else names.title(link.column),
                "value": "(hidden)" if names[link.column].hidden else show(link.value),
                "positives": [identify(row) for row in link.positives],
                "n_positives": link.n_positives,
                "n_rows": link.n_rows,
            }
            for link in evidence.links
        ],
        "inside": [identify(row) for row in evidence.inside],
        "summary": percent(evidence.probability),
    }


def _as(cell: Cell, usual: Cell) -> Cell:
    """Return a usual value in the words of a cell: true or false were learned from as 1 and 0."""
    return bool(usual) if isinstance(cell, bool | np.bool_) and usual in (0, 1) else usual


def _look_alike(alike: LookAlike, names: Dictionary, identify: Callable[[int], str]) -> Json:
    return {
        "name": identify(alike.row),
        "positive": alike.positive,
        "distance": alike.distance,
        "agree": [names.title(column) for column in alike.agree if not names[column].hidden],
        "differ": [
            {
                "title": names.title(d.column),
                "own": names.show(d.column, show(d.own)),
                "other": names.show(d.column, show(d.other)),
            }
            for d in alike.differ
            if not names[d.column].hidden
        ][:_MOST_DIFFERENCES],
    }
