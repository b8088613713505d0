"""Odd calls of all estimators: odd tables, odd labels, and methods in an odd order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.base import clone

import scarce

from .kinds import CLEAR, NON_FINITE, OK, ROWS, Found, kind_of, where

EXAMPLES = [instance for _, cls in scarce.all_estimators() for instance in cls._examples()]
METHODS = ("score_samples", "decision_function", "predict", "predict_proba", "explain", "honest_scores")
CELLS = (0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 0.1, 1e-300, 1e-8, 1e8, -1e15, 1e38, 1e154, -1e200, 1.7e308, 5e-324)
BROKEN = (np.nan, np.inf, -np.inf)


@st.composite
def calls(draw: Any) -> dict[str, Any]:
    """Draw an estimator, training rows with labels, new rows and the methods to call."""
    n, m = draw(st.integers(0, 9) | st.integers(10, 60)), draw(st.integers(0, 1) | st.integers(1, 5))
    pool = CELLS[: draw(st.sampled_from([7, 7, 7, 10, len(CELLS)]))]
    if draw(st.integers(0, 9)) == 0:
        pool += BROKEN
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.choice(pool, (n, m))
    if draw(st.booleans()) and len(pool) == 7:
        X = X + rng.normal(size=(n, m))
    labels: tuple[Any, ...] = draw(st.sampled_from([(0, 1), (0, 1), (0, 1), ("no", "yes"), (0, 1, 2), (1,), (-1, 1)]))
    share = draw(st.sampled_from([0.5, 0.3, 0.1]))
    weights = np.array([1 - share, *[share / max(len(labels) - 1, 1)] * (len(labels) - 1)])
    y = rng.choice(np.array(labels), n, p=weights / weights.sum())
    X = X.astype(draw(st.sampled_from([np.float64, np.float64, np.float32, np.int64]))) if pool == CELLS[:7] else X
    width = m if draw(st.integers(0, 19)) else m + 1
    new = rng.choice(pool, (draw(st.integers(0, 6)), width))
    methods = draw(st.lists(st.sampled_from(METHODS), min_size=1, max_size=3))
    return {"estimator": draw(st.sampled_from(EXAMPLES)), "X": X, "y": y, "new": new, "methods": methods}


def try_call(call: dict[str, Any], found: Found) -> None:
    """Fit and call, and count what came of it."""
    estimator, X, y, new = clone(call["estimator"]), call["X"], call["y"], call["new"]
    extra = {"gains": np.tile([10.0, -1.0, 1.0, -5.0], (len(y), 1))} if "Profit" in type(estimator).__name__ else {}
    name = type(estimator).__name__
    example = f"{estimator!r} X={X.tolist()} ({X.dtype}) y={y.tolist()} new={new.tolist()} {call['methods']}"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y, **extra)
            for method in call["methods"]:
                if method == "honest_scores":
                    out: Any = clone(estimator).honest_scores(X, y, **extra)
                    tested = np.isfinite(out) | np.isnan(out)  # a row that no model left out has no honest score
                    rows, finite = len(X), bool(tested.all())
                else:
                    out = getattr(estimator, method)(new)
                    out = out.score if method == "explain" else out
                    rows = len(new)
                    finite = np.asarray(out).dtype.kind not in "fc" or bool(np.isfinite(out).all())
                if len(out) != rows:
                    found.add(ROWS, f"{name}.{method}", example)
                    return
                if not finite:
                    found.add(NON_FINITE, f"{name}.{method}", example)
                    return
            found.add(OK, name)
        except Exception as error:
            kind = kind_of(error)
            found.add(kind, f"{name}: {where(error)}: {error}"[:300] if kind != CLEAR else name, example)
