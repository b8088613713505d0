"""Messy tables through the audit: read, profiled, encoded, compared with two cheap methods, ranked."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from scarce.audit import Audit, audit

from .kinds import CLEAR, NON_FINITE, OK, ROWS, Found, kind_of, where

TARGET = "fraud"
WORDS = (
    "",
    "a",
    "B",
    "é",
    "=1+1",
    "a,b",
    'quote"',
    "line\nbreak",
    "😀",
    "NaN",
    "None",
    "-",
    "1,5",
    "€ 3",
    "0012",
    "x" * 300,
)
NUMBERS = (0, 1, -1, 0.5, 3, 1e6, -1e15, 1e39, 1e300, 1e-300, float("nan"), float("inf"))
NAMES = ("x", "score", "rank", "row", "", " ", "amount", "a\nb", "😀", "n" * 500, "1", "Ünïcode", "=cmd")
DATES = ("2024-01-01", "2024-02-30", "1.3.2024", "0001-01-01", "9999-12-31", "2024-01-01T10:00:00Z", "yesterday")


@st.composite
def tables(draw: Any) -> tuple[pd.DataFrame, str]:
    """Draw a table of up to 160 rows as text, and the format of its file."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([0, 1, 9, 30, 60, 60, 110, 160]))
    columns: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=6, unique=True)):
        kind = draw(st.sampled_from(["normal", "normal", "number", "word", "date", "mixed", "constant", "id"]))
        columns[name] = {
            "normal": lambda: rng.normal(size=n),
            "number": lambda: rng.choice(np.array(NUMBERS), n),
            "word": lambda: rng.choice(np.array(WORDS, dtype=object), n),
            "date": lambda: rng.choice(np.array(DATES, dtype=object), n),
            "mixed": lambda: rng.choice(np.array([*WORDS[:6], *map(str, NUMBERS)], dtype=object), n),
            "constant": lambda: np.full(n, "same"),
            "id": lambda: np.arange(n),
        }[kind]()
    labels = draw(st.sampled_from([(0, 1), (0, 1), (0, 1), ("no", "yes"), ("", "1", "0"), (0, 1, 2), (0.5, "x")]))
    share = draw(st.sampled_from([0.5, 0.2, 0.05]))
    p = np.array([1 - share, *[share / (len(labels) - 1)] * (len(labels) - 1)])
    columns[TARGET] = rng.choice(np.array(labels, dtype=object), n, p=p)
    return pd.DataFrame(columns), draw(st.sampled_from(["csv", "csv", "frame", "parquet"]))


def accounted(result: Audit, frame: pd.DataFrame) -> bool:
    """Return whether every row is learned from or ranked, and the queue has as many different rows as it should."""
    unknown = result.rows_to_rank if result.new_rows else 0
    rows = result.queue["row"]
    return (
        result.profile.rows == len(frame) == result.profile.labelled + unknown
        and len(rows) == min(5, result.rows_to_rank)
        and rows.is_unique
        and rows.isin(range(len(frame))).all()
    )


def try_table(drawn: tuple[pd.DataFrame, str], found: Found) -> None:
    """Audit a table in this process, and count what came of it."""
    frame, form = drawn
    example = f"{form} {frame.shape} {frame.head(5).to_dict('list')}"[:600]
    with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        table: Any = frame
        try:
            if form == "csv":
                table = Path(folder, "table.csv")
                frame.to_csv(table, index=False)
            elif form == "parquet":
                table = Path(folder, "table.parquet")
                frame.astype(str).to_parquet(table)
        except (ValueError, OverflowError, OSError):
            return  # no such file can exist
        try:
            result = audit(table, TARGET, budget=5, methods=["logistic", "gamma-knn"])
        except Exception as error:
            kind = kind_of(error, checkers=())
            found.add(kind, f"{where(error)}: {error}"[:300] if kind != CLEAR else "audit", example)
            return
        if not np.isfinite(result.queue["score"].to_numpy(float)).all():
            found.add(NON_FINITE, "queue", example)
        elif not accounted(result, frame):
            found.add(ROWS, "queue", example)
        else:
            found.add(OK, "audit")
