"""The options of an audit, checked before anything is read or learned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from scarce._errors import AuditError
from scarce.engines.manifest import LARGEST_SEED
from scarce.tables import Kind

__all__ = ["OBJECTIVES", "BudgetPlan", "ObjectiveName", "Settings", "check_settings", "settings_of"]

ObjectiveName = Literal["ap", "f1", "gmean", "budget", "profit"]
OBJECTIVES: tuple[ObjectiveName, ...] = ("ap", "f1", "gmean", "budget", "profit")
PERIODS = {"day": "D", "week": "W", "month": "M"}
# The types of options, and the words for them.
_TYPES: dict[str, tuple[tuple[type, ...], tuple[str, ...]]] = {
    "the name of a column": ((str,), ("amount", "time", "distinct", "checked", "entity", "keep", "drop")),
    "a text": ((str,), ("positive", "rank", "methods")),
    "the path of a file": ((str,), ("columns", "reviews")),
    "a number": ((int, float, np.integer, np.floating), ("check_cost", "explore", "minutes")),
    "a whole number": ((int, np.integer), ("sample", "seed")),
    "true or false": ((bool,), ("quick",)),
    "a length of time such as 7d, or a number": ((str, int, float), ("delay", "windows")),
}
_COLUMN_OPTIONS = ("amount", "time", "distinct", "entity", "checked", "keep", "drop")
MOST_CHECKS = 10**9
# The windows of an entity's history, where the time column holds dates.
DATED_WINDOWS = ("1d", "7d", "30d")
_BUDGET = re.compile(rf"\s*(\d{{1,3}}(?:[,_]\d{{3}})+|\d+)\s*(?:/\s*({'|'.join(PERIODS)}))?\s*", re.ASCII)


class BudgetPlan(NamedTuple):
    """A number of checks, in all or in each period of the time column."""

    checks: int
    period: str | None = None

    def __str__(self) -> str:
        return f"{self.checks:,}" if self.period is None else f"{self.checks:,} a {self.period}"


@dataclass(frozen=True)
class Settings:
    """The options of an audit.

    Parameters
    ----------
    target : str
        The column of outcomes: two values, empty where the outcome is unknown.
    budget : int or str
        How many rows can be checked: a number, or such as "100/day" ("week", "month"), which needs `time`.
    objective : {"ap", "f1", "gmean", "budget", "profit"}
        What chooses the winner: average precision; F1 or the geometric mean of sensitivity and specificity at the
        threshold; precision among the rows that are checked; or money. The threshold is chosen for the same, and for
        F1 in the case of average precision, which has none.
    positive : str, optional
        The value of the target to look for; the rarer of two if not given.
    amount : str, optional
        A column of money at stake.
    check_cost : float, optional
        What one check costs; for the objective "profit" without `gains`, a caught positive saves its amount.
    gains : mapping of str to (str or number), optional
        What the outcomes tp, fp, tn and fn of a row earn, as numbers or as expressions of columns and of the constants
        that are given besides, for the objective "profit".
    time : str, optional
        A column of dates or numbers that orders the rows; methods are then tested on later rows than their
        training rows.
    delay : str or float, optional
        The time after which an outcome is known, such as "7d"; a number where `time` holds numbers.
    distinct : str, optional
        A column such as the card or the customer, of which each is checked once.
    entity : sequence of str
        Columns such as the customer and the terminal. What each of them did before a row is learned from: its rows,
        their mean amount and its known positives. Needs `time`.
    windows : sequence of (str or float)
        How far back these histories look; by default "1d", "7d" and "30d". Numbers where `time` holds numbers.
    explore : float
        The share of the queue that is drawn at random from the rest.
    rank : str, optional
        The rows to rank, such as "week=2024-09"; those of unknown outcome if not given.
    unlabelled : {"leave_out", "negative"}
        What becomes of rows of unknown outcome that are not to be ranked.
    checked : str, optional
        A column that is true, yes or 1 where a row was ever checked. Other outcomes count as unknown.
    reviews : str, optional
        A file of verdicts, which go before the outcomes of the table.
    methods : sequence of str
        The methods to compare; those of the objective if not given.
    quick : bool
        Whether to compare the three cheapest methods only.
    minutes : float, optional
        A limit of time: methods that are clearly behind after two folds are stopped.
    sample : int, optional
        The number of rows above which methods learn from all positives and a weighted sample of negatives.
    keep, drop : sequences of str
        Columns to learn from, or not, whatever the profile finds.
    types : mapping of str, optional
        The kind of some columns, "number", "category" or "date", whatever their cells look like.
    columns : str, optional
        A TOML file with titles, units and kinds of columns, and whether they are hidden or sensitive.
    seed : int
        The same seed gives the same queue.
    """

    target: str | None = None
    budget: int | str = 200
    objective: ObjectiveName = "ap"
    positive: str | None = None
    amount: str | None = None
    check_cost: float | None = None
    gains: Mapping[str, str | float] | None = None
    time: str | None = None
    delay: str | float | None = None
    distinct: str | None = None
    entity: tuple[str, ...] = ()
    windows: tuple[str | float, ...] = ()
    explore: float = 0.0
    rank: str | None = None
    unlabelled: Literal["leave_out", "negative"] = "leave_out"
    checked: str | None = None
    reviews: str | None = None
    methods: tuple[str, ...] = ()
    quick: bool = False
    minutes: float | None = None
    sample: int | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    types: Mapping[str, Kind] = field(default_factory=dict)
    columns: str | None = None
    seed: int = 0

    @property
    def budget_plan(self) -> BudgetPlan:
        """The number of checks, and the period that they are for."""
        found = _BUDGET.fullmatch(str(self.budget))
        checks = int(re.sub(r"[,_]", "", found[1])) if found else 0
        if not found or not 1 <= checks <= MOST_CHECKS:
            raise AuditError(
                "`budget` is the number of rows that can be checked, at least 1, in all or in each period such as "
                f"100/day; it was {self.budget}."
            )
        return BudgetPlan(checks, found[2])

    @property
    def rank_rule(self) -> tuple[str, str] | None:
        """The column and the value of the rows to rank."""
        if self.rank is None:
            return None
        column, equals, value = self.rank.partition("=")
        if not (column and equals and value):
            raise AuditError(f"`rank` names a column and its value, such as week=2024-09; it was {self.rank!r}.")
        return column.strip(), value.strip()

    @property
    def needs(self) -> dict[str, tuple[str, ...]]:
        """The columns that the table must have, by the option that names them."""
        rule = self.rank_rule
        found = {
            name: given if isinstance(given, tuple) else () if given is None else (given,)
            for name in _COLUMN_OPTIONS
            for given in [getattr(self, name)]
        }
        return {"target": (str(self.target),), "rank": (rule[0],) if rule else (), **found}


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Return the settings of options by name, with sequences as tuples."""
    names = [option.name for option in fields(Settings)]
    unknown = [name for name in options if name not in names]
    if unknown:
        raise AuditError(f"An audit has no option {unknown[0]!r}; it has {', '.join(names)}.")
    several = {"methods", "keep", "drop", "entity", "windows"}
    if isinstance(options.get("methods"), str):
        options = {**options, "methods": [name.strip() for name in options["methods"].split(",") if name.strip()]}
        if not options["methods"]:
            raise AuditError("`methods` names no method; leave it out for those of the objective.")
    for name in several:
        if options.get(name) is not None and not isinstance(options[name], list | tuple | set):
            raise AuditError(f"`{name}` is a list of names, such as ['{options[name]}']; it was {options[name]!r}.")
    for name in ("gains", "types"):
        if options.get(name) is not None and not isinstance(options[name], Mapping):
            raise AuditError(f"`{name}` gives a value to each of some names; it was {options[name]!r}.")
    given: dict[str, Any] = {name: tuple(value or ()) if name in several else value for name, value in options.items()}
    if isinstance(given.get("gains"), Mapping):
        given["gains"] = dict(given["gains"])
    given["types"] = dict(given.get("types") or {})
    if isinstance(given.get("positive"), bool | int | float | np.generic):
        given["positive"] = str(given["positive"])
    if isinstance(given.get("explore"), str):
        given["explore"] = _share(given["explore"])
    return Settings(**given)


