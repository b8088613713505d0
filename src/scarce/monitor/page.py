"""The page of the monitor: one HTML file that refers to nothing outside itself."""

from __future__ import annotations

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

import scarce
from scarce._typing import Json

from . import plots

__all__ = ["monitor_html"]

MOST_COLUMNS = 40
# The change that counts as one: see the tests of the drift.
STABLE = 0.1


def monitor_html(data: Json, history: pd.DataFrame) -> str:
    """Return the page of a run.

    Parameters
    ----------
    data : dict
        The report as plain data, with the names of the table and of the audited one.
    history : DataFrame
        A line for each run, this one last.
    """
    # The look is that of the audit's report.
    loader = ChoiceLoader([PackageLoader("scarce.monitor"), PackageLoader("scarce.audit")])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters["value"] = _value
    periods = [] if data["outcomes"] is None else data["outcomes"]["periods"]
    return environment.get_template("monitor.html.jinja").render(
        report=data,
        version=scarce.__version__,
        columns=data["drift"]["columns"][:MOST_COLUMNS],
        left_out=max(0, len(data["drift"]["columns"]) - MOST_COLUMNS),
        stable=STABLE,
        periods=periods,
        series=plots.over_runs(history) if len(history) > 1 else [],
        runs=len(history),
        drawn_periods=plots.of_periods(periods[:-1]) if len(periods) > 2 else None,
    )


def _value(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
