"""The packages of extras, imported where they are used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from scarce._errors import UserError

__all__ = ["EXTRAS", "MissingPackage", "install", "require"]

# The extra that installs a module.
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "faiss": "ann",
    "fastapi": "serve",
    "imblearn": "sampling",
    "jinja2": "audit",
    "lightgbm": "boost",
    "matplotlib": "audit",
    "openpyxl": "audit",
    "pandas": "audit",
    "prometheus_client": "serve",
    "pyarrow": "audit",
    "pyspark": "spark",
    "river": "stream",
    "scikit_posthocs": "study",
    "skops": "audit",
    "sqlalchemy": "serve",
    "uvicorn": "serve",
    "xgboost": "study",
}
_PACKAGES = {
    "dask": "Dask",
    "distributed": "Dask",
    "faiss": "faiss-cpu",
    "fastapi": "FastAPI",
    "imblearn": "imbalanced-learn",
    "lightgbm": "LightGBM",
    "prometheus_client": "prometheus-client",
    "pyspark": "PySpark",
    "scikit_posthocs": "scikit-posthocs",
    "sqlalchemy": "SQLAlchemy",
    "xgboost": "xgboost-cpu",
}


class MissingPackage(UserError, ImportError):
    """A package is not installed; the message names the command that installs it."""


def install(module: str) -> str:
    """Return the command that installs a module."""
    return f'pip install "scarce[{EXTRAS[module.split(".")[0]]}]"'


def require(module: str, user: str) -> Any:
    """Return a module of an extra, or name what needs it and the command that installs it."""
    try:
        with _waiting_asleep():
            return import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        package = _PACKAGES.get(name, name)
        raise MissingPackage(
            f"{user} needs {package}, which is not installed: {install(module)}.", name=name
        ) from error


@contextmanager
def _waiting_asleep() -> Iterator[None]:
    """Have the threads of a library that is loaded here sleep while they wait for each other.

    OpenMP reads the variable once, when it is loaded. By default its threads spin. On a busy machine LightGBM's then
    wait for threads whose core they hold themselves, and two take ten times as long as one. A policy of the user's
    stays, and processes started from here do not inherit ours.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        os.environ.pop("OMP_WAIT_POLICY", None)
