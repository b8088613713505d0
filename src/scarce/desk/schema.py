"""The tables of the desk's store: cases, verdicts, people and models."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = [
    "DECIDED",
    "NEGATIVE",
    "OPEN",
    "POSITIVE",
    "STATUSES",
    "UNDECIDABLE",
    "VERSION",
    "Base",
    "Case",
    "CaseData",
    "CaseEntity",
    "CaseWord",
    "Kind",
    "KnownEntity",
    "Lock",
    "Meta",
    "Model",
    "Reason",
    "Session",
    "Token",
    "Verdict",
]

# The version of these tables; a store with another one is not opened.
VERSION: Final = 1

OPEN, POSITIVE, NEGATIVE, UNDECIDABLE = "open", "positive", "negative", "undecidable"
STATUSES: Final = (OPEN, POSITIVE, NEGATIVE, UNDECIDABLE)
# An index finds these; it would be read from end to end for what is not open.
DECIDED: Final = (POSITIVE, NEGATIVE, UNDECIDABLE)

# SQLite counts up by itself in a column of type INTEGER only.
_Number = BigInteger().with_variant(Integer, "sqlite")


class Moment(TypeDecorator[datetime]):
    """A moment with its time zone, which is UTC; SQLite gives it back without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment in UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment with its time zone."""
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """The tables of the desk; a module of the room adds its own by a class of this base."""

    type_annotation_map = {dict[str, Any]: JSON, list[str]: JSON, datetime: Moment}


class Meta(Base):
    """Facts about the store, such as the version of its tables."""

    __tablename__ = "meta"
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Model(Base):
    """An audit whose queue was imported: its number is the version of the model."""

    __tablename__ = "models"
    version: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    folder: Mapped[str]
    sha256: Mapped[str] = mapped_column(String(64), unique=True)  # of the manifest
    written: Mapped[str]
    imported: Mapped[datetime]
    checks: Mapped[int]
    period: Mapped[str | None]
    target: Mapped[dict[str, Any]]
    key: Mapped[list[str]]
    entities: Mapped[list[str]]
    columns: Mapped[list[str]]  # under the titles that people use
    # The moment of the newest row, from which ages are counted; None where the audit has no dates.
    newest: Mapped[float | None]


class Case(Base):
    """A row that an audit queued: the place in the queue, and what was decided."""

    __tablename__ = "cases"
    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    key: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)  # for people
    identity: Mapped[dict[str, Any]]  # the cells of the identifier columns, as text
    model: Mapped[int] = mapped_column(ForeignKey("models.version"))
    rank: Mapped[int]
    score: Mapped[float]
    probability: Mapped[float]
    # The log-odds at this rank, which fall from each rank to the next, and the same with what links add, which is the
    # order of the queue.
    log_odds: Mapped[float]
    live: Mapped[float]
    badge: Mapped[str | None] = mapped_column(Text)
    # Money is 0 where the audit knows no amount, so that every order is total.
    money: Mapped[float] = mapped_column(Float, default=0.0)
    amount: Mapped[float] = mapped_column(Float, default=0.0)
    moment: Mapped[float] = mapped_column(Float, default=0.0)
    time: Mapped[str | None]
    drawn: Mapped[bool]
    chance: Mapped[float]
    why: Mapped[str] = mapped_column(Text)  # the main reason in one line
    status: Mapped[str] = mapped_column(String(12), default=OPEN)
    kind: Mapped[str | None]
    decided: Mapped[datetime | None]
    # The last entry about the case; a new verdict must name it, so that none is written over another unseen.
    entry: Mapped[int] = mapped_column(_Number, default=0)
    __table_args__ = (
        Index("cases_live", "status", "live", "id"),
        Index("cases_log_odds", "status", "log_odds", "id"),
        Index("cases_probability", "status", "probability", "id"),
        Index("cases_money", "status", "money", "id"),
        Index("cases_amount", "status", "amount", "id"),
        Index("cases_moment", "status", "moment", "id"),
        Index("cases_drawn", "drawn", "model"),
        Index("cases_decided", "status", "decided", "id"),
    )


class CaseData(Base):
    """The evidence of a case, as :func:`~scarce.audit.cases.case_data` writes it; apart, so that the queue is small."""

    __tablename__ = "case_data"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    data: Mapped[dict[str, Any]]


class CaseEntity(Base):
    """An entity of a case, such as its card, through which cases are linked."""

    __tablename__ = "case_entities"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    column: Mapped[str] = mapped_column(String, primary_key=True)
    value: Mapped[str] = mapped_column(Text)
    __table_args__ = (Index("case_entities_value", "column", "value", "case_id"),)


class CaseWord(Base):
    """A word by which a case is found: of its cells, and ``column=value`` for each cell."""

    __tablename__ = "case_words"
    # In the order of its characters, whatever the language of the database, so that beginnings are ranges.
    word: Mapped[str] = mapped_column(String().with_variant(String(collation="C"), "postgresql"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    __table_args__ = (Index("case_words_case", "case_id", "word"),)


class KnownEntity(Base):
    """The numbers of positive and negative rows that the audited table knows of an entity."""

    __tablename__ = "known_entities"
    column: Mapped[str] = mapped_column(String, primary_key=True)
    value: Mapped[str] = mapped_column(Text, primary_key=True)
    positives: Mapped[int]
    negatives: Mapped[int]


class Verdict(Base):
    """An entry about a case, which is never changed: an undo is an entry of its own."""

    __tablename__ = "verdicts"
    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"))
    at: Mapped[datetime]
    who: Mapped[str]
    old: Mapped[str] = mapped_column(String(12))
    new: Mapped[str] = mapped_column(String(12))
    reason: Mapped[str | None]
    note: Mapped[str | None] = mapped_column(Text)
    kind: Mapped[str | None]
    model: Mapped[int]
    # The entry that this one takes back.
    undoes: Mapped[int | None] = mapped_column(_Number)
    # Chosen by whoever sends the verdict: sent twice, it is one entry.
    request: Mapped[str | None] = mapped_column(String(64), unique=True)
    __table_args__ = (
        Index("verdicts_case", "case_id", "id"),
        Index("verdicts_who", "who", "id"),
        Index("verdicts_at", "at"),
    )


class Lock(Base):
    """A case that somebody has open."""

    __tablename__ = "locks"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    who: Mapped[str]
    until: Mapped[datetime]


class Token(Base):
    """A person or a program that may use the desk; the token itself is not stored, only its hash."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String, unique=True)
    role: Mapped[str] = mapped_column(String(10))
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created: Mapped[datetime]
    revoked: Mapped[datetime | None]


class Session(Base):
    """A login of a browser, by the hash of its cookie."""

    __tablename__ = "sessions"
    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("tokens.id"))
    csrf: Mapped[str]
    until: Mapped[datetime]


class Reason(Base):
    """A reason of the office for its verdicts."""

    __tablename__ = "reasons"
    text: Mapped[str] = mapped_column(String, primary_key=True)


class Kind(Base):
    """A kind of positive that the office has found."""

    __tablename__ = "kinds"
    text: Mapped[str] = mapped_column(String, primary_key=True)
