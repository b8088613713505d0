"""Verdicts of people, which go before the outcomes of a table."""

from __future__ import annotations

import re

import pandas as pd

from scarce._errors import AuditError
from scarce._messages import listed
from scarce.tables import Target
from scarce.tables.types import cell_text

from .words import NO, YES

__all__ = ["OWN_PREFIX", "VERDICT", "apply_reviews"]

VERDICT, TIME = "verdict", "time"
# Columns whose names begin so belong to the review, such as who gave it; the desk writes them.
OWN_PREFIX = "review_"
_OWN_TIME = OWN_PREFIX + "time"
_UNDECIDED = {"undecidable", "open"}
# A spreadsheet takes a cell that begins with one of these for a formula, so that CSV has an apostrophe before it.
_INERT = re.compile(r"'(?=[=+@\t-])")


def apply_reviews(frame: pd.DataFrame, target: Target, reviews: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the verdicts as its outcomes, and sentences about what was changed.

    Parameters
    ----------
    frame : DataFrame
        The table.
    target : Target
        Its outcomes.
    reviews : DataFrame
        Identifier columns of the table, ``verdict`` and ``time``. A verdict is one of the outcomes of the table, or yes
        or no. Of several about one row the latest counts; an empty one takes the outcome back, and one that is
        "undecidable" is left out. Columns whose names begin with ``review_`` are not used, but ``review_time`` goes
        before ``time``, so that an identifier may have that name.
    """
    keys, time = _keys(frame, reviews), _OWN_TIME if _OWN_TIME in reviews else TIME
    reviews = reviews[~reviews[VERDICT].isin(_UNDECIDED)]
    verdicts = reviews.assign(
        **{key: _texts(reviews[key]) for key in keys}, **{VERDICT: _outcomes(reviews[VERDICT], target)}
    )
    if time in reviews:
        verdicts = verdicts.iloc[_order(reviews[time])]
    latest = verdicts.drop_duplicates(keys, keep="last").set_index(keys)[VERDICT]
    of_rows = pd.MultiIndex.from_frame(pd.DataFrame({key: _texts(frame[key]) for key in keys}))
    given = pd.MultiIndex.from_frame(latest.index.to_frame(index=False))
    place = given.get_indexer_for(of_rows) if given.is_unique else None
    assert place is not None  # duplicates were dropped
    found = place >= 0
    outcome = frame[target.name].astype(object).copy()
    before = pd.Series(target.y, index=frame.index)
    outcome[found] = latest.to_numpy()[place[found]]
    now = outcome.map(lambda value: -1 if pd.isna(value) else int(cell_text(value) == target.positive))
    absent = len(given) - len(set(place[found]))
    sentences = [
        f"{int(found.sum()):,} rows have a verdict in the reviews, which goes before their outcome; it changed "
        f"{int((now != before).sum()):,} outcomes."
    ]
    if absent:
        sentences.append(f"{absent:,} reviews are of rows that are not in the table, and were not used.")
    return frame.assign(**{target.name: outcome}), sentences


def _texts(cells: pd.Series) -> pd.Series:
    """Return cells as texts, alike in a table and in what was written of it; an empty cell is an empty text."""
    return cells.map(lambda cell: "" if pd.isna(cell) else _INERT.sub("", cell_text(cell)))


def _keys(frame: pd.DataFrame, reviews: pd.DataFrame) -> list[str]:
    if VERDICT not in reviews:
        raise AuditError(
            f"The reviews need a column {VERDICT!r} beside the identifiers (`reviews`); they have "
            f"{listed(list(reviews.columns))}."
        )
    own = {VERDICT, _OWN_TIME if _OWN_TIME in reviews else TIME}
    own |= {str(name) for name in reviews.columns if str(name).startswith(OWN_PREFIX) and name not in frame.columns}
    keys = [str(name) for name in reviews.columns if name not in own]
    absent = [name for name in keys if name not in frame.columns]
    if absent or not keys:
        what = f"{listed(absent)} is not a column of the table" if absent else "they name no row"
        raise AuditError(
            f"The reviews say by the columns of the table which row is meant, and {what}; keep the identifier columns, "
            f"{VERDICT!r} and {TIME!r} only (`reviews`)."
        )
    return keys


def _outcomes(verdicts: pd.Series, target: Target) -> list[str | None]:
    """Return verdicts as outcomes of the table."""
    found: list[str | None] = []
    for number, verdict in enumerate(verdicts):
        text = "" if pd.isna(verdict) else cell_text(verdict).strip()
        if not text:
            found.append(None)
        elif text == target.positive or (text.casefold() in {*YES, "positive"} and text not in target.others):
            found.append(target.positive)
        elif text in target.others or text.casefold() in {*NO, "negative"}:
            found.append(text if text in target.others else target.others[0])
        else:
            raise AuditError(
                f"Review {number + 1} has the verdict {text!r} (`reviews`); write {target.positive!r} or "
                f"{target.others[0]!r}, yes or no."
            )
    return found


def _order(times: pd.Series) -> list[int]:
    """Return reviews in the order of their times, those of equal or no time in the order of the file."""
    moment = pd.to_numeric(times, errors="coerce")
    if moment.isna().any():
        moment = pd.to_datetime(times, errors="coerce", utc=True, format="mixed")
        wrong = times[moment.isna() & times.notna()]
        if len(wrong):
            raise AuditError(
                f"The time {str(wrong.iloc[0])!r} of a review cannot be read (`reviews`); write it like "
                "2024-01-31 14:05."
            )
    return list(moment.reset_index(drop=True).sort_values(kind="stable", na_position="first").index)
