"""One cell, computed: fit on the training rows, choose nothing on the others, measure."""

from __future__ import annotations

import importlib.metadata
import platform
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import scarce
from scarce._errors import StudyError
from scarce._typing import Keywords

from .build import build, resolve
from .data import rows_of
from .measures import MEASURES
from .spec import Cell
from .store import Outcome

__all__ = ["STATUS", "compute", "kilobytes"]

STATUS = Path("/proc/self/status")

_PACKAGES = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}
_PACKAGES |= {name: name for name in ("lightgbm", "numba", "joblib")}


def compute(cell: Cell) -> Outcome:
    """Fit and measure one cell. An error becomes part of the outcome, so that the other cells go on."""
    try:
        with warnings.catch_warnings():
            # A method may warn of too few positives or of slow convergence; that is part of how it does.
            warnings.simplefilter("ignore")
            return _compute(cell)
    except StudyError as error:
        return Outcome(error=str(error))
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}")


def _compute(cell: Cell) -> Outcome:
    if cell.measures == "replay":
        return _replayed(cell)
    # A method may get fewer rows than the others, where its time grows with their square.
    limits = {key: cell.method[key] for key in ("negatives",) if key in cell.method}
    rows = rows_of({**cell.set, **limits}, cell.protocol, cell.split)
    measure = MEASURES[cell.measures]
    fewest = int(np.unique(rows.y_train, return_counts=True)[1].min())
    binary = rows.y_train.dtype.kind in "iu"
    model = build(cell.method, cell.protocol, seed=cell.split, fewest=fewest, binary=binary)
    last = model.steps[-1][1] if hasattr(model, "steps") else None
    if rows.held_out is not None and last is not None and "validation" in last.get_params(deep=False):
        last.set_params(validation=rows.held_out)
    extra: Keywords = {"model__gains": rows.gains_train} if cell.method.get("gains") else {}
    if cell.protocol.get("warm"):
        # What is compiled or imported at the first use is no part of the time.
        measure.call(clone(model).fit(rows.X_train, rows.y_train, **extra), rows)
    cpu = time.process_time()
    with _peak_memory() as peak:
        start = time.perf_counter()
        model.fit(rows.X_train, rows.y_train, **extra)
        fitted = time.perf_counter()
        called = measure.call(model, rows)
        predicted = time.perf_counter()
    cpu = time.process_time() - cpu
    figures = measure.figures(getattr(model, "best_estimator_", model).steps[-1][1], rows, called)
    resamples = measure.resamples(rows, called) if measure.resamples else {}
    chosen = {str(k): str(v) for k, v in getattr(model, "best_params_", {}).items()}
    cost = fitted - start, predicted - fitted, cpu, peak()
    return Outcome(figures, *cost, chosen, _versions(), rows.note, resamples=resamples)


def _replayed(cell: Cell) -> Outcome:
    """Let a desk check payments day by day; what it learns it learns on the way."""
    from .replay import measure

    desk: Any = resolve(cell.method["estimator"])(**cell.method.get("params", {}))
    start, cpu = time.perf_counter(), time.process_time()
    with _peak_memory() as peak:
        figures, resamples, chosen = measure(desk, cell.set, cell.split)
    cost = time.perf_counter() - start, 0.0, time.process_time() - cpu, peak()
    return Outcome(figures, *cost, chosen, _versions(), resamples=resamples)


@contextmanager
def _peak_memory() -> Iterator[Any]:
    """Yield a function that returns, in MB, how far the memory of this process rose above what it held before."""
    try:
        # Linux forgets the highest memory of a process when asked to.
        Path("/proc/self/clear_refs").write_text("5")
        before = kilobytes("VmRSS")
        yield lambda: max(0.0, (kilobytes("VmHWM") - before) / 1024)
    except OSError:
        unit = 1024**2 if sys.platform == "darwin" else 1024
        yield lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def kilobytes(field: str) -> float:
    """Return a field of Linux's account of this process, such as VmRSS."""
    return float(next(line for line in STATUS.read_text().splitlines() if line.startswith(field)).split()[1])


def _versions() -> dict[str, str]:
    used = [package for module, package in _PACKAGES.items() if module in sys.modules]
    return {
        "python": platform.python_version(),
        "scarce": scarce.__version__,
        **{name: _version(name) for name in used},
    }


@cache
def _version(package: str) -> str:
    return importlib.metadata.version(package)