def _share(text: str) -> float:
    """Return a share that was written like 5% or 0.05."""
    number, percent, rest = text.strip().partition("%")
    try:
        if rest:
            raise ValueError
        return float(number) / (100 if percent else 1)
    except ValueError as error:
        raise AuditError(f"`explore` is a share of the queue such as 5%; it was {text!r}.") from error


def check_settings(settings: Settings) -> None:
    """Refuse options that are of a wrong type, out of their range or contradict each other, each with a sentence."""
    if settings.target is None:
        raise AuditError("Name the column of outcomes (`target`).")
    _check_types(settings)
    if settings.objective not in OBJECTIVES:
        raise AuditError(f"`objective` is one of {', '.join(OBJECTIVES)}; it was {settings.objective!r}.")
    _check_columns(settings)
    _check_budget(settings)
    _check_money(settings)
    if settings.delay is not None and settings.time is None:
        raise AuditError("`delay` is the time after which an outcome is known; name the column of time too (`time`).")
    if settings.entity and settings.time is None:
        raise AuditError("The history of an entity (`entity`) needs an order; name the column of time too (`time`).")
    if settings.windows and not settings.entity:
        raise AuditError("`windows` is how far back histories look; name the columns of entities too (`entity`).")
    if not 0 <= settings.explore <= 0.5:
        raise AuditError(
            f"`explore` is the share of the queue that is drawn at random, 0 to 0.5; it was {settings.explore:g}."
        )
    if settings.minutes is not None and not settings.minutes > 0:
        raise AuditError(f"`minutes` is a limit of time, more than 0; it was {settings.minutes:g}.")
    if settings.sample is not None and settings.sample < 1_000:
        raise AuditError(f"`sample` is a number of rows to learn from, at least 1,000; it was {settings.sample:,}.")
    if settings.unlabelled not in ("leave_out", "negative"):
        raise AuditError(f"`unlabelled` is leave_out or negative; it was {settings.unlabelled!r}.")
    if settings.unlabelled == "negative" and settings.rank is None:
        raise AuditError(
            "Rows of unknown outcome count as negative (`unlabelled`) only where others are named to be ranked: add "
            "the column and the value of these (`rank`)."
        )


