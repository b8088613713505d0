"""The weights of links: logged with each verdict, estimated from the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import ForeignKey, delete, select
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as Transaction

from .links import LinkWeights, fit_weights
from .memory import START
from .ranking import Counts, Entity
from .schema import NEGATIVE, POSITIVE, Base, Case, Verdict

__all__ = ["LinkLog", "LinkWeight", "estimate_weights", "log_again", "log_links", "weights_of"]


class LinkLog(Base):
    """The log-odds of a case and the counts of its entities, as they were when it was decided."""

    __tablename__ = "link_log"
    entry: Mapped[int] = mapped_column(ForeignKey("verdicts.id"), primary_key=True)
    log_odds: Mapped[float]
    counts: Mapped[dict[str, Any]]  # of each entity column: confirmed and cleared cases


class LinkWeight(Base):
    """The weights of an entity column that were estimated last."""

    __tablename__ = "link_weights"
    column: Mapped[str] = mapped_column(primary_key=True)
    weights: Mapped[dict[str, Any]]


def log_links(transaction: Transaction, entry: Verdict, case: Case, entities: list[Entity], seen: Counts) -> None:
    """Store what the links of a case were when somebody decided it."""
    counts = {column: [0, 0] for column, _ in entities}
    for column, value in entities:
        about = seen.get((column, value))
        if about is not None:
            counts[column] = [about.confirmed, about.cleared]
    transaction.add(LinkLog(entry=entry.id, log_odds=case.log_odds, counts=counts))


def log_again(transaction: Transaction, entry: Verdict, before: Verdict) -> None:
    """Store for an undo what was stored with the verdict that holds again."""
    logged = transaction.get(LinkLog, before.id)
    if logged is not None:
        transaction.add(LinkLog(entry=entry.id, log_odds=logged.log_odds, counts=logged.counts))


def weights_of(transaction: Transaction) -> dict[str, LinkWeights]:
    """Return the weights of each entity column; a desk without a history has none of its own."""
    found = transaction.scalars(select(LinkWeight))
    return {w.column: LinkWeights(tuple(w.weights["confirmed"]), tuple(w.weights["cleared"])) for w in found}


def estimate_weights(transaction: Transaction) -> Mapping[str, LinkWeights]:
    """Estimate the weights from all cases that are decided, and store them.

    They depend on the verdicts that hold now: one that was taken back or replaced does not count.
    """
    query = (
        select(LinkLog.log_odds, LinkLog.counts, Case.status)
        .join(Case, Case.entry == LinkLog.entry)
        .where(Case.status.in_((POSITIVE, NEGATIVE)))
        .order_by(LinkLog.entry)
    )
    logged = transaction.execute(query).all()
    columns = sorted({column for _, counts, _ in logged for column in counts})
    counts = np.array([[own.get(column, (0, 0)) for column in columns] for _, own, _ in logged], dtype=np.intp)
    fitted, _ = fit_weights(
        np.array([log_odds for log_odds, _, _ in logged], dtype=np.float64),
        counts.reshape(len(logged), len(columns), 2),
        np.array([status == POSITIVE for _, _, status in logged], dtype=np.intp),
        [START] * len(columns),
    )
    found = dict(zip(columns, fitted, strict=True))
    transaction.execute(delete(LinkWeight))
    for column, weights in found.items():
        own = {"confirmed": list(weights.confirmed), "cleared": list(weights.cleared)}
        transaction.add(LinkWeight(column=column, weights=own))
    transaction.flush()
    return found
