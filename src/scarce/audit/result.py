"""The result of an audit: its stages as plain objects."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
from sklearn.pipeline import Pipeline

from scarce.profit import MenuEntry
from scarce.tables import Profile, Reading, Target, Usual

from .certificate import Certificate
from .checked import Checks
from .compare import Comparison
from .dictionary import Dictionary
from .evidence import Evidence
from .explore import Exploration
from .histories import Histories
from .inside import Inside
from .notebook import audit_html
from .plan import Plan
from .promise import Promise
from .readable import Readable
from .rows import Roles
from .settings import Settings
from .shift import Shift
from .task import Task

__all__ = ["Audit", "Source"]


@dataclass(frozen=True)
class Source:
    """The origin of the table."""

    name: str
    sha256: str
    simulated: bool = False
    path: str | None = None


@dataclass
class Audit:
    """The result of an audit.

    Attributes
    ----------
    settings : Settings
    source : Source
    target : Target
    roles : Roles
        Which rows were learned from, and which were ranked.
    profile : Profile
    plan : Plan
        The methods that were to be compared.
    comparison : Comparison
        How the methods did on rows that they had not seen.
    model : Pipeline
        The winner, fitted on all rows whose outcome is known.
    promise : Promise
        The number of positives to expect in the queue.
    evidence : list of Evidence
        What speaks for or against each row of the queue.
    inside : Inside
        Figures by period and segment, calibration, importance and dependence.
    shift : Shift or None
        The difference of the rows to rank from those that were learned from; None without rows of unknown outcome.
    readable : Readable
        A few rules in words, and their price.
    menu : list of MenuEntry
        For the objective profit, what precision costs.
    certificates : list of Certificate
        For the objective F1, the highest F1 that families of models can have on the rows learned from.
    exploration : Exploration or None
        The random share of the queue.
    queue : DataFrame
        The rows to check, the most suspicious first.
    usual : dict of Usual
        The usual values of each column, against which reasons are measured.
    task : Task
        The labelled rows and the objective that were compared on.
    checks : Checks or None
        The chance of each row to have been checked, where only some were.
    frame : DataFrame
        The table as it was read, with the verdicts of reviews.
    cases : DataFrame
        The columns learned from of the queued rows, as they were ranked.
    entities : list of str
        The columns that name someone or something in several rows: those given, or else those that seem to.
    histories : Histories or None
        What the entities given did before each row.
    readings : tuple of Reading
        How the columns of the table were read.
    changes : list of str
        What changed since an earlier audit.
    names : Dictionary
        Titles and units of columns, and those that are hidden or sensitive.
    new_rows : bool
        Whether the queue holds rows of unknown outcome; otherwise it holds tested rows of known outcome.
    rows_to_rank : int
        The number of rows that were ranked.
    warnings : list of str
    seconds : float
    """

    settings: Settings
    source: Source
    target: Target
    roles: Roles
    profile: Profile
    plan: Plan
    comparison: Comparison
    model: Pipeline
    promise: Promise
    evidence: list[Evidence]
    inside: Inside
    shift: Shift | None
    readable: Readable
    menu: list[MenuEntry]
    certificates: list[Certificate]
    exploration: Exploration | None
    queue: pd.DataFrame
    usual: dict[str, Usual]
    task: Task
    new_rows: bool
    rows_to_rank: int
    checks: Checks | None
    frame: pd.DataFrame
    cases: pd.DataFrame
    entities: list[str]
    histories: Histories | None
    readings: tuple[Reading, ...]
    warnings: list[str]
    seconds: float
    changes: list[str] = field(default_factory=list)
    names: Dictionary = field(default_factory=Dictionary)

    @property
    def threshold(self) -> float:
        """The threshold of the refitted winner."""
        return float(self.model[-1].threshold_)

    def _repr_html_(self) -> str:
        return audit_html(self)
