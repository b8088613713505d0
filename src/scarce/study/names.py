"""The classes that a study may name: estimators, samplers and objectives of known packages, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from scarce._errors import StudyError

__all__ = ["PACKAGES", "TRUST", "check_name", "names_in"]

PACKAGES = ("sklearn", "imblearn", "lightgbm", "xgboost", "scarce")
# Whoever runs a study may trust packages of their own; a study cannot.
TRUST = "SCARCE_STUDY_PACKAGES"


def check_name(name: Any) -> None:
    """Refuse a name that is not a plain one or a dotted path into a known package; nothing is imported."""
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise StudyError(f"A study names estimators like sklearn.svm.SVC or GammaKNN; {name!r} is no such name.")
    trusted = (*PACKAGES, *filter(None, os.environ.get(TRUST, "").replace(" ", "").split(",")))
    if "." in name and name.split(".")[0] not in trusted:
        raise StudyError(
            f"A study may name estimators of {', '.join(trusted)} only, not {name}. To trust another package, name it "
            f"in the environment variable {TRUST}."
        )


def names_in(recipe: Any) -> list[Any]:
    """Return the names of all estimators in a recipe, those within parameters included."""
    if isinstance(recipe, Mapping):
        named = recipe.get("estimator")
        own = [] if named is None or isinstance(named, Mapping | list | tuple) else [named]
        return own + [name for value in recipe.values() for name in names_in(value)]
    if isinstance(recipe, (list, tuple)):
        return [name for value in recipe for name in names_in(value)]
    return []