def _check_types(settings: Settings) -> None:
    for what, (types, names) in _TYPES.items():
        for name in names:
            value = getattr(settings, name)
            single = value if isinstance(value, tuple) else (value,)
            wrong = [one for one in single if not (one is None or (isinstance(one, types) and _is_plain(one, types)))]
            if wrong:
                raise AuditError(f"`{name}` is {what}; it was {wrong[0]!r}.")
    if not 0 <= settings.seed <= LARGEST_SEED:
        raise AuditError(f"`seed` is a whole number from 0 to {LARGEST_SEED}; it was {settings.seed}.")


def _is_plain(value: Any, types: tuple[type, ...]) -> bool:
    """Return whether a value is what it should be: true and false are whole numbers to Python alone."""
    return isinstance(value, bool) == (bool in types)


def _check_columns(settings: Settings) -> None:
    for option, names in settings.needs.items():
        if option in _COLUMN_OPTIONS and settings.target in names:
            raise AuditError(f"`{option}` names the target column {settings.target!r}; name another column.")


def _check_budget(settings: Settings) -> None:
    plan = settings.budget_plan
    if plan.period is not None and settings.time is None:
        raise AuditError(f"A budget for each {plan.period} needs the dates of the rows; name their column (`time`).")


def _check_money(settings: Settings) -> None:
    cost = settings.check_cost
    if cost is not None and not (np.isfinite(cost) and cost >= 0):
        raise AuditError(f"`check_cost` is what one check costs, 0 or more; it was {cost:g}.")
    if settings.gains is not None and settings.objective != "profit":
        raise AuditError("Gains are what the objective profit maximises; set that objective too (`objective`).")
    if settings.objective != "profit" or settings.gains is not None:
        return
    if settings.amount is None:
        raise AuditError(
            "The objective profit needs the money at stake in each row; name its column (`amount`), or give the gains "
            "of the four outcomes (`gains`)."
        )
    if cost is None:
        raise AuditError("The objective profit needs the cost of one check (`check_cost`).")
