"""A study of the user's own tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scarce._errors import StudyError
from scarce.registry import all_estimators

from .data import describe_file
from .spec import Study, parse_study

__all__ = ["own_study"]

METRICS = ("ap", "f1", "gmean", "balanced_accuracy", "precision", "sensitivity", "specificity")


def own_study(
    tables: Sequence[Path],
    target: str,
    methods: Sequence[str] | None = None,
    positive: str | None = None,
    metric: str = "ap",
    splits: int = 5,
) -> Study:
    """Return a study that compares methods on tables, with the rivals of every study beside them.

    Parameters
    ----------
    tables : sequence of Path
        CSV, Parquet or Excel files with the same target.
    target : str
        The column of outcomes.
    methods : sequence of str, default=None
        Names of the registry; None is all of them.
    positive : str, default=None
        The outcome to look for; None is the rarer one.
    metric : str, default="ap"
        What the table shows; all others are in ``cells.csv``.
    splits : int, default=5
        How often a fifth of the rows is held out.
    """
    known = [name for name, _ in all_estimators()]
    for name in methods or ():
        if name not in known:
            raise StudyError(f"There is no method {name!r}; there are {', '.join(known)}.")
    if metric not in METRICS:
        raise StudyError(f"There is no metric {metric!r}; there are {', '.join(METRICS)}.")
    if splits < 1:
        raise StudyError(f"A comparison needs at least one split; it was to have {splits}.")
    # The wrapper is what the rivals are made of.
    chosen = methods or [name for name in known if name != "TunedThreshold"]
    described = [describe_file(path, target, positive) for path in tables]
    return parse_study(
        "compare",
        {
            "title": f"{len(chosen)} methods on {', '.join(path.name for path in tables)}",
            "source": f"{splits} times a fifth of the rows held out; columns encoded as scarce audit does",
            "sets": [set_ for set_, _ in described],
            "scalings": ["none"],
            "metrics": [metric],
            "rivals": True,
            "control": chosen[0],
            "notes": [note for _, left_out in described for note in left_out],
            "protocol": {"kind": "shuffle", "splits": splits, "test_size": 0.2},
            "methods": {name: {"estimator": name, "params": {"threshold": "f1"}} for name in chosen},
        },
    )
