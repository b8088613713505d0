"""Scores that the service recorded, and the outcomes of their rows that became known later."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, insert, select
from sqlalchemy.orm import Mapped, mapped_column
from starlette.concurrency import run_in_threadpool

from scarce._typing import Json

from .schema import Base, _Number

__all__ = ["Outcome", "Recorder", "Score", "add_outcomes"]

_ROWS_AT_ONCE = 500


class Score(Base):
    """A row that was scored."""

    __tablename__ = "scores"
    number: Mapped[int] = mapped_column(_Number, primary_key=True)
    id: Mapped[str | None] = mapped_column(Text)  # as the request gave it
    at: Mapped[datetime]
    row: Mapped[dict[str, Any]]
    score: Mapped[float]
    probability: Mapped[float]
    decision: Mapped[str] = mapped_column(String(12))
    money: Mapped[float | None]
    version: Mapped[int | None]  # of the model in the desk
    model: Mapped[str] = mapped_column(String(12))  # the hash of its manifest
    __table_args__ = (Index("scores_id", "id", "number"), Index("scores_at", "at"))


class Outcome(Base):
    """An outcome of a scored row; a later one replaces it, and none is changed."""

    __tablename__ = "outcomes"
    number: Mapped[int] = mapped_column(_Number, primary_key=True)
    score: Mapped[int] = mapped_column(ForeignKey("scores.number"))
    at: Mapped[datetime]
    who: Mapped[str]
    positive: Mapped[bool]
    __table_args__ = (Index("outcomes_score", "score", "number"),)


class Recorder:
    """Writes scores to the store, those of all waiting requests in one transaction.

    A disk takes milliseconds for a transaction, however many rows it has.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Any) -> None:
        self.store = store
        self._waiting: list[tuple[Sequence[Json], asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def add(self, rows: Sequence[Json]) -> None:
        """Store rows of `Score`; when this returns, they are on the disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((rows, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        await done

    async def _drain(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting, []
            try:
                await run_in_threadpool(self._write, [row for rows, _ in taken for row in rows])
            except Exception as error:
                for _, done in taken:
                    if not done.done():
                        done.set_exception(error)
                continue
            for _, done in taken:
                if not done.done():  # a client that went away does not wait any more
                    done.set_result(None)

    def _write(self, rows: Sequence[Json]) -> None:
        with self.store.write() as transaction:
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                transaction.execute(insert(Score), list(rows[start : start + _ROWS_AT_ONCE]))


def add_outcomes(store: Any, outcomes: Sequence[tuple[str, bool]], who: str) -> list[str]:
    """Store outcomes by the ids of scored rows; return the ids that are unknown, and then store none."""
    now = datetime.now(UTC)
    with store.write() as transaction:
        rows, unknown = [], []
        for given, positive in outcomes:
            query = select(Score.number).where(Score.id == given).order_by(Score.number.desc()).limit(1)
            number = transaction.scalar(query)
            if number is None:
                unknown.append(given)
            else:
                rows.append({"score": number, "at": now, "who": who, "positive": positive})
        if rows and not unknown:
            transaction.execute(insert(Outcome), rows)
        return unknown
