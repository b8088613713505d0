"""Time that the search for the best F takes beyond the models that it fits."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.neighbors import rare_class
from benchmarks.rows import Bar, Row, Run
from scarce.fmeasure import ConeClassifier


class _Clocked(LinearSVC):
    """A machine that remembers how long it was at work."""

    spent: dict[str, float] = {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self._clocked("fit", lambda: super(_Clocked, self).fit(X, y, sample_weight))

    def decision_function(self, X: Any) -> Any:
        return self._clocked("score", lambda: super(_Clocked, self).decision_function(X))

    def _clocked(self, what: str, call: Callable[[], Any]) -> Any:
        began = time.process_time()
        done = call()
        self.spent[what] = self.spent.get(what, 0.0) + time.process_time() - began
        return done


def fmeasure_overhead(run: Run) -> list[Row]:
    """Measure the processor time beyond the fits, and beyond the scores of the rows."""
    X, y = rare_class(2_000 if run.quick else 20_000)
    rows = []
    for name, validation in (("training rows", "train"), ("five folds", 5)):
        run.progress(name)
        _Clocked.spent.clear()
        model = ConeClassifier(_Clocked(loss="hinge", random_state=0), validation=validation)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(search="grid").fit(X, y)
            model.set_params(search="cone").fit(X, y)
        total, fits = time.process_time() - began, _Clocked.spent["fit"]
        what = f"cone and grid of 19 linear SVMs, {len(X):,} × {X.shape[1]}, F on {name}; ratio: time beyond the fits"
        bar = run.judged(Bar("<", 0.01))
        rows.append(Row(what, total, fits, (total - fits) / fits, "s", bar))
        rest = total - fits - _Clocked.spent["score"]
        rows.append(Row("the same without the scores of the rows", rest, fits, rest / fits, "s", bar))
    return rows
